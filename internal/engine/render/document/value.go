package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxDepth bounds the nesting of one object. The deepest schemas of real custom resource definitions stay below 100.
const maxDepth = 500

type kind uint8

const (
	null kind = iota
	boolean
	integer
	float
	text
	mapping
	sequence
)

// value is a node of a document. It holds less than maps of interfaces do and keeps what the encoder needs.
type value struct {
	kind    kind
	num     int64 // of boolean (0 or 1) and integer; the bits of a float
	str     string
	members []member // of a mapping, sorted by key once normalised
	items   []value
}

type member struct {
	key string
	val value
}

// get returns the member of a mapping.
func (v *value) get(key string) (*value, bool) {
	if v.kind != mapping {
		return nil, false
	}
	for i := range v.members {
		if v.members[i].key == key {
			return &v.members[i].val, true
		}
	}
	return nil, false
}

// text returns the member as a string, or "" where it is none.
func (v *value) text(key string) string {
	if m, ok := v.get(key); ok && m.kind == text {
		return m.str
	}
	return ""
}

func (v *value) remove(key string) {
	v.members = slices.DeleteFunc(v.members, func(m member) bool { return m.key == key })
}

// normalise sorts members by key; of equal keys the last one stays, as in the YAML library of Kubernetes.
func (v *value) normalise() {
	sorted := true
	for i := 1; i < len(v.members) && sorted; i++ {
		sorted = v.members[i-1].key < v.members[i].key
	}
	if sorted {
		return
	}
	slices.SortStableFunc(v.members, func(a, b member) int { return strings.Compare(a.key, b.key) })
	out := v.members[:0]
	for i, m := range v.members {
		if i+1 < len(v.members) && v.members[i+1].key == m.key {
			continue
		}
		out = append(out, m)
	}
	v.members = out
}

// fromAny converts what the YAML and JSON libraries give. Numbers are treated as if they had gone through JSON.
func fromAny(in any, depth int) (value, error) {
	if depth > maxDepth {
		return value{}, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	switch x := in.(type) {
	case nil:
		return value{}, nil
	case string:
		return value{kind: text, str: x}, nil
	case bool:
		return ofBool(x), nil
	case int:
		return value{kind: integer, num: int64(x)}, nil
	case int64:
		return value{kind: integer, num: x}, nil
	case uint64:
		return ofFloat(float64(x))
	case float64:
		return ofFloat(x)
	case []any:
		v := value{kind: sequence, items: make([]value, len(x))}
		for i := range x {
			var err error
			if v.items[i], err = fromAny(x[i], depth+1); err != nil {
				return value{}, err
			}
		}
		return v, nil
	case map[string]any:
		v := value{kind: mapping, members: make([]member, 0, len(x))}
		for k, e := range x {
			c, err := fromAny(e, depth+1)
			if err != nil {
				return value{}, err
			}
			v.members = append(v.members, member{k, c})
		}
		v.normalise()
		return v, nil
	case map[any]any:
		return fromYAML(x, depth)
	}
	// Whatever else a caller put into an object goes the way it would take on the wire.
	raw, err := json.Marshal(in)
	if err != nil {
		return value{}, fmt.Errorf("encode %T: %w", in, err)
	}
	out, err := decodeJSON(raw)
	if err != nil {
		return value{}, err
	}
	return fromAny(out, depth)
}

func fromYAML(x map[any]any, depth int) (value, error) {
	v := value{kind: mapping, members: make([]member, 0, len(x))}
	for k, e := range x {
		name, err := keyOf(k)
		if err != nil {
			return value{}, err
		}
		c, err := fromAny(e, depth+1)
		if err != nil {
			return value{}, err
		}
		v.members = append(v.members, member{name, c})
	}
	v.normalise()
	if len(v.members) < len(x) {
		// Which of the two stayed would be left to chance.
		return value{}, errors.New("a map has the same key in two spellings, such as 8 and 8.0; quote them")
	}
	return v, nil
}

// keyOf spells a YAML key as Kubernetes does.
func keyOf(k any) (string, error) {
	switch x := k.(type) {
	case string:
		return x, nil
	case int:
		return strconv.Itoa(x), nil
	case int64:
		return strconv.FormatInt(x, 10), nil
	case bool:
		return strconv.FormatBool(x), nil
	case float64:
		switch s := strconv.FormatFloat(x, 'g', -1, 32); s {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return s, nil
		}
	case nil:
		return "", fmt.Errorf("a key is null; quote it if a text was meant")
	}
	return "", fmt.Errorf("a key is a %T; keys must be texts", k)
}

func ofBool(b bool) value {
	if b {
		return value{kind: boolean, num: 1}
	}
	return value{kind: boolean}
}

func ofFloat(f float64) (value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return value{}, fmt.Errorf("a number is infinite or not a number; JSON has no such value")
	}
	return value{kind: float, num: int64(math.Float64bits(f))}, nil
}

// appendJSON writes v exactly as encoding/json writes the same tree of maps, so that both ways to a manifest give
// equal bytes.
func (v *value) appendJSON(b []byte) []byte {
	switch v.kind {
	case null:
		return append(b, "null"...)
	case boolean:
		return strconv.AppendBool(b, v.num != 0)
	case integer:
		return strconv.AppendInt(b, v.num, 10)
	case float:
		return appendFloat(b, math.Float64frombits(uint64(v.num)))
	case text:
		return appendText(b, v.str)
	case sequence:
		b = append(b, '[')
		for i := range v.items {
			if i > 0 {
				b = append(b, ',')
			}
			b = v.items[i].appendJSON(b)
		}
		return append(b, ']')
	case mapping:
		b = append(b, '{')
		for i := range v.members {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendText(b, v.members[i].key)
			b = append(b, ':')
			b = v.members[i].val.appendJSON(b)
		}
		return append(b, '}')
	}
	return b
}

// size is a lower bound of what appendJSON writes, computed without writing it: aliases can make a small document
// expand to a huge one. It stops counting at limit.
func (v *value) size(limit int64) int64 {
	n := int64(len(v.str)) + 1
	for i := range v.members {
		if n > limit {
			return n
		}
		n += int64(len(v.members[i].key)) + 3 + v.members[i].val.size(limit-n)
	}
	for i := range v.items {
		if n > limit {
			return n
		}
		n += 1 + v.items[i].size(limit-n)
	}
	return n
}

func appendFloat(b []byte, f float64) []byte {
	// A whole number that was written as a float is an integer once it has been through JSON.
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(b, int64(f), 10)
	}
	raw, err := json.Marshal(f)
	if err != nil {
		return append(b, "null"...) // unreachable: ofFloat lets no such number in
	}
	return append(b, raw...)
}

const hex = "0123456789abcdef"

// appendText writes a JSON string with the escapes of encoding/json.
func appendText(b []byte, s string) []byte {
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c < utf8.RuneSelf && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&' {
			i++
			continue
		}
		if c < utf8.RuneSelf {
			b = append(b, s[start:i]...)
			b = appendEscape(b, c)
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b = append(append(b, s[start:i]...), "\ufffd"...)
			start = i + n
		case r == '\u2028' || r == '\u2029':
			b = append(append(b, s[start:i]...), `\u202`...)
			b = append(b, hex[r&0xf])
			start = i + n
		}
		i += n
	}
	return append(append(b, s[start:]...), '"')
}

func appendEscape(b []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(b, '\\', c)
	case '\n':
		return append(b, '\\', 'n')
	case '\r':
		return append(b, '\\', 'r')
	case '\t':
		return append(b, '\\', 't')
	case '\b':
		return append(b, '\\', 'b')
	case '\f':
		return append(b, '\\', 'f')
	}
	return append(b, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
}

// isNothing reports whether a document holds no value.
func isNothing(raw []byte) bool { return len(bytes.TrimSpace(raw)) == 0 }

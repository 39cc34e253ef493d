package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// scanner goes over a document once.
type scanner struct {
	raw   []byte
	pos   int
	depth int
	rules Rule
	path  []step
	// ignored are where names of fields are that are left out: from, to.
	ignored [][2]int
}

// step is a part of a path: a name, or the place in a list.
type step struct {
	name  []byte
	index int
}

// document reads the only value that may be there.
func (s *scanner) document(at reflect.Type) error {
	switch {
	case len(s.raw) > MaxBytes:
		return s.wrong("the document has %d bytes, more than %d: make it smaller", len(s.raw), MaxBytes)
	case !utf8.Valid(s.raw):
		return s.wrong("the document is not UTF-8: write it in UTF-8")
	}
	s.blank()
	if s.pos == len(s.raw) {
		return s.wrong("there is no JSON: give one document")
	}
	if err := s.value(at); err != nil {
		return err
	}
	s.blank()
	if s.pos < len(s.raw) {
		return s.wrong("something follows the document: give one document and nothing else")
	}
	return nil
}

const maxPath = 200

// wrong is an error at the present place.
func (s *scanner) wrong(format string, args ...any) error { return s.fault(format, args...) }

func (s *scanner) fault(format string, args ...any) *Error {
	var b strings.Builder
	for _, p := range s.path {
		switch {
		case b.Len() > maxPath:
			continue
		case p.index >= 0:
			fmt.Fprintf(&b, "[%d]", p.index)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(shown(string(p.name)))
		}
	}
	at := make([]Step, len(s.path))
	for i, p := range s.path {
		at[i] = Step{string(p.name), p.index}
	}
	return &Error{Path: b.String(), Problem: fmt.Sprintf(format, args...), At: at}
}

// wrongName is an error about the name of a field of the object at the present place.
func (s *scanner) wrongName(name, format string, args ...any) *Error {
	err := s.fault(format, args...)
	err.At = append(err.At, Step{name, -1})
	return err
}

// unknown is the error of a field that nothing of the type is called like.
func (s *scanner) unknown(name string) error {
	err := s.wrongName(name, "there is no field %s: leave it out", shown(name))
	err.Unknown = true
	return err
}

// shown is a name from the input, as a message may have it.
func shown(name string) string {
	const longest = 64
	if len(name) > longest {
		cut := longest
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name = name[:cut] + "…"
	}
	if quoted := strconv.QuoteToASCII(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

func (s *scanner) syntax() error {
	if s.pos >= len(s.raw) {
		return s.wrong("the JSON ends early: send all of it")
	}
	return s.wrong("there is no valid JSON at byte %d: correct it", s.pos)
}

func (s *scanner) blank() {
	for s.pos < len(s.raw) {
		switch s.raw[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

func (s *scanner) value(at reflect.Type) error {
	if s.pos >= len(s.raw) {
		return s.syntax()
	}
	switch c := s.raw[s.pos]; {
	case c == '{':
		return s.within(at, s.object)
	case c == '[':
		return s.within(at, s.list)
	case c == '"':
		return s.text()
	case c == '-' || c >= '0' && c <= '9':
		return s.number()
	}
	for _, word := range []string{"true", "false", "null"} {
		if bytes.HasPrefix(s.raw[s.pos:], []byte(word)) {
			s.pos += len(word)
			return nil
		}
	}
	return s.syntax()
}

func (s *scanner) within(at reflect.Type, read func(*shape) error) error {
	most := MaxDepth
	if s.rules&Envelope != 0 {
		most = maxEnvelope
	}
	if s.depth++; s.depth > most {
		return s.wrong("it nests more than %d times: make it flatter", most)
	}
	s.pos++
	err := read(shapeOf(at))
	s.depth--
	return err
}

// anything is the type of values that may be anything.
func anything() reflect.Type { return reflect.TypeFor[any]() }

func (s *scanner) list(of *shape) error {
	elem := of.elem
	if elem == nil {
		elem = anything()
	}
	s.path = append(s.path, step{index: 0})
	defer func() { s.path = s.path[:len(s.path)-1] }()
	s.blank()
	if s.pos < len(s.raw) && s.raw[s.pos] == ']' {
		s.pos++
		return nil
	}
	for {
		s.blank()
		if err := s.value(elem); err != nil {
			return err
		}
		more, err := s.more(']')
		if err != nil || !more {
			return err
		}
		s.path[len(s.path)-1].index++
	}
}

// more reads what separates two values, or the end.
func (s *scanner) more(end byte) (bool, error) {
	s.blank()
	if s.pos < len(s.raw) {
		switch s.raw[s.pos] {
		case ',':
			s.pos++
			return true, nil
		case end:
			s.pos++
			return false, nil
		}
	}
	return false, s.syntax()
}

func (s *scanner) object(of *shape) error {
	var seen names
	s.blank()
	if s.pos < len(s.raw) && s.raw[s.pos] == '}' {
		s.pos++
		return nil
	}
	for {
		s.blank()
		if s.pos >= len(s.raw) || s.raw[s.pos] != '"' {
			return s.syntax()
		}
		from := s.pos + 1
		name, err := s.name()
		if err != nil {
			return err
		}
		if !seen.add(name) {
			return s.wrongName(string(name), "the name %s comes twice: leave one of the two out", shown(string(name)))
		}
		at, err := s.field(of, name, from, s.pos-1)
		if err != nil {
			return err
		}
		s.blank()
		if s.pos >= len(s.raw) || s.raw[s.pos] != ':' {
			return s.syntax()
		}
		s.pos++
		s.blank()
		s.path = append(s.path, step{name, -1})
		err = s.value(at)
		s.path = s.path[:len(s.path)-1]
		if err != nil {
			return err
		}
		more, err := s.more('}')
		if err != nil || !more {
			return err
		}
	}
}

// field is the type of what has that name.
func (s *scanner) field(of *shape, called []byte, from, to int) (reflect.Type, error) {
	if of.fields == nil {
		if of.elem != nil {
			return of.elem, nil
		}
		return anything(), nil
	}
	if at, ok := of.fields[string(called)]; ok {
		return at, nil
	}
	name := string(called)
	other, similar := of.folded[fold(name)]
	switch {
	case similar && s.rules&Foreign == 0:
		return nil, s.wrongName(name, "there is no field %s: names are exact, write %s", shown(name), shown(other))
	case similar:
		s.ignored = append(s.ignored, [2]int{from, to})
	case s.rules&Unknown == 0:
		return nil, s.unknown(name)
	}
	return anything(), nil
}

// blanked is the document with other names for the fields that are left out: no field is called so.
func (s *scanner) blanked() []byte {
	out := bytes.Clone(s.raw)
	for _, at := range s.ignored {
		for i := at[0]; i < at[1]; i++ {
			out[i] = ' '
		}
	}
	return out
}

// names are those that an object had until now.
type names struct {
	few  [][]byte
	many map[string]bool
}

// add reports whether a name is new.
func (n *names) add(name []byte) bool {
	const most = 16
	if n.many != nil {
		if n.many[string(name)] {
			return false
		}
		n.many[string(name)] = true
		return true
	}
	for _, old := range n.few {
		if bytes.Equal(old, name) {
			return false
		}
	}
	n.few = append(n.few, name)
	if len(n.few) > most {
		n.many = make(map[string]bool, 2*most)
		for _, old := range n.few {
			n.many[string(old)] = true
		}
	}
	return true
}

// name reads the name of a field.
func (s *scanner) name() ([]byte, error) {
	from := s.pos
	if err := s.text(); err != nil {
		return nil, err
	}
	raw := s.raw[from:s.pos]
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	var out string
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, s.wrong("a name cannot be read: %v", err)
	}
	return []byte(out), nil
}

// text goes over a text, which begins at the present place.
func (s *scanner) text() error {
	for s.pos++; s.pos < len(s.raw); s.pos++ {
		switch c := s.raw[s.pos]; {
		case c == '"':
			s.pos++
			return nil
		case c == '\\':
			if err := s.escape(); err != nil {
				return err
			}
		case c == 0:
			return s.wrong("a text holds the character NUL: leave it out")
		case c < ' ':
			return s.syntax()
		}
	}
	return s.syntax()
}

// escape looks at what follows a backslash, and ends at its last byte.
func (s *scanner) escape() error {
	if s.pos++; s.pos >= len(s.raw) {
		return s.syntax()
	}
	if s.raw[s.pos] != 'u' {
		if bytes.IndexByte([]byte(`"\/bfnrt`), s.raw[s.pos]) < 0 {
			return s.syntax()
		}
		return nil
	}
	r, ok := s.hex(s.pos + 1)
	if !ok {
		return s.syntax()
	}
	s.pos += 4
	switch {
	case s.rules&Envelope != 0:
	case r == 0:
		return s.wrong("a text holds the character NUL: leave it out")
	case r >= 0xDC00 && r <= 0xDFFF:
		return s.wrong("a text holds the second half of a character: write the whole character")
	case r >= 0xD800 && r <= 0xDBFF:
		low := rune(0)
		if bytes.HasPrefix(s.raw[s.pos+1:], []byte(`\u`)) {
			low, _ = s.hex(s.pos + 3)
		}
		if low < 0xDC00 || low > 0xDFFF {
			return s.wrong("a text holds the first half of a character: write the whole character")
		}
		s.pos += 6
	}
	return nil
}

// hex reads four digits.
func (s *scanner) hex(at int) (rune, bool) {
	if at+4 > len(s.raw) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(s.raw[at:at+4]), 16, 16)
	return rune(n), err == nil
}

// number reads a number, and refuses those that readers understand in different ways.
func (s *scanner) number() error {
	from := s.pos
	for s.pos < len(s.raw) && bytes.IndexByte([]byte("+-.0123456789eE"), s.raw[s.pos]) >= 0 {
		s.pos++
	}
	literal := s.raw[from:s.pos]
	switch {
	case len(literal) > maxNumber:
		return s.wrong("a number has more than %d digits: write it as a text", maxNumber)
	case !json.Valid(literal):
		s.pos = from
		return s.syntax()
	case len(literal) < 16 && !bytes.ContainsAny(literal, ".eE"):
		return nil // every reader keeps it
	}
	text := string(literal)
	f, err := strconv.ParseFloat(text, 64)
	mantissa, _, _ := strings.Cut(strings.ToLower(text), "e")
	switch {
	case err != nil || math.IsInf(f, 0):
		return s.wrong("the number %s is too large to be kept: write it as a text", shown(text))
	case f == 0 && strings.ContainsAny(mantissa, "123456789"):
		return s.wrong("the number %s is too small to be kept: write it as a text", shown(text))
	case s.rules&WholeNumbers == 0 || bytes.ContainsAny(literal, ".eE"):
		return nil
	}
	if _, err := strconv.ParseInt(text, 10, 64); err != nil && strconv.FormatFloat(f, 'f', -1, 64) != text {
		return s.wrong("Kubernetes does not keep the whole number %s as it is: write it as a text", shown(text))
	}
	return nil
}

// value reads a document that was looked at, with its numbers as they are.
func value(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	return v, nil
}

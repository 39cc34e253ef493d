package diff

import (
	"encoding/binary"
	"encoding/json"
	"slices"
	"strings"
	"time"
	"unique"

	"github.com/cespare/xxhash/v2"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Fields is the set of fields that one manager owns in an object, read from metadata.managedFields after a
// server-side apply. It is interned: objects of one shape share one copy, which is what lets an engine keep the
// exact set for every object that it manages. The zero value is the empty set.
type Fields struct {
	code unique.Handle[string]
}

// A field set is kept in a flat code that is walked without decoding it first:
//
//	node  = uvarint(number of children) child*
//	child = kind uvarint(len) text node
//
// kind is the letter of the fieldsV1 format: f (field), k (list item by key), v (set member), i (index), "." (the
// item itself). Children are sorted by kind and text, so that equal sets have equal code.
type fieldCursor struct{ code string }

// whole is the code of a set that stands for everything but what the API server owns.
const whole = "*"

// Whole is the set of all fields but status and what the API server owns. It serves where an object is applied at
// another version than it is read at, so that the owned fields are unknown: any change then counts as drift.
func Whole() Fields { return Fields{code: unique.Make(whole)} }

// Empty reports whether the set holds nothing that Match could compare.
func (f Fields) Empty() bool {
	return f == Fields{} || f.code.Value() == "\x00" || f.code.Value() == whole
}

// OwnedFields returns the fields that manager owns by server-side apply in obj, an object as the API server returned
// it; Whole when it was applied at another version than obj is at. The second result is false when the manager has
// never applied the object.
func OwnedFields(obj map[string]any, manager string) (Fields, bool) {
	for entry := range object.Managed(obj) {
		if !object.AppliedBy(entry, manager) {
			continue
		}
		if entry["apiVersion"] != obj["apiVersion"] {
			return Whole(), true
		}
		return internFields(object.Dict(entry, "fieldsV1")), true
	}
	return Fields{}, false
}

// AppliedAt returns when manager last changed obj by server-side apply, in seconds since 1970; 0 when it never did.
func AppliedAt(obj map[string]any, manager string) int64 {
	for entry := range object.Managed(obj) {
		if !object.AppliedBy(entry, manager) {
			continue
		}
		if at, err := time.Parse(time.RFC3339, object.Text(entry, "time")); err == nil {
			return at.Unix()
		}
	}
	return 0
}

func internFields(set map[string]any) Fields {
	return Fields{code: unique.Make(string(encodeFields(nil, set)))}
}

func encodeFields(buf []byte, set map[string]any) []byte {
	names := make([]string, 0, len(set))
	for name := range set {
		if name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	buf = binary.AppendUvarint(buf, uint64(len(names)))
	for _, name := range names {
		text := ""
		if len(name) > 2 {
			text = name[2:]
		}
		buf = append(buf, name[0])
		buf = binary.AppendUvarint(buf, uint64(len(text)))
		buf = append(buf, text...)
		sub, _ := set[name].(map[string]any)
		buf = encodeFields(buf, sub)
	}
	return buf
}

func (c *fieldCursor) uvarint() int {
	var v uint64
	for shift := uint(0); len(c.code) > 0; shift += 7 {
		b := c.code[0]
		c.code = c.code[1:]
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			break
		}
	}
	return int(v)
}

func (c *fieldCursor) child() (kind byte, text string) {
	kind = c.code[0]
	c.code = c.code[1:]
	n := c.uvarint()
	text = c.code[:n]
	c.code = c.code[n:]
	return kind, text
}

func (c *fieldCursor) skip() {
	for n := c.uvarint(); n > 0; n-- {
		c.child()
		c.skip()
	}
}

// Print is the fingerprint of the values that obj holds in the fields of the set. Equal prints mean that nothing we
// sent has changed, whatever other fields, defaults or managers did. It costs no API call and keeps no copy.
func (f Fields) Print(obj map[string]any) uint64 {
	h := xxhash.New()
	if f == (Fields{}) {
		return h.Sum64()
	}
	code := f.code.Value()
	_, _ = h.WriteString(code)
	printer := printer{digest: h}
	if code == whole {
		printer.leaf(declared(obj), true)
	} else {
		printer.node(&fieldCursor{code: code}, obj, true)
	}
	return h.Sum64()
}

// declared leaves out of an object what only the API server and controllers write.
func declared(obj map[string]any) map[string]any {
	out := make(map[string]any, len(obj))
	for k, v := range obj {
		if k != "status" && k != "metadata" {
			out[k] = v
		}
	}
	meta := object.Dict(obj, "metadata")
	out["labels"], out["annotations"] = meta["labels"], meta["annotations"]
	return out
}

type printer struct {
	digest  *xxhash.Digest
	scratch [9]byte
}

// node hashes the values at the children of the node under c; value is what the object holds there.
func (p *printer) node(c *fieldCursor, value any, present bool) {
	n := c.uvarint()
	if n == 0 {
		p.leaf(value, present)
		return
	}
	for ; n > 0; n-- {
		kind, text := c.child()
		if kind == '.' {
			p.mark(present)
			c.skip()
			continue
		}
		sub, ok := step(value, kind, text)
		if kind == 'v' {
			p.mark(ok)
			c.skip()
			continue
		}
		if !ok {
			p.mark(false)
			c.skip()
			continue
		}
		p.node(c, sub, ok)
	}
}

func (p *printer) mark(present bool) {
	p.scratch[0] = '-'
	if present {
		p.scratch[0] = '+'
	}
	_, _ = p.digest.Write(p.scratch[:1])
}

func (p *printer) tagged(tag byte, bits uint64) {
	p.scratch[0] = tag
	binary.LittleEndian.PutUint64(p.scratch[1:], bits)
	_, _ = p.digest.Write(p.scratch[:])
}

// leaf hashes a whole value: a scalar, or an atomic map or list.
func (p *printer) leaf(value any, present bool) {
	p.mark(present)
	switch v := value.(type) {
	case nil:
		p.tagged('0', 0)
	case string:
		p.tagged('s', uint64(len(v)))
		_, _ = p.digest.WriteString(v)
	case bool:
		p.tagged('b', 0)
		p.mark(v)
	case map[string]any:
		p.tagged('m', uint64(len(v)))
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			p.tagged('k', uint64(len(k)))
			_, _ = p.digest.WriteString(k)
			p.leaf(v[k], true)
		}
	case []any:
		p.tagged('l', uint64(len(v)))
		for _, item := range v {
			p.leaf(item, true)
		}
	default: // numbers
		text, _ := json.Marshal(v)
		p.tagged('n', uint64(len(text)))
		_, _ = p.digest.Write(text)
	}
}

// step goes one path element down from value.
func step(value any, kind byte, text string) (any, bool) {
	switch kind {
	case 'f':
		m, ok := value.(map[string]any)
		if !ok {
			return nil, false
		}
		v, ok := m[text]
		return v, ok
	case 'k':
		list, _ := value.([]any)
		i := indexByKey(list, text)
		if i < 0 {
			return nil, false
		}
		return list[i], true
	case 'v':
		list, _ := value.([]any)
		if i := indexByValue(list, text); i >= 0 {
			return list[i], true
		}
	case 'i':
		var i int
		list, _ := value.([]any)
		if json.Unmarshal([]byte(text), &i) == nil && i >= 0 && i < len(list) {
			return list[i], true
		}
	}
	return nil, false
}

// indexByKey finds the item of an associative list whose key fields are those of text, for example
// {"containerPort":80,"protocol":"TCP"}; -1 when there is none.
func indexByKey(list []any, text string) int {
	var keys map[string]any
	if json.Unmarshal([]byte(text), &keys) != nil {
		return -1
	}
	for i, item := range list {
		m, ok := item.(map[string]any)
		if ok && hasKeys(m, keys) {
			return i
		}
	}
	return -1
}

// indexByValue finds the member of a set that text spells as JSON; -1 when there is none.
func indexByValue(list []any, text string) int {
	var want any
	if json.Unmarshal([]byte(text), &want) != nil {
		return -1
	}
	return slices.IndexFunc(list, func(item any) bool { return sameScalar(item, want) })
}

func hasKeys(item, keys map[string]any) bool {
	for name, want := range keys {
		have, ok := item[name]
		if !ok {
			// A key with a default can be missing in what we sent (protocol: TCP); what is live always has it.
			continue
		}
		if !sameScalar(have, want) {
			return false
		}
	}
	return true
}

// sameScalar compares scalars of which one may be decoded with int64 and the other with float64.
func sameScalar(a, b any) bool {
	if x, ok := object.Float(a); ok {
		y, ok := object.Float(b)
		return ok && x == y
	}
	switch a.(type) {
	case string, bool, nil:
		return a == b
	}
	return false
}

// String prints the paths of the set, one a line, for people who debug.
func (f Fields) String() string {
	if f == (Fields{}) {
		return ""
	}
	if f.code.Value() == whole {
		return "everything\n"
	}
	var b strings.Builder
	c := fieldCursor{code: f.code.Value()}
	printPaths(&b, &c, "")
	return b.String()
}

func printPaths(b *strings.Builder, c *fieldCursor, path string) {
	n := c.uvarint()
	if n == 0 && path != "" {
		b.WriteString(path + "\n")
	}
	for ; n > 0; n-- {
		kind, text := c.child()
		next := path + "." + text
		if kind != 'f' {
			next = path + "[" + text + "]"
		}
		printPaths(b, c, next)
	}
}

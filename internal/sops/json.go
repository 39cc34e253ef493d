package sops

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
)

// jsonDocument is an object of JSON, in its order.
type jsonDocument struct{ root *jsonObject }

type jsonObject struct {
	keys   []string
	values []any // scalars, *jsonObject, []any
}

// readJSON returns nil where the document has no metadata, or is no JSON.
func readJSON(data []byte) (*File, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	r := jsonReader{d: d}
	v, err := r.value(0)
	if r.refused != nil {
		return nil, r.refused
	}
	obj, ok := v.(*jsonObject)
	if err != nil || !ok {
		return nil, nil //nolint:nilerr // it is no JSON object
	}
	if _, err := d.Token(); err != io.EOF {
		return readYAML(data) // flow style, or several documents
	}
	block, ok := obj.take(blockKey).(*jsonObject)
	if !ok {
		return nil, nil
	}
	raw, _ := block.generic().(dict)
	if raw["mac"] == nil && raw["lastmodified"] == nil {
		return nil, nil
	}
	meta, err := readMetadata(raw)
	if err != nil {
		return nil, err
	}
	f := &File{Format: JSON, doc: &jsonDocument{obj}, meta: meta}
	for i, k := range obj.keys {
		if s, ok := obj.values[i].(string); ok && k == "kind" {
			f.Kind = s
		}
	}
	return f, nil
}

// isBinary reports whether the document is what SOPS makes of a file that has no format.
func (d *jsonDocument) isBinary() bool { return len(d.root.keys) == 1 && d.root.keys[0] == "data" }

type jsonReader struct {
	d       *json.Decoder
	count   int
	refused error // what is wrong with a document that is JSON
}

func (r *jsonReader) value(depth int) (any, error) {
	if r.count++; r.count > maxValues || depth > maxDepth {
		r.refused = fmt.Errorf("%w: more than %d values, or deeper than %d", ErrLimit, maxValues, maxDepth)
		return nil, r.refused
	}
	t, err := r.d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return r.list(depth)
		}
		return r.object(depth)
	case json.Number:
		if i, err := strconv.Atoi(t.String()); err == nil {
			return i, nil
		}
		return t.Float64()
	}
	return t, nil
}

func (r *jsonReader) list(depth int) (any, error) {
	out := []any{}
	for r.d.More() {
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	_, err := r.d.Token()
	return out, err
}

func (r *jsonReader) object(depth int) (any, error) {
	out := &jsonObject{}
	seen := map[string]bool{}
	for r.d.More() {
		t, err := r.d.Token()
		if err != nil {
			return nil, err
		}
		key, _ := t.(string)
		if seen[key] {
			r.refused = fmt.Errorf("%w: the key %q is there twice", ErrDamaged, key)
			return nil, r.refused
		}
		seen[key] = true
		v, err := r.value(depth + 1)
		if err != nil {
			return nil, err
		}
		out.keys, out.values = append(out.keys, key), append(out.values, v)
	}
	_, err := r.d.Token()
	return out, err
}

// take takes a field out.
func (o *jsonObject) take(key string) any {
	for i, k := range o.keys {
		if k == key {
			v := o.values[i]
			o.keys, o.values = append(o.keys[:i:i], o.keys[i+1:]...), append(o.values[:i:i], o.values[i+1:]...)
			return v
		}
	}
	return nil
}

// generic is the object as a dict.
func (o *jsonObject) generic() any { return genericJSON(o) }

func genericJSON(v any) any {
	switch v := v.(type) {
	case *jsonObject:
		out := make(dict, len(v.keys))
		for i, k := range v.keys {
			out[k] = genericJSON(v.values[i])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = genericJSON(v[i])
		}
		return out
	}
	return v
}

func (d *jsonDocument) walk(leaf leafFunc) error {
	l := begin(leaf)
	return walkObject(&l, d.root)
}

func walkObject(l *level, o *jsonObject) error {
	for i, key := range o.keys {
		var err error
		if o.values[i], err = walkJSON(l, o.values[i], key, true); err != nil {
			return err
		}
	}
	return nil
}

func walkJSON(l *level, v any, key string, named bool) (any, error) {
	switch v := v.(type) {
	case *jsonObject:
		inner, err := l.into(key, named)
		if err != nil {
			return nil, err
		}
		return v, walkObject(&inner, v)
	case []any:
		inner, err := l.into(key, named)
		if err != nil {
			return nil, err
		}
		kept := v[:0]
		for i := range v {
			plain, err := walkJSON(&inner, v[i], "", false)
			if err != nil {
				return nil, err
			}
			if _, is := plain.(comment); !is { // JSON has none
				kept = append(kept, plain)
			}
		}
		return kept, nil
	}
	return l.value(v, key, named)
}

func (d *jsonDocument) encode() ([]byte, error) {
	var flat, out bytes.Buffer
	if err := writeJSON(&flat, d.root); err != nil {
		return nil, err
	}
	if err := json.Indent(&out, flat.Bytes(), "", "\t"); err != nil {
		return nil, fmt.Errorf("%w: it cannot be written", ErrDamaged)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

func writeJSON(out *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case *jsonObject:
		out.WriteByte('{')
		for i, key := range v.keys {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, key); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := writeJSON(out, v.values[i]); err != nil {
				return err
			}
		}
		out.WriteByte('}')
		return nil
	case []any:
		out.WriteByte('[')
		for i := range v {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := writeJSON(out, v[i]); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return fmt.Errorf("%w: a value cannot be written as JSON", ErrDamaged)
	}
	out.Write(raw)
	return nil
}

// binaryDocument is a file without a format: the field data of a JSON document.
type binaryDocument struct{ *jsonDocument }

func (d binaryDocument) encode() ([]byte, error) {
	text, ok := d.root.values[0].(string)
	if !ok {
		return nil, fmt.Errorf("%w: its data is no text", ErrDamaged)
	}
	return []byte(text), nil
}

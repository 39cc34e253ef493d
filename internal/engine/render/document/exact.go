package document

import (
	"errors"
	"fmt"
	"iter"
	"math"

	yaml "go.yaml.in/yaml/v2"
)

// Parts yields the documents of a YAML file as text, empty ones included, with the line that each starts at, counted from 1.
// A last line without a line break gets one, as in ReadYAML. Nothing of them is read yet, and each can be as long as the
// file. The error is an *Error.
func Parts(data []byte) (iter.Seq2[[]byte, int], error) {
	data, err := utf8Of(data)
	if err != nil {
		return nil, err
	}
	return parts(ended(data)), nil
}

// ExactJSON converts one YAML document, which starts at a line of its file, to canonical JSON of at most limit bytes. It refuses
// what has more than one meaning: a key that comes twice, and a whole number that Kubernetes does not keep. The error is an
// *Error with the line, as far as that is known.
func ExactJSON(part []byte, line int, limit int64) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // as in decodeYAML
			out = nil
			err = &Error{Line: line, Err: errors.New("read YAML: the parser stopped at a construct it cannot handle; write it in another way")}
		}
	}()
	var doc any
	if err := yaml.UnmarshalStrict(part, &doc); err != nil {
		return nil, placed(err, part, line)
	}
	v, err := fromAny(doc, 0)
	if err != nil {
		return nil, &Error{Line: line, Err: err}
	}
	if v.size(limit) > limit { // what is left to look at is bounded then
		return nil, &Error{Line: line, Err: fmt.Errorf("the document has more than %d MiB with its aliases; split it", limit>>20)}
	}
	if n, found := unkept(doc); found {
		return nil, &Error{Line: line, Err: fmt.Errorf("Kubernetes does not keep the whole number %d as it is; write it as a text", n)}
	}
	return v.appendJSON(nil), nil
}

// unkept finds a whole number that no reader of Kubernetes keeps.
func unkept(doc any) (uint64, bool) {
	switch x := doc.(type) {
	case uint64:
		return x, x > math.MaxInt64
	case []any:
		for _, inner := range x {
			if n, found := unkept(inner); found {
				return n, true
			}
		}
	case map[any]any:
		for _, inner := range x {
			if n, found := unkept(inner); found {
				return n, true
			}
		}
	}
	return 0, false
}

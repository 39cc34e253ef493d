// Package strict reads JSON that is judged by one program and used by another, so that both understand the same. A
// document has one meaning or is refused: names of fields are exact, no name comes twice, and texts and numbers are such
// that every reader keeps them. Pure.
package strict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
)

const (
	// MaxDepth is how deep a document may nest.
	MaxDepth = 100
	// maxEnvelope is how deep a message may nest that carries documents.
	maxEnvelope = 10_000
	// MaxBytes is how large a document may be. Callers that take less look before they read.
	MaxBytes = 32 << 20
	// maxNumber is how many digits and signs a number may have.
	maxNumber = 400
)

// Rule makes an exception.
type Rule uint8

const (
	// Unknown leaves out fields that the type does not have. A field whose name is that of a known one in other letters is
	// refused too: another reader may take the one for the other.
	Unknown Rule = 1 << iota
	// Foreign is for what programs of others write, which nothing of ours judged before: fields whose name is that of a known
	// one in other letters are left out too, and texts may hold NUL and halves of characters.
	Foreign
	// Envelope is for a message that carries documents, each of which is checked separately: a text that cannot be kept, or
	// too deep a nesting, is the fault of one of them and not of the message.
	Envelope
	// WholeNumbers refuses whole numbers that Kubernetes does not keep: what is written would not be what was judged.
	WholeNumbers
)

// Error says why a document is refused.
type Error struct {
	// Path is where: "spec.sources[1].helm"; empty for the document itself.
	Path string
	// Problem is what is wrong, and what to do.
	Problem string
	// At is where as well, step by step. Where the name of a field is what is wrong, it is the last step.
	At []Step
	// Unknown says that all that is wrong is a field that the type does not have.
	Unknown bool
}

// Step is a part of the way to a value: the name of a field, as the document means it, or the place in a list.
type Step struct {
	Name  string
	Index int // counted from 0; -1 for a name
}

// Error says where and why.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Problem
	}
	return e.Path + ": " + e.Problem
}

// Decode reads one document into a value, as encoding/json does where nothing is in doubt, and refuses it otherwise. Without
// rules unknown fields are refused.
func Decode(raw []byte, into any, rules ...Rule) error {
	at := reflect.TypeOf(into)
	if at == nil || at.Kind() != reflect.Pointer {
		return fmt.Errorf("read JSON into a %T: a pointer is needed", into)
	}
	s := scanner{raw: raw, rules: join(rules)}
	if err := s.document(at.Elem()); err != nil {
		return err
	}
	if len(s.ignored) > 0 {
		raw = s.blanked()
	}
	return json.Unmarshal(raw, into)
}

// Check looks at a document as Decode does into a value of the type of like, which may be nil for any, and reads nothing.
func Check(raw []byte, like any, rules ...Rule) error {
	at := reflect.TypeOf(like)
	if at == nil {
		at = reflect.TypeFor[any]()
	}
	s := scanner{raw: raw, rules: join(rules)}
	return s.document(at)
}

func join(rules []Rule) (all Rule) {
	for _, r := range rules {
		all |= r
	}
	if all&Foreign != 0 {
		all |= Unknown | Envelope
	}
	return all
}

// Normal writes a document in the one form that is judged, signed and used: names in the order of their bytes, no blanks,
// texts as encoding/json escapes them, and numbers as they came. The form of a form is the same, and a document in normal
// form stays as it is when one that holds it as a json.RawMessage is written.
func Normal(raw []byte) ([]byte, error) {
	v, err := Value(raw)
	if err != nil {
		return nil, err
	}
	out, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return out, nil
}

// IsNormal reports whether a document is in normal form.
func IsNormal(raw []byte) bool {
	normal, err := Normal(raw)
	return err == nil && bytes.Equal(normal, raw)
}

// Value reads one document of any shape. Its numbers are json.Number, as they came.
func Value(raw []byte) (any, error) {
	if err := Check(raw, nil); err != nil {
		return nil, err
	}
	return value(raw)
}

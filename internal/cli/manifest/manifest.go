// Package manifest reads the files that commands are given: one or more Kubernetes objects as YAML or JSON, with limits,
// since such files come from anywhere. A file has one meaning or is refused, with the file and the line.
package manifest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Limits of one file.
const (
	maxBytes     = 64 << 20
	maxDocuments = 20000
)

// Read returns the objects in file, "-" for stdin, in their order: empty documents are dropped and Lists unpacked.
// Whole numbers are int64.
func Read(file string, stdin io.Reader) ([]map[string]any, error) {
	in, name := stdin, "standard input"
	if file != "-" {
		f, err := os.Open(file) //nolint:gosec // the file is the user's own choice
		if err != nil {
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		defer func() { _ = f.Close() }()
		in, name = f, file
	}
	raw, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read manifest %s: %w", name, err)
	}
	if len(raw) > maxBytes {
		return nil, fmt.Errorf("manifest %s is larger than %d MiB; split it", name, maxBytes>>20)
	}
	docs, err := parse(raw)
	if err != nil {
		return nil, fmt.Errorf("read manifest %w", document.In(name, err))
	}
	if len(docs) == 0 {
		return nil, fmt.Errorf("manifest %s holds no object; give one as YAML or JSON", name)
	}
	return docs, nil
}

// Into reads an object of [Read] into a value of its type. Fields that the type does not have are left out.
func Into(obj map[string]any, target any) error {
	raw, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("encode: %w", err)
	}
	return strict.Decode(raw, target, strict.Unknown)
}

// parse reads all documents. Errors are of the type *document.Error.
func parse(raw []byte) ([]map[string]any, error) {
	parts, err := document.Parts(raw)
	if err != nil {
		return nil, err
	}
	var out []map[string]any
	for part, line := range parts {
		obj, err := one(part, line)
		if err != nil {
			return nil, err
		}
		if obj == nil {
			continue
		}
		if out = appendObject(out, obj); len(out) > maxDocuments {
			return nil, &document.Error{Line: line, Err: fmt.Errorf("there are more than %d objects; split the file", maxDocuments)}
		}
	}
	return out, nil
}

// one reads a document; nil for one with nothing in it.
func one(part []byte, line int) (map[string]any, error) {
	asJSON := part
	if !bytes.HasPrefix(bytes.TrimSpace(part), []byte("{")) || !json.Valid(part) {
		var err error
		if asJSON, err = document.ExactJSON(part, line, strict.MaxBytes); err != nil {
			return nil, err
		}
	}
	if string(asJSON) == "null" {
		return nil, nil
	}
	if err := strict.Check(asJSON, header{}, anyObject...); err != nil {
		return nil, placed(err, part, line)
	}
	obj, err := object.DecodeJSON(asJSON)
	if err != nil {
		return nil, &document.Error{Line: line, Err: err}
	}
	if err := checkTypes(asJSON, obj); err != nil {
		return nil, placed(err, part, line)
	}
	return obj, nil
}

// header is what all objects have: a name like one of these in other letters is refused.
type header struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   metav1.ObjectMeta `json:"metadata"`
}

// anyObject are the rules for objects of any kind. Their texts may be whatever Kubernetes keeps.
var anyObject = []strict.Rule{strict.Unknown, strict.Envelope, strict.WholeNumbers} //nolint:gochecknoglobals // a constant

// likes are the kinds whose fields are known here. These objects are judged by their fields before they are used.
func likes() map[string]any {
	return map[string]any{
		v1alpha1.KindApplication:    v1alpha1.Application{},
		v1alpha1.KindApplicationSet: v1alpha1.ApplicationSet{},
		v1alpha1.KindAppProject:     v1alpha1.AppProject{},
	}
}

// checkTypes looks at an object, or at the items of a List, by the fields of its kind.
func checkTypes(raw []byte, obj map[string]any) error {
	if !isList(obj) {
		return checkType(raw, obj)
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := strict.Decode(raw, &list, anyObject...); err != nil {
		return err
	}
	items, _ := obj["items"].([]any)
	for i, item := range items {
		inner, isObject := item.(map[string]any)
		if !isObject {
			continue
		}
		err := strict.Check(list.Items[i], header{}, anyObject...)
		if err == nil {
			err = checkType(list.Items[i], inner)
		}
		var wrong *strict.Error
		if errors.As(err, &wrong) {
			wrong.Path = strings.TrimSuffix(fmt.Sprintf("items[%d].%s", i, wrong.Path), ".")
			wrong.At = append([]strict.Step{{Name: "items", Index: -1}, {Index: i}}, wrong.At...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func checkType(raw []byte, obj map[string]any) error {
	kind, _ := obj["kind"].(string)
	like := likes()[kind]
	if like == nil || obj["apiVersion"] != v1alpha1.GroupVersion().String() {
		return nil
	}
	return strict.Check(raw, like, strict.Unknown, strict.WholeNumbers)
}

// isList distinguishes a List from an object that has items of its own.
func isList(obj map[string]any) bool {
	_, has := obj["items"].([]any)
	meta, _ := obj["metadata"].(map[string]any)
	_, named := meta["name"]
	return has && !named
}

// appendObject appends obj, or the items of a List.
func appendObject(out []map[string]any, obj map[string]any) []map[string]any {
	if !isList(obj) {
		return append(out, obj)
	}
	items, _ := obj["items"].([]any)
	for _, item := range items {
		if o, ok := item.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

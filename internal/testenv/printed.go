package testenv

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	kubeyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// Printed is what a program such as helm or kustomize printed, as Argo CD reads it: one object for each document, Lists unpacked.
func Printed(t testing.TB, out []byte) []any {
	t.Helper()
	var objects []any
	for d := kubeyaml.NewYAMLOrJSONDecoder(bytes.NewReader(out), 4096); ; {
		var ext runtime.RawExtension
		if err := d.Decode(&ext); errors.Is(err, io.EOF) {
			return objects
		} else if err != nil {
			t.Fatalf("what the program printed cannot be read: %v", err)
		}
		if raw := bytes.TrimSpace(ext.Raw); len(raw) > 0 && string(raw) != "null" {
			objects = append(objects, unpacked(Decoded(t, raw))...)
		}
	}
}

// unpacked returns the items of a List, and any other object as it is, without maps of labels or annotations that are null:
// these mean the same as none.
func unpacked(object any) []any {
	fields, _ := object.(map[string]any)
	kind, _ := fields["kind"].(string)
	if items, ok := fields["items"].([]any); ok && strings.HasSuffix(kind, "List") && fields["spec"] == nil {
		var out []any
		for _, item := range items {
			out = append(out, unpacked(item)...)
		}
		return out
	}
	if meta, ok := fields["metadata"].(map[string]any); ok {
		for _, name := range []string{"labels", "annotations"} {
			if v, has := meta[name]; has && v == nil {
				delete(meta, name)
			}
		}
	}
	return []any{object}
}

// Decoded reads YAML or JSON into plain values.
func Decoded(t testing.TB, raw []byte) any {
	t.Helper()
	var v any
	if err := kubeyaml.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWhatTheAPIServerKeepsIsNoDifference(t *testing.T) {
	t.Parallel()
	obj := map[string]any{
		"kind": "ConfigMap", "status": "new", "data": map[string]any{"a": "b"},
		"metadata": map[string]any{"name": "web", "uid": "1", "resourceVersion": "2", "generation": int64(3), "managedFields": []any{}, "labels": map[string]any{"x": "y"}},
	}
	want := map[string]any{
		"kind": "ConfigMap", "data": map[string]any{"a": "b"}, "metadata": map[string]any{"name": "web", "labels": map[string]any{"x": "y"}},
	}
	if diff := cmp.Diff(want, Declared(obj)); diff != "" {
		t.Error(diff)
	}
	if obj["status"] != "new" {
		t.Error("the object itself has changed")
	}
}

package diff

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFieldsThatNobodyKeepsLeaveWithTheirManager(t *testing.T) {
	t.Parallel()
	none := map[string]any{}
	obj := map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web", "labels": map[string]any{"a": "1", "b": "2"}, "finalizers": []any{"one", "two"}},
		"spec": map[string]any{
			"nodeName": "n1", "priority": int64(0),
			"containers": []any{map[string]any{"name": "web", "image": "web", "tty": true}, map[string]any{"name": "proxy", "image": "proxy"}},
		},
	}
	tests := []struct {
		name   string
		before map[string]any
		keep   []map[string]any
		want   func(meta, spec map[string]any)
	}{
		{name: "nothing was owned"},
		{
			name: "all is kept by another", before: map[string]any{"f:spec": map[string]any{"f:nodeName": none}},
			keep: []map[string]any{{"f:spec": map[string]any{"f:nodeName": none}}},
		},
		{
			name:   "a field goes, and what is not owned stays",
			before: map[string]any{"f:spec": map[string]any{"f:nodeName": none}},
			keep:   []map[string]any{{"f:spec": map[string]any{"f:priority": none}}},
			want:   func(_, spec map[string]any) { delete(spec, "nodeName") },
		},
		{
			name:   "one of several labels, although somebody owns the map",
			before: map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{".": none, "f:a": none}}},
			keep:   []map[string]any{{"f:metadata": map[string]any{"f:labels": map[string]any{".": none, "f:b": none}}}},
			want:   func(meta, _ map[string]any) { meta["labels"] = map[string]any{"b": "2"} },
		},
		{
			name:   "labels as a whole, and the metadata not",
			before: map[string]any{"f:metadata": map[string]any{"f:labels": map[string]any{".": none, "f:a": none}}},
			want:   func(meta, _ map[string]any) { delete(meta, "labels") },
		},
		{
			name: "a container, and a field of another one",
			before: map[string]any{"f:spec": map[string]any{"f:containers": map[string]any{
				`k:{"name":"web"}`:   map[string]any{".": none, "f:name": none, "f:image": none, "f:tty": none},
				`k:{"name":"proxy"}`: map[string]any{".": none, "f:name": none, "f:image": none},
			}}},
			keep: []map[string]any{{"f:spec": map[string]any{"f:containers": map[string]any{
				`k:{"name":"web"}`: map[string]any{".": none, "f:image": none},
			}}}},
			want: func(_, spec map[string]any) {
				spec["containers"] = []any{map[string]any{"name": "web", "image": "web"}}
			},
		},
		{
			name:   "a member of a set",
			before: map[string]any{"f:metadata": map[string]any{"f:finalizers": map[string]any{".": none, `v:"one"`: none}}},
			keep:   []map[string]any{{"f:metadata": map[string]any{"f:finalizers": map[string]any{`v:"two"`: none}}}},
			want:   func(meta, _ map[string]any) { meta["finalizers"] = []any{"two"} },
		},
		{
			name: "a list that somebody owns whole stays", before: map[string]any{"f:spec": map[string]any{"f:containers": map[string]any{`k:{"name":"web"}`: none}}},
			keep: []map[string]any{{"f:spec": map[string]any{"f:containers": none}}},
		},
		{name: "odd sets", before: map[string]any{"f:spec": "odd", "x": none, "": none, "f:missing": none}, keep: []map[string]any{{"f:spec": 1}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			want := cloned(obj)
			if test.want != nil {
				test.want(want["metadata"].(map[string]any), want["spec"].(map[string]any))
			}
			before := cloned(obj)
			got, changed := Leave(before, test.before, test.keep...)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
			if changed != (test.want != nil) {
				t.Errorf("changed: %t", changed)
			}
			if diff := cmp.Diff(obj, before); diff != "" {
				t.Errorf("the object itself has changed: %s", diff)
			}
		})
	}
}

// cloned copies the maps of an object that tests change.
func cloned(obj map[string]any) map[string]any {
	out := shallow(obj)
	for _, k := range []string{"metadata", "spec"} {
		out[k] = shallow(obj[k].(map[string]any))
	}
	return out
}

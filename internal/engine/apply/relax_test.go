package apply

import (
	"encoding/json"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheFieldsThatARefusalNamesAreLeftOut(t *testing.T) {
	t.Parallel()
	const pods = `{"spec":{"a.b":{"c":1},"a":{"b":2},"list":[{"name":"x","port":80,"odd":1},{"name":"]\",","port":81,"odd":{"k":1}}]}}`
	for _, test := range []struct{ name, path, want string }{
		{"a field", ".spec.a.b", `{"spec":{"a":{"b":2},"list":[{"name":"x","port":80,"odd":1},{"name":"]\",","port":81,"odd":{"k":1}}]}}`},
		{"an item by its keys", `.spec.list[name="x",port=80].odd`, `{"spec":{"a.b":{"c":1},"a":{"b":2},"list":[{"name":"x","port":80},{"name":"]\",","port":81,"odd":{"k":1}}]}}`},
		{"an item by a key that it has by default", `.spec.list[name="x",protocol="TCP"].odd`, `{"spec":{"a.b":{"c":1},"a":{"b":2},"list":[{"name":"x","port":80},{"name":"]\",","port":81,"odd":{"k":1}}]}}`},
		{"a key that is hard to read", `.spec.list[name="]\",",port=81].odd.k`, `{"spec":{"a.b":{"c":1},"a":{"b":2},"list":[{"name":"x","port":80,"odd":1},{"name":"]\",","port":81,"odd":{}}]}}`},
		{"an item by its place", `.spec.list[1].odd`, `{"spec":{"a.b":{"c":1},"a":{"b":2},"list":[{"name":"x","port":80,"odd":1},{"name":"]\",","port":81}]}}`},
		{"a field that is not there", `.spec.none`, ""},
		{"a place that is not there", `.spec.list[7].odd`, ""},
		{"no path", `spec`, ""},
		{"a broken path", `.spec.list[name="x].odd`, ""},
		{"an open path", `.spec.list[name`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tree, want := set(t, pods), pods
			if test.want != "" {
				want = test.want
			}
			if drop(tree, test.path) != (test.want != "") {
				t.Error("it says otherwise")
			}
			if d := cmp.Diff(set(t, want), tree); d != "" {
				t.Error(d)
			}
		})
	}
}

func FuzzNoPathBreaksTheSearch(f *testing.F) {
	f.Add(`{"a":[{"b":1}]}`, `.a[b=1].c`)
	f.Add(`{"a":[[{"b":1}]]}`, `.a[0][b="].c`)
	f.Fuzz(func(_ *testing.T, tree, path string) {
		var node any
		if json.Unmarshal([]byte(tree), &node) == nil {
			drop(node, path)
		}
	})
}

func TestARefusalNamesOneFieldOrMany(t *testing.T) {
	t.Parallel()
	refusal := func(message string) error {
		return &apierrors.StatusError{ErrStatus: metav1.Status{Code: http.StatusInternalServerError, Message: message}}
	}
	const head = "failed to create typed patch object (shop/s; apps/v1, Kind=Deployment): "
	for _, test := range []struct {
		name, message string
		want          []string
	}{
		{"one", head + ".spec.odd: field not declared in schema", []string{".spec.odd"}},
		{"many", head + "errors:\n  .spec.a: field not declared in schema\n  .spec.b: something else\n  .spec.c[name=\"x\"].d: field not declared in schema", []string{".spec.a", ".spec.c[name=\"x\"].d"}},
		{"another refusal", "no: .spec.odd: field not declared in schema", nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(test.want, undeclaredIn(refusal(test.message))); d != "" {
				t.Error(d)
			}
		})
	}
	if undeclaredIn(nil) != nil || misfit(nil) {
		t.Error("no refusal is one")
	}
	if err := refusal(head + "x"); Retriable(err) {
		t.Error("a manifest that does not fit is tried for ever")
	}
}

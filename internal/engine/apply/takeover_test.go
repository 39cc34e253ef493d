package apply

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

func TestATakeoverChangesOwnersAndNothingElseWhateverHappensMeanwhile(t *testing.T) {
	t.Parallel()
	d := newDock(t, nil)
	const text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {kept: a}\n"
	for _, test := range []struct {
		name, meanwhile string
		want            error
	}{
		{"nothing", "", nil},
		{"owners", `{"data":{"kept":"a"},"metadata":{"managedFields":[{}]}}`, nil},
		{"content", `{"data":{"kept":"b"}}`, ErrMoved},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := d.in(t)
			m := d.manifest(strings.ReplaceAll(text, "NAME", test.name))
			d.as("argocd-controller", false, m)
			d.watch(m)
			res, err := d.target.Live.Find(t.Context(), m.Key.GroupKind(), m.Version)
			if err != nil {
				t.Fatal(err)
			}
			have := d.look(m)
			if !TakesOver(have, How{}) {
				t.Fatal("it is ours already")
			}
			then, over, err := d.target.Foretell(t.Context(), res, have, m, How{})
			if err != nil || !diff.SameContent(have, then) {
				t.Fatalf("%v: %v", err, then)
			}
			if test.meanwhile != "" {
				d.merge("somebody", m, test.meanwhile)
			}
			before := d.look(m)
			if err := d.target.TakeOver(t.Context(), over, m.Hash()); !errors.Is(err, test.want) {
				t.Fatal(err)
			}
			after := d.look(m)
			if test.want != nil {
				if delta := cmp.Diff(before, after); delta != "" {
					t.Error(delta)
				}
				return
			}
			if TakesOver(after, How{}) {
				t.Errorf("it is not ours: %v", meta(after)["managedFields"])
			}
			if rec, _, _ := d.target.Live.Get(m.Key); !rec.InSync(m.Hash()) || rec.AppliedAt != 0 {
				t.Errorf("%+v", rec)
			}
			for _, obj := range []map[string]any{before, after} {
				at := maps.Clone(meta(obj))
				delete(at, "managedFields")
				delete(at, "resourceVersion")
				obj["metadata"] = at
			}
			if delta := cmp.Diff(before, after); delta != "" {
				t.Error(delta)
			}
		})
	}
}

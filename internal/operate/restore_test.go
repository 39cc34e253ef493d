package operate

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestARestoreTakesTheNewestDeploymentThatHadAll(t *testing.T) {
	t.Parallel()
	app := deployedApp("one", "two", "three")
	a, b, c := manifestOf(t, "ConfigMap", "a", map[string]any{}), manifestOf(t, "ConfigMap", "b", map[string]any{}), manifestOf(t, "ConfigMap", "c", map[string]any{})
	h := app.Status.History
	past := []Version{
		{Entry: &h[2], Objects: []object.Manifest{a}}, {Entry: &h[1], Objects: []object.Manifest{a, b}}, {Entry: &h[0], Objects: []object.Manifest{b, c}},
	}
	for _, q := range []struct {
		asked []string
		id    int64
		err   string
	}{
		{asked: []string{"ConfigMap:a"}, id: 2},
		{asked: []string{"ConfigMap:b"}, id: 1},
		{asked: []string{"ConfigMap:a", "ConfigMap:b"}, id: 1},
		{asked: []string{"ConfigMap:a", "ConfigMap:c"}, err: "one by one"},
		{asked: []string{"ConfigMap:d"}, err: "had exactly one ConfigMap d"},
	} {
		var req api.RestoreRequest
		for _, text := range q.asked {
			o, err := ParseObject(text)
			if err != nil {
				t.Fatal(err)
			}
			req.Objects = append(req.Objects, o)
		}
		got, err := Restore(app, req, past, nil, anna(), noon())
		if !checkError(t, err, q.err) {
			continue
		}
		op := got.Operation
		_, at := Deployed(&h[q.id])
		if *got.Answer.Deployment != q.id || len(op.Sync.Resources) != len(q.asked) || op.Sync.Revision != at[0] || op.Sync.Prune {
			t.Errorf("%v comes from deployment %d as %+v, want %d", q.asked, *got.Answer.Deployment, op.Sync, q.id)
		}
		if !slices.Contains(op.Info, v1alpha1.Info{Name: v1alpha1.InfoRestore, Value: "true"}) {
			t.Errorf("the operation does not say that it restores: %+v", op.Info)
		}
	}
	if _, err := Restore(app, api.RestoreRequest{}, nil, nil, anna(), noon()); err == nil {
		t.Error("no deployment can be rendered, and that is no error")
	}
}

func TestWhatIsGoneIsListedWithItsNewestDeployment(t *testing.T) {
	t.Parallel()
	app := deployedApp("one", "two")
	a, b := manifestOf(t, "ConfigMap", "a", map[string]any{}), manifestOf(t, "ConfigMap", "b", map[string]any{})
	h := app.Status.History
	past := []Version{{Entry: &h[1], Objects: []object.Manifest{a}}, {Entry: &h[0], Objects: []object.Manifest{a, b}}}
	got, err := Restore(app, api.RestoreRequest{}, past, map[object.Key]bool{a.Key: true}, anna(), noon())
	if err != nil {
		t.Fatal(err)
	}
	want := []api.OperationObject{{ObjectName: api.ObjectName{Kind: "ConfigMap", Name: "b"}, Deployment: id(0)}}
	if d := cmp.Diff(want, got.Answer.Objects); d != "" || got.Patch != nil {
		t.Errorf("(-want +got):\n%s\npatch %v", d, got.Patch)
	}
	got, err = Restore(app, api.RestoreRequest{From: id(1)}, past[:1], map[object.Key]bool{a.Key: true}, anna(), noon())
	if err != nil || got.Patch != nil {
		t.Errorf("nothing of deployment 1 is gone, and the answer is %+v, %v", got.Answer, err)
	}
	if _, err := Past(app, id(9)); err == nil {
		t.Error("there is no deployment 9, and that is no error")
	}
}

func TestAnAnswerNamesTheFirstDeploymentThoughItIsZero(t *testing.T) {
	t.Parallel()
	app := deployedApp("one", "two")
	b := manifestOf(t, "ConfigMap", "b", map[string]any{})
	past := []Version{{Entry: &app.Status.History[1]}, {Entry: &app.Status.History[0], Objects: []object.Manifest{b}}}
	for _, c := range []struct {
		name string
		ask  func() (Change, error)
		want int
	}{
		{name: "a rollback", want: 1, ask: func() (Change, error) {
			return Rollback(app, api.RollbackRequest{ID: id(0), DryRun: true}, anna(), noon())
		}},
		{name: "what is gone", want: 1, ask: func() (Change, error) {
			return Restore(app, api.RestoreRequest{}, past, nil, anna(), noon())
		}},
		{name: "an object brought back, and what it is brought back from", want: 2, ask: func() (Change, error) {
			return Restore(app, api.RestoreRequest{Objects: []api.ObjectName{{Kind: "ConfigMap", Name: "b"}}, DryRun: true}, past, nil, anna(), noon())
		}},
		{name: "what is about no deployment", want: 0, ask: func() (Change, error) {
			return Change{Answer: api.OperationAnswer{Objects: objectsOf([]object.Key{b.Key})}}, nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := c.ask()
			if err != nil {
				t.Fatal(err)
			}
			text, err := json.Marshal(got.Answer)
			if n := strings.Count(string(text), `"deployment":0`); err != nil || n != c.want {
				t.Errorf("deployment 0 is named %d times, want %d: %s (%v)", n, c.want, text, err)
			}
		})
	}
}

func TestDeletingSetsOneFinalizerAndKeepsThoseOfOthers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		app := deployedApp("one")
		app.Finalizers = rapid.SliceOfDistinct(rapid.SampledFrom([]string{
			"other/one", "other/two", v1alpha1.FinalizerResources, v1alpha1.FinalizerResourcesForeground, v1alpha1.FinalizerResourcesBackground,
		}), func(s string) string { return s }).Draw(t, "finalizers")
		req := api.DeleteApplicationRequest{
			Cascade: rapid.Bool().Draw(t, "cascade"), Propagation: rapid.SampledFrom([]string{"", "foreground", "background"}).Draw(t, "propagation"),
		}
		got, err := Delete(app, req, anna(), time.Now())
		if err != nil {
			t.Fatal(err)
		}
		left := app.Finalizers
		if set, ok := got.Patch["metadata"].(map[string]any)["finalizers"].([]string); ok {
			left = set
		}
		ours := 0
		for _, f := range left {
			if f != "other/one" && f != "other/two" {
				ours++
			}
		}
		for _, f := range []string{"other/one", "other/two"} {
			if slices.Contains(app.Finalizers, f) != slices.Contains(left, f) {
				t.Errorf("%v became %v: %s is somebody else's", app.Finalizers, left, f)
			}
		}
		if want := map[bool]int{true: 1, false: 0}[req.Cascade]; ours != want {
			t.Errorf("%v became %v with %+v", app.Finalizers, left, req)
		}
	})
}

// Every patch is JSON, touches nothing but metadata, operation and the phase of the status, and an answer that says that
// something was changed comes with one.
func TestAPatchTouchesNothingElse(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		app := deployedApp(rapid.SliceOfN(rapid.SampledFrom([]string{"oneoneone", "twotwotwo", "three"}), 0, 4).Draw(t, "revisions")...)
		if rapid.Bool().Draw(t, "automated") {
			automated(app)
		}
		if rapid.Bool().Draw(t, "running") {
			running(app)
		}
		app.Status.Resources = []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: "a", Name: "one"}}
		reason, dry := rapid.String().Draw(t, "reason"), rapid.Bool().Draw(t, "dry run")
		one := api.ObjectName{Kind: "ConfigMap", Name: "one"}
		var got Change
		var err error
		switch rapid.IntRange(0, 6).Draw(t, "what") {
		case 0:
			got, err = Sync(app, api.SyncRequest{Reason: reason, Prune: dry}, anna(), noon())
		case 1:
			got, err = Rollback(app, api.RollbackRequest{Reason: reason, DryRun: dry}, anna(), noon())
		case 2:
			got, err = Terminate(app, api.TerminateRequest{Reason: reason, DryRun: dry}, anna(), noon())
		case 3:
			got, err = Allow(app, api.AllowRequest{Object: one, Until: noon().AddDate(0, 0, 1), Reason: reason, DryRun: dry}, anna(), noon())
		case 4:
			got, err = Revert(app, api.RevertRequest{Objects: []api.ObjectName{one}, Reason: reason, DryRun: dry}, nil, anna(), noon())
		case 5:
			got, err = Refresh(app, api.RefreshRequest{Hard: dry}, anna(), noon())
		case 6:
			got, err = Unpin(app, api.UnpinRequest{Reason: reason, DryRun: dry}, anna(), noon())
		}
		if err != nil {
			if err.Error() == "" || got.Patch != nil {
				t.Errorf("an error %q with a patch %v", err, got.Patch)
			}
			return
		}
		if got.Answer.Changed != (got.Patch != nil) || got.Answer.Message == "" {
			t.Errorf("the answer %+v comes with the patch %v", got.Answer, got.Patch)
		}
		raw, err := json.Marshal(got.Patch)
		if err != nil {
			t.Fatal(err)
		}
		var back map[string]any
		if err := json.Unmarshal(raw, &back); err != nil {
			t.Fatal(err)
		}
		for field := range back {
			if field != "metadata" && field != "operation" && field != "status" {
				t.Errorf("the patch touches %s", field)
			}
		}
	})
}

func TestDeletionKeepsForeignFinalizersAndHasAtMostOneOfOurs(t *testing.T) {
	t.Parallel()
	have := []string{"example.com/keep", v1alpha1.FinalizerResourcesBackground, v1alpha1.FinalizerPreDelete}
	for _, c := range []struct {
		name        string
		cascade     bool
		propagation string
		want        []string
	}{
		{"foreground", true, "foreground", []string{"example.com/keep", v1alpha1.FinalizerPreDelete, v1alpha1.FinalizerResources}},
		{"background", true, "background", []string{"example.com/keep", v1alpha1.FinalizerPreDelete, v1alpha1.FinalizerResourcesBackground}},
		{"objects stay", false, "foreground", []string{"example.com/keep", v1alpha1.FinalizerPreDelete}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, finalizers(have, c.cascade, c.propagation)); diff != "" {
				t.Errorf("finalizers (-want +got):\n%s", diff)
			}
		})
	}
	if got := finalizers(nil, false, "foreground"); got == nil {
		t.Error("no finalizers must be an empty list: a merge patch with null would not say so")
	}
}

func TestAnObjectIsReadWithAndWithoutNamespace(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]api.ObjectName{
		"apps:Deployment:web":      {Group: "apps", Kind: "Deployment", Name: "web"},
		":Service:shop/web":        {Kind: "Service", Namespace: "shop", Name: "web"},
		"a.b.io:Thing:name.of.one": {Group: "a.b.io", Kind: "Thing", Name: "name.of.one"},
		"apps/Deployment:shop/web": {Group: "apps", Kind: "Deployment", Namespace: "shop", Name: "web"},
		"ConfigMap:shop/web":       {Kind: "ConfigMap", Namespace: "shop", Name: "web"},
		"rbac:Role:system:reader":  {Group: "rbac", Kind: "Role", Name: "system:reader"},
	} {
		got, err := ParseObject(text)
		if err != nil || got != want {
			t.Errorf("%s is read as %+v, %v; want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "Deployment", "apps:Deployment", "apps::web", "apps:Deployment:", ":Service:shop/", ":Service:a/b/c"} {
		if got, err := ParseObject(text); err == nil {
			t.Errorf("%q is read as %+v", text, got)
		}
	}
}

func FuzzParseObject(f *testing.F) {
	for _, text := range []string{"apps:Deployment:web", ":Service:shop/web", "apps/Deployment:shop/web", "Pod:x", "a:b:c:d", "::", "/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if o, err := ParseObject(text); err == nil && (o.Kind == "" || o.Name == "") {
			t.Errorf("%q is read as %+v", text, o)
		}
	})
}

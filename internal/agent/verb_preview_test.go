package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// draft is the stand's Application with other fields, as JSON paths and values.
func (s *stand) draft(name string, fields map[string]any) json.RawMessage {
	s.t.Helper()
	var obj map[string]any
	if err := json.Unmarshal(s.manifest(name), &obj); err != nil {
		s.t.Fatal(err)
	}
	for path, value := range fields {
		if err := unstructured.SetNestedField(obj, value, strings.Split(path, ".")...); err != nil {
			s.t.Fatal(err)
		}
	}
	raw, err := json.Marshal(obj)
	if err != nil {
		s.t.Fatal(err)
	}
	return raw
}

func (s *stand) preview(name string, req agentapi.Preview) api.Preview {
	s.t.Helper()
	return must[api.Preview](s, agentapi.KindPreview, s.app(name), req)
}

// verbsOf says what a preview would do to each object.
func verbsOf(p api.Preview) map[string]string {
	out := map[string]string{}
	for _, o := range p.Objects {
		out[o.Kind+"/"+o.Name] = o.Verb
	}
	return out
}

func problem(p api.Preview, field, level, word string) bool {
	return slices.ContainsFunc(p.Problems, func(one api.PreviewProblem) bool {
		return one.Field == field && one.Level == level && strings.Contains(one.Message, word)
	})
}

func TestAPreviewSaysWhatAnApplicationWouldDoAndDoesNothing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.project()
	s.permits("shop", "*")
	s.repo.Commit(map[string]string{"web/hook.yaml": `apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {argocd.argoproj.io/hook: PreSync, argocd.argoproj.io/sync-wave: "-1"}}
spec: {template: {spec: {restartPolicy: Never, containers: [{name: m, image: registry.invalid/m}]}}}
`}, "a hook")
	got := s.preview("fresh", agentapi.Preview{Object: s.manifest("fresh"), Manifests: true})
	if !got.Valid || len(got.Problems) > 0 || len(got.Manifests) != 4 || !slices.Equal(got.Revisions, []string{s.repo.Head("main")}) {
		t.Errorf("the preview is %+v", got)
	}
	if got.Counts != (api.PreviewCounts{Create: 3, Hooks: 1}) {
		t.Errorf("it counts %+v", got.Counts)
	}
	for _, o := range got.Objects {
		if o.Verb != "create" || o.Diff == "" || o.Namespace != s.ns || (o.Kind == "Job") != (o.Hook == "PreSync" && o.Wave == -1) {
			t.Errorf("an object is %+v", o)
		}
	}
	for _, kind := range []string{"configmaps", "secrets"} {
		list, err := s.in("", "v1", kind).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(list.Items, func(u unstructured.Unstructured) bool { return u.GetName() == "settings" || u.GetName() == "login" }) {
			t.Errorf("the preview made %s", kind)
		}
	}
	if _, err := s.read(t.Context(), "fresh"); err == nil {
		t.Error("the preview made the application")
	}
}

func TestAPreviewListsTheNamespaceThatASyncMakes(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	project := func(name, more string) {
		must[any](s, agentapi.KindObjectApply, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: name}, agentapi.ObjectApply{
			Object: json.RawMessage(`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"` + name + `"},
				"spec":{"sourceRepos":["*"],"destinations":[{"server":"*","namespace":"*"}]` + more + `}}`),
		})
		s.until("project "+name, func(context.Context) bool {
			_, err := s.asks.Engine.Projects.Rules(name)
			return err == nil
		})
	}
	project("open", `,"clusterResourceWhitelist":[{"group":"","kind":"Namespace"}]`)
	project("closed", "")
	in := func(project, namespace string) api.Preview {
		return s.preview("fresh", agentapi.Preview{Object: s.draft("fresh", map[string]any{
			"spec.project": project, "spec.destination.namespace": namespace, "spec.syncPolicy.syncOptions": []any{"CreateNamespace=true"},
		})})
	}
	fresh := s.ns + "-fresh"

	got := in("open", fresh)
	if !got.Valid || got.Counts != (api.PreviewCounts{Create: 4}) {
		t.Fatalf("with a namespace that is not there: %+v", got)
	}
	if first := got.Objects[0]; first.Kind != "Namespace" || first.Name != fresh || first.Verb != "create" || !strings.Contains(first.Diff, fresh) {
		t.Errorf("the first object is %+v", first)
	}
	if got := in("open", s.ns); !got.Valid || got.Counts != (api.PreviewCounts{Create: 3}) {
		t.Errorf("with one that is there: %+v", got)
	}
	got = in("closed", fresh)
	if got.Valid || verbsOf(got)["Namespace/"+fresh] != "error" {
		t.Errorf("where the project does not let it be made: %+v", got)
	}
}

func TestAPreviewOfAnEditComparesWithWhatIsThere(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	s.repo.CommitTo("next", map[string]string{"web/all.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: settings, labels: {tier: web}}
data: {size: "2"}
---
apiVersion: v1
kind: Secret
metadata: {name: login}
stringData: {password: ` + planted + `}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: more}
`}, "next")
	same := s.preview(s.name, agentapi.Preview{Object: s.manifest(s.name), Update: true, Project: "shop"})
	if !same.Valid || same.Counts != (api.PreviewCounts{Unchanged: 3}) {
		t.Errorf("what changes nothing is %+v", same)
	}
	got := s.preview(s.name, agentapi.Preview{Object: s.draft(s.name, map[string]any{"spec.source.targetRevision": "next"}), Update: true, Project: "shop"})
	want := map[string]string{"ConfigMap/settings": "update", "Secret/login": "keep", "ConfigMap/more": "create", "Deployment/web": "delete"}
	if d := cmp.Diff(want, verbsOf(got)); d != "" || !got.Valid {
		t.Errorf("the edit does (-want +got):\n%s%+v", d, got)
	}
	if got.Objects[0].Diff == "" || !strings.Contains(got.Objects[0].Diff, `+  size: "2"`) || len(got.Warnings) == 0 {
		t.Errorf("the difference is %q, with warnings %q", got.Objects[0].Diff, got.Warnings)
	}
	if app, err := s.read(t.Context(), s.name); err != nil || app.Spec.Source.TargetRevision != "main" {
		t.Errorf("the preview changed the application: %+v, %v", app, err)
	}
	s.refused(agentapi.KindPreview, s.app(s.name), agentapi.Preview{Object: s.manifest(s.name), Update: true, Project: "another"}, agentapi.CodeConflict)
	s.refused(agentapi.KindPreview, s.app("none"), agentapi.Preview{Object: s.manifest("none"), Update: true}, agentapi.CodeNotFound)
	taken := s.preview(s.name, agentapi.Preview{Object: s.manifest(s.name)})
	if taken.Valid || !problem(taken, "metadata.name", "error", "already") || len(taken.Objects) > 0 {
		t.Errorf("a name that is taken gives %+v", taken)
	}
}

func TestProblemsAreToldByField(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.permits("shop", s.server.Base()+"/**")
	before := s.server.RequestCount()
	for _, c := range []struct {
		name, field, word string
		fields            map[string]any
	}{
		{"no such project", "spec.project", "does not exist", map[string]any{"spec.project": "none"}},
		{"another repository", "spec.source.repoURL", "does not permit", map[string]any{"spec.source.repoURL": "https://git.example.org/a"}},
		{"a file of the machine", "spec.source.repoURL", "local directories", map[string]any{"spec.source.repoURL": "file:///etc"}},
		{"a remote helper", "spec.source.repoURL", "not", map[string]any{"spec.source.repoURL": "ext::sh -c id"}},
		{"no repository", "spec.source.repoURL", "", map[string]any{"spec.source.repoURL": ""}},
		{"another namespace", "spec.destination", "does not permit", map[string]any{"spec.destination.namespace": "kube-system"}},
		{"another cluster", "spec.destination", "no cluster", map[string]any{"spec.destination.server": "https://nowhere.example.org"}},
		{"two addresses", "spec.destination", "both", map[string]any{"spec.destination.name": "edge"}},
		{"a path that leaves", "spec.source.path", "outside", map[string]any{"spec.source.path": "../../etc"}},
		{"an absolute path", "spec.source.path", "absolute", map[string]any{"spec.source.path": "/etc"}},
		{"a plugin", "spec.source.plugin", "no such plugin", map[string]any{"spec.source.plugin": map[string]any{"name": "x"}}},
		{"a chart of the machine", "spec.source.repoURL", "not allowed", map[string]any{"spec.source.chart": "web", "spec.source.repoURL": "file:///etc"}},
		{"a wrong type", "spec.source.path", "", map[string]any{"spec.source.path": int64(7)}},
	} {
		for _, quick := range []bool{true, false} {
			got := s.preview("fresh", agentapi.Preview{Object: s.draft("fresh", c.fields), Quick: quick})
			if got.Valid || !problem(got, c.field, "error", c.word) || len(got.Objects) > 0 || len(got.Revisions) > 0 {
				t.Errorf("%s (quick %t) gives %+v", c.name, quick, got)
			}
		}
	}
	if n := s.server.RequestCount(); n != before {
		t.Errorf("the repository was asked %d times although something was wrong", n-before)
	}
	for _, c := range []struct {
		name, field, word string
		fields            map[string]any
	}{
		{"no such branch", "spec.source.targetRevision", "revision not found", map[string]any{"spec.source.targetRevision": "none"}},
		{"no such path", "spec.source.path", "does not exist", map[string]any{"spec.source.path": "none"}},
		{"a file", "spec.source.path", "is a file", map[string]any{"spec.source.path": "web/all.yaml"}},
		{"no such repository", "spec.source.repoURL", "not found", map[string]any{"spec.source.repoURL": s.server.Base() + "/none.git"}},
		{"no chart", "spec.source", "", map[string]any{"spec.source.helm": map[string]any{"releaseName": "x"}}},
	} {
		if quick := s.preview("fresh", agentapi.Preview{Object: s.draft("fresh", c.fields), Quick: true}); !quick.Valid || !quick.Quick {
			t.Errorf("%s is told without a look at the repository: %+v", c.name, quick)
		}
		if got := s.preview("fresh", agentapi.Preview{Object: s.draft("fresh", c.fields)}); got.Valid || !problem(got, c.field, "error", c.word) {
			t.Errorf("%s gives %+v", c.name, got)
		}
	}
	got := s.preview("fresh", agentapi.Preview{Quick: true, Object: s.draft("fresh", map[string]any{
		"spec.tomorrow": true, "spec.syncPolicy": map[string]any{"syncOptions": []any{"Prunes=true"}},
	})})
	if !got.Valid || !problem(got, "spec.tomorrow", "warning", "no effect") || !problem(got, "spec.syncPolicy.syncOptions", "warning", "Prunes=true") {
		t.Errorf("what has no effect gives %+v", got)
	}
}

func TestAPreviewShowsNothingThatTheProjectDoesNotPermit(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	const foreign = "somebody-elses-text"
	for _, obj := range []map[string]any{
		{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "free"}, "data": map[string]any{"a": "old"}},
		{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": "open"}, "stringData": map[string]any{"a": planted}},
	} {
		plural := strings.ToLower(fmt.Sprint(obj["kind"])) + "s"
		if _, err := s.in("", "v1", plural).Create(t.Context(), &unstructured.Unstructured{Object: obj}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.edit("settings", `{"data":{"note":"`+foreign+`"}}`)
	s.repo.Commit(map[string]string{"probe/all.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {size: "9"}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: free}, data: {a: new}}
---
{apiVersion: v1, kind: Secret, metadata: {name: open}, stringData: {a: ` + planted + `}}
---
{apiVersion: apps/v1, kind: Deployment, metadata: {name: bad}, spec: {replicas: -1}}
`}, "probe")
	got := s.preview("probe", agentapi.Preview{Object: s.draft("probe", map[string]any{"spec.source.path": "probe"})})
	want := map[string]string{"ConfigMap/settings": "error", "ConfigMap/free": "update", "Secret/open": "update", "Deployment/bad": "error"}
	if d := cmp.Diff(want, verbsOf(got)); d != "" || got.Valid {
		t.Errorf("the objects (-want +got):\n%s%+v", d, got)
	}
	for _, o := range got.Objects {
		switch o.Name {
		case "settings":
			if !strings.Contains(o.Error, "belongs to Application "+s.name) || o.Diff != "" {
				t.Errorf("what belongs to another is %+v", o)
			}
		case "open":
			if o.Diff != "" {
				t.Errorf("a Secret of somebody else is compared: %s", o.Diff)
			}
		case "bad":
			if !strings.Contains(o.Error, "spec.") {
				t.Errorf("what the API server refuses is %+v", o)
			}
		}
	}
	raw, err := json.Marshal(got)
	if err != nil || strings.Contains(string(raw), foreign) {
		t.Errorf("the preview tells what is in an object of another application (%v)", err)
	}
	s.repo.Commit(map[string]string{"outside/all.yaml": `{apiVersion: v1, kind: ConfigMap, metadata: {name: kube-root-ca.crt, namespace: kube-system}, data: {a: b}}`}, "outside")
	got = s.preview("probe", agentapi.Preview{Object: s.draft("probe", map[string]any{"spec.source.path": "outside"})})
	if got.Valid || !problem(got, "spec.project", "error", "does not permit") || len(got.Objects) > 0 {
		t.Errorf("an object in a namespace that the project does not permit gives %+v", got)
	}
}

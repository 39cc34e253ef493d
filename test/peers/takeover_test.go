package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// kinds are those of which every live object is compared.
var kinds = []schema.GroupVersionResource{
	{Version: "v1", Resource: "configmaps"},
	{Version: "v1", Resource: "secrets"},
	{Version: "v1", Resource: "services"},
	{Version: "v1", Resource: "serviceaccounts"},
	{Version: "v1", Resource: "pods"},
	{Version: "v1", Resource: "persistentvolumeclaims"},
	{Group: "apps", Version: "v1", Resource: "deployments"},
	{Group: "apps", Version: "v1", Resource: "replicasets"},
	{Group: "apps", Version: "v1", Resource: "statefulsets"},
	{Group: "apps", Version: "v1", Resource: "daemonsets"},
	{Group: "batch", Version: "v1", Resource: "jobs"},
	{Group: "batch", Version: "v1", Resource: "cronjobs"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"},
	{Group: "networking.k8s.io", Version: "v1", Resource: "networkpolicies"},
	{Group: "policy", Version: "v1", Resource: "poddisruptionbudgets"},
	{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"},
	{Group: "rbac.authorization.k8s.io", Version: "v1", Resource: "clusterroles"},
	{Version: "v1", Resource: "namespaces"},
	{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"},
	{Group: "parity.example.com", Version: "v1", Resource: "widgets"},
	{Group: "parity.example.com", Version: "v1", Resource: "gadgets"},
}

// thing is a live object without what a change of owners changes.
type thing struct {
	uid, tracking, version string
	hook                   bool
	managers               []string
	content                string
}

// things are the live objects of the Applications' namespaces, and those without a namespace that are theirs.
func (s *site) things() map[string]thing {
	s.t.Helper()
	out := map[string]thing{}
	for _, gvr := range kinds {
		list, err := s.client.Resource(gvr).List(s.t.Context(), metav1.ListOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range list.Items {
			obj := &list.Items[i]
			tracking := obj.GetAnnotations()["argocd.argoproj.io/tracking-id"]
			theirs := strings.HasSuffix(obj.GetName(), "crd.example.com") || strings.HasPrefix(obj.GetNamespace(), "p-")
			if !theirs && tracking == "" {
				continue
			}
			one := thing{uid: string(obj.GetUID()), tracking: tracking, version: obj.GetResourceVersion(), hook: object.IsHook(obj.Object)}
			for _, f := range obj.GetManagedFields() {
				one.managers = append(one.managers, f.Manager)
			}
			obj.SetManagedFields(nil)
			obj.SetResourceVersion("")
			delete(obj.Object, "status")
			raw, err := json.MarshalIndent(obj.Object, "", " ")
			if err != nil {
				s.t.Fatal(err)
			}
			one.content = string(raw)
			out[gvr.Resource+" "+obj.GetNamespace()+"/"+obj.GetName()] = one
		}
	}
	return out
}

// of reports whether an object is one of some Applications: it is tracked by one, or lies in the namespace of one.
func (o thing) of(key string, apps map[string]bool) bool {
	app, _, _ := strings.Cut(o.tracking, ":")
	_, name, _ := strings.Cut(key, " ")
	ns, _, _ := strings.Cut(name, "/")
	return apps[app] || apps[strings.TrimPrefix(ns, "p-")]
}

// changed lists what is another content, another object, gone or new, but for objects of the Applications in but.
func changed(before, after map[string]thing, but map[string]bool) []string {
	var out []string
	for _, key := range slices.Sorted(maps.Keys(before)) {
		was := before[key]
		now, there := after[key]
		switch {
		case was.of(key, but):
		case !there:
			out = append(out, key+" is gone")
		case was.uid != now.uid:
			out = append(out, key+" is another object")
		case was.content != now.content:
			out = append(out, key+" changed:\n"+cmp.Diff(was.content, now.content))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, there := before[key]; !there && !after[key].of(key, but) {
			out = append(out, key+" is new")
		}
	}
	return out
}

// written counts objects that were written, but for those of the Applications in but, and those of which only the owners changed.
func written(before, after map[string]thing, but map[string]bool) (all, owners int) {
	for key, was := range before {
		now, there := after[key]
		if there && now.version == was.version || was.of(key, but) {
			continue
		}
		all++
		if there && now.uid == was.uid && now.content == was.content && !slices.Equal(now.managers, was.managers) {
			owners++
		}
	}
	return all, owners
}

// unsynced are the Applications that are not Synced, or share an object, which the other one may take: of those, content may change.
// What is in their namespaces counts as theirs. Only the one that does not have the object now has a condition that names both.
func unsynced(apps map[string]*v1alpha1.Application) map[string]bool {
	owners := map[string]int{}
	for _, app := range apps {
		for _, r := range app.Status.Resources {
			owners[objectOf(r)]++
		}
	}
	out := map[string]bool{}
	for name, app := range apps {
		shares := slices.ContainsFunc(app.Status.Resources, func(r v1alpha1.ResourceStatus) bool { return owners[objectOf(r)] > 1 })
		if app.Status.Sync.Status != v1alpha1.SyncStatusSynced || shares {
			out[name] = true
			out[strings.TrimPrefix(app.Spec.Destination.Namespace, "p-")] = true
		}
	}
	return out
}

// objectOf names the object of an entry of a status.
func objectOf(r v1alpha1.ResourceStatus) string {
	return strings.Join([]string{r.Group, r.Kind, r.Namespace, r.Name}, "/")
}

func TestEachApplicationThatSharesAnObjectCountsAsUnsynced(t *testing.T) {
	t.Parallel()
	app := func(namespace, object string, status v1alpha1.SyncStatusCode) *v1alpha1.Application {
		out := &v1alpha1.Application{}
		out.Spec.Destination.Namespace = namespace
		out.Status.Sync.Status = status
		out.Status.Resources = []v1alpha1.ResourceStatus{{Kind: "ConfigMap", Namespace: namespace, Name: object, Status: status}}
		return out
	}
	got := unsynced(map[string]*v1alpha1.Application{
		"has":   app("p-shared", "common", v1alpha1.SyncStatusSynced),
		"wants": app("p-shared", "common", v1alpha1.SyncStatusOutOfSync),
		"alone": app("p-alone", "common", v1alpha1.SyncStatusSynced),
		"drift": app("p-drift", "common", v1alpha1.SyncStatusOutOfSync),
	})
	want := map[string]bool{"has": true, "wants": true, "shared": true, "drift": true}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestATakeoverOfARealArgoCDAndTheWayBackChangeOwnersAlone(t *testing.T) {
	s := newSite(t)
	s.argo()
	s.load()
	s.settle("first")
	for _, stage := range []string{"manual1", "drift", "refresh", "manual2", "manual3"} {
		s.stage(stage)
	}
	apps, before := s.apps(), s.things()
	open := unsynced(apps)
	t.Logf("%d Applications, %d of them Synced, %d objects", len(apps), countSynced(apps), len(before))

	s.slipway("--shadow")
	report := s.shadowReport(len(apps))
	for _, app := range report.Applications {
		if !app.Agrees {
			t.Logf("shadow: %s: sync %s / %s, health %s / %s %s%s",
				app.Name, app.Sync.Status, app.Sync.Slipway, app.Health.Status, app.Health.Slipway, app.Error, app.Note)
		}
		for _, o := range app.Objects {
			if !open[app.Name] {
				t.Errorf("shadow would %s %s %s of %s, which Argo CD calls Synced: %+v", o.Verb, o.Kind, o.Name, app.Name, o.Fields)
			}
		}
	}
	s.stopSlipway()
	if news := changed(before, s.things(), nil); len(news) > 0 {
		t.Errorf("shadow mode: %s", strings.Join(news, "\n"))
	}
	s.stopArgo()
	before = s.things()
	s.slipway()
	s.settle("takeover")
	after, now := s.things(), s.apps()
	if news := changed(before, after, open); len(news) > 0 {
		t.Errorf("the takeover: %d objects: %s", len(news), strings.Join(news, "\n"))
	}
	for key, one := range after {
		app, _, _ := strings.Cut(one.tracking, ":")
		passed := slices.Contains(one.managers, "slipway") || !slices.Contains(one.managers, "argocd-controller")
		if now[app] != nil && !open[app] && !one.hook && !passed {
			t.Errorf("%s has fields of Argo CD still: %v", key, one.managers)
		}
	}
	wrote, owners := written(before, after, open)
	if wrote != owners {
		t.Errorf("the takeover wrote more than owners of fields")
	}
	t.Logf("the takeover wrote %d objects, of %d of them the owners alone", wrote, owners)
	numbers := fmt.Sprintf("Slipway took over %d applications, %d of them `Synced`, with %d objects from Argo CD %s. "+
		"It wrote %d objects of the\n`Synced` applications and changed only the owners of their fields: "+
		"no content changed, no object was replaced, and no pod restarted.\n",
		len(apps), countSynced(apps), len(before), version(t), owners)
	for name, app := range apps {
		if open[name] || now[name] == nil {
			continue
		}
		if got := now[name].Status.Sync.Status; got != v1alpha1.SyncStatusSynced {
			t.Errorf("%s is %s after the takeover: %v", name, got, now[name].Status.Conditions)
		}
		if d := cmp.Diff(app.Status.OperationState, now[name].Status.OperationState); d != "" {
			t.Errorf("%s: the operation is another one: %s", name, d)
		}
		if d := cmp.Diff(app.Status.History, now[name].Status.History); d != "" {
			t.Errorf("%s: the history is another one: %s", name, d)
		}
	}

	s.stopSlipway()
	before = s.things()
	maps.Copy(open, unsynced(s.apps()))
	s.argo()
	s.stage("refresh")
	after = s.things()
	if news := changed(before, after, open); len(news) > 0 {
		t.Errorf("the way back: %d objects: %s", len(news), strings.Join(news, "\n"))
	}
	wrote, owners = written(before, after, open)
	t.Logf("the way back wrote %d objects, of %d of them the owners alone", wrote, owners)
	numbers += fmt.Sprintf("\nThen Argo CD took them back. "+
		"It wrote %d objects of the applications that were `Synced` at that time, and changed no content.\n", wrote)
	for name, app := range s.apps() {
		if !open[name] && app.Status.Sync.Status != v1alpha1.SyncStatusSynced {
			t.Errorf("%s is %s with Argo CD after the way back", name, app.Status.Sync.Status)
		}
	}
	if !t.Failed() {
		document(t, partTakeover, numbers)
	}
}

func countSynced(apps map[string]*v1alpha1.Application) int {
	n := 0
	for _, app := range apps {
		if app.Status.Sync.Status == v1alpha1.SyncStatusSynced {
			n++
		}
	}
	return n
}

// shadowReport is what the agent has found once it has compared all Applications.
type shadowReport struct {
	Summary      struct{ Applications, Agree, Disagree, Open, Objects, WouldSync, Takeover int }
	Applications []struct {
		Name, Error, Note string
		Agrees            bool
		Sync, Health      struct{ Slipway, Status string }
		Objects           []struct {
			Kind, Name, Verb string
			Fields           []struct{ Path, Live, Wanted string }
		}
	}
}

func (s *site) shadowReport(want int) shadowReport {
	s.t.Helper()
	address := s.health()
	var out shadowReport
	err := wait.PollUntilContextTimeout(s.t.Context(), look, stageLimit, true, func(context.Context) (bool, error) {
		out = shadowReport{}
		raw := s.run("", "curl", "--silent", "--fail", "http://"+address+"/shadow")
		if err := json.Unmarshal([]byte(raw), &out); err != nil {
			return false, err
		}
		for _, app := range out.Applications {
			if app.Note == "not compared yet" {
				return false, nil
			}
		}
		return out.Summary.Applications == want, nil
	})
	if err != nil {
		s.t.Fatalf("shadow mode has not compared everything: %v: %+v", err, out.Summary)
	}
	s.t.Logf("shadow: %+v", out.Summary)
	return out
}

// health is where the agent listens, as its log says.
func (s *site) health() string {
	s.t.Helper()
	address := ""
	err := wait.PollUntilContextTimeout(s.t.Context(), look, stageLimit, true, func(context.Context) (bool, error) {
		raw, err := os.ReadFile(s.agent.Log)
		for text := range strings.Lines(string(raw)) {
			var line struct{ Address string }
			if json.Unmarshal([]byte(text), &line) == nil && line.Address != "" {
				address = line.Address
			}
		}
		return address != "", err
	})
	if err != nil {
		s.t.Fatalf("the agent does not say where it listens: %v", err)
	}
	return address
}

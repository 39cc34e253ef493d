package parity

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/guard"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// cluster is a real API server that the scenarios about writing are carried out on.
type cluster struct {
	target apply.Target
	ns     string
	sent   *requests
}

func newCluster(t *testing.T) cluster {
	t.Helper()
	c := cluster{ns: testenv.Namespace(t), sent: &requests{}}
	cfg := rest.CopyConfig(testenv.Cluster(t))
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &passing{next: next, requests: c.sent}
	})
	client, err := apply.NewClient(cfg)
	if err != nil {
		t.Fatal(err)
	}
	state, err := live.Open(t.Context(), live.Config{
		Server: cfg.Host, REST: cfg, Log: slog.New(slog.DiscardHandler), Notify: func(live.Event) {},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	c.target = apply.Target{Client: client, Live: state}
	return c
}

// manifest makes an object of a scenario ours. Names are those of the cluster's namespace where there is none.
func (c cluster) manifest(t *testing.T, obj map[string]any) object.Manifest {
	t.Helper()
	m, err := object.NewManifest(obj)
	if err != nil {
		t.Fatal(err)
	}
	object.SetAnnotation(obj, object.TrackingAnnotation, object.TrackingID("app", m.Key, c.ns))
	if m, err = object.NewManifest(obj); err != nil {
		t.Fatal(err)
	}
	return m
}

// tidy deletes what a test made.
func (c cluster) tidy(t *testing.T, key object.Key) {
	leave, err := guard.JudgeObject(key, object.ConsentGiven, guard.Loss{})
	if err != nil {
		t.Error(err)
	}
	c.target.DeleteHook(context.WithoutCancel(t.Context()), leave, key, "", "")
}

// step carries out changes, with options of the Application.
func (c cluster) step(t *testing.T, verb diff.Verb, dry bool, app object.Options, manifests ...map[string]any) []apply.Outcome {
	t.Helper()
	ready := map[object.Key]object.Manifest{}
	own := map[object.Key]object.Options{}
	var changes []diff.Change
	var deletions []object.Key
	for _, obj := range manifests {
		m := c.manifest(t, obj)
		ready[m.Key], own[m.Key] = m, object.OptionsOf(obj)
		if verb == diff.Delete {
			deletions = append(deletions, m.Key)
		}
		changes = append(changes, diff.Change{Key: m.Key, Version: m.Version, Verb: verb})
	}
	return c.target.Step(t.Context(), changes, apply.Options{
		DryRun:   dry,
		Leave:    guard.JudgeSync(guard.Sync{Deletions: deletions, Budget: plan.Budget{Off: true}}).Leave,
		How:      func(k object.Key) apply.How { return apply.How{Own: own[k], App: app} },
		Manifest: func(k object.Key) (object.Manifest, bool) { m, ok := ready[k]; return m, ok },
	})
}

// TestObjectsAreWrittenAsTheirOptionsAsk carries out the scenarios whose tables say by which command an object is
// written. ConfigMaps stand for Pods: what they hold does not matter here.
func TestObjectsAreWrittenAsTheirOptionsAsk(t *testing.T) {
	t.Parallel()
	var set struct{ Scenarios []syncScenario }
	loadYAML(t, &set, dir(t, "sync"), "scenarios.yaml")
	c := newCluster(t)
	rows := 0
	for _, s := range set.Scenarios {
		switch s.ID {
		case "replace-option", "server-side-apply-option", "force-option":
		default:
			continue
		}
		for i, row := range decodeCases[writeCase](t, s.Cases) {
			rows++
			t.Run(s.ID+"/"+itoa(i), func(t *testing.T) { row.check(t, c, s.ID+"-"+itoa(i)) })
		}
	}
	t.Logf("%d rows on how an object is written", rows)
}

type writeCase struct {
	Target  syncObject
	Live    *syncObject
	Command string
	Force   bool
}

func (row writeCase) check(t *testing.T, c cluster, name string) {
	out := c.write(t, row, name)
	want := map[string]string{"apply": "serverside-applied", "replace": "replaced", "update": "replaced", "create": "created"}[row.Command]
	if row.Command == "replace" && row.Force {
		want = "deleted and created"
	}
	if out.Err != nil || !strings.HasSuffix(out.Message, " "+want) {
		t.Errorf("it was %q, want %q", out.Message, want)
	}
}

// write writes the object of a row under a name of its own, over the live one where there is one.
func (c cluster) write(t *testing.T, row writeCase, name string) apply.Outcome {
	t.Helper()
	if row.Live != nil {
		before := c.own(*row.Live, name)
		before["metadata"].(map[string]any)["labels"] = map[string]any{"before": "yes"}
		for _, out := range c.step(t, diff.Create, false, object.Options{}, before) {
			if out.Err != nil {
				t.Fatal(out.Message)
			}
		}
	}
	c.sent.last()
	out := c.step(t, diff.Update, false, object.Options{}, c.own(row.Target, name))[0]
	if row.Target.Kind == "Namespace" {
		t.Cleanup(func() { c.tidy(t, out.Change.Key) })
	}
	return out
}

// own is an object of a scenario under a name of its own in the cluster.
func (c cluster) own(o syncObject, name string) map[string]any {
	if o.Kind == "Namespace" {
		o.Name = c.ns + "-" + name
		return o.manifest()
	}
	o.Kind, o.Name = "ConfigMap", name
	obj := o.manifest()
	obj["metadata"].(map[string]any)["namespace"] = c.ns
	return obj
}

func TestADryRunOfCustomResourcesDecidesAlike(t *testing.T) {
	t.Parallel()
	var set struct{ Scenarios []syncScenario }
	loadYAML(t, &set, dir(t, "sync"), "scenarios.yaml")
	c := newCluster(t)
	for _, s := range set.Scenarios {
		if s.ID != "dry-run-of-custom-resources" {
			continue
		}
		for i, row := range decodeCases[dryCase](t, s.Cases) {
			t.Run(itoa(i), func(t *testing.T) { row.check(t, c, "kind"+itoa(i)) })
		}
	}
}

type dryCase struct {
	CRDInCluster, CRDInSameSync, TasksValid, DryRun bool

	Options  []string
	Settings syncSettings
}

func (row dryCase) check(t *testing.T, c cluster, kind string) {
	group := c.ns + ".example.com"
	definition := map[string]any{}
	text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"` + kind + `s.` + group + `"},
		"spec":{"group":"` + group + `","scope":"Namespaced","names":{"kind":"` + strings.ToUpper(kind) + `","plural":"` + kind + `s"},
		"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`
	if err := json.Unmarshal([]byte(text), &definition); err != nil {
		t.Fatal(err)
	}
	obj := syncObject{APIVersion: group + "/v1", Kind: strings.ToUpper(kind), Name: "my-resource", Options: row.Options}.manifest()
	obj["metadata"].(map[string]any)["namespace"] = c.ns
	if row.CRDInCluster {
		// What is written waits until the cluster serves its kind.
		made := syncObject{APIVersion: group + "/v1", Kind: strings.ToUpper(kind), Name: "another"}.manifest()
		made["metadata"].(map[string]any)["namespace"] = c.ns
		for _, out := range c.step(t, diff.Create, false, object.Options{}, definition, made) {
			if out.Err != nil {
				t.Fatal(out.Message)
			}
			t.Cleanup(func() { c.tidy(t, out.Change.Key) })
		}
	}
	objects := []map[string]any{obj}
	if row.CRDInSameSync {
		objects = append(objects, definition)
	}
	for _, out := range c.step(t, diff.Create, true, row.Settings.options(), objects...) {
		if out.Change.Key.Kind == "CustomResourceDefinition" {
			continue
		}
		if valid := out.Err == nil; valid != row.TasksValid || valid && out.Skipped == row.DryRun {
			t.Errorf("valid: %t, skipped: %t, %s; want %+v", valid, out.Skipped, out.Message, row)
		}
	}
}

package action_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/action"
)

var env = action.Env{Now: time.Date(2026, 3, 4, 12, 30, 45, 0, time.UTC)}

func parse(t testing.TB, text string) map[string]any {
	t.Helper()
	var obj map[string]any
	if err := yaml.Unmarshal([]byte(text), &obj); err != nil {
		t.Fatal(err)
	}
	return obj
}

const deployment = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {}}
spec:
  replicas: 3
  template:
    spec:
      volumes: [{name: tmp, emptyDir: {}}]
`

func list(t *testing.T, actions *action.Actions, obj string) string {
	t.Helper()
	all, err := actions.List(parse(t, obj), env)
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, a := range all {
		lines = append(lines, a.String())
	}
	return strings.Join(lines, "\n")
}

func TestWhatIsOfferedDependsOnTheObject(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, obj, want string }{
		{"a deployment", deployment, "pause\nrestart\nresume, disabled\nscale(replicas)"},
		{"a paused deployment", strings.Replace(deployment, "replicas: 3", "paused: true", 1), "pause, disabled\nrestart\nresume\nscale(replicas)"},
		{"a bare one", "{apiVersion: apps/v1, kind: Deployment}", "pause\nrestart\nresume, disabled\nscale(replicas)"},
		{"fields of any shape", "{apiVersion: apps/v1, kind: Deployment, spec: [1]}", "error: list actions of Deployment.apps"},
		{"another version", "{apiVersion: batch/v1beta1, kind: CronJob, spec: {suspend: true}}", "create-job\nresume"},
		{"a kind without actions", "{apiVersion: apps/v1, kind: ReplicaSet}", ""},
		{"a group without actions", "{apiVersion: example.com/v1, kind: Deployment}", ""},
		{"the core group", "{apiVersion: v1, kind: Pod}", ""},
		{"a group that is a path", "{apiVersion: ../rules/apps/v1, kind: Deployment}", ""},
		{"no kind", "{apiVersion: v1}", "error: the object has no kind"},
		{"a job that is over", `{apiVersion: batch/v1, kind: Job, status: {conditions: [{type: Complete, status: "True"}]}}`, ""},
		{"a job that runs", `{apiVersion: batch/v1, kind: Job, status: {}}`, "suspend\nterminate"},
		{
			"a rollout without status", `{apiVersion: argoproj.io/v1alpha1, kind: Rollout, spec: {}}`,
			"abort, disabled\npause, disabled\npromote-full, disabled\nrestart\nresume, disabled\nretry, disabled\nskip-current-step, disabled",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := list(t, action.New(nil), c.obj)
			if got != c.want && !(strings.HasPrefix(c.want, "error: ") && strings.HasPrefix(got, c.want)) {
				t.Errorf("offered are\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestARunChangesACopyAndNothingElse(t *testing.T) {
	t.Parallel()
	obj := parse(t, deployment)
	got, err := action.New(nil).Run(obj, "restart", nil, env)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(parse(t, deployment), obj); diff != "" {
		t.Errorf("the object was changed: %s", diff)
	}
	want := parse(t, deployment)
	want["spec"].(map[string]any)["template"].(map[string]any)["metadata"] = map[string]any{
		"annotations": map[string]any{"kubectl.kubernetes.io/restartedAt": "2026-03-04T12:30:45Z"},
	}
	if diff := cmp.Diff([]action.Impact{{Operation: action.Patch, Object: want}}, got); diff != "" {
		t.Error(diff)
	}
}

func TestAJobIsCreatedFromACronJobWithASuffix(t *testing.T) {
	t.Parallel()
	obj := parse(t, `
apiVersion: batch/v1
kind: CronJob
metadata: {name: backup, namespace: shop, uid: u}
spec:
  jobTemplate:
    metadata: {labels: {a: b}, name: ignored, annotations: {cronjob.kubernetes.io/instantiate: no, x: y}}
    spec: {template: {spec: {volumes: [{name: tmp, emptyDir: {}}]}}}
`)
	got, err := action.New(nil).Run(obj, "create-job", nil, action.Env{Now: env.Now, Suffix: "-x7k2p"})
	if err != nil {
		t.Fatal(err)
	}
	want := parse(t, `
apiVersion: batch/v1
kind: Job
metadata:
  name: backup-2603041230-x7k2p
  namespace: shop
  labels: {a: b}
  annotations: {cronjob.kubernetes.io/instantiate: manual, x: y}
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: backup, uid: u, blockOwnerDeletion: true, controller: true}]
spec: {template: {spec: {volumes: [{name: tmp, emptyDir: {}}]}}}
`)
	if diff := cmp.Diff([]action.Impact{{Operation: action.Create, Object: want}}, got); diff != "" {
		t.Error(diff)
	}
	if got[0].String() != "create Job shop/backup-2603041230-x7k2p" {
		t.Errorf("it prints as %s", got[0])
	}
}

func TestWhatARunCannotDoIsAnError(t *testing.T) {
	t.Parallel()
	many := map[string]string{}
	for i := range 100 {
		many[strings.Repeat("x", i+1)] = ""
	}
	for _, c := range []struct {
		name, obj, action string
		params            map[string]string
		want              string
	}{
		{"no number", deployment, "scale", map[string]string{"replicas": "many"}, "invalid number: many"},
		{"infinitely many", deployment, "scale", map[string]string{"replicas": "1.0e999"}, "invalid number: 1.0e999"},
		{"a parameter is missing", deployment, "scale", nil, "scale needs the parameter replicas"},
		{"a parameter too many", deployment, "restart", map[string]string{"now": "x"}, `restart takes no parameter "now"`},
		{"a hundred parameters", deployment, "restart", many, "100 parameters: an action takes at most 20"},
		{"a long parameter", deployment, "scale", map[string]string{"replicas": strings.Repeat("1", 5000)}, "parameter replicas has more than 4096 bytes"},
		{"an unknown action", deployment, "explode", nil, `Deployment.apps has no action "explode": there are pause, restart, resume, scale`},
		{"a kind without actions", "{apiVersion: v1, kind: Pod}", "restart", nil, "Pod has no actions"},
		{"a field in the way", "{apiVersion: apps/v1, kind: Deployment, spec: {template: yes}}", "restart", nil, "spec.template is no map"},
		{"a list in the way", "{apiVersion: batch/v1, kind: Job, status: {conditions: x}}", "terminate", nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := action.New(nil).Run(parse(t, c.obj), c.action, c.params, env)
			if err == nil || c.want != "" && err.Error() != c.want {
				t.Errorf("the error is %v, want %s", err, c.want)
			}
		})
	}
}

func TestAnObjectThatIsTooDeepIsRefused(t *testing.T) {
	t.Parallel()
	obj := parse(t, deployment)
	for range 300 {
		obj = map[string]any{"apiVersion": "apps/v1", "kind": "Deployment", "spec": obj}
	}
	if _, err := action.New(nil).List(obj, env); err == nil {
		t.Error("it is taken")
	}
}

// Every file is read, every expression compiled, and every action is run on an object that has nothing but its kind: no
// rule fails in a way that tells of a mistake in it.
func TestEveryBuiltInRuleIsSound(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("rules"), "*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no rules", err)
	}
	kinds, all := 0, 0
	actions := action.New(nil)
	for _, name := range files {
		var f struct {
			Group string
			Kinds []struct {
				For     []string
				Actions []struct{ Name string }
			}
		}
		raw, err := os.ReadFile("rules/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.Unmarshal(raw, &f); err != nil {
			t.Fatal(err)
		}
		if f.Group+".yaml" != name {
			t.Errorf("%s is about %s", name, f.Group)
		}
		for _, k := range f.Kinds {
			for _, kind := range k.For {
				kinds++
				obj := map[string]any{"apiVersion": f.Group + "/v1", "kind": kind, "metadata": map[string]any{"name": "x"}}
				if _, err := actions.List(obj, env); err != nil {
					t.Error(err)
				}
				for _, a := range k.Actions {
					all++
					if _, err := actions.Run(obj, a.Name, map[string]string{}, env); err != nil && strings.Contains(err.Error(), "no such") {
						t.Errorf("%s %s: %v", kind, a.Name, err)
					}
				}
			}
		}
	}
	if kinds != 36 || all != 94 {
		t.Errorf("%d kinds and %d actions: say here how many there are", kinds, all)
	}
}

func TestNoObjectMakesARuleFailInAWayThatIsNotAnError(t *testing.T) {
	t.Parallel()
	actions := action.New(nil)
	kinds := []string{
		"apps/v1 Deployment", "batch/v1 Job", "batch/v1 CronJob", "argoproj.io/v1alpha1 Rollout", "argoproj.io/v1alpha1 CronWorkflow",
		"postgresql.cnpg.io/v1 Cluster", "numaflow.numaproj.io/v1alpha1 Pipeline", "keda.sh/v1alpha1 ScaledObject",
	}
	leaf := rapid.OneOf(
		rapid.Just[any](nil), rapid.Just[any](true), rapid.Just[any](map[string]any{}), rapid.Just[any]([]any{}),
		rapid.Map(rapid.Int64(), func(n int64) any { return n }), rapid.Map(rapid.String(), func(s string) any { return s }),
		rapid.Just[any]([]any{map[string]any{"type": "Failed", "status": "True"}}), rapid.Just[any](0.5),
	)
	names := rapid.SampledFrom([]string{
		"spec", "status", "metadata", "annotations", "labels", "paused", "suspend", "template", "conditions", "instancesStatus",
		"healthy", "strategy", "canary", "steps", "jobTemplate", "lifecycle", "observedGeneration", "workflowMetadata",
	})
	branch := rapid.Map(rapid.MapOf(names, leaf), func(m map[string]any) any { return m })
	root := rapid.MapOf(names, rapid.OneOf(leaf, branch, rapid.Map(rapid.MapOf(names, branch), func(m map[string]any) any { return m })))
	rapid.Check(t, func(t *rapid.T) {
		obj := root.Draw(t, "object")
		version, kind, _ := strings.Cut(rapid.SampledFrom(kinds).Draw(t, "kind"), " ")
		obj["apiVersion"], obj["kind"] = version, kind
		all, err := actions.List(obj, env)
		if err != nil {
			return
		}
		for _, a := range all {
			impacts, err := actions.Run(obj, a.Name, nil, env)
			if err == nil && len(impacts) != 1 {
				t.Errorf("%s gives %d objects", a.Name, len(impacts))
			}
		}
	})
}

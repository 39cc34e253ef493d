package app

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

func TestApplicationIsWhatTheFlagsSay(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		args []string
		want string // below metadata, or the error
	}{
		{
			name: "the least that is needed",
			args: []string{"--repo", "https://git.example.com/demo.git", "--path", "apps/web"},
			want: `
destination: {server: https://kubernetes.default.svc}
project: default
source: {repoURL: https://git.example.com/demo.git, path: apps/web}
`,
		},
		{
			name: "automated sync into a new namespace",
			args: []string{
				"--repo", "https://git.example.com/demo.git", "--path", ".", "--revision", "main", "--project", "shop",
				"--dest-name", "prod", "--dest-namespace", "web", "--auto-sync", "--prune", "--self-heal", "--create-namespace",
				"--sync-option", "PruneLast=true",
			},
			want: `
destination: {name: prod, namespace: web}
project: shop
source: {repoURL: https://git.example.com/demo.git, path: ., targetRevision: main}
syncPolicy:
  automated: {prune: true, selfHeal: true}
  syncOptions: [PruneLast=true, CreateNamespace=true]
`,
		},
		{
			name: "automated sync alone turns nothing else on",
			args: []string{"--repo", "https://git.example.com/demo.git", "--path", "a", "--auto-sync"},
			want: `
destination: {server: https://kubernetes.default.svc}
project: default
source: {repoURL: https://git.example.com/demo.git, path: a}
syncPolicy: {automated: {}}
`,
		},
		{
			name: "a chart with values",
			args: []string{
				"--repo", "https://charts.example.com", "--chart", "blog", "--revision", "1.x", "--dest-server", "https://prod.example.com",
				"--helm-values", "values-prod.yaml", "--helm-set", "title=a=b,c", "--helm-set", "replicas=2",
			},
			want: `
destination: {server: https://prod.example.com}
project: default
source:
  repoURL: https://charts.example.com
  chart: blog
  targetRevision: 1.x
  helm:
    valueFiles: [values-prod.yaml]
    parameters: [{name: title, value: "a=b,c"}, {name: replicas, value: "2"}]
`,
		},
		{
			name: "images of a kustomization",
			args: []string{"--repo", "https://git.example.com/demo.git", "--path", "k", "--kustomize-image", "web=example.com/web:1"},
			want: `
destination: {server: https://kubernetes.default.svc}
project: default
source: {repoURL: https://git.example.com/demo.git, path: k, kustomize: {images: ["web=example.com/web:1"]}}
`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			spec := specFlags{name: "web"}
			flags := pflag.NewFlagSet("create", pflag.ContinueOnError)
			spec.addFlags(flags)
			if err := flags.Parse(c.args); err != nil {
				t.Fatal(err)
			}
			got, err := spec.application()
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]any{
				"apiVersion": "argoproj.io/v1alpha1", "kind": "Application",
				"metadata": map[string]any{"name": "web"},
			}
			var below map[string]any
			if err := yaml.Unmarshal([]byte(c.want), &below); err != nil {
				t.Fatal(err)
			}
			want["spec"] = below
			if diff := cmp.Diff(want, got.Object); diff != "" {
				t.Errorf("application (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFlagsThatContradictEachOtherAreWrongUsage(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"no repository":             {"--path", "a"},
		"neither path nor chart":    {"--repo", "r"},
		"path and chart":            {"--repo", "r", "--path", "a", "--chart", "c"},
		"two destinations":          {"--repo", "r", "--path", "a", "--dest-server", "s", "--dest-name", "n"},
		"self-heal without auto":    {"--repo", "r", "--path", "a", "--self-heal"},
		"helm and kustomize":        {"--repo", "r", "--path", "a", "--helm-set", "a=b", "--kustomize-image", "a:b"},
		"value without a name":      {"--repo", "r", "--path", "a", "--helm-set", "=b"},
		"option without a value":    {"--repo", "r", "--path", "a", "--sync-option", "PruneLast"},
		"label that is only a name": {"--repo", "r", "--path", "a", "--label", "team"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			spec := specFlags{name: "web"}
			flags := pflag.NewFlagSet("create", pflag.ContinueOnError)
			spec.addFlags(flags)
			if err := flags.Parse(args); err != nil {
				t.Fatal(err)
			}
			_, err := spec.application()
			var exit *iostream.ExitError
			if !errors.As(err, &exit) || exit.Code != iostream.CodeUsage {
				t.Errorf("got %v, want an error of usage", err)
			}
		})
	}
}

func TestWaitLooksAtWhatItIsAskedFor(t *testing.T) {
	t.Parallel()
	app := func(sync v1alpha1.SyncStatusCode, health v1alpha1.HealthStatusCode, phase v1alpha1.OperationPhase) *v1alpha1.Application {
		a := &v1alpha1.Application{}
		a.Status.Sync = v1alpha1.SyncStatus{Status: sync, Revision: "0123456789abcdef"}
		a.Status.Health.Status = health
		if phase != "" {
			a.Status.OperationState = &v1alpha1.OperationState{Phase: phase}
		}
		return a
	}
	pending := app(v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy, "")
	pending.Operation = &v1alpha1.Operation{}
	several := app(v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy, "")
	several.Status.Sync.Revisions = []string{"aaaaaaaaaa", "bbbbbbbbbb"}
	for _, c := range []struct {
		name string
		opts waitOptions
		app  *v1alpha1.Application
		want bool
	}{
		{"synced", waitOptions{synced: true}, app(v1alpha1.SyncStatusSynced, v1alpha1.HealthDegraded, v1alpha1.OperationRunning), true},
		{"not synced", waitOptions{synced: true}, app(v1alpha1.SyncStatusOutOfSync, v1alpha1.HealthHealthy, ""), false},
		{"never seen", waitOptions{synced: true}, &v1alpha1.Application{}, false},
		{"not healthy", waitOptions{healthy: true}, app(v1alpha1.SyncStatusSynced, v1alpha1.HealthProgressing, ""), false},
		{"running", waitOptions{operation: true}, app(v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy, v1alpha1.OperationRunning), false},
		{"asked for", waitOptions{operation: true}, pending, false},
		{"failed is over", waitOptions{operation: true}, app(v1alpha1.SyncStatusOutOfSync, v1alpha1.HealthHealthy, v1alpha1.OperationFailed), true},
		{"at the commit", waitOptions{revision: "0123456"}, app(v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy, ""), true},
		{"at another commit", waitOptions{revision: "fedcba9"}, app(v1alpha1.SyncStatusSynced, v1alpha1.HealthHealthy, ""), false},
		{"one of several sources", waitOptions{revision: "bbbbbbb"}, several, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := c.opts.reached(c.app); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

package registry

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// corpusVariable names a directory with checkouts in src/ and in bin/ the programs helm3 and helm4, of the versions that Argo CD ships. Nothing of a corpus is part of
// this repository.
const corpusVariable = "SLIPWAY_CORPUS"

// Charts as their authors keep them, with dependencies that no checkout holds, give what Helm gives after it fetched them: from the
// same repositories and registries, by the same addresses.
func TestChartsWithDependenciesRenderAsHelmDoes(t *testing.T) {
	corpus := os.Getenv(corpusVariable)
	if corpus == "" {
		t.Skip(corpusVariable + " is not set")
	}
	charts := corpusCharts(t, filepath.Join(corpus, "src"))
	world := publish(t, charts)
	sources := world.sources(t)
	var mu sync.Mutex
	tally := map[string]map[string]int{"helm3": {}, "helm4": {}}
	t.Cleanup(func() {
		for program, n := range tally {
			t.Logf("%s: %v", program, n)
			if n["equal"] == 0 {
				t.Errorf("%s: no chart was compared", program)
			}
		}
	})
	for _, c := range charts {
		if len(c.meta.Dependencies) == 0 {
			continue
		}
		for program, version := range map[string]string{"helm3": render.HelmV3, "helm4": render.HelmV4} {
			t.Run(program+" "+c.name, func(t *testing.T) {
				t.Parallel()
				verdict := c.compare(t, world, sources, filepath.Join(corpus, "bin", program), version)
				mu.Lock()
				defer mu.Unlock()
				tally[program][verdict]++
			})
		}
	}
}

// sources are those of an agent whose settings say how the world is reached.
func (w *world) sources(t *testing.T) *place.Sources {
	t.Helper()
	settings := place.NewSettings(func() {})
	authority := map[string]any{}
	for _, host := range w.hosts {
		authority[host] = string(w.authority)
	}
	settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": place.ConfigCertificate}, "data": authority,
	}})
	for i, address := range w.addresses {
		settings.Put("secrets", secret("repository-"+string(rune('a'+i)), v1alpha1.SecretTypeRepoCreds, map[string]string{"url": address, "proxy": w.proxy}))
	}
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	policy := &outward.Policy{Allow: allow}
	registries := &place.Registries{
		Settings: settings, Store: store, Outbound: policy, Pod: registrylogin.NewPod(registrylogin.PodOptions{Outbound: policy}),
	}
	out := place.NewSources(nil, settings)
	out.Artifacts = &place.Artifacts{Pool: artifact.NewPool(artifact.PoolOptions{}), Store: store, Policy: policy, Registry: registries.Open}
	return out
}

// secret is a Secret of Argo CD's settings.
func secret(name, kind string, fields map[string]string) *unstructured.Unstructured {
	raw := runtime.DefaultUnstructuredConverter
	data := map[string][]byte{}
	for k, v := range fields {
		data[k] = []byte(v)
	}
	object, err := raw.ToUnstructured(&struct {
		Metadata map[string]any    `json:"metadata"`
		Data     map[string][]byte `json:"data"`
	}{map[string]any{"name": name, "labels": map[string]any{v1alpha1.LabelSecretType: kind}}, data})
	if err != nil {
		panic(err)
	}
	return &unstructured.Unstructured{Object: object}
}

// compare renders a chart by the engine and by Helm, and says how the answers relate.
func (c *corpusChart) compare(t *testing.T, w *world, sources *place.Sources, program, version string) string {
	tree, err := dirtree.Open(c.dir, "corpus")
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	order := &supply.Order{
		Needs: sources, App: &v1alpha1.Application{}, Permits: func(string, string) error { return nil },
		Find: func(_ context.Context, req render.Request, _ string) ([]need.Need, error) {
			needs, _, err := need.Find(req)
			return needs, err
		},
	}
	requests := []render.Request{{
		App: render.App{Name: "app"}, Source: v1alpha1.ApplicationSource{Path: ".", Helm: &v1alpha1.HelmSource{Version: version}},
		Tree: tree, Namespace: "dest", Cluster: render.Capabilities{KubeVersion: "v1.36.3"},
	}}
	copied := w.build(t, program, c)
	args := []string{"template", copied, "--name-template", "app", "--namespace", "dest", "--kube-version", "v1.36.3", "--include-crds"}
	before, _, _ := w.run(t, program, args...)
	ours := order.Gather(t.Context(), requests, func(int) string { return "" })
	var res render.Result
	if ours == nil {
		res, ours = (&render.Pipeline{Helm: helm.Renderer{}}).Render(t.Context(), requests[0])
	}
	out, said, theirs := w.run(t, program, args...)
	switch {
	case theirs != nil && ours != nil:
		t.Logf("ours: %v\ntheirs: %s", ours, said)
		return "both refuse"
	case theirs != nil:
		t.Logf("only Helm refuses: %s", said)
		return "only Helm refuses"
	case ours != nil:
		t.Errorf("only the engine refuses: %v", ours)
		return "only the engine refuses"
	}
	got := make([]any, len(res.Objects))
	for i, m := range res.Objects {
		got[i] = testenv.Decoded(t, m.JSON)
	}
	want, verdict := testenv.Printed(t, out), "equal"
	if !bytes.Equal(out, before) {
		verdict = "equal but for what is random" // passwords, certificates and times that the chart makes, and what is computed from them
		second := testenv.Printed(t, before)
		for i := range min(len(want), len(second), len(got)) {
			want[i], got[i] = settled(want[i], second[i], got[i])
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%d objects (-helm +ours):\n%.3000s", len(got), d)
		return "differ"
	}
	return verdict
}

// settled returns what Helm gave and what we gave, with every value on which Helm does not agree with itself replaced in both.
func settled(first, second, ours any) (want, got any) {
	switch a := first.(type) {
	case map[string]any:
		b, _ := second.(map[string]any)
		c, _ := ours.(map[string]any)
		for k := range a {
			if v, ok := c[k]; ok {
				a[k], c[k] = settled(a[k], b[k], v)
			}
		}
	case []any:
		b, _ := second.([]any)
		c, _ := ours.([]any)
		if len(a) == len(b) && len(b) == len(c) {
			for i := range a {
				a[i], c[i] = settled(a[i], b[i], c[i])
			}
		}
	default:
		if !cmp.Equal(first, second) {
			return "random", "random"
		}
	}
	return first, ours
}

// build copies a chart and has Helm fetch its dependencies, as Argo CD does. What Helm says of a failure shows when it renders.
func (w *world) build(t *testing.T, program string, c *corpusChart) string {
	t.Helper()
	to := filepath.Join(t.TempDir(), filepath.Base(c.dir))
	if err := os.CopyFS(to, os.DirFS(c.dir)); err != nil {
		t.Fatal(err)
	}
	if _, said, err := w.run(t, program, "dependency", "build", to); err != nil {
		t.Logf("dependency build: %s", said)
	}
	return to
}

// run runs Helm with the world behind its proxy.
func (w *world) run(t *testing.T, program string, args ...string) (out []byte, said string, err error) {
	t.Helper()
	return w.start(t, w.home(t, program), program, args...)
}

func (w *world) start(t *testing.T, home, program string, args ...string) (out []byte, said string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), program, args...)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + home, "HTTPS_PROXY=" + w.proxy, "SSL_CERT_FILE=" + w.authorityFile,
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err = cmd.Output()
	return out, strings.TrimSpace(stderr.String()), err
}

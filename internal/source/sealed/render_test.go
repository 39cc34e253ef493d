package sealed_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
	"github.com/slipway-gitops/slipway/internal/engine/render/kustomize"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/source"
)

// rendered renders a tree with every tool that its files ask for.
func rendered(t *testing.T, tree source.Tree, set func(*v1alpha1.ApplicationSource)) (string, error) {
	t.Helper()
	pipeline := &render.Pipeline{Plain: plain.Renderer{}, Helm: helm.Renderer{}, Kustomize: kustomize.New()}
	req := render.Request{
		App: render.App{Name: "shop", Namespace: "argocd", Project: "shop"}, Namespace: "shop",
		Source: v1alpha1.ApplicationSource{RepoURL: "https://git.example.org/shop", Path: "."}, Tree: tree,
	}
	if set != nil {
		set(&req.Source)
	}
	res, err := pipeline.Render(t.Context(), req)
	var out strings.Builder
	for _, o := range res.Objects {
		out.Write(o.JSON)
	}
	return out.String(), err
}

const chart = "apiVersion: v2\nname: shop\nversion: 1.0.0\n"

func TestEveryToolReadsDecryptedFiles(t *testing.T) {
	t.Parallel()
	values := func(names ...string) func(*v1alpha1.ApplicationSource) {
		return func(s *v1alpha1.ApplicationSource) { s.Helm = &v1alpha1.HelmSource{ValueFiles: names} }
	}
	coded := base64.StdEncoding.EncodeToString
	for _, tt := range []struct {
		name  string
		files map[string][]byte
		set   func(*v1alpha1.ApplicationSource)
		want  []string
	}{
		{name: "a manifest", files: map[string][]byte{"secret.yaml": read(t, "encrypted/secret.yaml")}, want: []string{"plum-Tree-4711-lantern"}},
		{name: "several documents", files: map[string][]byte{"several.yaml": read(t, "encrypted/several.yaml")}, want: []string{
			"olive-Night-1188-marble", "poppy-Field-2299-silver",
		}},
		{name: "a resource of Kustomize", files: map[string][]byte{
			"kustomization.yaml": []byte("resources: [secret.yaml]\nnamePrefix: my-\n"), "secret.yaml": read(t, "encrypted/secret.yaml"),
		}, want: []string{"my-database", "plum-Tree-4711-lantern"}},
		{name: "a patch", files: map[string][]byte{
			"kustomization.yaml": []byte("resources: [base.yaml]\npatches: [{path: secret.yaml}]\n"), "secret.yaml": read(t, "encrypted/secret.yaml"),
			"base.yaml": []byte("apiVersion: v1\nkind: Secret\nmetadata: {name: database}\n"),
		}, want: []string{"plum-Tree-4711-lantern"}},
		{name: "a generator of lines", files: map[string][]byte{
			"kustomization.yaml": []byte("secretGenerator: [{name: made, envs: [settings.env]}]\n"), "settings.env": read(t, "encrypted/settings.env"),
		}, want: []string{coded([]byte("lemon-Cliff-7788-garden"))}},
		{name: "a generator of files", files: map[string][]byte{
			"kustomization.yaml": []byte("secretGenerator: [{name: made, files: [notes.txt]}]\n"), "notes.txt": read(t, "encrypted/notes.txt"),
		}, want: []string{coded(read(t, "plain/notes.txt"))[:60]}},
		{name: "a value file, beside one for another key", files: map[string][]byte{
			"Chart.yaml": []byte(chart), "secrets.yaml": read(t, "encrypted/suffix.yaml"), "secrets.prod.yaml": read(t, "encrypted/other.yaml"),
			"templates-are-elsewhere": []byte("x"),
		}, set: values("secrets.yaml")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := rendered(t, open(t, tt.files, nil, "one.agekey"), tt.set)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in %s", want, got)
				}
			}
			if strings.Contains(got, "ENC[") || strings.Contains(got, `"sops"`) {
				t.Errorf("something is encrypted: %s", got)
			}
		})
	}
}

func TestWhatIsNotDecryptedIsNotDeployed(t *testing.T) {
	t.Parallel()
	files := map[string][]byte{"secret.yaml": read(t, "encrypted/secret.yaml")}
	bare := open(t, files, nil).Tree
	if _, err := rendered(t, bare, nil); err == nil || !strings.Contains(err.Error(), "was not decrypted") {
		t.Errorf("a manifest without keys: %v", err)
	}
	stored := map[string][]byte{"secret.yaml": []byte(strings.Replace(string(files["secret.yaml"]), "kind: Secret", "kind: SopsSecret", 1))}
	if got, err := rendered(t, open(t, stored, nil).Tree, nil); err != nil || !strings.Contains(got, "ENC[") {
		t.Errorf("for an operator in the cluster: %v", err)
	}
	helmed := map[string][]byte{"Chart.yaml": []byte(chart), "secrets.yaml": read(t, "encrypted/suffix.yaml")}
	named := func(s *v1alpha1.ApplicationSource) {
		s.Helm = &v1alpha1.HelmSource{ValueFiles: []string{"secrets.yaml"}}
	}
	if _, err := rendered(t, open(t, helmed, nil).Tree, named); err == nil || !strings.Contains(err.Error(), "encrypted with SOPS") {
		t.Errorf("a value file without keys: %v", err)
	}
	if _, err := rendered(t, open(t, helmed, nil, "two.agekey"), named); err == nil || !strings.Contains(err.Error(), "project shop has other keys") {
		t.Errorf("a value file for another key: %v", err)
	}
}

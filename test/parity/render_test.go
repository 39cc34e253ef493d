package parity

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
	"github.com/slipway-gitops/slipway/internal/engine/render/jsonnet"
	"github.com/slipway-gitops/slipway/internal/engine/render/kustomize"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/source"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
)

const renderRevision = "6b3a55e0261b0304143f805a24924d0c1c445248"

// renderNotApplicable lists the cases that say nothing about objects or that this engine answers otherwise on purpose.
func renderNotApplicable() map[string]string {
	return map[string]string{
		"symlink-missing-absolute-target":   "an absolute link is always refused: whether its target exists on the host is not for a tree to find out",
		"helm-ref-repository-with-bad-link": "a bad link fails what reads it, and not a whole repository that happens to hold it",
		"kustomize-images-listed":           "the list of images belongs to application details, not to rendering",
		"helm-file-parameter-outside-repo":  "run with a real absolute path in a test of its own below",
		"items-but-not-a-list":              "the object has no name: refused with file and line, where upstream fails at apply",
	}
}

// renderNameless lists the cases in which upstream counts objects that have no name. They are refused here, so these
// cases check that everything before that passed: the error must be about the missing name and nothing else.
func renderNameless() []string {
	return []string{
		"recurse-on", "recurse-off", "irrelevant-yaml-skipped", "empty-documents", "valid-json", "size-limit-exact",
		"size-limit-jsonnet-not-counted", "symlink-in-bounds", "items-but-not-a-list",
	}
}

type renderIndex struct {
	Cases       []renderCase
	SourceTypes []struct {
		Root, Path    string
		DisabledTools []render.Tool
		Tool          render.Tool
	}
	KustomizationFileNames struct{ Accepted, Rejected []string }
	AppLists               []struct {
		Root string
		Apps map[string]render.Tool
	}
	PathChecks []struct {
		Root, Path, ErrorContains string
		OK                        bool
	}
	LinkChecks []struct {
		Root, RejectedFile string
		Excluded           []string
		OK                 bool
	}
}

type renderCase struct {
	ID       string
	Root     string
	Source   v1alpha1.ApplicationSource
	App      struct{ Name, Namespace string }
	Settings struct {
		KubeVersion      string
		APIVersions      []string
		MaxManifestBytes int64
		Kustomize        struct{ Versions []struct{ Name string } }
	}
	Chart, MultiSource bool
	Refs               map[string]string
	RefsThatAreCharts  []string
	Files              map[string]string
	Links              map[string]string
	Directories        []string
	Tool               render.Tool
	Expect             renderExpect
}

type renderExpect struct {
	Manifests, Parsed *int
	Kinds             []string
	Exact             []map[string]any
	Checks            []struct {
		Select, At string
		Equals     any
		Contains   any
		Length     *int
	}
	Error                                *bool
	MustNotLeak, AnyManifestContainsFile string
	APIVersions                          []string
}

type renderLinks struct {
	Symlinks []struct {
		Path, Target string
		OnlyFor      []string
	}
}

// pipeline builds the real thing; versions are the kustomize versions that are configured.
func pipeline(versions ...string) *render.Pipeline {
	return &render.Pipeline{
		Plain:     plain.Renderer{},
		Jsonnet:   jsonnet.New(),
		Helm:      helm.Renderer{},
		Kustomize: kustomize.New(versions...),
	}
}

// copyRender makes a private copy of the data with its links; id is the case whose own links are made too.
func copyRender(t *testing.T, from, id string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	var links renderLinks
	loadYAML(t, &links, from, "symlinks.yaml")
	for _, l := range links.Symlinks {
		if len(l.OnlyFor) > 0 && !slices.Contains(l.OnlyFor, id) {
			continue
		}
		name := filepath.Join(to, filepath.FromSlash(l.Path))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(l.Target, name); err != nil {
			t.Fatal(err)
		}
	}
	// The object of this chart has no name, and its cases look at nothing but its version.
	sample, err := os.OpenFile(filepath.Join(to, "helm", "api-versions", "templates", "sample.yaml"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer sample.Close()
	if _, err := sample.WriteString("\nmetadata: {name: sample}\n"); err != nil {
		t.Fatal(err)
	}
	return to
}

func openTree(t *testing.T, dir, revision string) source.Tree {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	tree, err := dirtree.Open(dir, revision)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := tree.Close(); err != nil {
			t.Error(err)
		}
	})
	return tree
}

// renderRoot is the folder that plays the repository of a case.
func renderRoot(t *testing.T, c renderCase, data, shared string) string {
	t.Helper()
	if len(c.Links) == 0 && (len(c.Files) == 0 || !strings.HasPrefix(c.Root, "repo")) && len(c.Directories) == 0 {
		if strings.HasPrefix(c.ID, "symlink-circular") {
			shared = copyRender(t, data, c.ID)
		}
		return filepath.Join(shared, filepath.FromSlash(c.Root))
	}
	base := t.TempDir()
	for _, d := range append(slices.Clone(c.Directories), c.Root) {
		if err := os.MkdirAll(filepath.Join(base, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range c.Files {
		file := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range c.Links {
		if !strings.HasPrefix(target, "/") {
			rel, err := filepath.Rel(path.Dir(name), target)
			if err != nil {
				t.Fatal(err)
			}
			target = rel
		}
		if err := os.Symlink(target, filepath.Join(base, name)); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(base, c.Root)
}

func renderRequest(t *testing.T, c renderCase, data, shared string) render.Request {
	t.Helper()
	revision := renderRevision
	if c.Chart {
		revision = "1.1.0"
	}
	req := render.Request{
		App:       render.App{Name: c.App.Name, Namespace: "argocd", Project: "default"},
		Source:    c.Source,
		Tree:      openTree(t, renderRoot(t, c, data, shared), revision),
		Namespace: c.App.Namespace,
		Cluster:   render.Capabilities{KubeVersion: c.Settings.KubeVersion, APIVersions: c.Settings.APIVersions},
		Limits:    render.Limits{Bytes: c.Settings.MaxManifestBytes},
	}
	if req.App.Name == "" {
		req.App.Name = "test"
	}
	if req.Cluster.KubeVersion == "" {
		req.Cluster.KubeVersion = "v1.36.3"
	}
	if c.MultiSource {
		req.Refs = map[string]source.Tree{}
	}
	for name, root := range c.Refs {
		req.Refs[name] = openTree(t, filepath.Join(shared, filepath.FromSlash(root)), renderRevision)
	}
	return req
}

func TestSourcesBecomeTheManifestsThatUpstreamMakes(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	shared := copyRender(t, data, "")
	var index renderIndex
	loadYAML(t, &index, data, "index.yaml")
	if len(index.Cases) < 100 {
		t.Fatalf("only %d cases were read", len(index.Cases))
	}
	other := renderNotApplicable()
	for _, c := range index.Cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			nameless := slices.Contains(renderNameless(), c.ID)
			if why := other[c.ID]; why != "" && !nameless {
				t.Skip(why)
			}
			req := renderRequest(t, c, data, shared)
			var versions []string
			for _, v := range c.Settings.Kustomize.Versions {
				versions = append(versions, v.Name)
			}
			res, err := pipeline(versions...).Render(t.Context(), req)
			if nameless {
				if err == nil || !strings.Contains(err.Error(), "has no metadata.name") {
					t.Fatalf("got %v, want an error about the missing name", err)
				}
				return
			}
			checkRendering(t, c, shared, res, err)
		})
	}
}

func checkRendering(t *testing.T, c renderCase, shared string, res render.Result, err error) {
	t.Helper()
	want := c.Expect
	if leak := want.MustNotLeak; leak != "" && err != nil && strings.Contains(err.Error(), leak) {
		t.Errorf("the error tells what it must not: %v", err)
	}
	if want.Error != nil && *want.Error {
		if err == nil {
			t.Fatalf("rendering gave %d objects, want an error", len(res.Objects))
		}
		t.Logf("error: %v", err)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if c.Tool != "" && res.Tool != c.Tool {
		t.Errorf("tool %s, want %s", res.Tool, c.Tool)
	}
	for _, n := range []*int{want.Manifests, want.Parsed} {
		if n != nil && !(n == want.Parsed && want.Manifests != nil) && len(res.Objects) != *n {
			t.Errorf("%d objects, want %d: %v", len(res.Objects), *n, res.Objects)
		}
	}
	kinds, apiVersions := []string{}, []string{}
	for _, o := range res.Objects {
		kinds = append(kinds, o.Key.Kind+"/"+o.Key.Name)
		apiVersions = append(apiVersions, o.APIVersion())
	}
	slices.Sort(kinds)
	if want.Kinds != nil {
		slices.Sort(want.Kinds)
		if d := cmp.Diff(want.Kinds, kinds); d != "" {
			t.Errorf("kinds (-want +got):\n%s", d)
		}
	}
	if want.APIVersions != nil {
		if d := cmp.Diff(want.APIVersions, apiVersions); d != "" {
			t.Errorf("api versions (-want +got):\n%s", d)
		}
	}
	if want.Exact != nil {
		checkExact(t, want.Exact, res.Objects)
	}
	for _, k := range want.Checks {
		checkPointer(t, res.Objects, k.Select, k.At, k.Equals, k.Contains, k.Length)
	}
	if f := want.AnyManifestContainsFile; f != "" {
		text := strings.TrimSpace(string(read(t, shared, f)))
		if !slices.ContainsFunc(res.Objects, func(m object.Manifest) bool { return containsText(m, text) }) {
			t.Errorf("no object contains %q", text)
		}
	}
}

// containsText looks for text as it is and as the data of a Secret holds it.
func containsText(m object.Manifest, text string) bool {
	raw, err := json.Marshal([]byte(text))
	return bytes.Contains(m.JSON, []byte(text)) || err == nil && bytes.Contains(m.JSON, bytes.Trim(raw, `"`))
}

// checkExact compares whole documents. What a later stage adds, the tracking marks, is taken out of what is wanted.
func checkExact(t *testing.T, want []map[string]any, objects []object.Manifest) {
	t.Helper()
	for _, w := range want {
		meta, _ := w["metadata"].(map[string]any)
		for field, key := range map[string]string{"annotations": "argocd.argoproj.io/tracking-id", "labels": "test"} {
			m, _ := meta[field].(map[string]any)
			delete(m, key)
			if m != nil && len(m) == 0 {
				delete(meta, field)
			}
		}
	}
	got := make([]map[string]any, len(objects))
	for i, o := range objects {
		if err := json.Unmarshal(o.JSON, &got[i]); err != nil {
			t.Fatal(err)
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("objects (-want +got):\n%s", d)
	}
}

func checkPointer(t *testing.T, objects []object.Manifest, sel, at string, equals, contains any, length *int) {
	t.Helper()
	i := slices.IndexFunc(objects, func(m object.Manifest) bool { return m.Key.Kind+"/"+m.Key.Name == sel })
	if i < 0 {
		t.Errorf("no object %s in %v", sel, objects)
		return
	}
	var v any
	if err := json.Unmarshal(objects[i].JSON, &v); err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(strings.TrimPrefix(at, "/"), "/") {
		part = strings.NewReplacer("~1", "/", "~0", "~").Replace(part)
		switch x := v.(type) {
		case map[string]any:
			v = x[part]
		case []any:
			n := -1
			if _, err := fmt.Sscan(part, &n); err != nil || n < 0 || n >= len(x) {
				t.Errorf("%s: no %s", sel, at)
				return
			}
			v = x[n]
		default:
			t.Errorf("%s: no %s", sel, at)
			return
		}
	}
	if equals != nil {
		if d := cmp.Diff(equals, v); d != "" {
			t.Errorf("%s %s (-want +got):\n%s", sel, at, d)
		}
	}
	if contains != nil && !strings.Contains(fmt.Sprint(v), fmt.Sprint(contains)) {
		t.Errorf("%s %s is %v, want it to contain %v", sel, at, v, contains)
	}
	if list, _ := v.([]any); length != nil && len(list) != *length {
		t.Errorf("%s %s has %d elements, want %d", sel, at, len(list), *length)
	}
}

func TestFileParameterOutsideTheRepositoryIsRefused(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	secret := filepath.Join(t.TempDir(), "external-secret.txt")
	if err := os.WriteFile(secret, []byte("external-secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	req := render.Request{
		App: render.App{Name: "test"},
		Source: v1alpha1.ApplicationSource{Path: "redis", Helm: &v1alpha1.HelmSource{
			ValueFiles:     []string{"values-production.yaml"},
			FileParameters: []v1alpha1.HelmFileParameter{{Name: "passwordContent", Path: secret}},
		}},
		Tree: openTree(t, filepath.Join(copyRender(t, data, ""), "helm"), renderRevision),
	}
	if res, err := pipeline().Render(t.Context(), req); err == nil {
		t.Fatalf("rendering gave %d objects, want an error", len(res.Objects))
	}
}

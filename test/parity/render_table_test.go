package parity

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source"
)

func TestToolOfASourceIsFoundAsUpstreamDoes(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	shared := copyRender(t, data, "")
	var index renderIndex
	loadYAML(t, &index, data, "index.yaml")
	for _, c := range index.SourceTypes {
		t.Run(fmt.Sprintf("%s/%s without %v", c.Root, c.Path, c.DisabledTools), func(t *testing.T) {
			t.Parallel()
			got := toolOf(t, filepath.Join(shared, c.Root), c.Path, c.DisabledTools...)
			if got != c.Tool {
				t.Errorf("tool %s, want %s", got, c.Tool)
			}
		})
	}
	for _, l := range index.AppLists {
		t.Run("all of "+l.Root, func(t *testing.T) {
			t.Parallel()
			got := map[string]render.Tool{}
			root := filepath.Join(shared, l.Root)
			err := filepath.WalkDir(root, func(p string, d os.DirEntry, err error) error {
				if err != nil || !d.IsDir() {
					return err
				}
				rel, err := filepath.Rel(root, p)
				if tool := toolOf(t, root, rel); err == nil && tool != render.Directory {
					got[rel] = tool
				}
				return err
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(l.Apps, got); d != "" {
				t.Errorf("applications (-want +got):\n%s", d)
			}
		})
	}
	names := index.KustomizationFileNames
	for _, name := range append(slices.Clone(names.Accepted), names.Rejected...) {
		t.Run("file "+name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			if err := os.WriteFile(filepath.Join(root, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
			accepted := slices.Contains(names.Accepted, name)
			if got := toolOf(t, root, "."); (got == render.Kustomize) != accepted {
				t.Errorf("tool %s, kustomization accepted should be %v", got, accepted)
			}
		})
	}
}

func toolOf(t *testing.T, root, dir string, disabled ...render.Tool) render.Tool {
	t.Helper()
	req, _, err := render.Prepare(render.Request{
		Source: v1alpha1.ApplicationSource{Path: dir},
		Tree:   openTree(t, root, renderRevision),
	}, disabled...)
	if err != nil {
		t.Fatal(err)
	}
	return req.Tool
}

func TestPathOfASourceMustBeADirectoryInTheRepository(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	shared := copyRender(t, data, "")
	var index renderIndex
	loadYAML(t, &index, data, "index.yaml")
	for _, c := range index.PathChecks {
		t.Run(c.Path, func(t *testing.T) {
			t.Parallel()
			root := c.Root
			if root == "" {
				root = "discovery"
			}
			_, _, err := render.Prepare(render.Request{
				Source: v1alpha1.ApplicationSource{Path: c.Path},
				Tree:   openTree(t, filepath.Join(shared, root), renderRevision),
			})
			switch {
			case c.OK && err != nil:
				t.Error(err)
			case !c.OK && (err == nil || !strings.Contains(err.Error(), c.ErrorContains)):
				t.Errorf("got %v, want an error with %q", err, c.ErrorContains)
			}
		})
	}
}

func TestLinkThatLeavesTheRepositoryIsRefused(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	shared := copyRender(t, data, "")
	var index renderIndex
	loadYAML(t, &index, data, "index.yaml")
	for _, c := range index.LinkChecks {
		t.Run(fmt.Sprintf("%s without %v", c.Root, c.Excluded), func(t *testing.T) {
			t.Parallel()
			tree := openTree(t, filepath.Join(shared, c.Root), renderRevision)
			if bad := badLinks(t, tree, ".", c.Excluded); c.OK && len(bad) > 0 || !c.OK && !slices.Contains(bad, c.RejectedFile) {
				t.Errorf("rejected links %v, want %q", bad, c.RejectedFile)
			}
		})
	}
}

// badLinks lists the names that cannot be read because a link leaves the tree.
func badLinks(t *testing.T, tree source.Tree, dir string, excluded []string) []string {
	t.Helper()
	entries, err := tree.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		_, err := tree.Stat(name)
		switch {
		case slices.Contains(excluded, name):
		case errors.Is(err, source.ErrEscape):
			out = append(out, name)
		case err == nil && e.IsDir():
			out = append(out, badLinks(t, tree, name, excluded)...)
		}
	}
	return out
}

// renderTables are the parts of the index about the values of charts.
type renderTables struct {
	ValueFileResolution []struct {
		File   string
		Refs   map[string]string
		Env    map[string]string
		Result string
		Error  bool
	}
	ValueFileGlobs struct {
		Tree  map[string][]string
		Cases []struct {
			Files                   []string
			Refs, Env               map[string]string
			IgnoreMissingValueFiles bool
			Error                   bool
			Result                  []string
		}
	}
	SetValueEscaping []struct{ In, Out string }
}

// orderChart renders a chart whose value files are given, and tells which of files it read and in what order: of each
// two files the later one wins. The chart lies in the root of the repository.
func orderChart(t *testing.T, trees map[string][]string, valueFiles []string, refs map[string]string, ignoreMissing bool) ([]string, error) {
	t.Helper()
	var all []string
	for repo, files := range trees {
		for _, f := range files {
			all = append(all, repo+"/"+f)
		}
	}
	slices.Sort(all)
	roots := map[string]source.Tree{}
	for repo := range trees {
		root := t.TempDir()
		for i, f := range all {
			name, mine := strings.CutPrefix(f, repo+"/")
			if !mine {
				continue
			}
			text := fmt.Sprintf("seen: {n%d: true}\npair:\n", i)
			for j := range all {
				text += fmt.Sprintf("  n%d-%d: %d\n", min(i, j), max(i, j), i)
			}
			writeFile(t, filepath.Join(root, name), text)
		}
		if repo == "main" {
			writeFile(t, filepath.Join(root, "Chart.yaml"), "apiVersion: v2\nname: order\nversion: 1.0.0\n")
			// Its extension keeps the template out of what the patterns of the table match.
			writeFile(t, filepath.Join(root, "templates", "cm.txt"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: order}\ndata: {{ toJson .Values }}\n")
		}
		roots[repo] = openTree(t, root, renderRevision)
	}
	req := render.Request{
		App:    render.App{Name: "test"},
		Source: v1alpha1.ApplicationSource{Path: ".", Helm: &v1alpha1.HelmSource{ValueFiles: valueFiles, IgnoreMissingValueFiles: ignoreMissing}},
		Tree:   roots["main"],
	}
	for name, repo := range refs {
		if req.Refs == nil {
			req.Refs = map[string]source.Tree{}
		}
		if roots[repo] != nil {
			req.Refs[name] = roots[repo]
		}
	}
	res, err := pipeline().Render(t.Context(), req)
	if err != nil {
		return nil, err
	}
	var cm struct {
		Data struct {
			Seen map[string]bool
			Pair map[string]int
		}
	}
	if err := json.Unmarshal(res.Objects[0].JSON, &cm); err != nil {
		t.Fatal(err)
	}
	var order []int
	for i := range all {
		if cm.Data.Seen[fmt.Sprint("n", i)] {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int {
		if cm.Data.Pair[fmt.Sprintf("n%d-%d", min(a, b), max(a, b))] == a {
			return 1
		}
		return -1
	})
	out := []string{}
	for _, i := range order {
		out = append(out, all[i])
	}
	return out, nil
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// withEnv fills in the variables of a row that are not part of the build environment.
func withEnv(names []string, env map[string]string) []string {
	out := slices.Clone(names)
	for i := range out {
		for k, v := range env {
			out[i] = strings.ReplaceAll(out[i], "$"+k, v)
		}
	}
	return out
}

func TestValueFilesAreFoundAndOrderedAsUpstreamDoes(t *testing.T) {
	t.Parallel()
	data := dir(t, "render")
	var tables renderTables
	loadYAML(t, &tables, data, "index.yaml")
	if len(tables.ValueFileGlobs.Cases) == 0 || len(tables.ValueFileResolution) == 0 {
		t.Fatal("no rows were read")
	}
	for _, c := range tables.ValueFileGlobs.Cases {
		t.Run(fmt.Sprint(c.Files, c.Refs, c.Env, c.IgnoreMissingValueFiles), func(t *testing.T) {
			t.Parallel()
			trees := maps.Clone(tables.ValueFileGlobs.Tree)
			got, err := orderChart(t, trees, withEnv(c.Files, c.Env), c.Refs, c.IgnoreMissingValueFiles)
			want := c.Result
			if slices.Contains(c.Files, "**/*.yaml") {
				// The chart itself lies in the same tree here: the files of the table keep their order.
				got = slices.DeleteFunc(got, func(f string) bool { return !slices.Contains(want, f) })
			}
			if c.Error != (err != nil) {
				t.Fatalf("error %v, want one: %v", err, c.Error)
			}
			if d := cmp.Diff(want, got); !c.Error && d != "" {
				t.Errorf("files (-want +got):\n%s", d)
			}
		})
	}
	for _, c := range tables.ValueFileResolution {
		t.Run(fmt.Sprint(c.File, c.Refs, c.Env), func(t *testing.T) {
			t.Parallel()
			trees := map[string][]string{
				"main":  {"values.yaml", "app-path/values.yaml"},
				"repo1": {"values.yaml", "app-path/values.yaml"},
			}
			got, err := orderChart(t, trees, withEnv([]string{c.File}, c.Env), c.Refs, false)
			if c.Error != (err != nil) {
				t.Fatalf("files %v, error %v, want one: %v", got, err, c.Error)
			}
			// values.yaml in the root is also the chart's own, the weakest of all.
			if !c.Error && (len(got) == 0 || got[len(got)-1] != c.Result) {
				t.Errorf("files %v, want %s to be read last", got, c.Result)
			}
		})
	}
}

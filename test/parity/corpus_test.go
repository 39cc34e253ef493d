package parity

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/api/konfig"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/source/dirtree"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// corpusVariable names a directory with checkouts in src/ and the programs that Argo CD ships in bin/: kustomize, helm3 and
// helm4. Without it the tests of this file are skipped; nothing of a corpus is part of this repository.
const corpusVariable = "SLIPWAY_CORPUS"

// corpusCase is one directory and the program that says what it gives.
type corpusCase struct {
	dir, program string
	args         []string
	source       v1alpha1.ApplicationSource
}

// corpusCases finds every kustomization and every chart below root.
func corpusCases(t *testing.T, root string) []corpusCase {
	t.Helper()
	var out []corpusCase
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		dir := filepath.Dir(name)
		rel, err := filepath.Rel(root, dir)
		if err != nil {
			return err
		}
		switch {
		case slices.Contains(konfig.RecognizedKustomizationFileNames(), d.Name()):
			out = append(out, corpusCase{dir, "kustomize", []string{"build", dir}, v1alpha1.ApplicationSource{Path: rel, Kustomize: &v1alpha1.KustomizeSource{}}})
		case d.Name() == "Chart.yaml":
			for _, version := range []string{render.HelmV3, render.HelmV4} {
				out = append(out, corpusCase{
					dir, "helm" + version[1:],
					[]string{"template", dir, "--name-template", "app", "--namespace", "dest", "--kube-version", "v1.36.3", "--include-crds"},
					v1alpha1.ApplicationSource{Path: rel, Helm: &v1alpha1.HelmSource{Version: version}},
				})
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// Any public directory gives here what the programs that Argo CD ships make of it, object by object, in their order.
func TestCorpusRendersAsTheProgramsDo(t *testing.T) {
	corpus := os.Getenv(corpusVariable)
	if corpus == "" {
		t.Skip(corpusVariable + " is not set")
	}
	roots, err := filepath.Glob(filepath.Join(corpus, "src", "*"))
	if err != nil || len(roots) == 0 {
		t.Fatalf("%s has no checkouts in src (error %v)", corpus, err)
	}
	tally := map[string]map[string]int{}
	for _, root := range roots {
		tree, err := dirtree.Open(root, "corpus")
		if err != nil {
			t.Fatal(err)
		}
		defer tree.Close()
		for _, tc := range corpusCases(t, root) {
			t.Run(tc.program+" "+filepath.Base(root)+"/"+tc.source.Path, func(t *testing.T) {
				verdict := corpusCompare(t, corpus, tc, render.Request{
					App: render.App{Name: "app"}, Source: tc.source, Tree: tree, Namespace: "dest", Cluster: render.Capabilities{KubeVersion: "v1.36.3"},
				})
				if tally[tc.program] == nil {
					tally[tc.program] = map[string]int{}
				}
				tally[tc.program][verdict]++
			})
		}
	}
	for program, n := range tally {
		t.Logf("%s: %v", program, n)
	}
}

func corpusCompare(t *testing.T, corpus string, tc corpusCase, req render.Request) string {
	run := func() ([]byte, string, error) {
		cmd := exec.CommandContext(t.Context(), filepath.Join(corpus, "bin", tc.program), tc.args...)
		cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
		var said bytes.Buffer
		cmd.Stderr = &said
		out, err := cmd.Output()
		return out, strings.TrimSpace(said.String()), err
	}
	out, said, theirs := run()
	res, ours := pipeline().Render(context.WithoutCancel(t.Context()), req)
	switch {
	case theirs != nil && ours != nil:
		return "both refuse"
	case theirs != nil:
		t.Logf("only the program refuses: %s", said)
		return "only the program refuses"
	case ours != nil:
		t.Errorf("only the engine refuses: %v", ours)
		return "only the engine refuses"
	}
	var got []any
	for _, m := range res.Objects {
		got = append(got, testenv.Decoded(t, m.JSON))
	}
	if d := cmp.Diff(testenv.Printed(t, out), got); d != "" {
		if again, _, _ := run(); !bytes.Equal(out, again) {
			return "random" // passwords and certificates that the chart makes
		}
		t.Errorf("%d objects (-%s +ours):\n%.3000s", len(got), tc.program, d)
		return "differ"
	}
	return "equal"
}

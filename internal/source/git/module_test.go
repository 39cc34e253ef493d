package gitsource_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/source/lfs"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// modules opens submodules from a pool, and counts how often it is asked.
type modules struct {
	pool  *gitsource.Pool
	asked []string
	fails error
}

func (m *modules) parts() gitsource.Parts {
	return gitsource.Parts{Module: func(ctx context.Context, address, commit string) (*gitsource.Tree, error) {
		m.asked = append(m.asked, address)
		if m.fails != nil {
			return nil, m.fails
		}
		r, err := m.pool.Get(address, git.Credential{})
		if err != nil {
			return nil, err
		}
		tree, err := r.Tree(ctx, commit)
		if err != nil {
			return nil, err
		}
		return tree.With(m.parts()), nil
	}}
}

func (m *modules) tree(t *testing.T, repo *testenv.GitRepo, commit string) *gitsource.Tree {
	t.Helper()
	r, err := m.pool.Get(repo.URL(), git.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := r.Tree(t.Context(), commit)
	if err != nil {
		t.Fatal(err)
	}
	return tree.With(m.parts())
}

func gitmodules(pairs ...string) testenv.Change {
	var text strings.Builder
	for i := 0; i+1 < len(pairs); i += 2 {
		fmt.Fprintf(&text, "[submodule \"m%d\"]\n\tpath = %s\n\turl = %s\n", i, pairs[i], pairs[i+1])
	}
	return testenv.Change{Path: ".gitmodules", Content: text.String()}
}

func link(path, commit string) testenv.Change {
	return testenv.Change{Path: path, Mode: "160000", Content: commit}
}

func TestASubmoduleIsReadWhereItIsUsed(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	deep, lib, top := server.NewRepo("team/deep"), server.NewRepo("team/lib"), server.NewRepo("team/top")
	inner := deep.Apply("main", "deep", testenv.Change{Path: "d.txt", Content: "deep"})
	commit := lib.Apply("main", "lib",
		testenv.Change{Path: "base/a.yaml", Content: "a"},
		testenv.Change{Path: "base/inside", Mode: "120000", Content: "a.yaml"},
		testenv.Change{Path: "base/outside", Mode: "120000", Content: "../../../apps/x"},
		gitmodules("vendor/deep", "./../deep.git"), link("vendor/deep", inner),
	)
	first := top.Apply("main", "top",
		testenv.Change{Path: "apps/x", Content: "x"},
		testenv.Change{Path: "apps/shared", Mode: "120000", Content: "../vendor/lib/base/a.yaml"},
		testenv.Change{Path: "apps/up", Mode: "120000", Content: "../vendor/lib/../../apps/x"},
		gitmodules("vendor/lib", "../lib.git", "vendor/broken", "../nothing.git"),
		link("vendor/lib", commit), link("vendor/broken", commit), link("vendor/orphan", commit),
	)
	m := &modules{pool: gitsource.NewPool(client(t), gitsource.PoolOptions{})}
	tree := m.tree(t, top, first)
	sum, err := tree.Sum("vendor")
	if err != nil || sum == "" || len(m.asked) > 0 {
		t.Fatalf("what is below is identified by fetching %q: %v", m.asked, err)
	}
	if e, err := tree.Stat("vendor/lib"); err != nil || !e.IsDir() || len(m.asked) > 0 {
		t.Errorf("%v %v, fetched %q", e, err, m.asked)
	}
	for name, want := range map[string]string{
		"vendor/lib/base/a.yaml": "a", "vendor/lib/base/inside": "a", "apps/shared": "a", "vendor/lib/vendor/deep/d.txt": "deep", "apps/up": "x",
	} {
		if got, err := tree.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	if len(m.asked) != 2 {
		t.Errorf("it was fetched %d times: %q", len(m.asked), m.asked)
	}
	list, err := tree.ReadDir("vendor/lib")
	if err != nil || len(list) != 3 || list[1].Name != "base" || !list[2].IsDir() {
		t.Errorf("%v %v", list, err)
	}
	if _, err := tree.ReadFile("vendor/lib/base/outside"); !errors.Is(err, source.ErrEscape) {
		t.Errorf("a link that leaves the submodule: %v", err)
	}
	if list, err := tree.ReadDir("vendor/lib/base"); err != nil || list[2].Mode != fs.ModeSymlink {
		t.Errorf("%v %v", list, err)
	}
	for name, want := range map[string]string{"vendor/broken": "submodule vendor/broken", "vendor/orphan/x": "no address in .gitmodules", "vendor/lib/none": "not exist"} {
		if _, err := tree.ReadFile(name + "/f"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Its own commit decides on what is in it.
	inLib, err := tree.Sum("vendor/lib/base")
	if err != nil {
		t.Fatal(err)
	}
	second := top.Apply("main", "other", testenv.Change{Path: "apps/x", Content: "y"})
	if again, err := m.tree(t, top, second).Sum("vendor/lib/base"); err != nil || again != inLib {
		t.Errorf("an unchanged directory is %s and %s: %v", inLib, again, err)
	}
	next := lib.Apply("main", "next", testenv.Change{Path: "other", Content: "o"})
	third := m.tree(t, top, top.Apply("main", "bump", link("vendor/lib", next)))
	if again, _ := third.Sum("vendor/lib/base"); again != inLib {
		t.Error("a directory that the next commit of the submodule does not change has another identity")
	}
	if again, _ := third.Sum("vendor"); again == sum {
		t.Error("another commit of a submodule has the same identity")
	}
	if one, two := must(tree.ListSum("vendor/lib")), must(third.ListSum("vendor/lib")); one == two {
		t.Error("two listings have one identity")
	}
	trace := source.NewTrace(tree)
	if _, err := trace.ReadFile("vendor/lib/base/a.yaml"); err != nil {
		t.Fatal(err)
	}
	if !source.Unchanged(third, trace.Reads()) {
		t.Error("what was read counts as changed")
	}
	plain, err := gitsource.NewTree(mirrorOf(t, m, top), first, 0)
	if err != nil {
		t.Fatal(err)
	}
	if list, err := plain.ReadDir("vendor/lib"); err != nil || len(list) != 0 {
		t.Errorf("without parts a submodule holds %v: %v", list, err)
	}
}

func must(s string, err error) string {
	if err != nil {
		return err.Error()
	}
	return s
}

func mirrorOf(t *testing.T, m *modules, repo *testenv.GitRepo) *git.Mirror {
	t.Helper()
	mirror, err := client(t).Mirror(repo.URL(), git.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	if err := mirror.FetchAll(t.Context()); err != nil {
		t.Fatal(err)
	}
	return mirror
}

func TestSubmodulesAreBounded(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	m := &modules{pool: gitsource.NewPool(client(t), gitsource.PoolOptions{})}
	commit, name := "", ""
	for depth := range 8 { // the last one is the top
		repo := server.NewRepo(fmt.Sprintf("r%d", depth))
		changes := []testenv.Change{{Path: "f", Content: "x"}}
		if commit != "" {
			changes = append(changes, gitmodules("m", name), link("m", commit))
		}
		commit, name = repo.Apply("main", "c", changes...), "../"+fmt.Sprintf("r%d.git", depth)
		if depth == 7 {
			tree := m.tree(t, repo, commit)
			if _, err := tree.ReadFile("m/m/m/m/m/f"); err != nil {
				t.Error(err)
			}
			if _, err := tree.ReadFile("m/m/m/m/m/m/f"); err == nil || !strings.Contains(err.Error(), "submodules deep") {
				t.Errorf("too deep: %v", err)
			}
		}
	}
	leaf, wide := server.NewRepo("leaf"), server.NewRepo("wide")
	commit = leaf.Apply("main", "c", testenv.Change{Path: "f", Content: "x"})
	var changes []testenv.Change
	var pairs []string
	for i := range 102 {
		path := fmt.Sprintf("m%d", i)
		changes, pairs = append(changes, link(path, commit)), append(pairs, path, "../leaf.git")
	}
	tree := m.tree(t, wide, wide.Apply("main", "c", append(changes, gitmodules(pairs...))...))
	failed := 0
	for i := range 102 {
		if _, err := tree.ReadFile(fmt.Sprintf("m%d/f", i)); err != nil {
			failed++
		}
	}
	if failed != 2 {
		t.Errorf("%d of 102 submodules are refused", failed)
	}
	// One that fails is tried once.
	m.fails, m.asked = errors.New("it is down"), nil
	tree = m.tree(t, wide, wide.Head("main"))
	for range 3 {
		if _, err := tree.ReadDir("m0"); !errors.Is(err, m.fails) {
			t.Error(err)
		}
	}
	tree.Prepare(t.Context(), "m1")
	if len(m.asked) != 2 {
		t.Errorf("it was asked %d times", len(m.asked))
	}
	for _, address := range []string{"ext::sh -c id", "file:///etc", "gopher://h/x"} {
		repo := server.NewRepo("bad" + address[:1])
		bad := &modules{pool: gitsource.NewPool(client(t, func(o *git.Options) { o.AllowFile = false }), gitsource.PoolOptions{})}
		tree := bad.tree(t, repo, repo.Apply("main", "c", gitmodules("m", address), link("m", commit)))
		if _, err := tree.ReadFile("m/f"); err == nil {
			t.Errorf("%s is read", address)
		}
	}
}

func TestAConfigurationIsReadByGitOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calls, spy := filepath.Join(dir, "calls"), filepath.Join(dir, "git-spy")
	if err := os.WriteFile(spy, fmt.Appendf(nil, "#!/bin/sh\necho \"$*\" >>%s\nexec git \"$@\"\n", calls), 0o700); err != nil {
		t.Fatal(err)
	}
	started := func() int {
		raw, err := os.ReadFile(calls)
		if err != nil {
			t.Fatal(err)
		}
		return strings.Count(string(raw), "config --file")
	}
	server := testenv.Git(t)
	lib, top, bad := server.NewRepo("lib"), server.NewRepo("top"), server.NewRepo("bad")
	commit := lib.Apply("main", "lib", testenv.Change{Path: "f", Content: "x"})
	first := top.Apply("main", "top", gitmodules("lib", "../lib.git"), link("lib", commit))
	second := top.Apply("main", "next", testenv.Change{Path: "other", Content: "o"})
	broken := bad.Apply("main", "bad", testenv.Change{Path: ".gitmodules", Content: "[submodule"}, link("lib", commit))
	pool := gitsource.NewPool(client(t, func(o *git.Options) { o.Program = spy }), gitsource.PoolOptions{})
	use := func(repo *testenv.GitRepo, commit string) error {
		tree := (&modules{pool: pool}).tree(t, repo, commit)
		tree.Prepare(t.Context(), ".")
		_, err := tree.ReadFile("lib/f")
		return err
	}
	for _, at := range []string{first, first, second} {
		if err := use(top, at); err != nil {
			t.Fatal(err)
		}
	}
	if n := started(); n != 1 {
		t.Errorf("three turns have git read one file %d times", n)
	}
	for range 3 {
		if err := use(bad, broken); err == nil || !strings.Contains(err.Error(), "no configuration of git") {
			t.Errorf("a file that git cannot read: %v", err)
		}
	}
	if n := started(); n != 2 {
		t.Errorf("three turns have git read a wrong file %d times", n-1)
	}
	third := top.Apply("main", "more", gitmodules("lib", "../lib.git", "more", "../lib.git"))
	trees := make([]*gitsource.Tree, 8)
	for i := range trees {
		trees[i] = (&modules{pool: pool}).tree(t, top, third)
	}
	var all sync.WaitGroup
	for _, tree := range trees {
		all.Go(func() { tree.Prepare(t.Context(), ".") })
	}
	all.Wait()
	if n := started(); n != 3 {
		t.Errorf("eight turns at a time have git read one file %d times", n-2)
	}
}

func TestAFileOfLFSIsItsContentOnlyWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393"
	pointer := func(size int) string {
		return fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, size)
	}
	commit := repo.Apply("main", "c",
		testenv.Change{Path: "big.yaml", Content: pointer(5)}, testenv.Change{Path: "huge.yaml", Content: pointer(5000)},
		testenv.Change{Path: "broken.yaml", Content: strings.Replace(pointer(5), "sha256:4", "sha256:", 1)},
		testenv.Change{Path: "plain.yaml", Content: "version https://git-lfs.github.com/spec/v2\n"},
		testenv.Change{Path: ".lfsconfig", Content: "[lfs]\n\turl = https://lfs.example/x\n"},
	)
	plain := opener(t, repo)(commit)
	var asked []string
	tree := plain.With(gitsource.Parts{Large: func(_ context.Context, endpoint string, p lfs.Pointer) ([]byte, error) {
		asked = append(asked, endpoint+" "+p.OID)
		return []byte("hello"), nil
	}})
	if got, err := plain.ReadFile("big.yaml"); err != nil || string(got) != pointer(5) {
		t.Errorf("%q %v", got, err)
	}
	if got, err := tree.ReadFile("big.yaml"); err != nil || string(got) != "hello" {
		t.Errorf("%q %v", got, err)
	}
	if got, err := tree.ReadFile("plain.yaml"); err != nil || !strings.HasSuffix(string(got), "v2\n") {
		t.Errorf("%q %v", got, err)
	}
	if _, err := tree.ReadFile("huge.yaml"); !errors.Is(err, source.ErrTooLarge) {
		t.Error(err)
	}
	if _, err := tree.ReadFile("broken.yaml"); err == nil || !strings.Contains(err.Error(), "malformed") {
		t.Error(err)
	}
	if len(asked) != 1 || asked[0] != "https://lfs.example/x "+oid {
		t.Errorf("%q", asked)
	}
	if one, two := must(plain.Sum("big.yaml")), must(tree.Sum("big.yaml")); one != two {
		t.Error("the identity is not that of the pointer")
	}
}

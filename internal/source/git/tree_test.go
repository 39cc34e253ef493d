package gitsource_test

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func client(t testing.TB, change ...func(*git.Options)) *git.Client {
	t.Helper()
	o := git.Options{Dir: t.TempDir(), AllowFile: true}
	for _, c := range change {
		c(&o)
	}
	c, err := git.New(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return c
}

// opener returns a function that opens the tree of a commit of repo.
func opener(t testing.TB, repo *testenv.GitRepo) func(commit string) *gitsource.Tree {
	t.Helper()
	pool := gitsource.NewPool(client(t), gitsource.PoolOptions{FileLimit: 1000})
	r, err := pool.Get(repo.FileURL(), git.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	return func(commit string) *gitsource.Tree {
		t.Helper()
		tree, err := r.Tree(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
}

func TestATreeFollowsLinksInsideAndRefusesOthers(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	commit := repo.Apply("main", "all",
		testenv.Change{Path: "a/file", Content: "x"},
		testenv.Change{Path: "a/run.sh", Mode: "100755", Content: "#!"},
		testenv.Change{Path: "a/up", Mode: "120000", Content: "../b/other"},
		testenv.Change{Path: "a/dir", Mode: "120000", Content: "../b"},
		testenv.Change{Path: "a/escape", Mode: "120000", Content: "../../etc/passwd"},
		testenv.Change{Path: "a/absolute", Mode: "120000", Content: "/etc/passwd"},
		testenv.Change{Path: "a/loop", Mode: "120000", Content: "loop2"},
		testenv.Change{Path: "a/loop2", Mode: "120000", Content: "loop"},
		testenv.Change{Path: "a/gone", Mode: "120000", Content: "nothing"},
		testenv.Change{Path: "a/back", Mode: "120000", Content: "../a"},
		testenv.Change{Path: "b/other", Content: "y"},
		testenv.Change{Path: "big", Content: string(make([]byte, 1001))},
		testenv.Change{Path: "sub", Mode: "160000", Content: "1111111111111111111111111111111111111111"},
	)
	tree := opener(t, repo)(commit)
	cases := []struct {
		name, path, want string
		err              error
	}{
		{"a file", "a/file", "x", nil},
		{"a link to a file", "a/up", "y", nil},
		{"a file below a link", "a/dir/other", "y", nil},
		{"a way through itself", "a/back/back/back/file", "x", nil},
		{"a link out of the repository", "a/escape", "", source.ErrEscape},
		{"an absolute link", "a/absolute", "", source.ErrEscape},
		{"a loop", "a/loop", "", source.ErrLinkLoop},
		{"a broken link", "a/gone", "", fs.ErrNotExist},
		{"a missing name", "a/none", "", fs.ErrNotExist},
		{"a name below a file", "a/file/x", "", fs.ErrNotExist},
		{"a name inside a submodule", "sub/x", "", fs.ErrNotExist},
		{"a name that is not clean", "../x", "", fs.ErrInvalid},
		{"a file over the limit", "big", "", source.ErrTooLarge},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := tree.ReadFile(c.path)
			if string(got) != c.want || !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Errorf("ReadFile(%q) = %q, %v; want %q, %v", c.path, got, err, c.want, c.err)
			}
		})
	}
	list, err := tree.ReadDir("a")
	if err != nil {
		t.Fatal(err)
	}
	want := []source.Entry{
		{Name: "absolute", Mode: fs.ModeSymlink, Size: -1},
		{Name: "back", Mode: fs.ModeDir, Size: -1},
		{Name: "dir", Mode: fs.ModeDir, Size: -1},
		{Name: "escape", Mode: fs.ModeSymlink, Size: -1},
		{Name: "file", Size: -1},
		{Name: "gone", Mode: fs.ModeSymlink, Size: -1},
		{Name: "loop", Mode: fs.ModeSymlink, Size: -1},
		{Name: "loop2", Mode: fs.ModeSymlink, Size: -1},
		{Name: "run.sh", Mode: 0o111, Size: -1},
		{Name: "up", Size: -1},
	}
	if d := cmp.Diff(want, list); d != "" {
		t.Errorf("listing (-want +got):\n%s", d)
	}
	if sub, err := tree.ReadDir("sub"); err != nil || len(sub) != 0 {
		t.Errorf("a submodule lists %v, %v; want nothing", sub, err)
	}
	if _, err := tree.ReadDir("a/file"); err == nil {
		t.Error("a file can be listed")
	}
	if _, err := tree.Sum("."); err != nil {
		t.Errorf("the root has no identity: %v", err)
	}
}

func TestSumsChangeWithContentAndOnlyThen(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	one := repo.Apply("main", "one",
		testenv.Change{Path: "a/file", Content: "x"},
		testenv.Change{Path: "b/file", Content: "y"},
		testenv.Change{Path: "c/link", Mode: "120000", Content: "../b"},
		testenv.Change{Path: "d/file", Content: "z"},
	)
	two := repo.Commit(map[string]string{"b/file": "changed", "d/more": "new"}, "two")
	open := opener(t, repo)
	before, after := open(one), open(two)
	cases := []struct {
		name, path string
		list       bool
		same       bool
	}{
		{"an untouched directory", "a", false, true},
		{"a changed file", "b/file", false, false},
		{"a directory with a changed file", "b", false, false},
		{"a directory with a link to a changed one", "c", false, false},
		{"a link to a changed directory", "c/link", false, false},
		{"the listing of a directory with a changed file", "b", true, true},
		{"the listing of a directory with a new file", "d", true, false},
		{"a name that is missing in both", "none", false, true},
		{"a name that is missing in one", "d/more", false, false},
		{"the root", ".", false, false},
		{"the listing of the root", ".", true, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sum := func(tree *gitsource.Tree) string {
				s, err := tree.Sum(c.path)
				if c.list {
					s, err = tree.ListSum(c.path)
				}
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			if b, a := sum(before), sum(after); (b == a) != c.same {
				t.Errorf("sums %q and %q: same = %v, want %v", b, a, b == a, c.same)
			}
		})
	}
}

func BenchmarkTwoThousandApplicationsAreChecked(b *testing.B) {
	repo := testenv.Git(b).NewRepo("r")
	files := map[string]string{}
	for i := range 2000 {
		for _, f := range []string{"kustomization.yaml", "deployment.yaml", "config.yaml"} {
			files[fmt.Sprintf("apps/app-%04d/%s", i, f)] = fmt.Sprintf("kind: %s %d\n", f, i)
		}
	}
	commits := []string{repo.Commit(files, "all")}
	commits = append(commits, repo.Commit(map[string]string{"apps/app-0007/config.yaml": "new"}, "one"))
	open := opener(b, repo)
	reads := make([][]source.Read, 2000)
	for i := range reads {
		trace := source.NewTrace(open(commits[0]))
		dir := fmt.Sprintf("apps/app-%04d", i)
		if _, err := trace.ReadDir(dir); err != nil {
			b.Fatal(err)
		}
		for _, f := range []string{"kustomization.yaml", "deployment.yaml", "config.yaml"} {
			if _, err := trace.ReadFile(dir + "/" + f); err != nil {
				b.Fatal(err)
			}
		}
		reads[i] = trace.Reads()
	}
	for b.Loop() {
		tree := open(commits[1])
		changed := 0
		for _, r := range reads {
			if !source.Unchanged(tree, r) {
				changed++
			}
		}
		if changed != 1 {
			b.Fatalf("%d applications changed, want 1", changed)
		}
	}
}

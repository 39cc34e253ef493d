package gitsource_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/source"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const mallory = "Mallory <m@example.com> 1700000000 +0000"

// hostile opens the tree of a commit that a server sends as it is.
func hostile(t testing.TB, p *testenv.GitPack, commit string) *gitsource.Tree {
	t.Helper()
	server := &testenv.HostileGit{Refs: []string{commit + " refs/heads/main"}, Fetch: testenv.SendPack(p.Bytes())}
	repo, err := gitsource.NewPool(client(t), gitsource.PoolOptions{}).Get(server.Start(t), git.Credential{})
	if err != nil {
		t.Fatal(err)
	}
	found, err := repo.Resolve(t.Context(), gitsource.Revision{Name: "main"}, time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := repo.Tree(t.Context(), found.Commit)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

func TestATreeThatNamesMoreThanMemoryHoldsIsRefused(t *testing.T) {
	t.Parallel()
	link := func(p *testenv.GitPack) [3]string { return [3]string{"120000", "l", p.Add("blob", "x")} }
	// Every directory holds the one below a hundred times: a hundred to the power of six links, in seven objects.
	wide := &testenv.GitPack{}
	id := wide.Tree(link(wide))
	for range 6 {
		var entries [][3]string
		for i := range 100 {
			entries = append(entries, [3]string{"40000", fmt.Sprintf("d%02d", i), id})
		}
		id = wide.Tree(entries...)
	}
	deep := &testenv.GitPack{}
	end := link(deep)
	below := deep.Tree(end)
	for range 10_000 {
		below = deep.Tree([3]string{"40000", "d", below}, end)
	}
	for name, c := range map[string]struct {
		pack *testenv.GitPack
		tree string
		want string
	}{"wide": {wide, id, "symbolic links"}, "deep": {deep, below, "levels of directories"}} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			tree := hostile(t, c.pack, c.pack.Commit(c.tree, mallory, "one"))
			runtime.ReadMemStats(&before)
			began := time.Now()
			_, err := tree.Sum(".")
			runtime.ReadMemStats(&after)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("err = %.300v, want one about %s", err, c.want)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 256<<20 {
				t.Errorf("it took %d MiB", used>>20)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("it took %s", took)
			}
			if _, err := tree.ReadFile(strings.Repeat("d/", 9000) + "l"); err == nil {
				t.Error("a path of 9,000 parts leads to a file")
			}
		})
	}
}

func TestFiltersPointersAndSubmodulesAreTextAndNothingElse(t *testing.T) {
	t.Parallel()
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 99999999999\n"
	p := &testenv.GitPack{}
	commit := p.Commit(p.Tree(
		[3]string{"100644", ".gitattributes", p.Add("blob", "* filter=lfs diff=lfs merge=lfs export-subst ident working-tree-encoding=UTF-16 text eol=crlf\n")},
		[3]string{"100644", ".lfsconfig", p.Add("blob", "[lfs]\n\turl = http://127.0.0.1:1/\n")},
		[3]string{"100644", "big.yaml", p.Add("blob", pointer)},
		[3]string{"160000", "sub", "1111111111111111111111111111111111111111"},
		[3]string{"100644", "subst.txt", p.Add("blob", "$Format:%H$ $Id$\n")},
	), mallory, "one")
	tree := hostile(t, p, commit)
	for name, want := range map[string]string{"big.yaml": pointer, "subst.txt": "$Format:%H$ $Id$\n"} {
		if got, err := tree.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s = %q, %v", name, got, err)
		}
	}
	if in, err := tree.ReadDir("sub"); err != nil || len(in) > 0 {
		t.Errorf("the submodule has %v, %v", in, err)
	}
	if _, err := tree.ReadFile("sub/x"); err == nil {
		t.Error("a file of the submodule is read")
	}
}

func TestAHostileCommitIsDescribedInWritableWords(t *testing.T) {
	t.Parallel()
	p := &testenv.GitPack{}
	commit := p.Commit(p.Tree([3]string{"100644", "a", p.Add("blob", "x")}), "\x1b[31mM <m@example.com> 253402300800 -9900", "\x1b]0;x\x07\u202eone\xff")
	change, err := hostile(t, p, commit).Change()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := json.Marshal(change); err != nil {
		t.Errorf("%+v cannot be written: %v", change, err)
	}
}

func TestARepositoryThatHangsDelaysNoOther(t *testing.T) {
	t.Parallel()
	hang := &testenv.HostileGit{Before: func(_ http.ResponseWriter, r *http.Request) bool {
		<-r.Context().Done()
		return true
	}}
	good := testenv.Git(t).NewRepo("good")
	good.Commit(map[string]string{"a": "1"}, "one")
	told := make(chan gitsource.Change, 100)
	pool := gitsource.NewPool(client(t, func(o *git.Options) { o.Patience, o.Timeout = 50*time.Millisecond, time.Hour }), gitsource.PoolOptions{
		Interval: 50 * time.Millisecond, Stale: time.Hour, Changed: func(c gitsource.Change) { told <- c },
	})
	follow := func(url string) {
		r, err := pool.Get(url, git.Credential{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(r.Follow(gitsource.Revision{Name: "main"}))
	}
	for range 40 { // more than are looked at together
		follow(hang.Start(t))
	}
	run(t, pool)
	follow(good.URL())
	<-told // the first look
	want := good.Commit(map[string]string{"a": "2"}, "two")
	deadline := time.After(time.Minute)
	for {
		select {
		case c := <-told:
			if c.URL == good.URL() {
				return
			}
		case <-deadline:
			t.Fatalf("nobody is told of %s", want)
		}
	}
}

func TestALinkLoopEndsAtItsLimit(t *testing.T) {
	t.Parallel()
	p := &testenv.GitPack{}
	to := func(s string) string { return p.Add("blob", s) }
	commit := p.Commit(p.Tree(
		[3]string{"120000", "a", to("b")}, [3]string{"120000", "b", to("a")}, [3]string{"120000", "c", to("c/c/c/c")}, [3]string{"120000", "d", to("./d/../d")},
	), mallory, "one")
	tree := hostile(t, p, commit)
	for _, name := range []string{"a", "b", "c", "d"} {
		if _, err := tree.ReadFile(name); !errors.Is(err, source.ErrLinkLoop) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package git_test

import (
	"fmt"
	"testing"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestABloblessMirrorFetchesTheFilesOfADirectoryAtOnce(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	files := map[string]string{"other/x": "other"}
	for i := range 20 {
		files[fmt.Sprintf("app/f%02d", i)] = fmt.Sprint(i)
	}
	commit := repo.Commit(files, "one")
	m := mirror(t, client(t, func(o *git.Options) { o.Blobless = true }), repo.URL(), git.Credential{})
	if err := m.Fetch(t.Context(), "refs/heads/main"); err != nil {
		t.Fatal(err)
	}
	before := server.RequestCount()
	if err := m.Prefetch(t.Context(), commit, "app"); err != nil {
		t.Fatal(err)
	}
	id, err := m.Ref("refs/heads/main")
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.Commit(id)
	if err != nil {
		t.Fatal(err)
	}
	root, err := m.Tree(c.Tree)
	if err != nil {
		t.Fatal(err)
	}
	dir, _ := root.Find("app")
	app, err := m.Tree(dir.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range app {
		b, err := m.Blob(e.ID, 100)
		if err != nil || string(b) != fmt.Sprint(i) {
			t.Fatalf("%s = %q, %v", e.Name, b, err)
		}
	}
	if n := server.RequestCount() - before; n > 3 {
		t.Errorf("20 files cost %d requests, want those of one fetch", n)
	}
	dir, _ = root.Find("other")
	other, err := m.Tree(dir.ID)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := m.Blob(other[0].ID, 100); err != nil || string(b) != "other" {
		t.Errorf("a file that was not prefetched = %q, %v", b, err)
	}
	if err := m.Prefetch(t.Context(), commit, "app"); err != nil {
		t.Errorf("prefetch what is there: %v", err)
	}
}

func TestMaintenanceKeepsWhatIsFollowed(t *testing.T) {
	t.Parallel()
	for _, blobless := range []bool{false, true} {
		t.Run(fmt.Sprintf("blobless %v", blobless), func(t *testing.T) {
			t.Parallel()
			repo := testenv.Git(t).NewRepo("r")
			first := repo.Commit(map[string]string{"a.txt": "0"}, "first")
			repo.Branch("old", first)
			m := mirror(t, client(t, func(o *git.Options) { o.Blobless = blobless }), repo.URL(), git.Credential{})
			if err := m.Fetch(t.Context(), "refs/heads/old"); err != nil {
				t.Fatal(err)
			}
			for i := range 60 {
				if i >= 54 {
					repo.Commit(map[string]string{"a.txt": fmt.Sprint(i)}, "next")
				}
				if err := m.Fetch(t.Context(), "refs/heads/main"); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.Keep(t.Context(), []string{"refs/heads/main"}); err != nil {
				t.Fatal(err)
			}
			if _, err := m.Ref("refs/heads/old"); err == nil {
				t.Error("a reference that is no longer followed is still there")
			}
			if err := m.Maintain(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got, err := read(t.Context(), m); err != nil || got != "59" {
				t.Errorf("read = %q, %v", got, err)
			}
		})
	}
}

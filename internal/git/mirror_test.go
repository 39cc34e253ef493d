package git_test

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func client(t testing.TB, change ...func(*git.Options)) *git.Client {
	t.Helper()
	o := git.Options{Dir: t.TempDir()}
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

func mirror(t testing.TB, c *git.Client, url string, cred git.Credential) *git.Mirror {
	t.Helper()
	m, err := c.Mirror(url, cred)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// read fetches main and reads the file a.txt through the mirror.
func read(ctx context.Context, m *git.Mirror) (string, error) {
	if err := m.Fetch(ctx, "refs/heads/main"); err != nil {
		return "", err
	}
	id, err := m.Ref("refs/heads/main")
	if err != nil {
		return "", err
	}
	c, err := m.Commit(id)
	if err != nil {
		return "", err
	}
	l, err := m.Tree(c.Tree)
	if err != nil {
		return "", err
	}
	e, ok := l.Find("a.txt")
	if !ok {
		return "", errors.New("a.txt is missing")
	}
	b, err := m.Blob(e.ID, 1<<20)
	return string(b), err
}

func TestAMirrorReadsOverEveryTransport(t *testing.T) {
	t.Parallel()
	open := testenv.Git(t)
	basic := testenv.Git(t, testenv.GitBasicAuth("bob", "p@ss:w/rd"))
	bearer := testenv.Git(t, testenv.GitBearer("tok"))
	tls := testenv.Git(t, testenv.GitTLS())
	cases := []struct {
		name   string
		server *testenv.GitServer
		url    func(*testenv.GitRepo) string
		cred   git.Credential
	}{
		{"http", open, (*testenv.GitRepo).URL, git.Credential{}},
		{"http with password", basic, (*testenv.GitRepo).URL, git.Credential{Username: "bob", Password: "p@ss:w/rd"}},
		{"http with token", bearer, (*testenv.GitRepo).URL, git.Credential{Bearer: "tok"}},
		{"https with authority", tls, (*testenv.GitRepo).URL, git.Credential{CA: tls.CA()}},
		{"https unchecked", tls, (*testenv.GitRepo).URL, git.Credential{Insecure: true}},
		{"ssh", open, (*testenv.GitRepo).SSHURL, git.Credential{SSHKey: open.SSHKey(), KnownHosts: open.KnownHosts()}},
		{"file", open, (*testenv.GitRepo).FileURL, git.Credential{}},
	}
	for i, c := range cases {
		repo := c.server.NewRepo("r" + string(rune('a'+i)))
		repo.Commit(map[string]string{"a.txt": "one"}, "first")
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mirror(t, client(t, func(o *git.Options) { o.AllowFile = true }), c.url(repo), c.cred)
			got, err := read(t.Context(), m)
			if err != nil || got != "one" {
				t.Fatalf("first read = %q, %v", got, err)
			}
			want := repo.Commit(map[string]string{"a.txt": "two"}, "second")
			if got, err = read(t.Context(), m); err != nil || got != "two" {
				t.Fatalf("second read = %q, %v", got, err)
			}
			refs, err := m.LsRemote(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if refs.Default != "refs/heads/main" || refs.IDs["refs/heads/main"] != want {
				t.Errorf("refs = %+v, want main at %s", refs, want)
			}
		})
	}
}

func TestAMirrorOutlivesTheTokensOfItsIdentity(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t, testenv.GitBearer("second"))
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "x"}, "one")
	c := client(t)
	first := mirror(t, c, repo.URL(), git.Credential{Identity: "app 1", Bearer: "first"})
	if _, err := read(t.Context(), first); !errors.Is(err, git.ErrAuth) {
		t.Fatalf("err = %v, want %v", err, git.ErrAuth)
	}
	second := mirror(t, c, repo.URL(), git.Credential{Identity: "app 1", Bearer: "second"})
	if first != second {
		t.Error("a new token of one identity has another mirror")
	}
	if got, err := read(t.Context(), first); err != nil || got != "x" {
		t.Errorf("read = %q, %v", got, err)
	}
	if other := mirror(t, c, repo.URL(), git.Credential{Identity: "app 2", Bearer: "second"}); other == first {
		t.Error("another identity shares the mirror")
	}
}

func TestSweepDeletesOnlyWhatIsNotOpen(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "x"}, "one")
	dir := t.TempDir()
	old := client(t, func(o *git.Options) { o.Dir = dir })
	if _, err := read(t.Context(), mirror(t, old, repo.URL(), git.Credential{})); err != nil {
		t.Fatal(err)
	}
	if err := old.Sweep(0); err != nil {
		t.Fatal(err)
	}
	if got, err := read(t.Context(), mirror(t, old, repo.URL(), git.Credential{})); err != nil || got != "x" {
		t.Errorf("an open mirror was swept: %q, %v", got, err)
	}
	old.Close()
	again := client(t, func(o *git.Options) { o.Dir = dir })
	for _, c := range []struct {
		age  time.Duration
		left int
	}{{time.Hour, 1}, {0, 0}} {
		if err := again.Sweep(c.age); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadDir(dir); err != nil || len(got) != c.left {
			t.Errorf("after Sweep(%v) %d mirrors are left, want %d (%v)", c.age, len(got), c.left, err)
		}
	}
}

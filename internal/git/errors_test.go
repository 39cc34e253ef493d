package git_test

import (
	"context"
	"crypto/sha1" //nolint:gosec // the names that git gives
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

func TestEveryFailureHasItsKindAndSaysWhatToDo(t *testing.T) {
	t.Parallel()
	open := testenv.Git(t)
	basic := testenv.Git(t, testenv.GitBasicAuth("bob", "secret-password"))
	tls := testenv.Git(t, testenv.GitTLS())
	broken := testenv.Git(t)
	moved := testenv.Git(t)
	other := testenv.Git(t)
	for _, s := range []*testenv.GitServer{basic, tls, broken, moved, other} {
		s.NewRepo("r").Commit(map[string]string{"a.txt": "x"}, "one")
	}
	repo := open.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "x"}, "one")
	broken.Break()
	moved.RedirectTo(other.Base())
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed.Close()
	key := open.SSHKey()
	strange := testenv.Git(t)
	strange.NewRepo("r")
	wrong := strings.Replace(string(open.KnownHosts()), strings.Fields(string(open.KnownHosts()))[2], strings.Fields(string(hostOf(strange)))[2], 1)
	cases := []struct {
		name, url string
		cred      git.Credential
		want      error
		hint      string
	}{
		{"no such repository", open.Base() + "/none.git", git.Credential{}, git.ErrNotFound, "check the address"},
		{"no credential", basic.Base() + "/r.git", git.Credential{}, git.ErrAuth, "add a credential"},
		{"wrong password", basic.Base() + "/r.git", git.Credential{Username: "bob", Password: "other-secret"}, git.ErrAuth, "refuses the credential"},
		{"wrong password in the address", strings.Replace(basic.Base(), "://", "://bob:other-secret@", 1) + "/r.git", git.Credential{}, git.ErrAuth, "refuses the credential"},
		{"unknown authority", tls.Base() + "/r.git", git.Credential{}, git.ErrTLS, "add the certificate authority"},
		{"server error", broken.Base() + "/r.git", git.Credential{}, git.ErrUnreachable, "try again later"},
		{"nobody listens", "http://" + closed.Addr().String() + "/r.git", git.Credential{}, git.ErrUnreachable, "check the address"},
		{"redirect to another host", moved.Base() + "/r.git", git.Credential{}, git.ErrMoved, "use that address"},
		{"unknown host key", repo.SSHURL(), git.Credential{SSHKey: key}, git.ErrHostKey, "add the server's key"},
		{"changed host key", repo.SSHURL(), git.Credential{SSHKey: key, KnownHosts: []byte(wrong)}, git.ErrHostKey, "differs from the known one"},
		{"unknown key", repo.SSHURL(), git.Credential{SSHKey: testenv.NewSSHKey(t), KnownHosts: open.KnownHosts()}, git.ErrAuth, "check the SSH key"},
		{"no key", repo.SSHURL(), git.Credential{KnownHosts: open.KnownHosts()}, git.ErrAuth, "check the SSH key"},
		{"no such repository over ssh", strings.Replace(repo.SSHURL(), "r.git", "none.git", 1), git.Credential{SSHKey: key, KnownHosts: open.KnownHosts()}, git.ErrNotFound, "check the address"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			m := mirror(t, client(t), c.url, c.cred)
			_, listErr := m.LsRemote(t.Context())
			_, fetchErr := read(t.Context(), m)
			for _, err := range []error{listErr, fetchErr} {
				if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), c.hint) {
					t.Errorf("err = %v\nwant %v with %q", err, c.want, c.hint)
				}
				if strings.Contains(fmt.Sprint(err), "secret") {
					t.Errorf("the error shows a password: %v", err)
				}
			}
		})
	}
}

// hostOf is the known_hosts line of a server.
func hostOf(s *testenv.GitServer) []byte { return s.KnownHosts() }

func TestAMissingReferenceIsNoDamage(t *testing.T) {
	t.Parallel()
	repo := testenv.Git(t).NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "x"}, "one")
	m := mirror(t, client(t), repo.URL(), git.Credential{})
	if err := m.Fetch(t.Context(), "refs/heads/none"); !errors.Is(err, git.ErrRefGone) {
		t.Errorf("err = %v, want %v", err, git.ErrRefGone)
	}
	if err := m.FetchCommit(t.Context(), "0123456789012345678901234567890123456789"); !errors.Is(err, git.ErrNoRevision) {
		t.Errorf("err = %v, want %v", err, git.ErrNoRevision)
	}
}

func TestAServerThatHangsIsGivenUp(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(release)
	m := mirror(t, client(t, func(o *git.Options) { o.Timeout = 200 * time.Millisecond }), server.URL+"/r.git", git.Credential{})
	if _, err := m.LsRemote(t.Context()); !errors.Is(err, git.ErrUnreachable) {
		t.Errorf("err = %v, want %v", err, git.ErrUnreachable)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if err := m.Fetch(ctx, "refs/heads/main"); err == nil {
		t.Error("a fetch outlived its context")
	}
}

func TestACredentialReachesNoOtherHost(t *testing.T) {
	t.Parallel()
	var seen atomic.Pointer[string]
	thief := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		h := r.Header.Get("Authorization")
		seen.Store(&h)
	}))
	defer thief.Close()
	server := testenv.Git(t, testenv.GitBasicAuth("bob", "pw"))
	server.NewRepo("r").Commit(map[string]string{"a.txt": "x"}, "one")
	server.RedirectTo(thief.URL)
	m := mirror(t, client(t), server.Base()+"/r.git", git.Credential{Username: "bob", Password: "pw"})
	if _, err := m.LsRemote(t.Context()); !errors.Is(err, git.ErrMoved) {
		t.Errorf("err = %v, want %v", err, git.ErrMoved)
	}
	if h := seen.Load(); h != nil {
		t.Errorf("the other host was asked, with authorization %q", *h)
	}
}

func TestACredentialIsInNoArgumentAndLeavesNoFile(t *testing.T) {
	t.Parallel()
	// A stand-in for git that writes down how it was called, then does what git does.
	dir := t.TempDir()
	calls := filepath.Join(dir, "calls")
	script := fmt.Sprintf("#!/bin/sh\necho \"$0 $*\" >>%s\nexec git \"$@\"\n", calls)
	if err := os.WriteFile(filepath.Join(dir, "git-spy"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	server := testenv.Git(t, testenv.GitBasicAuth("bob", "hush-hush"))
	server.NewRepo("r").Commit(map[string]string{"a.txt": "x"}, "one")
	cache := t.TempDir()
	c := client(t, func(o *git.Options) { o.Program, o.Dir = filepath.Join(dir, "git-spy"), cache })
	m := mirror(t, c, strings.Replace(server.Base(), "://", "://bob:hush-hush@", 1)+"/r.git", git.Credential{})
	if got, err := read(t.Context(), m); err != nil || got != "x" {
		t.Fatalf("read = %q, %v", got, err)
	}
	said, err := os.ReadFile(calls)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(said), "fetch") || strings.Contains(string(said), "hush") {
		t.Errorf("calls:\n%s", said)
	}
	err = filepath.WalkDir(cache, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if strings.Contains(string(b), "hush") {
			t.Errorf("%s holds the password", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestACredentialPrintsNoSecret(t *testing.T) {
	t.Parallel()
	c := git.Credential{
		Username: "bob", Password: "hush", Bearer: "hush", SSHKey: []byte("hush"), ClientKey: []byte("hush"), Proxy: "http://u:hush@p",
	}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", slog.Any("cred", c), slog.Any("pointer", &c))
	j, err := json.Marshal(map[string]any{"c": c})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{log.String(), string(j), fmt.Sprintf("%v %+v %#v %s", c, c, c, &c), c.Scope()} {
		if strings.Contains(s, "hush") {
			t.Errorf("secret in %q", s)
		}
	}
	d := c
	d.Password = "other"
	if c.Scope() == d.Scope() {
		t.Error("two credentials share a scope")
	}
}

func TestAddressesAreSpelledOneWay(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, in, want string }{
		{"https", "https://Example.com:443/a/b.git/", "https://example.com/a/b.git"},
		{"user information goes", "https://u:p@example.com/a", "https://example.com/a"},
		{"scp-like", "git@example.com:a/b.git", "ssh://git@example.com/a/b.git"},
		{"ssh with the usual port", "ssh://git@example.com:22/a", "ssh://git@example.com/a"},
		{"another port stays", "ssh://me@example.com:2222/a", "ssh://me@example.com:2222/a"},
		{"a file is refused", "/etc", ""},
		{"a file address is refused", "file:///etc", ""},
		{"an external helper is refused", "ext::sh -c id", ""},
		{"another helper is refused", "ext::id", ""},
		{"an option is refused", "--upload-pack=id", ""},
		{"a host like an option is refused", "ssh://-oProxyCommand=id/x", ""},
		{"a user like an option is refused", "ssh://-oProxyCommand=id@host/x", ""},
		{"nothing is refused", "", ""},
		{"the old protocol is refused", "git://example.com/a", ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r, _, err := git.ParseRemote(c.in, false)
			if r.URL != c.want || (err == nil) != (c.want != "") {
				t.Errorf("ParseRemote(%q) = %q, %v; want %q", c.in, r.URL, err, c.want)
			}
		})
	}
}

// A repository that its server cannot read is no matter of addresses and proxies. What the server says of it reaches the
// agent where the server had begun to send.
func TestDamageOnTheServerIsNamed(t *testing.T) {
	t.Parallel()
	content := strings.Repeat("lines of text\n", 100)
	blob := fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(content), content))) //nolint:gosec // the names that git gives
	for _, c := range []struct {
		name, only string // object that is damaged; "" for all
		kinds      []error
	}{
		{"one file", blob, []error{git.ErrBadObjects}},
		{"everything", "", []error{git.ErrBadObjects, git.ErrUnreachable}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			server := testenv.Git(t)
			repo := server.NewRepo("r")
			repo.Commit(map[string]string{"a.txt": content}, "one")
			damageObjects(t, repo.Dir(), c.only)
			for _, err := range []error{
				mirror(t, client(t), repo.URL(), git.Credential{}).Fetch(t.Context(), "refs/heads/main"),
				mirror(t, client(t), repo.SSHURL(), git.Credential{SSHKey: server.SSHKey(), KnownHosts: server.KnownHosts()}).Fetch(t.Context(), "refs/heads/main"),
			} {
				if !slices.ContainsFunc(c.kinds, func(kind error) bool { return errors.Is(err, kind) }) ||
					!strings.Contains(err.Error(), "git fsck") || strings.Contains(err.Error(), "check the address") {
					t.Errorf("err = %v", err)
				}
			}
		})
	}
}

// damageObjects writes something else into the loose objects of a repository, or into the one that is named.
func damageObjects(t *testing.T, dir, only string) {
	t.Helper()
	damaged := 0
	err := filepath.WalkDir(filepath.Join(dir, "objects"), func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() || only != "" && !strings.HasSuffix(name, filepath.Join(only[:2], only[2:])) {
			return err
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for i := 4; i < len(raw); i++ {
			raw[i] ^= 0x5a
		}
		damaged++
		return errors.Join(os.Chmod(name, 0o600), os.WriteFile(name, raw, 0o600))
	})
	if err != nil || damaged == 0 {
		t.Fatalf("%d objects damaged, error %v", damaged, err)
	}
}

// A pack that is none is the server's fault as well. Garbage within a pack looks like a server that stops in the middle of it, and
// is reported as that.
func TestPackThatCannotBeReadIsNamed(t *testing.T) {
	t.Parallel()
	server := &testenv.HostileGit{
		Refs: []string{someID + " refs/heads/main"},
		Fetch: func(_ *http.Request, send func(byte, []byte) error) {
			_ = send(1, []byte("KCAP"+strings.Repeat("x", 64)))
		},
	}
	err := mirror(t, client(t), server.Start(t), git.Credential{}).Fetch(t.Context(), "refs/heads/main")
	if !errors.Is(err, git.ErrBadObjects) || strings.Contains(err.Error(), "proxy") {
		t.Errorf("err = %v", err)
	}
}

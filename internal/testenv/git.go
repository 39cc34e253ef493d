package testenv

import (
	"bytes"
	"crypto/subtle"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slipway-gitops/slipway/internal/gitserve"
)

// GitServer is a real Git server on loopback: smart HTTP or HTTPS, and SSH on demand. It ends with the test.
type GitServer struct {
	t    testing.TB
	root string
	web  *httptest.Server
	auth func(*http.Request) bool

	requests atomic.Int64
	broken   atomic.Bool
	redirect atomic.Pointer[string]

	sshOnce sync.Once
	ssh     *sshServer
}

// GitOption changes how a GitServer is reached.
type GitOption func(*gitConfig)

type gitConfig struct {
	tls  bool
	auth func(*http.Request) bool
}

// GitBasicAuth asks for a user name and a password over HTTP.
func GitBasicAuth(user, password string) GitOption {
	return func(c *gitConfig) {
		c.auth = func(r *http.Request) bool {
			u, p, ok := r.BasicAuth()
			return ok && u == user && subtle.ConstantTimeCompare([]byte(p), []byte(password)) == 1
		}
	}
}

// GitBearer asks for a bearer token over HTTP.
func GitBearer(token string) GitOption {
	return func(c *gitConfig) {
		c.auth = func(r *http.Request) bool { return r.Header.Get("Authorization") == "Bearer "+token }
	}
}

// GitAuth asks for what a function takes over HTTP.
func GitAuth(takes func(*http.Request) bool) GitOption { return func(c *gitConfig) { c.auth = takes } }

// GitTLS serves HTTPS with a certificate of an unknown authority; CA returns it.
func GitTLS() GitOption { return func(c *gitConfig) { c.tls = true } }

// Git starts a server with no repositories. It needs the git program.
func Git(t testing.TB, opts ...GitOption) *GitServer {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed: install git 2.38 or newer")
	}
	var c gitConfig
	for _, o := range opts {
		o(&c)
	}
	s := &GitServer{t: t, root: t.TempDir(), auth: c.auth}
	handler := s.gate(&gitserve.Handler{Root: s.root})
	if c.tls {
		s.web = httptest.NewTLSServer(handler)
	} else {
		s.web = httptest.NewServer(handler)
	}
	t.Cleanup(s.web.Close)
	return s
}

// gate counts, breaks, redirects and authenticates before git sees a request.
func (s *GitServer) gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.requests.Add(1)
		switch to := s.redirect.Load(); {
		case s.broken.Load():
			http.Error(w, "broken on purpose", http.StatusServiceUnavailable)
		case to != nil:
			http.Redirect(w, r, *to+r.URL.RequestURI(), http.StatusMovedPermanently)
		case s.auth != nil && !s.auth(r):
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "sign in", http.StatusUnauthorized)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// RequestCount is the number of HTTP requests so far.
func (s *GitServer) RequestCount() int64 { return s.requests.Load() }

// Break makes the server answer every HTTP request with 503 until Mend.
func (s *GitServer) Break() { s.broken.Store(true) }

// Mend undoes Break.
func (s *GitServer) Mend() { s.broken.Store(false) }

// RedirectTo makes the server send every HTTP request to the same path at another base address.
func (s *GitServer) RedirectTo(base string) { s.redirect.Store(&base) }

// CA is the PEM certificate that vouches for a server with GitTLS.
func (s *GitServer) CA() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.web.Certificate().Raw})
}

// Base is the address of the server without a repository.
func (s *GitServer) Base() string { return s.web.URL }

// GitRepo is one repository of a GitServer.
type GitRepo struct {
	server *GitServer
	name   string
	dir    string
	mu     sync.Mutex
	clock  int64
}

// NewRepo creates an empty repository whose default branch is main.
func (s *GitServer) NewRepo(name string) *GitRepo {
	s.t.Helper()
	r := &GitRepo{server: s, name: name, dir: filepath.Join(s.root, name+".git"), clock: 1_700_000_000}
	r.git("", "init", "--quiet", "--bare", "--template=", "--initial-branch=main", r.dir)
	return r
}

// URL is the HTTP address.
func (r *GitRepo) URL() string { return r.server.web.URL + "/" + r.name + ".git" }

// FileURL is the address on disk.
func (r *GitRepo) FileURL() string { return "file://" + r.dir }

// Dir is the directory of the bare repository.
func (r *GitRepo) Dir() string { return r.dir }

// Change is one path in a commit. Mode is that of git: 100644 where empty, 100755, 120000 with the target as content,
// 160000 with a commit id as content, or "delete".
type Change struct{ Path, Mode, Content string }

// Commit writes files on branch main and returns the id of the commit. It is quick for thousands of files.
func (r *GitRepo) Commit(files map[string]string, message string) string {
	r.server.t.Helper()
	return r.CommitTo("main", files, message)
}

// CommitTo is Commit on a branch, which begins with this commit where it does not exist.
func (r *GitRepo) CommitTo(branch string, files map[string]string, message string) string {
	r.server.t.Helper()
	changes := make([]Change, 0, len(files))
	for _, p := range slices.Sorted(maps.Keys(files)) {
		changes = append(changes, Change{Path: p, Content: files[p]})
	}
	return r.Apply(branch, message, changes...)
}

// Delete removes files or directories from branch main.
func (r *GitRepo) Delete(paths ...string) string {
	r.server.t.Helper()
	changes := make([]Change, 0, len(paths))
	for _, p := range paths {
		changes = append(changes, Change{Path: p, Mode: "delete"})
	}
	return r.Apply("main", "delete", changes...)
}

// Symlink adds a symbolic link to branch main.
func (r *GitRepo) Symlink(path, target string) string {
	r.server.t.Helper()
	return r.Apply("main", "link", Change{Path: path, Mode: "120000", Content: target})
}

// Apply commits changes to a branch and returns the id of the commit.
func (r *GitRepo) Apply(branch, message string, changes ...Change) string {
	r.server.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	ref := "refs/heads/" + branch
	r.clock++
	var in bytes.Buffer
	fmt.Fprintf(&in, "commit %s\ncommitter Test <test@example.com> %d +0000\ndata %d\n%s\n", ref, r.clock, len(message), message)
	if exec.Command("git", "--git-dir", r.dir, "rev-parse", "-q", "--verify", ref).Run() == nil {
		fmt.Fprintf(&in, "from %s^0\n", ref)
	}
	for _, c := range changes {
		mode := c.Mode
		if mode == "" {
			mode = "100644"
		}
		switch mode {
		case "delete":
			fmt.Fprintf(&in, "D %s\n", strconv.Quote(c.Path))
		case "160000":
			fmt.Fprintf(&in, "M 160000 %s %s\n", c.Content, strconv.Quote(c.Path))
		default:
			fmt.Fprintf(&in, "M %s inline %s\ndata %d\n%s\n", mode, strconv.Quote(c.Path), len(c.Content), c.Content)
		}
	}
	in.WriteString("\n")
	r.git(in.String(), "-c", "core.fsync=none", "-c", "fastimport.unpackLimit=100", "--git-dir", r.dir, "fast-import", "--quiet", "--force")
	return r.Head(branch)
}

// Head is the commit that a branch points to.
func (r *GitRepo) Head(branch string) string {
	r.server.t.Helper()
	return r.git("", "--git-dir", r.dir, "rev-parse", "refs/heads/"+branch)
}

// Branch creates or moves a branch to a commit.
func (r *GitRepo) Branch(name, commit string) {
	r.server.t.Helper()
	r.git("", "--git-dir", r.dir, "update-ref", "refs/heads/"+name, commit)
}

// Tag creates or moves a lightweight tag.
func (r *GitRepo) Tag(name, commit string) {
	r.server.t.Helper()
	r.git("", "--git-dir", r.dir, "update-ref", "refs/tags/"+name, commit)
}

// AnnotatedTag creates or moves a tag with a message.
func (r *GitRepo) AnnotatedTag(name, commit, message string) {
	r.server.t.Helper()
	r.git("", "--git-dir", r.dir, "-c", "user.name=Test", "-c", "user.email=test@example.com", "tag", "-f", "-a", "-m", message, name, commit)
}

// DeleteRef removes a reference by its full name.
func (r *GitRepo) DeleteRef(ref string) {
	r.server.t.Helper()
	r.git("", "--git-dir", r.dir, "update-ref", "-d", ref)
}

// SetDefault makes HEAD name another branch.
func (r *GitRepo) SetDefault(branch string) {
	r.server.t.Helper()
	r.git("", "--git-dir", r.dir, "symbolic-ref", "HEAD", "refs/heads/"+branch)
}

func (r *GitRepo) git(stdin string, args ...string) string {
	r.server.t.Helper()
	c := exec.Command("git", args...)
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}
	c.Stdin = strings.NewReader(stdin)
	out, err := c.CombinedOutput()
	if err != nil {
		r.server.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

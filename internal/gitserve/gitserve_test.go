package gitserve_test

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/gitserve"
)

func git(t *testing.T, dir string, args ...string) (string, error) {
	t.Helper()
	c := exec.Command("git", append([]string{"-c", "user.name=T", "-c", "user.email=t@example.com", "-c", "http.postBuffer=65536"}, args...)...)
	c.Dir = dir
	c.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0"}
	out, err := c.CombinedOutput()
	return strings.TrimSpace(string(out)), err
}

func must(t *testing.T, dir string, args ...string) string {
	t.Helper()
	out, err := git(t, dir, args...)
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

func TestARepositoryIsPushedToAndCloned(t *testing.T) {
	t.Parallel()
	root, work, copied := t.TempDir(), t.TempDir(), t.TempDir()
	must(t, root, "init", "-q", "--bare", "-b", "main", "demo.git")
	pushed := ""
	h := &gitserve.Handler{Root: root, Pushed: func(repo string) { pushed = repo }}
	server := httptest.NewServer(h)
	defer server.Close()
	must(t, work, "init", "-q", "-b", "main")
	// More than one chunk of a push that is sent in pieces.
	big := make([]byte, 300_000)
	for i := range big {
		big[i] = byte(i * i >> 3)
	}
	if err := os.WriteFile(filepath.Join(work, "big"), big, 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, work, "add", ".")
	must(t, work, "commit", "-q", "-m", "one")
	must(t, work, "push", "-q", server.URL+"/demo.git", "main")
	if pushed != "demo.git" {
		t.Errorf("pushed = %q", pushed)
	}
	for _, version := range []string{"0", "2"} {
		must(t, copied, "-c", "protocol.version="+version, "clone", "-q", server.URL+"/demo", "v"+version)
		got := must(t, filepath.Join(copied, "v"+version), "rev-parse", "HEAD")
		if want := must(t, work, "rev-parse", "HEAD"); got != want {
			t.Errorf("protocol %s: cloned %s, want %s", version, got, want)
		}
	}
	h.ReadOnly = true
	must(t, work, "commit", "-q", "--allow-empty", "-m", "two")
	if out, err := git(t, work, "push", "-q", server.URL+"/demo.git", "main"); err == nil {
		t.Errorf("a server that is read-only took a push: %s", out)
	}
}

func TestNothingOutsideTheRootIsServed(t *testing.T) {
	t.Parallel()
	top := t.TempDir()
	root := filepath.Join(top, "root")
	must(t, top, "init", "-q", "--bare", "outside.git")
	if err := os.MkdirAll(root, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(top, "outside.git"), filepath.Join(root, "link.git")); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(&gitserve.Handler{Root: root})
	defer server.Close()
	for _, path := range []string{"/../outside.git", "/%2e%2e/outside.git", "/link.git", "//" + top + "/outside.git", "/none.git"} {
		res, err := server.Client().Get(server.URL + path + "/info/refs?service=git-upload-pack")
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != 404 {
			t.Errorf("%s: status %d, want 404", path, res.StatusCode)
		}
	}
}

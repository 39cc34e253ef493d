package stack

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/dev/demo"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestPushedCommitIsToldToTheAgentSigned(t *testing.T) {
	t.Parallel()
	d := dir(t.TempDir())
	if err := d.seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	type event struct {
		Ref, Before, After string
		Repository         struct {
			CloneURL string `json:"clone_url"`
		}
		signature string
	}
	events := make(chan event, 4)
	agent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e event
		if err := json.NewDecoder(r.Body).Decode(&e); err != nil {
			t.Error(err)
		}
		e.signature = r.Header.Get("X-Hub-Signature-256")
		events <- e
	}))
	defer agent.Close()
	listener, err := net.Listen("tcp", loopback(0))
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + listener.Addr().String() + "/" + demoRepository
	server := &gitServer{
		dir: d, url: url, webhook: agent.URL, secret: "s3cret", wake: make(chan struct{}, 1), log: slog.New(slog.DiscardHandler),
	}
	if server.refs, err = server.readRefs(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- server.run(ctx, listener) }()
	defer func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	}()

	work := filepath.Join(t.TempDir(), "work")
	git(t, "", "clone", "--quiet", url, work)
	if err := os.WriteFile(filepath.Join(work, "README.md"), []byte("changed\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	git(t, work, "commit", "--quiet", "-am", "Change")
	before := server.refs[demoBranch]
	git(t, work, "push", "--quiet")
	got := <-events
	if got.Ref != demoBranch || got.Before != before || got.After != git(t, work, "rev-parse", "HEAD") {
		t.Errorf("the event is %+v, want the push of one commit after %s", got, before)
	}
	if got.Repository.CloneURL != url {
		t.Errorf("the event is about %s, want %s", got.Repository.CloneURL, url)
	}
	if !strings.HasPrefix(got.signature, "sha256=") {
		t.Errorf("the event is signed with %q", got.signature)
	}
}

func TestGitServerRefusesOtherHostsAndWebPages(t *testing.T) {
	t.Parallel()
	handler := localOnly(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	for name, c := range map[string]struct {
		host, origin string
		want         int
	}{
		"git":                  {"127.0.0.1:80", "", http.StatusNoContent},
		"git by name":          {"localhost:80", "", http.StatusNoContent},
		"rebound name":         {"evil.example.com", "", http.StatusForbidden},
		"page in this machine": {"127.0.0.1:80", "http://127.0.0.1:3000", http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/", nil)
			r.Host = c.host
			if c.origin != "" {
				r.Header.Set("Origin", c.origin)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != c.want {
				t.Errorf("got %d, want %d", w.Code, c.want)
			}
		})
	}
}

func TestSeedKeepsWhatPeopleCommitted(t *testing.T) {
	t.Parallel()
	d := dir(t.TempDir())
	if err := d.seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	bare := d.file("git", demoRepository)
	if got := git(t, bare, "ls-tree", "-r", "--name-only", "main", "apps/web"); got != "apps/web/configmap.yaml\napps/web/deployment.yaml\napps/web/service.yaml" {
		t.Errorf("apps/web holds %s", got)
	}
	work := filepath.Join(t.TempDir(), "work")
	git(t, "", "clone", "--quiet", bare, work)
	git(t, work, "commit", "--quiet", "--allow-empty", "-m", "Mine")
	git(t, work, "push", "--quiet")
	if err := d.seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := git(t, bare, "log", "-1", "--format=%s", "main"); got != "Mine" {
		t.Errorf("the last commit is %q", got)
	}
}

func TestPortsSurviveARestart(t *testing.T) {
	t.Parallel()
	d := dir(t.TempDir())
	first, l, err := d.choosePorts(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := d.choosePorts(t.Context(), first.Git); err == nil {
		t.Error("a wanted port that is taken is no error")
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	second, l, err := d.choosePorts(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if second.Git != first.Git {
		t.Errorf("the Git server moved from port %d to %d", first.Git, second.Git)
	}
}

func TestOnlyOneStackRunsOnADirectory(t *testing.T) {
	t.Parallel()
	d := dir(t.TempDir())
	if pid, file, err := d.owner(); pid != 0 || file != nil || err != nil {
		t.Fatalf("an empty directory is owned by %d, %v", pid, err)
	}
	lock, err := d.take()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.take(); err == nil {
		t.Error("a locked directory can be taken again")
	}
	pid, file, err := d.owner()
	if err != nil {
		t.Fatal(err)
	}
	if pid != os.Getpid() {
		t.Errorf("the owner is %d, want %d", pid, os.Getpid())
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	if err := released(file); err != nil {
		t.Error(err)
	}
	_ = file.Close()
}

func TestProcessThatEndsTellsTheEndOfItsLog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	var seen []string
	p, err := spawn("part", "/bin/sh", []string{"-c", "echo one; echo two >&2; exit 7"}, log, func(line string) { seen = append(seen, line) })
	if err != nil {
		t.Fatal(err)
	}
	<-p.done
	if text := p.ended().Error(); !strings.Contains(text, "part stopped: exit status 7") || !strings.Contains(text, "  two") || !strings.Contains(text, log) {
		t.Errorf("the error is %s", text)
	}
	if strings.Join(seen, " ") != "one two" {
		t.Errorf("the lines seen are %q", seen)
	}
}

func TestProcessThatDoesNotStopIsKilled(t *testing.T) {
	t.Parallel()
	ready := make(chan struct{})
	p, err := spawn("part", "/bin/sh", []string{"-c", "trap '' TERM; echo ready; while :; do read line; done"},
		filepath.Join(t.TempDir(), "log"), func(string) { close(ready) })
	if err != nil {
		t.Fatal(err)
	}
	<-ready
	p.stop(50 * time.Millisecond)
	select {
	case <-p.done:
	default:
		t.Error("the process is still there after stop")
	}
}

func TestQuotedWordsReachTheShellUnchanged(t *testing.T) {
	t.Parallel()
	for _, word := range []string{"", "plain", "/a b/c", "it's", "$HOME `id` \\ \"x\"", "two\nlines"} {
		out, err := exec.CommandContext(t.Context(), "/bin/sh", "-c", "printf %s "+quote(word)).Output()
		if err != nil || string(out) != word {
			t.Errorf("%q reaches the shell as %q, %v", word, out, err)
		}
	}
}

func TestParentHearsProgressAndTheEnd(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		stream string
		ready  bool
		said   string
	}{
		"ready":     {"+starting\n+two\n+lines\nready\n+later\n", true, "starting|two|lines"},
		"ends soon": {"+starting\n", false, "starting"},
		"silent":    {"", false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var said []string
			got := followChild(bufio.NewScanner(strings.NewReader(c.stream)), func(_ string, args ...any) {
				said = append(said, args[0].(string))
			})
			if got != c.ready || strings.Join(said, "|") != c.said {
				t.Errorf("got %v and %q, want %v and %q", got, said, c.ready, c.said)
			}
		})
	}
}

// git runs git in a directory as a person without configuration would, and returns its output.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com")
	cmd.Stderr = io.Discard
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %s: %v", strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

func TestTheEnvironmentOfTheStackIsNoConfigurationOfAnotherServer(t *testing.T) {
	t.Parallel()
	reference, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", "reference", "server.md"))
	if err != nil {
		t.Fatal(err)
	}
	flags := regexp.MustCompile("`--([a-z-]+)").FindAllStringSubmatch(string(reference), -1)
	if len(flags) == 0 {
		t.Fatal("the reference names no flag")
	}
	s := &stack{dir: dir(t.TempDir()), server: "slipway-server", options: upOptions{Common: &connect.Common{}}}
	if err := s.writeEnv(); err != nil {
		t.Fatal(err)
	}
	env, err := os.ReadFile(s.dir.env())
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(env), "export SLIPWAY_SERVER=") {
		t.Errorf("the server is missing:\n%s", env)
	}
	for _, flag := range flags {
		name := "SLIPWAY_" + strings.ToUpper(strings.ReplaceAll(flag[1], "-", "_"))
		if strings.Contains(string(env), "export "+name+"=") {
			t.Errorf("%s configures every slipway-server of the shell", name)
		}
	}
}

func TestACommitOfTheTourIsOneThatTheAgentLearnsOf(t *testing.T) {
	t.Parallel()
	d := dir(t.TempDir())
	if err := d.seed(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := &stack{dir: d, git: &gitServer{wake: make(chan struct{}, 1)}}
	for _, commit := range []demo.Commit{
		{Message: "Add two", Files: map[string]string{"apps/x/a.yaml": "a: 1\n", "apps/x/b.yaml": "b: 1\n"}},
		{Message: "Delete one", Files: map[string]string{"apps/x/b.yaml": ""}},
	} {
		id, err := s.commit(t.Context(), commit)
		if err != nil {
			t.Fatal(err)
		}
		if head := git(t, d.file("git", demoRepository), "rev-parse", "main"); head != id {
			t.Errorf("%s: main is %s, want %s", commit.Message, head, id)
		}
		select {
		case <-s.git.wake:
		default:
			t.Errorf("%s: nothing tells the agent", commit.Message)
		}
	}
	bare := d.file("git", demoRepository)
	if got := git(t, bare, "ls-tree", "-r", "--name-only", "main", "apps/x"); got != "apps/x/a.yaml" {
		t.Errorf("apps/x holds %q", got)
	}
	if got := git(t, bare, "ls-tree", "-r", "--name-only", "main", "apps/web"); got == "" {
		t.Error("the commits lost the applications that were there")
	}
}

func TestANotificationOfTheDemoIsKeptOnALine(t *testing.T) {
	t.Parallel()
	d := dir(t.TempDir())
	if err := os.MkdirAll(d.file("log"), 0o700); err != nil {
		t.Fatal(err)
	}
	handler := localOnly((&gitServer{dir: d, log: slog.New(slog.DiscardHandler)}).routes())
	for _, body := range []string{`{"event":"held"}`, `{"event":"sync.succeeded"}` + "\n"} {
		r := httptest.NewRequest(http.MethodPost, noticesPath, strings.NewReader(body))
		r.Host = "127.0.0.1:80"
		w := httptest.NewRecorder()
		if handler.ServeHTTP(w, r); w.Code != http.StatusNoContent {
			t.Errorf("got %d, want %d", w.Code, http.StatusNoContent)
		}
	}
	if kept, err := os.ReadFile(d.noticeLog()); err != nil || string(kept) != "{\"event\":\"held\"}\n{\"event\":\"sync.succeeded\"}\n" {
		t.Errorf("kept is %q, %v", kept, err)
	}
}

package rig

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/slipway-gitops/slipway/test/bench/corpus"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		http.DefaultClient.CloseIdleConnections()
		os.Exit(code)
	}))
}

func git(t *testing.T, arguments ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "git", arguments...).CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v: %s", arguments, err, out)
	}
	return strings.TrimSpace(string(out))
}

func TestCommitsAreServedOverHTTP(t *testing.T) {
	t.Parallel()
	forge, err := StartForge(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer forge.Close()
	repo, err := forge.NewRepository(t.Context(), "fleet")
	if err != nil {
		t.Fatal(err)
	}
	first, err := repo.Commit(t.Context(), "begin", []corpus.File{{Path: "a/x.yaml", Data: []byte("a: 1\n")}, {Path: "b/y.yaml", Data: []byte("no newline")}})
	if err != nil {
		t.Fatal(err)
	}
	second, err := repo.Commit(t.Context(), "change", []corpus.File{{Path: "a/x.yaml", Data: []byte("a: 2\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if second.Before != first.After || repo.Head() != second.After || first.Before != "" {
		t.Errorf("commits %+v and %+v do not follow each other", first, second)
	}
	clone := filepath.Join(t.TempDir(), "clone")
	git(t, "clone", "--quiet", repo.URL, clone)
	if got := git(t, "-C", clone, "log", "--format=%H %s"); got != second.After+" change\n"+first.After+" begin" {
		t.Errorf("the log is:\n%s", got)
	}
	if got := git(t, "-C", clone, "show", "HEAD:a/x.yaml", "HEAD:b/y.yaml"); got != "a: 2\nno newline" {
		t.Errorf("the files hold %q", got)
	}
	if _, err := forge.NewRepository(t.Context(), "fleet"); err == nil {
		t.Error("a repository was made twice")
	}
}

func TestAnEngineIsToldOfAPush(t *testing.T) {
	t.Parallel()
	var event map[string]any
	var kind string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kind = r.Header.Get("X-GitHub-Event")
		if err := json.NewDecoder(r.Body).Decode(&event); err != nil {
			t.Error(err)
		}
		if event["after"] == strings.Repeat("f", 40) {
			http.Error(w, "unknown repository", http.StatusBadRequest)
		}
	}))
	defer server.Close()
	engine, err := External([]int{os.Getpid()}, server.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	push := Push{After: strings.Repeat("a", 40), Paths: []string{"apps/a/x.yaml"}}
	if err := engine.Notify(t.Context(), "http://127.0.0.1:1/bench/fleet-1.git", push); err != nil {
		t.Fatal(err)
	}
	repository, _ := event["repository"].(map[string]any)
	got := []any{kind, event["ref"], event["before"], event["after"], repository["clone_url"], repository["html_url"]}
	want := []any{"push", "refs/heads/main", zeroCommit, push.After, "http://127.0.0.1:1/bench/fleet-1.git", "http://127.0.0.1:1/bench/fleet-1"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("event differs (-want +got):\n%s", diff)
	}
	push.After = strings.Repeat("f", 40)
	if err := engine.Notify(t.Context(), "http://x/y.git", push); err == nil || !strings.Contains(err.Error(), "unknown repository") {
		t.Errorf("a refused webhook gives %v", err)
	}
}

func TestAProcessThatEndsTooSoonShowsItsLog(t *testing.T) {
	t.Parallel()
	p, err := start("engine", filepath.Join(t.TempDir(), "log"), []string{"sh", "-c", "echo no such flag >&2; exit 7"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	err = p.until(t.Context(), func() bool { return false })
	if err == nil || !strings.Contains(err.Error(), "no such flag") || !strings.Contains(err.Error(), "exit status 7") {
		t.Errorf("the error is: %v", err)
	}
	engine := &Engine{process: p}
	if engine.Alive() == nil {
		t.Error("a dead engine counts as alive")
	}
}

func TestStopEndsAProcessAndMayBeRepeated(t *testing.T) {
	t.Parallel()
	p, err := start("engine", filepath.Join(t.TempDir(), "log"), []string{"sleep", "600"})
	if err != nil {
		t.Fatal(err)
	}
	p.Stop()
	p.Stop()
	if err := syscall.Kill(p.PID(), 0); err == nil {
		t.Errorf("process %d lives on", p.PID())
	}
}

func TestAStartThatTakesTooLongIsGivenUp(t *testing.T) {
	t.Parallel()
	p, err := start("engine", filepath.Join(t.TempDir(), "log"), []string{"sleep", "600"})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := p.until(ctx, func() bool { return false }); err == nil || !strings.Contains(err.Error(), "wait for engine") {
		t.Errorf("the error is: %v", err)
	}
}

func TestAMissingProgramSaysHowToGetIt(t *testing.T) {
	t.Parallel()
	_, err := StartAgent(t.Context(), AgentOptions{Binary: filepath.Join(t.TempDir(), "none"), Dir: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("the error is: %v", err)
	}
}

func TestMachineFactsAreFound(t *testing.T) {
	t.Parallel()
	m := Machine()
	if m.Cores < 1 || m.MemoryMiB < 1 || m.Kernel == "" || m.Go == "" || m.Processor == "" {
		t.Errorf("facts are missing: %+v", m)
	}
}

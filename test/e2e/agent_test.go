package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// Limits of an agent process.
const (
	agentStartLimit = 2 * time.Minute
	agentStopLimit  = time.Minute
	logLines        = 50000 // kept of an agent's log, for failed stories
	shownLines      = 30    // of it about one story
)

// secretMark is in every password of the stories: no log and no Application may show it.
const secretMark = "sesame"

// agentEnv names the variable with a slipway-agent binary to test instead of the one in this test binary.
const agentEnv = "SLIPWAY_E2E_AGENT"

// agentProcess is a slipway-agent with Applications in a namespace of its own.
type agentProcess struct {
	t         testing.TB
	namespace string
	data      string
	flags     []string
	env       []string // beside what every agent gets
	// kubeconfig is an administrator's, unless the story narrows it.
	kubeconfig string

	starts  int
	command *exec.Cmd
	address string // of its listener, "" until it is known
	logged  *logTail
	ended   chan struct{}
}

// newAgent prepares an agent; start runs it. It is stopped at the end of the test.
func newAgent(t testing.TB, flags ...string) *agentProcess {
	t.Helper()
	a := &agentProcess{
		t: t, namespace: testenv.Namespace(t), data: t.TempDir(), flags: flags, kubeconfig: testenv.DelayedKubeconfig(t), logged: &logTail{},
	}
	t.Cleanup(func() {
		if a.command != nil && a.address != "" && a.starts == 1 && !t.Failed() {
			testenv.NothingMissed(t, "the agent", a.address)
		}
		a.stop()
	})
	return a
}

// start runs the agent and returns when it leads and has seen all Applications.
func (a *agentProcess) start() {
	a.t.Helper()
	ready, addresses := a.begin()
	limit := time.After(agentStartLimit)
	for range 2 {
		select {
		case a.address = <-addresses:
		case <-ready:
			ready = nil
		case <-a.ended:
			a.t.Fatalf("the agent ended: %s", a.logged.tail("", shownLines))
		case <-limit:
			a.t.Fatalf("the agent is not ready after %s: %s", agentStartLimit, a.logged.tail("", shownLines))
		}
	}
}

// refuse runs the agent, which is to end by itself and never be ready, and returns what it said.
func (a *agentProcess) refuse() string {
	a.t.Helper()
	ready, _ := a.begin()
	select {
	case <-a.ended:
	case <-time.After(agentStartLimit):
		a.t.Fatalf("the agent has not ended after %s: %s", agentStartLimit, a.logged.tail("", shownLines))
	}
	select {
	case <-ready:
		a.t.Fatalf("the agent was ready before it ended: %s", a.logged.tail("", shownLines))
	default:
	}
	a.command = nil
	return a.logged.tail("", shownLines)
}

// begin runs the agent. The channels tell when it is ready, and where it listens.
func (a *agentProcess) begin() (<-chan struct{}, <-chan string) {
	a.t.Helper()
	program := os.Getenv(agentEnv)
	if program == "" {
		program = "slipway-agent" // TestMain put it into PATH
	}
	place := []string{"--standalone"}
	if slices.Contains(a.flags, "--server") {
		place = nil
	}
	// Webhooks alone wake the agent, so that a story which forgets one fails, whatever the machine's speed.
	hooks := []string{"--poll", "1h", "--webhook-listen", "127.0.0.1:0"}
	if slices.Contains(a.flags, "--engine") {
		hooks = nil // Argo CD takes them itself
	}
	args := slices.Concat(place, []string{
		"--namespace", a.namespace, "--data", a.data, "--kubeconfig", a.kubeconfig,
		"--health-listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0",
	}, hooks, a.flags)
	command := exec.Command(program, args...)
	// The agent gets nothing of the environment of the tests but where programs are.
	command.Env = slices.Concat([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + a.data, testenv.Outbound}, a.env, testenv.DelayedEnv())
	stderr, err := command.StderrPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		a.t.Fatalf("start agent: %v", err)
	}
	a.command, a.ended = command, make(chan struct{})
	a.starts++
	ready, addresses := make(chan struct{}), make(chan string, 1)
	go func() {
		a.readLog(stderr, ready, addresses)
		_ = command.Wait()
		close(a.ended)
	}()
	return ready, addresses
}

// readLog keeps what the agent says, and finds in it when it is ready and where it listens.
func (a *agentProcess) readLog(r io.Reader, ready chan<- struct{}, addresses chan<- string) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	seen := false
	for lines.Scan() {
		a.logged.add(lines.Text())
		if strings.Contains(lines.Text(), secretMark) {
			a.t.Errorf("the agent logs a secret: %s", lines.Text())
		}
		var entry struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &entry) != nil {
			continue
		}
		switch {
		case entry.Msg == "listening":
			addresses <- entry.Address
		case entry.Msg == "ready" && !seen:
			seen = true
			close(ready)
		}
	}
}

// stop ends the agent in order, or at once when it does not obey. Stopping a stopped agent does nothing.
func (a *agentProcess) stop() { a.end(syscall.SIGTERM) }

// kill ends the agent as a crash would.
func (a *agentProcess) kill() { a.end(syscall.SIGKILL) }

func (a *agentProcess) end(signal syscall.Signal) {
	if a.command == nil {
		return
	}
	_ = a.command.Process.Signal(signal) // it may have ended already
	select {
	case <-a.ended:
	case <-time.After(agentStopLimit):
		a.logged.clear()
		_ = a.command.Process.Signal(syscall.SIGQUIT) // says where each goroutine is
		<-a.ended
		a.t.Errorf("the agent did not end within %s of a signal: %s", agentStopLimit, a.logged.tail("/slipway/internal/", 300))
	}
	a.command = nil
}

// logTail keeps the last lines of a log.
type logTail struct {
	mu    sync.Mutex
	lines []string
}

func (l *logTail) add(line string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, line)
	if len(l.lines) > logLines {
		l.lines = l.lines[len(l.lines)-logLines/2:]
	}
}

func (l *logTail) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}

// tail returns the last lines, at most count, that contain about.
func (l *logTail) tail(about string, count int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var kept []string
	for _, line := range l.lines {
		if strings.Contains(line, about) {
			kept = append(kept, line)
		}
	}
	var out bytes.Buffer
	for _, line := range kept[max(0, len(kept)-count):] {
		out.WriteString("\n  " + line[:min(len(line), 1500)])
	}
	return out.String()
}

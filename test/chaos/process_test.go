package chaos

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is an agent that is started, killed and started again on the same data directory.
type process struct {
	t      *testing.T
	binary string
	args   []string
	log    string

	mu   sync.Mutex
	cmd  *exec.Cmd
	done chan struct{}
}

// newProcess prepares an agent with a data directory of its own.
func newProcess(t *testing.T, kubeconfig string, args ...string) *process {
	t.Helper()
	dir := t.TempDir()
	p := &process{t: t, binary: agentBinary(t), log: filepath.Join(dir, "agent.log"), args: append([]string{
		"--standalone", "--kubeconfig", kubeconfig, "--data", filepath.Join(dir, "data"),
	}, args...)}
	t.Cleanup(p.kill)
	return p
}

// agentBinary returns the agent that SLIPWAY_AGENT names, or the built one, or builds it.
func agentBinary(t *testing.T) string {
	t.Helper()
	if path := os.Getenv("SLIPWAY_AGENT"); path != "" {
		return path
	}
	built, err := filepath.Abs(filepath.Join("..", "..", "bin", "slipway-agent"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(built); err == nil {
		return built
	}
	path := filepath.Join(t.TempDir(), "slipway-agent")
	if out, err := exec.Command("go", "build", "-o", path, "../../cmd/slipway-agent").CombinedOutput(); err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	return path
}

// start starts the agent. Its log is appended to.
func (p *process) start() {
	p.t.Helper()
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd := exec.Command(p.binary, p.args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		p.t.Fatalf("start the agent: %v", err)
	}
	done := make(chan struct{})
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cmd, p.done = cmd, done
}

// kill ends the agent without a warning, as a crash would.
func (p *process) kill() { p.end(syscall.SIGKILL) }

// stop ends the agent in order.
func (p *process) stop() { p.end(syscall.SIGTERM) }

func (p *process) end(how syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(how) // it may have ended by itself
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
		p.t.Errorf("the agent did not end within 20 s of %s", how)
	}
	p.cmd = nil
}

// ended reports whether the agent ended although nobody ended it.
func (p *process) ended() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cmd == nil {
		return false
	}
	select {
	case <-p.done:
		return true
	default:
		return false
	}
}

func (p *process) output() []byte {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return raw
}

// logged reports whether the agent has logged a text.
func (p *process) logged(text string) bool { return bytes.Contains(p.output(), []byte(text)) }

// tail returns the end of the agent's log.
func (p *process) tail() []byte {
	raw := p.output()
	return raw[max(0, len(raw)-8<<10):]
}

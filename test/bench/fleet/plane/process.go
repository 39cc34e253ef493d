package plane

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is a program that is started, killed and started again with the same arguments.
type process struct {
	argv []string
	env  []string
	log  string
	cred *syscall.Credential

	cmd     *exec.Cmd
	done    chan struct{}
	failure error // set before done closes
}

// start starts the program; its log is appended to. It ends with this process, however that ends.
func (p *process) start() error {
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", p.argv[0], err)
	}
	defer func() { _ = out.Close() }() // the program has its own by then
	cmd := exec.Command(p.argv[0], p.argv[1:]...)
	cmd.Stdout, cmd.Stderr, cmd.Env = out, out, append(append(os.Environ(), "SLIPWAY_OUTBOUND_ALLOW=127.0.0.0/8,::1,localhost"), p.env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true, Credential: p.cred}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", p.argv[0], err)
	}
	done := make(chan struct{})
	p.cmd, p.done = cmd, done
	go func() {
		defer close(done)
		p.failure = cmd.Wait()
	}()
	return nil
}

// end sends a signal and waits for the end of the program; it is killed when it takes longer than 20 s.
func (p *process) end(how syscall.Signal) {
	if p.cmd == nil {
		return
	}
	_ = p.cmd.Process.Signal(how) // it may have ended already
	select {
	case <-p.done:
	case <-time.After(20 * time.Second):
		_ = p.cmd.Process.Kill()
		<-p.done
	}
	p.cmd = nil
}

// alive says why a program is not running; nil where it is.
func (p *process) alive() error {
	if p.cmd == nil {
		return errors.New("it was not started")
	}
	select {
	case <-p.done:
		return fmt.Errorf("%s ended unexpectedly: %w; the end of its log is:\n%s", p.argv[0], p.failure, p.tail())
	default:
		return nil
	}
}

// tail returns the end of the log.
func (p *process) tail() []byte {
	raw, err := os.ReadFile(p.log)
	if err != nil {
		return []byte(err.Error())
	}
	return bytes.TrimSpace(raw[max(0, len(raw)-4<<10):])
}

//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func group() *syscall.SysProcAttr { return nil }

// killGroup ends the process: only Linux is served here with groups.
func killGroup(pid int) error {
	p, err := os.FindProcess(pid)
	if err != nil {
		return nil //nolint:nilerr // it has ended
	}
	_ = p.Kill()
	return nil
}

// waitGroup waits until a program has ended. Nothing is killed before that, and after it nothing is known of what it left.
func waitGroup(cmd *exec.Cmd) error { return cmd.Wait() }

func signalOf(*os.ProcessState) string { return "" }

func launch([]string) error {
	return fmt.Errorf("%w: it does not run Linux", ErrConfine)
}

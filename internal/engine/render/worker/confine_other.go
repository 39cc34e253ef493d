//go:build !linux

package worker

import (
	"os"
	"syscall"
)

// confine does nothing here: only Linux has the means. The time limit and the separate process remain.
func confine(int64) error { return nil }

func processAttributes() *syscall.SysProcAttr { return nil }

func kill(p *os.Process) {
	// It fails where the process has ended, which is what is wanted.
	_ = p.Kill()
}

func killed(*os.ProcessState) bool { return false }

// halt does nothing here: a job that is to stand still goes on beside the others.
func halt(*os.Process, bool) {}

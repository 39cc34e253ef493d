package script

import (
	"fmt"
	"time"

	lua "github.com/yuin/gopher-lua"
)

// meter counts what a run takes. The interpreter asks a context before each instruction whether it is done, and asks
// nothing else of it; so the meter is that context, and each question is one instruction.
type meter struct {
	instructions int
	memory       int
	began        time.Time
	err          error
	closed       chan struct{}
}

func newMeter() *meter {
	m := &meter{instructions: maxInstructions, memory: maxMemory, began: time.Now(), closed: make(chan struct{})}
	close(m.closed)
	return m
}

// Done implements a context for the interpreter: nil, which is never ready, until the budget is used up.
func (m *meter) Done() <-chan struct{} {
	m.instructions--
	if m.instructions&0xff == 0 && time.Since(m.began) > patience {
		m.stop("time")
	}
	if m.instructions < 0 {
		m.stop("instructions")
		return m.closed
	}
	return nil
}

// Err implements a context for the interpreter.
func (m *meter) Err() error {
	if m.err != nil {
		return m.err
	}
	return ErrBudget
}

// Deadline implements a context for the interpreter: there is none.
func (*meter) Deadline() (time.Time, bool) { return time.Time{}, false }

// Value implements a context for the interpreter: there are none.
func (*meter) Value(any) any { return nil }

// stop ends the run at its next instruction, whatever the script catches.
func (m *meter) stop(what string) {
	if m.err == nil {
		m.err = fmt.Errorf("out of %s: %w", what, ErrBudget)
	}
	m.instructions = -1
}

// spend takes work that one instruction does in many steps from the budget.
func (m *meter) spend(l *lua.LState, steps int) {
	m.instructions -= max(steps, 0)
	if m.instructions < 0 {
		m.stop("instructions")
		l.RaiseError("%s", m.err)
	}
}

// take takes memory from the budget, before it is used.
func (m *meter) take(l *lua.LState, bytes int) {
	if bytes < 0 || bytes > m.memory {
		m.stop("memory")
		l.RaiseError("%s", m.err)
	}
	m.memory -= bytes
}

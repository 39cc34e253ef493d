package git

import (
	"context"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"time"
)

// limits are what the processes of one command may use. The zero value limits nothing.
type limits struct {
	file   int64 // bytes of each file that they write
	memory int64 // bytes of private memory of each process
}

// run starts a command and waits for its end. What it reads on standard input comes after the limits are in force, and so
// does all that a fetch brings; a process that it starts has them too.
func (l limits) run(p *exec.Cmd) error {
	limited := make(chan struct{})
	if p.Stdin != nil {
		p.Stdin = &gate{open: limited, in: p.Stdin}
	}
	if err := p.Start(); err != nil {
		return err
	}
	l.impose(p.Process.Pid)
	close(limited)
	return p.Wait()
}

// gate is a reader that has nothing before it is open.
type gate struct {
	open <-chan struct{}
	in   io.Reader
}

func (g *gate) Read(b []byte) (int, error) {
	<-g.open
	return g.in.Read(b)
}

// lookAgain is the time between two looks at the size of a mirror that is being fetched into.
const lookAgain = 500 * time.Millisecond

// guarded cancels ctx with errTooLarge when the files below dir have more than most bytes. A dumb HTTP server can have git
// write any number of files, each of them within the limit of one. The returned function ends the guard.
func guarded(ctx context.Context, dir string, most int64) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(lookAgain); ; {
			select {
			case <-ctx.Done():
				tick.Stop()
				return
			case <-tick.C:
			}
			if size(dir) > most {
				cancel(errTooLarge)
			}
		}
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// size is how many bytes the files below dir have. Those that come and go are counted as they are met.
func size(dir string) (sum int64) {
	files(dir, func(_ string, bytes int64) { sum += bytes })
	return sum
}

// largest is how many bytes the largest unfinished file below dir has.
func largest(dir string) (most int64) {
	files(dir, func(name string, bytes int64) {
		if leftover(name) {
			most = max(most, bytes)
		}
	})
	return most
}

func files(dir string, each func(name string, bytes int64)) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			if info, err := d.Info(); err == nil {
				each(d.Name(), info.Size())
			}
		}
		return nil
	})
}

// Package idle detects that a process is no longer needed. Users say that they
// need it by holding a shared lock (flock) on an agreed file; the system drops
// the lock when a user dies, however it dies.
package idle

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// Watch looks at one lock file.
type Watch struct {
	// Path is the file that users lock. It is made if it is missing.
	Path string
	// Grace is for how long the lock must be free before Wait returns.
	Grace time.Duration
}

// Wait returns when the lock has been free for the grace time, or with nil
// and no error when ctx is done first. It then holds the lock exclusively until
// the returned function is called or the process ends, so that a new user who
// asks for the lock waits until this process is really gone. Users must ask
// with a blocking call: looking takes the lock for an instant.
func (w Watch) Wait(ctx context.Context) (release func(), err error) {
	file, err := os.OpenFile(w.Path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open use lock: %w", err)
	}
	look := time.NewTicker(min(max(w.Grace/10, 50*time.Millisecond), 5*time.Second))
	defer look.Stop()
	var freeSince time.Time // when it was first seen free since it was last held
	for {
		select {
		case <-ctx.Done():
			return nil, file.Close()
		case <-look.C:
		}
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case errors.Is(err, unix.EWOULDBLOCK):
			freeSince = time.Time{}
		case errors.Is(err, unix.EINTR):
		case err != nil:
			_ = file.Close()
			return nil, fmt.Errorf("look at use lock: %w", err)
		case !freeSince.IsZero() && time.Since(freeSince) >= w.Grace:
			return func() { _ = file.Close() }, nil
		default:
			if freeSince.IsZero() {
				freeSince = time.Now()
			}
			if err := unix.Flock(int(file.Fd()), unix.LOCK_UN); err != nil {
				_ = file.Close()
				return nil, fmt.Errorf("give use lock back: %w", err)
			}
		}
	}
}

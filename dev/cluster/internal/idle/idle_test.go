package idle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

func hold(t *testing.T, path string) *os.File {
	t.Helper()
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	if err := unix.Flock(int(file.Fd()), unix.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	return file
}

// canHold reports whether a new user could take the lock at once.
func canHold(t *testing.T, path string) bool {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	err = unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB)
	if err != nil && !errors.Is(err, unix.EWOULDBLOCK) {
		t.Fatal(err)
	}
	return err == nil
}

func TestWaitOutlastsEveryUserByTheGraceTime(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "use")
	first := hold(t, path)
	second := hold(t, path)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		time.AfterFunc(5*time.Minute, func() { _ = first.Close() })
		time.AfterFunc(10*time.Minute, func() { _ = second.Close() })
		release, err := Watch{Path: path, Grace: time.Minute}.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited < 11*time.Minute || waited > 11*time.Minute+10*time.Second {
			t.Errorf("waited %s, want 11 minutes", waited)
		}
		if canHold(t, path) {
			t.Error("a new user got the lock of a process that is ending")
		}
		release()
		if !canHold(t, path) {
			t.Error("the lock was not given back")
		}
	})
}

func TestWaitGivesTheFirstUserTheGraceTimeToCome(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "use")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		release, err := Watch{Path: path, Grace: time.Minute}.Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		release()
		if waited := time.Since(began); waited < time.Minute {
			t.Errorf("waited %s, want a minute", waited)
		}
	})
}

func TestWaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "use")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	release, err := Watch{Path: path, Grace: time.Hour}.Wait(ctx)
	if release != nil || err != nil {
		t.Errorf("got a release function: %v, error %v", release != nil, err)
	}
	if !canHold(t, path) {
		t.Error("the lock was not given back")
	}
}

package clock

import (
	"context"
	"errors"
	"math"
	"os"

	"golang.org/x/sys/unix"
)

// reported waits for the system to report that the clock was set, until ctx ends. It returns false where the system cannot.
func (w *watch) reported(ctx context.Context) bool {
	fd, err := unix.TimerfdCreate(unix.CLOCK_REALTIME, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return false
	}
	timer := os.NewFile(uintptr(fd), "clock") // it is not blocking, so a read waits without a thread
	defer func() { _ = timer.Close() }()
	// It never expires. What ends a read is that the clock was set.
	never := unix.ItimerSpec{Value: unix.Timespec{Sec: math.MaxInt32}}
	if unix.TimerfdSettime(fd, unix.TFD_TIMER_ABSTIME|unix.TFD_TIMER_CANCEL_ON_SET, &never, nil) != nil {
		return false
	}
	stop := context.AfterFunc(ctx, func() { _ = timer.Close() })
	defer stop()
	w.look() // what was set before the timer began
	for ticks := make([]byte, 8); ; w.look() {
		_, err := timer.Read(ticks)
		switch {
		case ctx.Err() != nil:
			return true
		case err != nil && !errors.Is(err, unix.ECANCELED):
			return false
		}
	}
}

package worker

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// cpuOf returns the processor time that a process has used, all threads together; false once it has ended.
func cpuOf(p *os.Process) (time.Duration, bool) {
	// The clock of a process: clock_getcpuclockid(3) makes its number in this way.
	const processClock = 2
	var ts unix.Timespec
	if err := unix.ClockGettime(int32(^p.Pid<<3|processClock), &ts); err != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

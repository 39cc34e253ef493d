//go:build !linux

package worker

import (
	"os"
	"time"
)

// cpuOf is not known here: wall time counts instead.
func cpuOf(*os.Process) (time.Duration, bool) { return 0, false }

package rig

import (
	"bufio"
	"os"
	"runtime"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/test/bench/score"
)

// Machine says what this program runs on. The version of Kubernetes is for the caller to fill in.
func Machine() score.Machine {
	m := score.Machine{
		Cores:  runtime.NumCPU(),
		Kernel: firstLine("/proc/sys/kernel/osrelease"),
		Go:     runtime.Version(),
	}
	m.Processor = field("/proc/cpuinfo", "model name")
	if m.Processor == "" {
		m.Processor = runtime.GOARCH
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	if err == nil {
		m.MemoryMiB = kilobytes / 1024
	}
	return m
}

// Load is the load average of the last minute; 0 when it is unknown.
func Load() float64 {
	first, _, _ := strings.Cut(firstLine("/proc/loadavg"), " ")
	load, err := strconv.ParseFloat(first, 64)
	if err != nil {
		return 0
	}
	return load
}

// field returns the value of the first "name : value" line of a file.
func field(file, name string) string {
	in, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = in.Close() }()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		key, value, found := strings.Cut(lines.Text(), ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

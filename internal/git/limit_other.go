//go:build !linux

package git

// impose does nothing: such limits are set on Linux only, where agents run.
func (l limits) impose(int) {}

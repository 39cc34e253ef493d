// Package stack is `slipway up` and `slipway down`: it runs everything on one machine (a development cluster, a server,
// an agent and a demo repository), keeps its files in one directory and stops it again.
package stack

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

// NewCmds returns the commands `up` and `down`.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{newUpCmd(common), newDownCmd(common)}
}

// dir is the data directory of one stack, as an absolute path.
type dir string

func (d dir) file(name ...string) string {
	return filepath.Join(append([]string{string(d)}, name...)...)
}

func (d dir) kubeconfig() string { return d.file("kubeconfig") }
func (d dir) env() string        { return d.file("env") }
func (d dir) pid() string        { return d.file("up.pid") }
func (d dir) log() string        { return d.file("up.log") }
func (d dir) ports() string      { return d.file("ports.json") }
func (d dir) cluster() string    { return d.file("cluster") }
func (d dir) agent() string      { return d.file("agent") }
func (d dir) git() string        { return d.file("git") }
func (d dir) server() string     { return d.file("server") }

// toured is there once the tour was begun. notices has the secrets of notification channels, noticeSecret is the one of the
// demo's channel, and noticeLog has what that channel was sent.
func (d dir) toured() string       { return d.file("toured") }
func (d dir) notices() string      { return d.file("server", "notices") }
func (d dir) noticeSecret() string { return d.file("server", "notices", "account."+channelName) }
func (d dir) noticeLog() string    { return d.processLog("notices") }

// password holds that of the server's first user, and registration the token with which the agent joins.
func (d dir) password() string     { return d.file("server", "admin-password") }
func (d dir) registration() string { return d.file("server", "agent-token") }

// lock is held by `slipway up` as long as it runs; the development cluster watches it too.
func (d dir) lock() string { return d.file("up.lock") }

// processLog returns where the output of one process goes.
func (d dir) processLog(name string) string { return d.file("log", name+".log") }

// defaultDir returns $XDG_DATA_HOME/slipway, or ~/.local/share/slipway; empty where there is no home.
func defaultDir() string {
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "slipway")
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	return filepath.Join(home, ".local", "share", "slipway")
}

// absolute makes the directory of the flag --data absolute.
func absolute(data string) (dir, error) {
	if data == "" {
		return "", fmt.Errorf("there is no home directory for data: give --data")
	}
	path, err := filepath.Abs(data)
	if err != nil {
		return "", fmt.Errorf("find data directory: %w", err)
	}
	return dir(path), nil
}

// replaceFile writes a file that only its owner can read, in one step.
func replaceFile(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	_, err = temp.Write(content)
	if closed := temp.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Package layout is the data directory of a development cluster: which file is
// where, which ports it uses, which process may use it, and how others see that it runs.
package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// ErrInUse says that another process runs a cluster on the same directory.
var ErrInUse = errors.New("the data directory is in use by another devcluster")

// maxSocketPath is what every platform accepts as the name of a Unix socket.
const maxSocketPath = 100

// Dir is an open data directory. Only one process can have it open.
type Dir struct {
	root       string
	lock       *os.File
	socketTemp string
}

// Ready is what the file "ready" says while a cluster runs.
type Ready struct {
	// PID is the process of the cluster.
	PID int `json:"pid"`
	// Server is the URL of the API server.
	Server string `json:"server"`
	// Kubeconfig is the path of the administrator's kubeconfig.
	Kubeconfig string `json:"kubeconfig"`
}

// Open makes the directory at path if it is missing and takes it for this
// process until Close. It returns ErrInUse when another process has it. A mark
// of readiness that a killed process left behind is removed.
func Open(path string) (*Dir, error) {
	root, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find data directory: %w", err)
	}
	for _, sub := range []string{root, filepath.Join(root, "etcd"), filepath.Join(root, "log"), filepath.Join(root, "component")} {
		if err := os.MkdirAll(sub, 0o700); err != nil {
			return nil, fmt.Errorf("make data directory: %w", err)
		}
	}
	lock, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		_ = lock.Close()
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, fmt.Errorf("open %s: %w: stop it or name another directory", root, ErrInUse)
		}
		return nil, fmt.Errorf("lock %s: %w", root, err)
	}
	d := &Dir{root: root, lock: lock}
	if err := d.ClearReady(); err != nil {
		_ = d.Close()
		return nil, err
	}
	return d, nil
}

// Close gives the directory up. It may be called more than once.
func (d *Dir) Close() error {
	if d.socketTemp != "" {
		_ = os.RemoveAll(d.socketTemp)
		d.socketTemp = ""
	}
	if d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	return err
}

// Keys returns the directory of keys and certificates.
func (d *Dir) Keys() string { return filepath.Join(d.root, "pki") }

// Etcd returns the directory of etcd's data.
func (d *Dir) Etcd() string { return filepath.Join(d.root, "etcd") }

// Log returns the path of the log file called name.
func (d *Dir) Log(name string) string { return filepath.Join(d.root, "log", name+".log") }

// Kubeconfig returns the path of the administrator's kubeconfig.
func (d *Dir) Kubeconfig() string { return filepath.Join(d.root, "kubeconfig") }

// AuditPolicy returns the path of the policy of the audit log.
func (d *Dir) AuditPolicy() string { return filepath.Join(d.root, "audit-policy.yaml") }

// ComponentKubeconfig returns the path of the kubeconfig of one component.
func (d *Dir) ComponentKubeconfig(name string) string {
	return filepath.Join(d.root, "component", name+".kubeconfig")
}

// Socket returns a path for a Unix socket called name at which nothing exists.
// It lies in the data directory unless that path is too long for a socket.
func (d *Dir) Socket(name string) (string, error) {
	path := filepath.Join(d.root, "etcd", name)
	if len(path) > maxSocketPath {
		if d.socketTemp == "" {
			temp, err := os.MkdirTemp("", "devcluster-")
			if err != nil {
				return "", fmt.Errorf("make socket directory: %w", err)
			}
			d.socketTemp = temp
		}
		path = filepath.Join(d.socketTemp, name)
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("remove old socket: %w", err)
	}
	return path, nil
}

// MarkReady writes the file "ready", atomically.
func (d *Dir) MarkReady(ready Ready) error {
	data, err := json.Marshal(ready)
	if err != nil {
		return fmt.Errorf("encode ready mark: %w", err)
	}
	return WriteFile(filepath.Join(d.root, "ready"), append(data, '\n'))
}

// ClearReady removes the file "ready".
func (d *Dir) ClearReady() error {
	if err := os.Remove(filepath.Join(d.root, "ready")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove ready mark: %w", err)
	}
	return nil
}

// WriteFile replaces the file at path by data in one step, so that no reader
// ever sees half of it. Only the owner can read it.
func WriteFile(path string, data []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(temp.Name()) }()
	if _, err := temp.Write(data); err != nil {
		_ = temp.Close()
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := temp.Close(); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

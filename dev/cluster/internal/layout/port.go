package layout

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Port is a loopback port that a cluster keeps over restarts.
type Port struct {
	// Name says what the port is for, and is its key on disk.
	Name string
	// Want is the port to take; 0 takes the one of the last start, or a free one.
	Want int
	// Movable says that a free port is as good when the one of the last start is
	// taken: its number is not kept.
	Movable bool
}

// Listen opens the port on 127.0.0.1 and remembers it in the directory. A port
// that was used before and is taken by another process is an error unless it is
// movable, because kubeconfigs handed out would point at the wrong server.
func (d *Dir) Listen(port Port) (net.Listener, int, error) {
	known, err := d.readPorts()
	if err != nil {
		return nil, 0, err
	}
	number := port.Want
	if number == 0 {
		number = known[port.Name]
	}
	listener, err := listenOn(number)
	if errors.Is(err, unix.EADDRINUSE) && port.Movable && port.Want == 0 {
		listener, err = listenOn(0)
	}
	if err != nil {
		return nil, 0, fmt.Errorf("listen on %s port %d: %w: stop what uses it, or choose another with --port", port.Name, number, err)
	}
	address, ok := listener.Addr().(*net.TCPAddr)
	if !ok {
		_ = listener.Close()
		return nil, 0, fmt.Errorf("listen on %s port: unexpected address %s", port.Name, listener.Addr())
	}
	if known[port.Name] == address.Port {
		return listener, address.Port, nil
	}
	known[port.Name] = address.Port
	if err := d.writePorts(known); err != nil {
		_ = listener.Close()
		return nil, 0, err
	}
	return listener, address.Port, nil
}

func listenOn(number int) (net.Listener, error) {
	return net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(number)))
}

func (d *Dir) portsPath() string { return filepath.Join(d.root, "ports.json") }

func (d *Dir) readPorts() (map[string]int, error) {
	data, err := os.ReadFile(d.portsPath())
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]int{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read ports: %w", err)
	}
	ports := map[string]int{}
	if err := json.Unmarshal(data, &ports); err != nil {
		return nil, fmt.Errorf("read ports from %s: %w: remove the file to get new ports", d.portsPath(), err)
	}
	for name, number := range ports {
		if number < 1 || number > 65535 {
			return nil, fmt.Errorf("read ports from %s: %s port %d is out of range: remove the file to get new ports", d.portsPath(), name, number)
		}
	}
	return ports, nil
}

func (d *Dir) writePorts(ports map[string]int) error {
	data, err := json.Marshal(ports)
	if err != nil {
		return fmt.Errorf("encode ports: %w", err)
	}
	return WriteFile(d.portsPath(), append(data, '\n'))
}

package testenv

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
)

// Ports that Address gives where the system does not say otherwise.
const (
	firstPort, lastPort = 20000, 31999
	// fewPorts is how many there must be at least, lowestPort the first that is not reserved by custom.
	fewPorts, lowestPort = 2000, 5000
	highestPort          = 65535
	addressTries         = 1000
)

// portsOf returns the ports that Address gives: none of those that connections go out from, from which they could go out
// to themselves while nothing listens. text is what Linux says of those; where it leaves too few, they are taken anyway.
func portsOf(text string) (first, last int) {
	var from, to int
	if _, err := fmt.Sscan(text, &from, &to); err != nil || from > lastPort || to < firstPort {
		return firstPort, lastPort
	}
	switch {
	case from-1-lowestPort >= fewPorts:
		return max(lowestPort, from-1-(lastPort-firstPort)), from - 1
	case highestPort-to >= fewPorts:
		return to + 1, highestPort
	}
	return firstPort, lastPort
}

// Address returns an address on loopback that is the test's until its end, for a server that must come back to it: no other
// call gives it, in no other process either, and no connection goes out from it, even while nothing listens.
func Address(t testing.TB) string {
	t.Helper()
	port, held, err := reservePort()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = held.Close() })
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

// reservePort finds a port that Address may give; it is the caller's until the file is closed.
func reservePort() (port int, held *os.File, err error) {
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("slipway-ports-%d", os.Getuid()))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 0, nil, fmt.Errorf("make directory of ports: %w", err)
	}
	said, _ := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range") // of no other system
	first, last := portsOf(string(said))
	for range addressTries {
		port = first + rand.IntN(last-first+1)
		held, err = reserve(filepath.Join(dir, strconv.Itoa(port)))
		if err != nil {
			return 0, nil, err
		}
		if held == nil {
			continue
		}
		if unused(port) {
			return port, held, nil
		}
		_ = held.Close() // a program that does not ask here has it
	}
	return 0, nil, fmt.Errorf("find a free port: %d of loopback are taken", addressTries)
}

// unused reports whether nothing listens on a port of loopback. It binds a socket and does not listen: a listener would be
// inherited by each process that starts at that moment, and keep the port until that process runs its program.
func unused(port int) bool {
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer func() { _ = syscall.Close(socket) }()
	if err := syscall.SetsockoptInt(socket, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1); err != nil {
		return false
	}
	return syscall.Bind(socket, &syscall.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}) == nil
}

// reserve takes the lock of a port; nil where another has it. The lock goes with the file, or with this process.
func reserve(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("reserve a port: %w", err)
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return file, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) || errors.Is(err, syscall.EINTR) {
		return nil, nil
	}
	return nil, fmt.Errorf("reserve a port: %w", err)
}

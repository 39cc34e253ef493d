//go:build unix

package db

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"
)

// ErrHeld means that another process has the database for itself.
var ErrHeld = errors.New("the database is in use")

// maxHolder is how much of a lock file is read.
const maxHolder = 200

// Hold takes a database of SQLite for this process alone, until Close: two servers would each keep a state of their own in
// memory, and undo what the other does. Any number of servers may share PostgreSQL.
func (s *DB) Hold() error {
	if s.dialect != sqlite || s.held != nil {
		return nil
	}
	file, err := os.OpenFile(s.path+lockSuffix, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return fmt.Errorf("lock database: %w", err)
	}
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		defer func() { _ = file.Close() }()
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return fmt.Errorf("lock database: %w", err)
		}
		holder := make([]byte, maxHolder)
		n, _ := file.ReadAt(holder, 0) // it may be empty for a moment
		return fmt.Errorf("%w: %s is held by %s; stop that process first, or name another --data directory", ErrHeld, s.path,
			holderOf(string(holder[:n])))
	}
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	line := fmt.Sprintf("process %d on %s, since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	if err = file.Truncate(0); err == nil {
		_, err = file.WriteAt([]byte(line), 0)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // the lock matters, not its holder
		return errors.Join(fmt.Errorf("lock database: %w", err), file.Close())
	}
	s.held = file
	return nil
}

func holderOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	if !strings.HasPrefix(line, "process ") {
		return "another process"
	}
	return line
}

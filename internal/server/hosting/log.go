package hosting

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"sync"
)

const (
	// longestLog is the size at which a log starts over, in bytes; the one before it is kept.
	longestLog = 2 << 20
	// longestLine bounds the part of a line that is looked at, in bytes.
	longestLine = 8 << 10
)

// opaque is what may be a token or a key.
var opaque = regexp.MustCompile(`[A-Za-z0-9+_=-]{32,}`)

// log is a file of bounded size that what a process says goes to.
type log struct {
	path string

	mu   sync.Mutex
	file *os.File
	size int64
	line []byte // the beginning of the present line
	last string // that was a warning, an error, or no line of a log
}

// openLog goes on with a log.
func openLog(path string) (*log, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close()
		return nil, err
	}
	return &log{path: path, file: file, size: info.Size()}, nil
}

// Write keeps what it can. A process must not end because its log cannot be written.
func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for rest := p; len(rest) > 0; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		l.line = append(l.line, line[:min(len(line), longestLine-len(l.line))]...)
		if whole {
			l.judge(l.line)
			l.line = l.line[:0]
		}
		rest = after
	}
	if l.size+int64(len(p)) > longestLog {
		l.turn()
	}
	if l.file != nil {
		n, _ := l.file.Write(p) // a full disk is found elsewhere
		l.size += int64(n)
	}
	return len(p), nil
}

// turn starts the log over.
func (l *log) turn() {
	if l.file != nil {
		_ = l.file.Close()
	}
	_ = os.Rename(l.path, l.path+".1")
	l.file, _ = os.OpenFile(l.path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	l.size = 0
}

// judge remembers a line that says what is wrong.
func (l *log) judge(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	var entry struct{ Level, Msg, Err string }
	if json.Unmarshal(line, &entry) != nil {
		l.last = string(line)
		return
	}
	if entry.Level != "WARN" && entry.Level != "ERROR" {
		return
	}
	l.last = entry.Msg
	if entry.Err != "" {
		l.last += ": " + entry.Err
	}
}

// complaint is the last line that says what is wrong.
func (l *log) complaint() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last
}

// Close closes the file.
func (l *log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}

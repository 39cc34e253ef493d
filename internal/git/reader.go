package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

const readTimeout = 30 * time.Second // of one object; the disk hangs when this passes

// reader is the long-lived `git cat-file --batch-command` of a mirror. It is started on the first read, ended after a
// while without any, and started again after a failure.
type reader struct {
	mirror *Mirror

	mu   sync.Mutex
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	idle *time.Timer
	stop context.CancelFunc
}

// header is what cat-file says about an object.
type header struct {
	id   ID
	kind string
	size int64
}

// info describes an object without reading it.
func (r *reader) info(name string) (header, error) {
	var h header
	err := r.ask("info "+name+"\n", func(out *bufio.Reader) (err error) {
		h, err = readHeader(out)
		return err
	})
	return h, err
}

// contents reads an object of at most limit bytes.
func (r *reader) contents(name string, limit int64) (header, []byte, error) {
	h, err := r.info(name)
	if err != nil {
		return h, nil, err
	}
	if h.size > limit {
		return h, nil, fmt.Errorf("read object %s of %d bytes: %w of %d bytes", h.id, h.size, ErrObjectLarge, limit)
	}
	var data []byte
	err = r.ask("contents "+h.id.String()+"\n", func(out *bufio.Reader) error {
		h, err := readHeader(out)
		if err != nil {
			return err
		}
		if h.size > limit {
			return fmt.Errorf("%w: object %s has grown", errProtocol, h.id)
		}
		data = make([]byte, h.size)
		if _, err := io.ReadFull(out, data); err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		if _, err := out.Discard(1); err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
		return nil
	})
	return h, data, err
}

// errProtocol means that the process is not usable any more.
var errProtocol = errors.New("object reader failed")

// ask sends one request and lets answer read the reply. It tries once more with a new process where the first one is
// gone: any caller may have ended it.
func (r *reader) ask(request string, answer func(*bufio.Reader) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for attempt := 0; ; attempt++ {
		err := r.try(request, answer)
		if !errors.Is(err, errProtocol) {
			return err
		}
		said := r.end()
		if r.mirror.client.opts.Blobless && strings.Contains(said, "promisor") {
			return ErrMissing
		}
		if strings.Contains(said, "out of memory") || strings.Contains(said, "Out of memory") {
			return &Error{
				Kind: ErrMemory, URL: r.mirror.URL(), Detail: fmt.Sprintf("which is %d MiB", r.mirror.client.opts.MaxMemory>>20),
				Hint: "remove its very large files, or have the operator raise --repository-memory of the agent",
			}
		}
		if attempt > 0 {
			return &Error{Kind: ErrCorrupt, URL: r.mirror.URL(), Detail: clean(r.mirror.scrub(said)), Hint: "it is fetched again", cause: err}
		}
	}
}

func (r *reader) try(request string, answer func(*bufio.Reader) error) error {
	if r.cmd == nil {
		if err := r.start(); err != nil {
			return fmt.Errorf("%w: %w", errProtocol, err)
		}
	}
	watch := time.AfterFunc(readTimeout, r.stop)
	defer watch.Stop()
	defer r.idle.Reset(r.mirror.client.opts.Idle)
	if _, err := io.WriteString(r.in, request); err != nil {
		return fmt.Errorf("%w: %w", errProtocol, err)
	}
	return answer(r.out)
}

func (r *reader) start() error {
	ctx, cancel := context.WithCancel(context.Background())
	c := r.mirror.client
	// Without an address it cannot talk to the remote, whatever a blobless mirror would like to do.
	p := c.prepare(ctx, command{dir: r.mirror.dir, args: []string{"cat-file", "--batch-command"}})
	p.Stderr = &capped{limit: maxErrors}
	in, err := p.StdinPipe()
	if err != nil {
		cancel()
		return err
	}
	out, err := p.StdoutPipe()
	if err != nil {
		cancel()
		return err
	}
	if err := p.Start(); err != nil {
		cancel()
		return err
	}
	limits{memory: c.opts.MaxMemory}.impose(p.Process.Pid)
	r.cmd, r.in, r.out, r.stop = p, in, bufio.NewReaderSize(out, 64<<10), cancel
	r.idle = time.AfterFunc(c.opts.Idle, r.close)
	return nil
}

// close ends the process, if there is one.
func (r *reader) close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.end()
}

// end ends the process and returns its standard error. The lock is held.
func (r *reader) end() string {
	if r.cmd == nil {
		return ""
	}
	r.idle.Stop()
	_ = r.in.Close() // it ends on end of input; the kill below is for one that does not
	r.stop()
	_ = r.cmd.Wait() // it was killed: its status says nothing
	said := r.cmd.Stderr.(*capped).String()
	r.cmd, r.in, r.out, r.idle, r.stop = nil, nil, nil, nil, nil
	return said
}

func readHeader(out *bufio.Reader) (header, error) {
	line, err := out.ReadString('\n')
	if err != nil {
		return header{}, fmt.Errorf("%w: %w", errProtocol, err)
	}
	line = strings.TrimSuffix(line, "\n")
	if strings.HasSuffix(line, " missing") {
		return header{}, ErrMissing
	}
	if strings.HasSuffix(line, " ambiguous") {
		return header{}, ErrAmbiguous
	}
	f := strings.Fields(line)
	if len(f) != 3 {
		return header{}, fmt.Errorf("%w: unexpected answer %q", errProtocol, clean(line))
	}
	id, err := ParseID(f[0])
	if err != nil {
		return header{}, fmt.Errorf("%w: %w", errProtocol, err)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return header{}, fmt.Errorf("%w: unexpected size %q", errProtocol, clean(f[2]))
	}
	return header{id: id, kind: f[1], size: size}, nil
}

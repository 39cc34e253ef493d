package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"

	"github.com/slipway-gitops/slipway/api"
)

// Logs gives the output of pods as text, line by line. With Follow it lasts until the context ends or the reader is
// closed. What the agent says went wrong on the way is the reader's error.
func (a Application) Logs(ctx context.Context, req api.Logs) (io.ReadCloser, error) {
	query := set(resourceQuery(req.Resource), "container", req.Container, "search", req.Search)
	setInt(setInt(query, "since", req.Since), "tail", req.Tail)
	if !req.SinceTime.IsZero() {
		query.Set("sinceTime", req.SinceTime.UTC().Format(time.RFC3339))
	}
	for key, on := range map[string]bool{
		"follow": req.Follow, "previous": req.Previous, "invert": req.Invert, "ignoreCase": req.IgnoreCase, "timestamps": req.Timestamps,
	} {
		setBool(query, key, on)
	}
	r := call{method: http.MethodGet, path: at(a.path("logs")...), query: query, accept: "text/plain, application/problem+json"}
	answer, err := a.c.open(ctx, r) //nolint:bodyclose // the reader of the output closes it
	if err != nil {
		return nil, err
	}
	return &logReader{body: answer.Body}, nil
}

// errorLine begins the last line of output where that is the server's, and says what went wrong.
const errorLine = "slipway: "

// logReader separates the last line of the server from the output before it.
type logReader struct {
	body io.ReadCloser
	// ready can be read, held may be the server's line; inside is true in the middle of a line.
	ready, held []byte
	inside      bool
	err         error
}

// Close ends the output.
func (l *logReader) Close() error { return l.body.Close() }

// Read gives what comes.
func (l *logReader) Read(p []byte) (int, error) {
	for len(l.ready) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		buffer := make([]byte, 32<<10)
		n, err := l.body.Read(buffer)
		l.take(buffer[:n])
		if err != nil {
			l.end(err)
		}
	}
	n := copy(p, l.ready)
	l.ready = l.ready[n:]
	return n, nil
}

func (l *logReader) take(data []byte) {
	if len(data) == 0 {
		return
	}
	data = append(l.held, data...)
	l.held = nil
	last := bytes.LastIndexByte(bytes.TrimSuffix(data, []byte("\n")), '\n') + 1
	if line := string(data[last:]); (last > 0 || !l.inside) && (strings.HasPrefix(line, errorLine) || strings.HasPrefix(errorLine, line)) {
		l.held, data = data[last:], data[:last]
	}
	l.ready = data
	if len(data) > 0 {
		l.inside = data[len(data)-1] != '\n'
	}
}

func (l *logReader) end(err error) {
	l.err = err
	line, whole := strings.CutPrefix(strings.TrimSuffix(string(l.held), "\n"), errorLine)
	if whole && errors.Is(err, io.EOF) {
		l.err = &Error{Err: &api.Error{Code: api.CodeUnavailable, Message: line}}
		return
	}
	l.ready = append(l.ready, l.held...)
}

// Shell says where a terminal is opened.
type Shell struct {
	Namespace, Pod string
	// Container is the first where it is "".
	Container string
	// Command is a shell where it is empty.
	Command       []string
	Columns, Rows int
	// Pipe asks for no terminal: bytes go both ways as they are, and EndInput ends the input.
	Pipe bool
}

// Exited is how a command in a container ended.
type Exited struct{ Code int }

// Error says it.
func (e *Exited) Error() string { return fmt.Sprintf("the command ended with exit code %d", e.Code) }

// Terminal is a shell in a container.
type Terminal struct{ socket *webSocket }

// Terminal opens one. It takes a permission of its own, and the audit log records it.
func (a Application) Terminal(ctx context.Context, s Shell) (*Terminal, error) {
	query := url.Values{"podNamespace": {s.Namespace}, "pod": {s.Pod}, "command": s.Command}
	set(query, "container", s.Container)
	if s.Columns > 0 && s.Rows > 0 {
		query.Set("columns", strconv.Itoa(s.Columns))
		query.Set("rows", strconv.Itoa(s.Rows))
	}
	if s.Pipe {
		query.Set("tty", "false")
	}
	socket, err := a.c.dialWebSocket(ctx, at(a.path("terminal")...), query)
	if err != nil {
		return nil, err
	}
	return &Terminal{socket}, nil
}

// Recv waits for what is shown next. *Exited is the end of the command; io.EOF that of the connection, before it was known
// how the command ended.
func (t *Terminal) Recv(ctx context.Context) ([]byte, error) {
	for {
		text, data, err := t.socket.receive(ctx)
		var end *errClosed
		switch {
		case errors.As(err, &end):
			return nil, fmt.Errorf("terminal ended: %s", end.reason)
		case err != nil || !text:
			return data, err
		}
		var said struct {
			Exit  *int   `json:"exit"`
			Error string `json:"error"`
		}
		switch err := json.Unmarshal(data, &said); {
		case err != nil: // of a later version
		case said.Exit != nil:
			return nil, &Exited{*said.Exit}
		case said.Error != "":
			return nil, fmt.Errorf("terminal ended: %s", said.Error)
		}
	}
}

// maxTyped is how much goes into one frame.
const maxTyped = 32 << 10

// Send types.
func (t *Terminal) Send(ctx context.Context, data []byte) error {
	for len(data) > 0 {
		n := min(len(data), maxTyped)
		if err := t.socket.send(ctx, websocket.MessageBinary, data[:n]); err != nil {
			return err
		}
		data = data[n:]
	}
	return nil
}

// Resize sends the size of the terminal that it is shown in.
func (t *Terminal) Resize(ctx context.Context, columns, rows int) error {
	raw, err := json.Marshal(struct {
		Columns int `json:"columns"`
		Rows    int `json:"rows"`
	}{columns, rows})
	if err != nil {
		return err
	}
	return t.socket.send(ctx, websocket.MessageText, raw)
}

// EndInput says that nothing more is typed, where there is no terminal: Recv goes on.
func (t *Terminal) EndInput(ctx context.Context) error {
	return t.socket.send(ctx, websocket.MessageText, []byte(`{"end":true}`))
}

// Close ends it. Recv ends as well.
func (t *Terminal) Close() error { return t.socket.close() }

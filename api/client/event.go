package client

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// silence is how long a stream of events may say nothing, not even that it is alive.
	silence = 60 * time.Second
	// maxEvent bounds one line of a stream.
	maxEvent = 4 << 20
	// longestBackoff is the longest wait before a broken stream is opened again.
	longestBackoff = 10 * time.Second
)

// EventOptions say which events are wanted.
type EventOptions struct {
	// After is the id of the last event that was seen; "" for what comes from now on.
	After string
	// Opened is called each time the stream is open: what is read after it misses nothing. nil for none.
	Opened func()
}

// Events calls fn for each event until the context ends or fn gives an error. A stream that breaks is opened again after
// the last event. Where events between were lost, the next is an api.EventReset.
func (c *Client) Events(ctx context.Context, o EventOptions, fn func(api.Event) error) error {
	wait := c.wait
	for {
		s := stream{after: o.After, fn: fn}
		err := c.events(ctx, &s, o.Opened)
		if s.after != o.After {
			wait = c.wait
		}
		o.After = s.after
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.stopped:
			return err
		case err != nil && !passing(err):
			return err
		}
		if err := sleep(ctx, jitter(wait)); err != nil {
			return err
		}
		wait = min(2*wait, longestBackoff)
	}
}

// passing is true for an error that a later attempt may not meet.
func passing(err error) bool {
	var e *Error
	if !errors.As(err, &e) {
		return true
	}
	switch api.CodeOf(err) {
	case api.CodeUnavailable, api.CodeTooMany, api.CodeInternal:
		return !final(err)
	case api.CodeInvalid, api.CodeUnauthenticated, api.CodeForbidden, api.CodeNotFound, api.CodeConflict, api.CodeTooLarge:
	}
	return false
}

// stream is one connection.
type stream struct {
	after   string
	fn      func(api.Event) error
	stopped bool
}

func (c *Client) events(ctx context.Context, s *stream, opened func()) error {
	r := call{method: http.MethodGet, path: at("events"), accept: "text/event-stream", header: http.Header{}}
	if s.after != "" {
		r.header.Set("Last-Event-ID", s.after)
	}
	return c.listen(ctx, r, maxEvent, opened, s.take)
}

// message is an event as the HTML standard writes it.
type message struct {
	id, kind string
	data     []byte
}

// listen opens a stream and calls take for each message of at most limit bytes, until the stream or ctx ends or take gives an
// error. opened is called in between; nil for none.
func (c *Client) listen(ctx context.Context, r call, limit int, opened func(), take func(message) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := c.open(ctx, r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // a stream ends when we go
	if opened != nil {
		opened()
	}
	quiet := time.AfterFunc(silence, func() { cancel(errors.New("nothing came for too long")) })
	defer quiet.Stop()
	var stop error
	err = readMessages(answer.Body, limit, func() { quiet.Reset(silence) }, func(m message) error {
		stop = take(m)
		return stop
	})
	if cause := context.Cause(ctx); stop == nil && cause != nil {
		return cause
	}
	return err
}

// open sends a request whose answer is a stream; an answer that is a refusal is an error.
func (c *Client) open(ctx context.Context, r call) (*http.Response, error) {
	answer, err := c.send(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	if answer.StatusCode < http.StatusMultipleChoices {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }() // it was read as far as it matters
	raw, err := io.ReadAll(io.LimitReader(answer.Body, maxEvent))
	if err != nil {
		return nil, fmt.Errorf("read answer of %s: %w", c.base, err)
	}
	_, err = c.refusal(answer, raw, r)
	return nil, err
}

// readMessages calls take for each message. alive is called for every line.
func readMessages(from io.Reader, limit int, alive func(), take func(message) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 4096), limit)
	var m message
	has := false
	for lines.Scan() {
		alive()
		line := lines.Bytes()
		if len(line) == 0 {
			if has {
				if err := take(m); err != nil {
					return err
				}
			}
			m.kind, m.data, has = "", m.data[:0], false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "id":
			m.id = string(value)
		case "event":
			m.kind = string(value)
		case "data":
			if has {
				m.data = append(m.data, '\n')
			}
			if m.data, has = append(m.data, value...), true; len(m.data) > limit {
				return errors.New("an event is larger than anything that is one")
			}
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	return nil
}

func (s *stream) take(m message) error {
	var e api.Event
	if err := json.Unmarshal(m.data, &e); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	e.ID = cmp.Or(e.ID, m.id)
	if err := s.fn(e); err != nil {
		s.stopped = true
		return err
	}
	if e.ID != "" {
		s.after = e.ID
	}
	return nil
}

// Overview counts what the caller may see.
func (c *Client) Overview(ctx context.Context) (api.Overview, error) {
	return get[api.Overview](ctx, c, nil, "overview")
}

// Info is the server's self-description.
func (c *Client) Info(ctx context.Context) (api.ServerInfo, error) {
	return get[api.ServerInfo](ctx, c, nil, "info")
}

// Settings of the server.
func (c *Client) Settings(ctx context.Context) (api.Settings, error) {
	return get[api.Settings](ctx, c, nil, "settings")
}

// SetSettings changes the settings of the server; dryRun has it only check them.
func (c *Client) SetSettings(ctx context.Context, in api.Settings, dryRun bool) (api.Settings, error) {
	return put[api.Settings](ctx, c, dry(dryRun), in, "settings")
}

// Healthy is an error where the server does not answer.
func (c *Client) Healthy(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodGet, path: "/healthz"}, nil)
}

// Ready is an error where the server cannot serve, as where its database does not answer.
func (c *Client) Ready(ctx context.Context) error {
	return c.do(ctx, call{method: http.MethodGet, path: "/readyz"}, nil)
}

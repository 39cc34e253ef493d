package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// TreeEvent is a whole tree, or what is another in it: one of both.
type TreeEvent struct {
	Tree  *api.TreeState
	Patch *api.TreePatch
}

// TreeEvents calls fn with the tree as it is, and then with each change of it, until the context ends, fn gives an error, or
// the agent cannot show the tree any more, as where its link broke. Whoever asks again gets the whole tree again.
func (a Application) TreeEvents(ctx context.Context, fn func(TreeEvent) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	answer, err := a.c.open(ctx, call{method: http.MethodGet, path: a.at("tree", "events"), accept: "text/event-stream, application/problem+json"})
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }() // a stream ends when we go
	quiet := time.AfterFunc(silence, func() { cancel(errors.New("nothing came for too long")) })
	defer quiet.Stop()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(make([]byte, 0, 64<<10), 2*maxEvent)
	var kind string
	var data []byte
	for lines.Scan() {
		quiet.Reset(silence)
		field, value, _ := bytes.Cut(lines.Bytes(), []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			kind = string(value)
		case "data":
			data = append(data[:0], value...)
		case "":
			if len(lines.Bytes()) > 0 {
				continue // a sign of life
			}
			if err := treeEvent(kind, data, fn); err != nil {
				return err
			}
			kind, data = "", data[:0]
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read the tree: %w", err)
	}
	return &Error{Err: &api.Error{Code: api.CodeUnavailable, Message: "the server ended the stream: ask again"}}
}

func treeEvent(kind string, data []byte, fn func(TreeEvent) error) error {
	var e TreeEvent
	var err error
	switch kind {
	case api.TreeEventTree:
		e.Tree = &api.TreeState{}
		err = json.Unmarshal(data, e.Tree)
	case api.TreeEventPatch:
		e.Patch = &api.TreePatch{}
		err = json.Unmarshal(data, e.Patch)
	case "error":
		return &Error{Err: &api.Error{Code: api.CodeUnavailable, Message: string(data)}}
	default:
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the tree: %w", err)
	}
	return fn(e)
}

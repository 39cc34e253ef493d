package client

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
)

// TreeEvent is a whole tree, or what is another in it: one of both.
type TreeEvent struct {
	Tree  *api.TreeState
	Patch *api.TreePatch
}

// TreeEvents calls fn with the tree as it is, and then with each change of it, until the context ends, fn gives an error, or
// the agent cannot show the tree any more, as where its link broke. A new request gets the whole tree again.
func (a Application) TreeEvents(ctx context.Context, fn func(TreeEvent) error) error {
	r := call{method: http.MethodGet, path: at(a.path("tree", "events")...), accept: "text/event-stream, application/problem+json"}
	err := a.c.listen(ctx, r, 2*maxEvent, nil, func(m message) error { return treeEvent(m.kind, m.data, fn) })
	if err != nil {
		return err
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

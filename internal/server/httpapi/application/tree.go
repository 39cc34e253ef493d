package application

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

// StreamRoutes are the answers about an application that last: its tree, its logs and terminals.
type StreamRoutes struct{ *item.Clusters }

// Routes are its rows of the table.
func (h *StreamRoutes) Routes() []core.Route {
	return []core.Route{h.treeEventsRoute(), h.logsRoute(), h.terminalRoute()}
}

// treeEventsRoute shows the tree of an application as it changes.
func (h *StreamRoutes) treeEventsRoute() core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: item.ApplicationPath + "/tree/events", Permission: api.PermApplicationView, Streams: true,
		ID: "application-tree-events", Summary: "The tree of an application as it changes, as server-sent events: tree, then patch",
		Tag: "applications",
	}
	r.Mount = core.Mount(core.Answer[item.Input, core.StreamOutput]{
		Find: item.Application[item.Input](h.Clusters),
		Do: func(_ context.Context, c *core.Call, in *item.Input) (*core.StreamOutput, error) {
			o := in.Order("application.tree.watch", nil)
			item.Sign(c, &o, item.AskTime)
			return &core.StreamOutput{Body: func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
				_, w := humago.Unwrap(hc)
				closed, err := c.Limits.Open(c.Who.Principal)
				if err != nil {
					core.WriteProblem(w, err, c.ID)
					return
				}
				defer closed()
				ctx, cancel := c.Guard(hc.Context(), h.stillMay(hc.Context(), *in))
				defer cancel()
				stream, err := h.Commands.Open(ctx, o)
				if err != nil {
					core.WriteProblem(w, err, c.ID)
					return
				}
				defer stream.Close()
				copyTree(ctx, w, stream)
			}}, nil
		},
	})
	return r
}

// treeEvent is what came of a live tree, or why no more comes.
type treeEvent struct {
	kind string
	data []byte
	err  error
}

// copyTree sends events as they come. Nothing is gathered for a slow reader: while it does not read, the agent is not read,
// which sends what is another since as soon as it can. An error after the beginning is an event.
func copyTree(ctx context.Context, w http.ResponseWriter, stream item.Stream) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	send := func(text []byte) bool {
		_ = control.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
		if _, err := w.Write(text); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	if !send([]byte(": welcome\n\n")) {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	events := make(chan treeEvent)
	done := make(chan struct{})
	defer func() { cancel(); <-done }()
	go func() {
		defer close(done)
		readTree(ctx, stream, events)
	}()
	beat := time.NewTicker(core.BeatTime)
	defer beat.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if !send([]byte(": still here\n\n")) {
				return
			}
		case e := <-events:
			if e.err != nil {
				send([]byte("event: error\ndata: " + core.OneLine(core.NewProblem(e.err, "").Detail) + "\n\n"))
				return
			}
			if !send(fmt.Appendf(nil, "event: %s\ndata: %s\n\n", e.kind, e.data)) {
				return
			}
		}
	}
}

// readTree reads a live tree until it ends.
func readTree(ctx context.Context, stream item.Stream, events chan<- treeEvent) {
	from := agentapi.NewTreeReader(&received{ctx: ctx, stream: stream})
	for {
		kind, data, err := from.Next()
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			err = api.Errorf(api.CodeUnavailable, "the agent does not show this tree any more: ask again")
		case err != nil && api.CodeOf(err) == api.CodeInternal:
			err = api.Errorf(api.CodeUnavailable, "the agent sends something that is no tree: see its version, and ask again")
		case err == nil && kind != api.TreeEventTree && kind != api.TreeEventPatch:
			continue // of a later version
		}
		select {
		case events <- treeEvent{kind, data, err}:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// received is the data of a stream as a reader.
type received struct {
	ctx    context.Context //nolint:containedctx // io.Reader has no place for it
	stream item.Stream
	rest   []byte
}

// Read implements io.Reader.
func (r *received) Read(p []byte) (int, error) {
	for len(r.rest) == 0 {
		data, err := r.stream.Recv(r.ctx)
		if err != nil {
			return 0, err
		}
		r.rest = data
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

package record

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Sights says which applications may be seen.
type Sights interface {
	FleetIDs(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, limit int) ([]string, error)
}

// EventRoutes stream changes.
type EventRoutes struct {
	Events core.Events
	Fleet  Sights
	// OwnJob is true for an event about a job that the reader has asked for.
	OwnJob func(ctx context.Context, c *core.Call, e api.Event) bool
}

type eventInput struct {
	LastEventID string   `header:"Last-Event-ID" maxLength:"100" doc:"Id of the last event that was read: the server sends later ones first"`
	After       string   `query:"after" maxLength:"100" doc:"The same, for clients that cannot set headers"`
	Type        []string `query:"type,explode" maxItems:"30" doc:"Only events about objects of these types" example:"[\"application\"]"`
}

// Routes are its rows of the table.
func (h *EventRoutes) Routes() []core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: "/api/v1/events", Access: core.SignedIn, Within: true, Streams: true, ID: "events", Tag: "events",
		Summary: "Changes as server-sent events, of objects that you may see",
	}
	r.Mount = core.Mount(core.Answer[eventInput, core.StreamOutput]{Do: func(_ context.Context, c *core.Call,
		in *eventInput,
	) (*core.StreamOutput, error) {
		after := in.LastEventID
		if after == "" {
			after = in.After
		}
		return &core.StreamOutput{Body: func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
			_, w := humago.Unwrap(hc)
			closed, err := c.Limits.Open(c.Who.Principal)
			if err != nil {
				core.WriteProblem(w, err, c.ID)
				return
			}
			defer closed()
			// A user whose groups changed starts over, with the last event.
			ctx, cancel := c.Guard(hc.Context(), func(now *core.Call) bool { return slices.Equal(now.Who.Subject.Groups, c.Who.Subject.Groups) })
			defer cancel()
			events, err := h.Events.Subscribe(ctx, after)
			if err != nil {
				core.WriteProblem(w, err, c.ID)
				return
			}
			h.sendEvents(ctx, w, c, events, in.Type)
		}}, nil
	}})
	return []core.Route{r}
}

func (h *EventRoutes) sendEvents(ctx context.Context, w http.ResponseWriter, c *core.Call, events <-chan api.Event, types []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	beat := time.NewTicker(core.BeatTime)
	defer beat.Stop()
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
		if _, err := w.Write([]byte(text)); err != nil {
			return false
		}
		return control.Flush() == nil
	}
	if !send(": welcome\n\n") {
		return
	}
	for {
		select {
		case <-ctx.Done():
			return
		case <-beat.C:
			if !send(": still here\n\n") {
				return
			}
		case event, open := <-events:
			if !open {
				return
			}
			if len(types) > 0 && event.Type != api.EventReset && !slices.Contains(types, event.Object.Type) {
				continue
			}
			sees, err := h.sees(ctx, c, event)
			if err != nil {
				return // a reader that comes back reads what was not read
			}
			if !sees {
				continue
			}
			raw, err := json.Marshal(event)
			if err != nil {
				continue // of plain values: it cannot
			}
			if !send(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", core.OneLine(event.ID), core.OneLine(event.Type), raw)) {
				return
			}
		}
	}
}

// sees is true for an event about an object that the reader may see now.
func (h *EventRoutes) sees(ctx context.Context, c *core.Call, e api.Event) (bool, error) {
	if e.Type == api.EventReset {
		return true, nil
	}
	policy, err := c.Rules(ctx)
	if err != nil {
		return false, err
	}
	kind := item.TypeOf(e.Object.Type)
	object := rbac.Object{Type: kind, Scope: e.Object.Scope, ID: e.Object.ID, Labels: e.Labels}
	if policy.Can(c.Who.Subject, api.Permission(string(kind)+"_view"), object).Allowed {
		return true, nil
	}
	switch e.Type {
	case api.TypeAgent + "." + api.EventAway, api.TypeAgent + "." + api.EventBack:
		// What this reader sees of applications is old, or new again.
		seen, err := h.Fleet.FleetIDs(ctx, policy.Filter(c.Who.Subject, api.PermApplicationView), api.FleetFilter{Agent: e.Object.ID}, 1)
		return len(seen) > 0, err
	}
	return kind == api.TypeJob && h.OwnJob(ctx, c, e), nil
}

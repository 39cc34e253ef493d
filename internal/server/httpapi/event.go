package httpapi

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
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// EventRoutes tell what changes.
type EventRoutes struct {
	Events Events
	Fleet  Fleet
	// OwnJob is true for an event about a job that the reader has asked for.
	OwnJob func(ctx context.Context, c *call, e api.Event) bool
}

type eventInput struct {
	LastEventID string   `header:"Last-Event-ID" maxLength:"100" doc:"Id of the last event that was read: what came after it is sent first"`
	After       string   `query:"after" maxLength:"100" doc:"The same, for who cannot set headers"`
	Type        []string `query:"type,explode" maxItems:"30" doc:"Only events about objects of these types" example:"[\"application\"]"`
}

// Routes are its rows of the table.
func (h *EventRoutes) Routes() []Route {
	r := Route{
		Method: http.MethodGet, Path: "/api/v1/events", Access: SignedIn, Within: true, Streams: true, ID: "events", Tag: "events",
		Summary: "Changes as server-sent events, of objects that you may see",
	}
	r.mount = mount(handler[eventInput, streamOutput]{do: func(_ context.Context, c *call, in *eventInput) (*streamOutput, error) {
		after := in.LastEventID
		if after == "" {
			after = in.After
		}
		return &streamOutput{func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
			_, w := humago.Unwrap(hc)
			closed, err := c.limits.open(c.who.Principal)
			if err != nil {
				writeProblem(w, err, c.id)
				return
			}
			defer closed()
			// Who is in other groups now begins anew, with what the last event was.
			ctx, cancel := c.guard(hc.Context(), func(now *call) bool { return slices.Equal(now.who.Subject.Groups, c.who.Subject.Groups) })
			defer cancel()
			events, err := h.Events.Subscribe(ctx, after)
			if err != nil {
				writeProblem(w, err, c.id)
				return
			}
			h.sendEvents(ctx, w, c, events, in.Type)
		}}, nil
	}})
	return []Route{r}
}

func (h *EventRoutes) sendEvents(ctx context.Context, w http.ResponseWriter, c *call, events <-chan api.Event, types []string) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	beat := time.NewTicker(beatTime)
	defer beat.Stop()
	send := func(text string) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // an error shows at the write
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
				return // what was not read is read by who comes back
			}
			if !sees {
				continue
			}
			raw, err := json.Marshal(event)
			if err != nil {
				continue // of plain values: it cannot
			}
			if !send(fmt.Sprintf("id: %s\nevent: %s\ndata: %s\n\n", oneLine(event.ID), oneLine(event.Type), raw)) {
				return
			}
		}
	}
}

// sees is true for an event about an object that the reader may see now.
func (h *EventRoutes) sees(ctx context.Context, c *call, e api.Event) (bool, error) {
	if e.Type == api.EventReset {
		return true, nil
	}
	policy, err := c.rules(ctx)
	if err != nil {
		return false, err
	}
	kind := typeOf(e.Object.Type)
	object := rbac.Object{Type: kind, Scope: e.Object.Scope, ID: e.Object.ID, Labels: e.Labels}
	if policy.Can(c.who.Subject, api.Permission(string(kind)+"_view"), object).Allowed {
		return true, nil
	}
	switch e.Type {
	case api.TypeAgent + "." + api.EventAway, api.TypeAgent + "." + api.EventBack:
		// What this reader sees of applications is old, or new again.
		seen, err := h.Fleet.FleetIDs(ctx, policy.Filter(c.who.Subject, api.PermApplicationView), api.FleetFilter{Agent: e.Object.ID}, 1)
		return len(seen) > 0, err
	}
	return kind == api.TypeJob && h.OwnJob(ctx, c, e), nil
}

package application

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
)

type logsInput struct {
	item.Input
	Group      string    `query:"group" maxLength:"253" doc:"API group of the object; empty for core kinds" example:"apps"`
	Version    string    `query:"version" maxLength:"63" doc:"API version of the object" example:"v1"`
	Kind       string    `query:"kind" maxLength:"253" doc:"Kind of the object; without kind and name: all pods of the application" example:"Deployment"`
	ResourceN  string    `query:"resourceNamespace" maxLength:"63" doc:"Namespace of the object" example:"shop"`
	Resource   string    `query:"resourceName" maxLength:"253" doc:"Name of the object" example:"web"`
	Container  string    `query:"container" maxLength:"63" doc:"Container; default: all"`
	Follow     bool      `query:"follow" doc:"Follow new lines"`
	Previous   bool      `query:"previous" doc:"From the previous instance of the container"`
	Since      int64     `query:"since" minimum:"0" doc:"Start of the log, in seconds before now"`
	SinceTime  time.Time `query:"sinceTime" doc:"Start of the log, as a time"`
	Tail       int64     `query:"tail" minimum:"0" doc:"Number of lines at the end; default: all"`
	Search     string    `query:"search" maxLength:"1000" doc:"Text that lines must contain"`
	Invert     bool      `query:"invert" doc:"Only lines that do not contain the text"`
	IgnoreCase bool      `query:"ignoreCase" doc:"Ignore the case of the text"`
	Timestamps bool      `query:"timestamps" doc:"Prefix each line with its time"`
	Accept     string    `header:"Accept" doc:"text/event-stream for events, one per line; otherwise plain text"`
}

func (h *StreamRoutes) logsRoute() core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: item.ApplicationPath + "/logs", Permission: api.PermApplicationLogs, Streams: true,
		ID: "application-logs", Summary: "The output of pods of an application, as text or as server-sent events", Tag: "resources",
	}
	r.Mount = core.Mount(core.Answer[logsInput, core.StreamOutput]{
		Find: item.Application[logsInput](h.Clusters),
		Do:   h.logs,
	})
	return r
}

func (in *logsInput) ref() api.ResourceRef {
	return api.ResourceRef{Group: in.Group, Version: in.Version, Kind: in.Kind, Namespace: in.ResourceN, Name: in.Resource}
}

func (h *StreamRoutes) logs(ctx context.Context, c *core.Call, in *logsInput) (*core.StreamOutput, error) {
	o := in.Order("resource.logs", api.Logs{
		Resource: in.ref(), Container: in.Container, Follow: in.Follow, Previous: in.Previous, Since: in.Since, SinceTime: in.SinceTime,
		Tail: in.Tail, Search: in.Search, Invert: in.Invert, IgnoreCase: in.IgnoreCase, Timestamps: in.Timestamps,
	})
	item.Sign(c, &o, item.AskTime)
	closed, err := c.Limits.Open(c.Who.Principal)
	if err != nil {
		return nil, err
	}
	stream, err := h.Commands.Open(ctx, o)
	if err != nil {
		closed()
		return nil, err
	}
	events := strings.Contains(in.Accept, "text/event-stream")
	return &core.StreamOutput{Body: func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
		_, w := humago.Unwrap(hc)
		defer stream.Close()
		defer closed()
		ctx, cancel := c.Guard(hc.Context(), h.stillMay(hc.Context(), in.Input))
		defer cancel()
		h.copyLogs(ctx, w, stream, events)
	}}, nil
}

// copyLogs sends what comes. An error after the beginning can only be sent in the text.
func (h *StreamRoutes) copyLogs(ctx context.Context, w http.ResponseWriter, stream item.Stream, events bool) {
	w.Header().Set("X-Accel-Buffering", "no")
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if events {
		w.Header().Set("Content-Type", "text/event-stream")
	}
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	_ = control.Flush() // the client sees that it is open
	for {
		chunk, err := stream.Recv(ctx)
		if err != nil {
			if !errors.Is(err, io.EOF) && ctx.Err() == nil {
				message := core.NewProblem(err, "").Detail
				if events {
					_, _ = io.WriteString(w, "event: error\ndata: "+core.OneLine(message)+"\n\n")
				} else {
					_, _ = io.WriteString(w, "slipway: "+core.OneLine(message)+"\n")
				}
			}
			return
		}
		_ = control.SetWriteDeadline(time.Now().Add(core.WriteTime))
		if events {
			chunk = asEvents(chunk)
		}
		if _, err := w.Write(chunk); err != nil {
			return
		}
		if err := control.Flush(); err != nil {
			return
		}
	}
}

// asEvents makes one event of each line.
func asEvents(chunk []byte) []byte {
	var out bytes.Buffer
	for line := range bytes.Lines(chunk) {
		out.WriteString("data: ")
		// A carriage return ends a line of an event too: a container could write events of its own.
		out.Write(bytes.ReplaceAll(bytes.TrimRight(line, "\n"), []byte("\r"), nil))
		out.WriteString("\n\n")
	}
	return out.Bytes()
}

// stillMay asks for the right to the application of the route again, as both are now.
func (h *StreamRoutes) stillMay(ctx context.Context, in item.Input) func(*core.Call) bool {
	return func(c *core.Call) bool {
		t, err := h.FindApplication(ctx, in)
		if err != nil {
			return api.CodeOf(err) != api.CodeNotFound // the database may come back
		}
		return c.Policy.Can(c.Who.Subject, c.Route.Permission, t.Object).Allowed
	}
}

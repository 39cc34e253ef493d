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
	"github.com/gorilla/websocket"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/strict"
)

type terminalInput struct {
	item.Input
	PodNamespace string   `query:"podNamespace" required:"true" maxLength:"63" doc:"Namespace of the pod" example:"shop"`
	Pod          string   `query:"pod" required:"true" maxLength:"253" doc:"Name of the pod" example:"web-0"`
	Container    string   `query:"container" maxLength:"63" doc:"Container; default: the first"`
	Command      []string `query:"command,explode" maxItems:"50" doc:"Command and arguments; default: a shell"`
	TTY          bool     `query:"tty" default:"true" doc:"A terminal; false for unchanged bytes in both directions"`
	Columns      int      `query:"columns" minimum:"1" maximum:"1000" default:"80" doc:"Width"`
	Rows         int      `query:"rows" minimum:"1" maximum:"1000" default:"24" doc:"Height"`
}

// terminalBody is the body of the command to the agent.
type terminalBody struct {
	Resource  api.ResourceRef `json:"resource"`
	Container string          `json:"container,omitempty"`
	Command   []string        `json:"command,omitempty"`
	Size      size            `json:"size"`
	Pipe      bool            `json:"pipe,omitempty"`
}

type size struct {
	Columns int `json:"columns"`
	Rows    int `json:"rows"`
}

const (
	// terminalTime is how long a terminal may be open, and idleTime how long it may be idle.
	terminalTime = 8 * time.Hour
	idleTime     = 30 * time.Minute
	maxFrame     = 64 << 10
	// maxReason is how much, in bytes, is sent of why one ended; the reason of a WebSocket's end holds less.
	maxReason = 2000
)

func (h *StreamRoutes) terminalRoute() core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: item.ApplicationPath + "/terminal", Permission: api.PermApplicationExec,
		Audit: "application.terminal", Streams: true,
		ID: "application-terminal", Tag: "resources",
		Summary: "A shell in a container, over a WebSocket: binary frames are what is typed and shown, " +
			"text frames of the client are {\"columns\":80,\"rows\":24} or {\"end\":true} for the end of the input, " +
			"and the last frame of the server is text: {\"exit\":0} with the exit code, or {\"error\":\"…\",\"requestId\":\"…\"} with why it " +
			"ended. A request with an Origin gets the reason of a refusal in the same way: a page cannot read another answer",
	}
	r.Mount = core.Mount(core.Answer[terminalInput, core.StreamOutput]{
		Find: item.Application[terminalInput](h.Clusters),
		Do:   h.terminal, Refuse: h.refuseTerminal,
	})
	return r
}

func (h *StreamRoutes) terminal(ctx context.Context, c *core.Call, in *terminalInput) (*core.StreamOutput, error) {
	if !websocket.IsWebSocketUpgrade(c.Request) {
		return nil, api.Errorf(api.CodeInvalid, "a terminal needs a WebSocket: use `slipway app exec`, or a client that upgrades the connection")
	}
	if !c.Allowed(c.Request) {
		return nil, api.Errorf(api.CodeForbidden, "a page of another origin may not open a terminal")
	}
	body := terminalBody{
		Resource:  api.ResourceRef{Version: "v1", Kind: "Pod", Namespace: in.PodNamespace, Name: in.Pod},
		Container: in.Container, Command: in.Command, Size: size{in.Columns, in.Rows}, Pipe: !in.TTY,
	}
	c.Before, c.After = nil, body
	o := in.Order("resource.terminal", body)
	o.Reason = c.Reason
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
	return &core.StreamOutput{Body: func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
		defer stream.Close()
		defer closed()
		begun := c.Now()
		conn, err := h.upgrade(c, hc)
		if err != nil {
			return
		}
		defer conn.Close() //nolint:errcheck // closed twice is closed
		ctx, cancel := c.Guard(hc.Context(), h.stillMay(hc.Context(), in.Input))
		defer cancel()
		ctx, stop := context.WithTimeout(ctx, terminalTime)
		defer stop()
		told := h.connect(ctx, stop, conn, stream, c.ID)
		ended(hc.Context(), c, c.Now().Sub(begun), told)
	}}, nil
}

// upgrade makes a WebSocket of a request, or answers why there is none.
func (h *StreamRoutes) upgrade(c *core.Call, hc huma.Context) (*websocket.Conn, error) {
	r, w := humago.Unwrap(hc)
	upgrader := websocket.Upgrader{
		HandshakeTimeout: 10 * time.Second, ReadBufferSize: 4096, WriteBufferSize: 4096,
		CheckOrigin: c.Allowed,
		Error: func(w http.ResponseWriter, _ *http.Request, _ int, reason error) {
			core.WriteProblem(w, api.Errorf(api.CodeInvalid, "no WebSocket came about: %v", reason), c.ID)
		},
	}
	return upgrader.Upgrade(w, r, nil)
}

// refuseTerminal reports to a page why it gets no terminal: a browser shows it nothing of an answer that is no WebSocket.
func (h *StreamRoutes) refuseTerminal(c *core.Call, why *core.Problem) *core.StreamOutput {
	if c.Request.Header.Get("Origin") == "" || !c.Allowed(c.Request) || !websocket.IsWebSocketUpgrade(c.Request) {
		return nil
	}
	return &core.StreamOutput{Body: func(hc huma.Context) {
		conn, err := h.upgrade(c, hc)
		if err != nil {
			return
		}
		farewell(conn, why.Detail, c.ID)
		_ = conn.Close() // all is sent
	}}
}

// farewell is the last that a client hears; reason is empty where it needs none.
func farewell(conn *websocket.Conn, reason, requestID string) {
	if reason != "" {
		_ = conn.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
		_ = conn.WriteJSON(map[string]string{"error": legible.Cut(reason, maxReason), "requestId": requestID})
	}
	message := websocket.FormatCloseMessage(websocket.CloseNormalClosure, legible.Cut(reason, 100))
	_ = conn.WriteControl(websocket.CloseMessage, message, time.Now().Add(time.Second)) // the other end may have gone
}

// session is what came of a terminal.
type session struct {
	typed, shown int64 // bytes
	exit         *item.Exited
}

// ended records the end of a terminal, as another entry of the same action. What was typed is not kept: it may hold secrets.
func ended(ctx context.Context, c *core.Call, took time.Duration, s session) {
	entry := c.Entry(nil)
	entry.After = nil
	entry.Message = fmt.Sprintf("ended: open for %s, %d bytes typed, %d bytes shown", took.Round(time.Second), s.typed, s.shown)
	if s.exit != nil {
		entry.Message += fmt.Sprintf(", exit code %d", s.exit.Code)
	}
	_ = c.Tell(ctx, entry) // an error is in the log
}

// connect copies both ways until one end is closed.
func (h *StreamRoutes) connect(ctx context.Context, stop func(), conn *websocket.Conn, stream item.Stream, requestID string) (s session) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer stop()
		conn.SetReadLimit(maxFrame)
		for {
			_ = conn.SetReadDeadline(time.Now().Add(idleTime)) // an error shows at the read
			kind, data, err := conn.ReadMessage()
			if err != nil {
				return
			}
			s.typed += int64(len(data))
			if err := h.typed(ctx, stream, kind, data); err != nil {
				return
			}
		}
	}()
	reason := ""
	for {
		data, err := stream.Recv(ctx)
		if err != nil {
			switch {
			case errors.As(err, &s.exit):
				_ = conn.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
				_ = conn.WriteJSON(map[string]int{"exit": s.exit.Code})
			case !errors.Is(err, io.EOF) && ctx.Err() == nil:
				reason = core.NewProblem(err, "").Detail
			}
			break
		}
		s.shown += int64(len(data))
		_ = conn.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
		if conn.WriteMessage(websocket.BinaryMessage, data) != nil {
			break
		}
	}
	farewell(conn, reason, requestID)
	_ = conn.Close() // what reads from it ends
	<-done
	return s
}

func (h *StreamRoutes) typed(ctx context.Context, stream item.Stream, kind int, data []byte) error {
	if kind == websocket.BinaryMessage {
		return stream.Send(ctx, data)
	}
	var to struct {
		size
		End bool `json:"end"`
	}
	err := strict.Decode(data, &to)
	switch {
	case err == nil && to.End:
		return stream.EndInput(ctx)
	case err != nil || to.Columns < 1 || to.Rows < 1 || to.Columns > 1000 || to.Rows > 1000:
		return errors.New("a text frame is no size, and no end of the input")
	}
	return stream.Resize(ctx, to.Columns, to.Rows)
}

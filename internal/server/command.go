package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/trace"
)

// commander has agents do what the interface asks for.
type commander struct {
	store   *store.Store
	gateway *gateway.Gateway
	now     func() time.Time
}

// Command is an order as it goes over the link, and whom to.
func (c *commander) command(ctx context.Context, o item.Order) (string, agentapi.Command, error) {
	uid, err := c.store.AgentUID(ctx, o.Agent)
	if err != nil {
		return "", agentapi.Command{}, err
	}
	out := agentapi.Command{
		Kind: agentapi.Kind(o.Kind), User: o.By.Type + ":" + o.By.ID, Groups: o.Groups, Reason: o.Reason, Origin: o.RequestID,
		Traceparent: trace.Parent(ctx),
		Target:      agentapi.Target{Kind: agentapi.ItemKind(o.TargetKind), Namespace: o.Namespace, Name: o.Name},
		Issued:      c.now().UTC(), Deadline: c.now().Add(o.Timeout).UTC(), Judged: o.Judged,
	}
	if o.Body != nil {
		if out.Body, err = json.Marshal(o.Body); err != nil {
			return "", out, fmt.Errorf("write command %s: %w", o.Kind, err)
		}
	}
	return uid, out, nil
}

// Do has something done, and waits for its result.
func (c *commander) Do(ctx context.Context, o item.Order) (api.Command, error) {
	uid, command, err := c.command(ctx, o)
	if err != nil {
		return api.Command{}, err
	}
	command.ID = gateway.NewUID()
	result, err := c.gateway.Commands.Do(ctx, uid, command)
	// The caller waited as long as it wanted; a command that was kept goes on.
	late := ctx.Err() != nil
	if err != nil && !late {
		return api.Command{}, readable(err)
	}
	if err := refused(result); err != nil {
		return api.Command{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	kept, err := c.store.ShowCommand(ctx, command.ID)
	if late && errors.Is(err, db.ErrNotFound) {
		return api.Command{}, api.Errorf(api.CodeUnavailable, "the command was not kept in time: try again")
	}
	if err == nil && kept.Status == api.CommandPending {
		kept.Message = c.waits(ctx, uid, &kept)
	}
	return kept, err
}

// waits says what becomes of a command whose agent is away; nothing where the agent is there, as far as any server knows.
func (c *commander) waits(ctx context.Context, uid string, command *api.Command) string {
	agent, err := c.store.AgentByUID(ctx, uid)
	if err != nil || agent.Health.State != agentapi.StateDisconnected {
		return ""
	}
	return fmt.Sprintf("agent %s is away, and was last heard at %s: it begins this if it is back by %s; otherwise the command expires",
		agent.ID, agent.Health.LastHeartbeat.UTC().Format(time.RFC3339), command.Deadline.UTC().Format(time.RFC3339))
}

// Ask reads.
func (c *commander) Ask(ctx context.Context, o item.Order) (json.RawMessage, error) {
	uid, command, err := c.command(ctx, o)
	if err != nil {
		return nil, err
	}
	result, err := c.gateway.Commands.Do(ctx, uid, command)
	if err != nil {
		if ctx.Err() != nil {
			return nil, api.Errorf(api.CodeUnavailable,
				"agent %s did not answer in time: see `slipway agent get %s`, and try again", o.Agent, o.Agent)
		}
		return nil, readable(err)
	}
	if err := refused(result); err != nil {
		return nil, err
	}
	if len(result.Body) == 0 {
		return json.RawMessage("null"), nil
	}
	return result.Body, nil
}

// refused is the error of a result that is none.
func refused(r agentapi.Result) error {
	switch r.Status {
	case agentapi.StatusDone, agentapi.StatusPending, agentapi.StatusSent, "":
		return nil
	}
	message := r.Message
	if message == "" {
		message = "the agent reports " + string(r.Status) + " and nothing more: see its log"
	}
	return readable(&agentapi.Error{Code: r.Code, Message: message})
}

// readable makes an agent's answer an error for clients.
func readable(err error) error {
	var said *agentapi.Error
	if !errors.As(err, &said) {
		return err
	}
	code := api.CodeInvalid
	switch said.Code {
	case agentapi.CodeNotFound:
		code = api.CodeNotFound
	case agentapi.CodeConflict, agentapi.CodeInterrupted:
		code = api.CodeConflict
	case agentapi.CodePolicy, agentapi.CodeForbidden, agentapi.CodeSignature:
		code = api.CodeForbidden
	case agentapi.CodeDisconnected, agentapi.CodeExpired, agentapi.CodeUnreachable, agentapi.CodeBusy,
		agentapi.CodeInternal, agentapi.CodeRevoked:
		code = api.CodeUnavailable
	case agentapi.CodeTooLarge:
		code = api.CodeTooLarge
	}
	return &answered{shown: &api.Error{Code: code, Message: said.Message, RetryAfter: said.RetryAfter}, said: said}
}

// answered is an agent's error as clients see it. What the agent said stays with it: there are more codes of agents than of clients.
type answered struct {
	shown *api.Error
	said  *agentapi.Error
}

// Error is what clients read.
func (e *answered) Error() string { return e.shown.Error() }

// Unwrap returns both errors.
func (e *answered) Unwrap() []error { return []error{e.shown, e.said} }

// GetCommand reads a command and what came of it.
func (c *commander) GetCommand(ctx context.Context, id string) (api.Command, error) {
	return c.store.ShowCommand(ctx, id)
}

// ListCommands lists what an agent was asked.
func (c *commander) ListCommands(ctx context.Context, agent string, options api.ListOptions) (api.Page[api.Command], error) {
	return c.store.ListCommands(ctx, agent, options)
}

// Open opens a stream.
func (c *commander) Open(ctx context.Context, o item.Order) (item.Stream, error) {
	uid, command, err := c.command(ctx, o)
	if err != nil {
		return nil, err
	}
	s, err := c.gateway.Commands.Open(ctx, uid, command)
	if err != nil {
		return nil, readable(err)
	}
	return &stream{s}, nil
}

// stream is a stream of bytes over one of pieces.
type stream struct{ *gateway.Stream }

// Recv waits for what comes next.
func (s *stream) Recv(ctx context.Context) ([]byte, error) {
	for {
		chunk, err := s.Stream.Recv(ctx)
		switch {
		case err != nil:
			return nil, readable(err)
		case chunk.Error != nil:
			return nil, readable(chunk.Error)
		case len(chunk.Data) > 0:
			return chunk.Data, nil
		case chunk.End && chunk.Exit != nil:
			return nil, &item.Exited{Code: *chunk.Exit}
		case chunk.End:
			return nil, io.EOF
		}
	}
}

// Send sends what was typed.
func (s *stream) Send(ctx context.Context, data []byte) error {
	return s.Stream.Send(ctx, agentapi.Chunk{Data: data})
}

// EndInput says that nothing more is typed.
func (s *stream) EndInput(ctx context.Context) error {
	return s.Stream.Send(ctx, agentapi.Chunk{InputEnds: true})
}

// Resize sends the size of the terminal.
func (s *stream) Resize(ctx context.Context, columns, rows int) error {
	return s.Stream.Send(ctx, agentapi.Chunk{Resize: &agentapi.Size{Columns: columns, Rows: rows}})
}

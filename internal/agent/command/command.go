// Package command reads the commands of a server, and gives errors the codes that it knows.
package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/operate"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Stream is the agent's side of a stream.
type Stream interface {
	io.Writer
	Recv(ctx context.Context) (agentapi.Chunk, error)
	Exit(code int)
}

// On is the way of every command that is answered once: its body is read, and its errors get their codes.
func On[T any](run func(context.Context, agentapi.Command, T) (any, error)) link.Executor {
	return func(ctx context.Context, cmd agentapi.Command) (any, error) {
		req, err := Body[T](cmd)
		if err != nil {
			return nil, err
		}
		body, err := run(ctx, cmd, req)
		return body, Coded(err)
	}
}

// Streamer carries out a command that opens a stream.
type Streamer func(context.Context, agentapi.Command, Stream) error

// OnStream is On for commands that open a stream.
func OnStream[T any](run func(context.Context, agentapi.Command, T, Stream) error) Streamer {
	return func(ctx context.Context, cmd agentapi.Command, s Stream) error {
		req, err := Body[T](cmd)
		if err != nil {
			return err
		}
		return Coded(run(ctx, cmd, req, s))
	}
}

// Bodiless is On for a command that takes no options: a body with any is refused.
func Bodiless(run link.Executor) link.Executor {
	return On(func(ctx context.Context, cmd agentapi.Command, _ struct{}) (any, error) { return run(ctx, cmd) })
}

// Refuse is an error with a code.
func Refuse(code agentapi.Code, format string, args ...any) error {
	return &agentapi.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Coded gives errors of ours their code. Those of an API server have one.
func Coded(err error) error {
	var known *agentapi.Error
	if err == nil || errors.As(err, &known) {
		return err
	}
	var fault *operate.Error
	var denied *engine.ProjectError
	var kind *live.UnknownKindError
	switch {
	case errors.As(err, &fault):
		code := map[operate.Fault]agentapi.Code{
			operate.Invalid: agentapi.CodeInvalid, operate.Missing: agentapi.CodeNotFound, operate.Conflict: agentapi.CodeConflict,
			operate.Busy: agentapi.CodeConflict,
		}[fault.Fault]
		return Refuse(code, "%v", err)
	case errors.As(err, &denied):
		return Refuse(agentapi.CodeForbidden, "%v", err)
	case errors.As(err, &kind):
		return Refuse(agentapi.CodeNotFound, "%v", err)
	}
	return err
}

// CodeOf is the code of an API server's error, "" for what is none.
func CodeOf(err error) agentapi.Code {
	switch {
	case apierrors.IsNotFound(err):
		return agentapi.CodeNotFound
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return agentapi.CodeConflict
	case apierrors.IsForbidden(err), apierrors.IsUnauthorized(err):
		return agentapi.CodeForbidden
	}
	return ""
}

// Body reads the body of a command. What this agent does not know is refused: half of what was asked is not what was asked.
func Body[T any](cmd agentapi.Command) (T, error) {
	var out T
	if len(cmd.Body) == 0 || string(cmd.Body) == "null" {
		return out, nil
	}
	err := strict.Decode(cmd.Body, &out)
	var wrong *strict.Error
	switch {
	case err == nil:
		return out, nil
	case errors.As(err, &wrong) && !wrong.Unknown:
		return out, Refuse(agentapi.CodeInvalid, "read %s: %v", cmd.Kind, err)
	}
	return out, Refuse(agentapi.CodeUnsupported,
		"read %s: %v: this agent does not know it; update the agent, or ask without it", cmd.Kind, err)
}

// By asks for a command.
func By(cmd agentapi.Command) operate.Who { return operate.Who{Name: cmd.User, ID: cmd.ID} }

// Reason is the reason in a body, else that of the command.
func Reason(cmd agentapi.Command, own string) string {
	if own != "" {
		return own
	}
	return cmd.Reason
}

// DryRun is the option of a request that is only tried.
func DryRun(dry bool) []string {
	if dry {
		return []string{metav1.DryRunAll}
	}
	return nil
}

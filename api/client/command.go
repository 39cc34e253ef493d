package client

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

const (
	// askWait is for how many seconds the server waits for the agent's answer in one request.
	askWait = 10
	// overdue is how long after its deadline a command is waited for: the server's clock may be another one, and an answer
	// takes its time. The server keeps one that was sent for longer, since only the agent knows what became of it.
	overdue = 15 * time.Second
	// lookAgain is how long to wait between two looks at a command that is not over.
	lookAgain = time.Second
)

// Command reads a command.
func (c *Client) Command(ctx context.Context, id string) (api.Command, error) {
	return get[api.Command](ctx, c, nil, "commands", id)
}

// AgentCommands gives a page of what an agent was asked to do, the newest first.
func (c *Client) AgentCommands(ctx context.Context, agent string, options api.ListOptions) (api.Page[api.Command], error) {
	return get[api.Page[api.Command]](ctx, c, listQuery(options), "agents", agent, "commands")
}

// command sends a command and waits for what comes of it, as long as the context lets it. The agent's answer goes into
// out; nil for one that does not matter.
func (c *Client) command(ctx context.Context, r call, out any) (api.Command, error) {
	if r.query == nil {
		r.query = url.Values{}
	}
	r.query.Set("wait", strconv.Itoa(askWait))
	var cmd api.Command
	if err := c.do(ctx, r, &cmd); err != nil {
		return cmd, err
	}
	for told := false; cmd.Status == api.CommandPending || cmd.Status == api.CommandSent; told = true {
		if c.waits != nil && !told {
			c.waits(cmd)
		}
		if !cmd.Deadline.IsZero() && time.Since(cmd.Deadline) > overdue {
			return cmd, &Error{Server: c.base.String(), Err: &api.Error{Code: api.CodeUnavailable, Message: fmt.Sprintf(
				"agent %s got command %s and has not reported its result by %s: check whether it was done before you send it again; "+
					"`slipway agent get %s` shows the state of the agent",
				cmd.Agent, cmd.ID, cmd.Deadline.Format(time.RFC3339), cmd.Agent)}}
		}
		if err := sleep(ctx, lookAgain); err != nil {
			return cmd, &Error{cause: err, Server: c.base.String(), Err: &api.Error{Code: api.CodeUnavailable, Message: fmt.Sprintf(
				"agent %s has not answered yet; it continues with command %s until %s: `slipway agent get %s` shows the state of the agent",
				cmd.Agent, cmd.ID, cmd.Deadline.Format(time.RFC3339), cmd.Agent)}}
		}
		var err error
		if cmd, err = c.Command(ctx, cmd.ID); err != nil {
			return cmd, err
		}
	}
	if err := outcome(cmd); err != nil {
		return cmd, err
	}
	if out == nil || len(cmd.Result) == 0 {
		return cmd, nil
	}
	if err := json.Unmarshal(cmd.Result, out); err != nil {
		return cmd, fmt.Errorf("read the answer of agent %s to command %s: %w: the agent's version may not fit, update it",
			cmd.Agent, cmd.ID, err)
	}
	return cmd, nil
}

// order is command for an answer of one type.
func order[T any](ctx context.Context, c *Client, r call) (out T, err error) {
	_, err = c.command(ctx, r, &out)
	return out, err
}

// outcome is the error of a command that was not done.
func outcome(cmd api.Command) error {
	message := cmd.Message
	code := api.CodeInvalid
	switch cmd.Status {
	case api.CommandDone:
		return nil
	case api.CommandRefused:
		code, message = api.CodeForbidden, cmp.Or(message,
			"agent "+cmd.Agent+" does not allow it: see its policy, ConfigMap slipway-agent-policy")
	case api.CommandExpired:
		code, message = api.CodeUnavailable, cmp.Or(message,
			"agent "+cmd.Agent+" did not take it before the deadline: `slipway agent get "+cmd.Agent+"` shows its state; then try again")
	case api.CommandUnknown:
		code, message = api.CodeUnavailable, cmp.Or(message,
			"agent "+cmd.Agent+" began it and was restarted, so that its end is not known: look at what came of it before you ask again")
	default:
		message = cmp.Or(message, "agent "+cmd.Agent+" could not do it (command "+cmd.ID+")")
	}
	return &Error{Err: &api.Error{Code: code, Message: message}}
}

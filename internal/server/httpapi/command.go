package httpapi

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// orderTime is how long an agent that is not connected may come back and begin.
const orderTime = 5 * time.Minute

// keepTime is what it takes to keep a command, even where nobody waits for its result.
const keepTime = 500 * time.Millisecond

// askTime is how long a question to an agent may take.
const askTime = 60 * time.Second

// WaitInput says how long to wait for an agent. Its fields are parameters: the decoder sees only what is exported.
type WaitInput struct {
	Wait int `query:"wait" minimum:"0" maximum:"300" default:"30" doc:"Seconds to wait for the agent's answer; after that the answer is 202 and the command goes on"`
}

type commandOutput struct {
	Status int
	Body   api.Command
}

// command has an agent do something, for the caller and in the audit's name.
func (c *call) command(ctx context.Context, in WaitInput, o Order) (*commandOutput, error) {
	c.sign(&o, orderTime)
	if o.Reason == "" {
		o.Reason = c.reason
	}
	c.reason = o.Reason
	if raw, err := json.Marshal(o.Body); err == nil && o.Body != nil {
		c.quiet = agentapi.Trial(agentapi.Kind(o.Kind), raw)
	}
	c.after = told(o.Body)
	if c.request.URL.Query().Get("wait") == "0" {
		in.Wait = 0 // the decoder takes 0 for nothing, and puts the default there
	}
	wait, cancel := context.WithTimeout(ctx, max(keepTime, time.Duration(in.Wait)*time.Second))
	defer cancel()
	done, err := c.cfg.Commands.Do(wait, o)
	if err != nil {
		return nil, err
	}
	out := &commandOutput{http.StatusOK, done}
	if done.Status == api.CommandPending || done.Status == api.CommandSent {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// sign says who orders something and what rights were asked for.
func (c *call) sign(o *Order, timeout time.Duration) {
	o.By, o.Groups, o.RequestID, o.Object, o.Timeout = c.who.Principal, c.who.Subject.Groups, c.id, c.object, timeout
	if o.Judged == nil {
		o.Judged = &agentapi.JudgedProject{There: c.there}
	}
}

// told is what the audit is told of a command: what was written into a Secret, and what local manifests hold, is not it.
func told(body any) any {
	switch b := body.(type) {
	case api.ResourcePatch:
		if b.Resource.Group == "" && b.Resource.Kind == "Secret" {
			b.Patch = json.RawMessage(`"(hidden)"`)
		}
		return b
	case api.SyncRequest:
		names := make([]string, 0, len(b.Manifests))
		for _, text := range b.Manifests {
			var m manifest
			_ = strict.Decode([]byte(text), &m, strict.Foreign) // the agent says what is wrong with it
			names = append(names, cut(m.Kind, maxToldName)+" "+cut(m.Metadata.Namespace, maxToldName)+"/"+cut(m.Metadata.Name, maxToldName))
		}
		b.Manifests = names
		return b
	}
	return body
}

// maxToldName is how much of a name that nobody has looked at is told.
const maxToldName = 253

// ask reads something from an agent.
func (c *call) ask(ctx context.Context, o Order, into any) error {
	c.sign(&o, askTime)
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	raw, err := c.cfg.Commands.Ask(ctx, o)
	if err != nil {
		return err
	}
	if err := strict.Decode(raw, into, strict.Foreign); err != nil {
		return api.Errorf(api.CodeUnavailable, "the agent's answer cannot be read: its version may not fit the server's, update the agent")
	}
	return nil
}

func (h *Handler) commandRoutes() []Route {
	get := Route{
		Method: http.MethodGet, Path: "/api/v1/commands/{id}", Access: SignedIn, Within: true, ID: "get-command", Tag: "commands",
		Summary: "Get a command for an object that you may see, and what came of it",
	}
	type out struct{ Body api.Command }
	get.mount = mount(handler[IDInput, out]{do: func(ctx context.Context, c *call, in *IDInput) (*out, error) {
		cmd, err := h.cfg.Commands.GetCommand(ctx, in.ID)
		if api.CodeOf(err) == api.CodeNotFound {
			return nil, notFound("command", in.ID)
		}
		if err != nil {
			return nil, err
		}
		if err := h.sight(ctx, c, &cmd); err != nil {
			return nil, err
		}
		return &out{cmd}, nil
	}})
	return []Route{get}
}

// sight lets see a command who may see now what it is about. Who asked for it, and may do anything with that still, sees what
// came of it without the object. Nobody else learns that there is such a command.
func (h *Handler) sight(ctx context.Context, c *call, cmd *api.Command) error {
	kind := typeOf(cmd.Object.Type)
	t, err := h.lookup(ctx, kind, cmd.Object.ID)
	gone := err != nil
	if code := api.CodeOf(err); gone && code != api.CodeNotFound && code != api.CodeInvalid {
		return err
	}
	if gone {
		t = target{object: rbac.Object{Type: kind, Scope: rbac.Scope(cmd.Object.Scope), ID: cmd.Object.ID, Asserted: true}}
	}
	mine := cmd.By == c.who.Principal
	can := func(want api.Permission) bool {
		// Of what is gone the labels are not known any more.
		return c.policy.Can(c.who.Subject, want, t.object).Allowed || gone && mine && c.policy.Filter(c.who.Subject, want).Meets(t.object.Scope)
	}
	if can(api.Permission(kind + "_view")) {
		return nil
	}
	if mine && slices.ContainsFunc(api.Permissions(), func(p api.Permission) bool { return p.Type() == kind && can(p) }) {
		cmd.Result = nil
		return nil
	}
	return notFound("command", cmd.ID)
}

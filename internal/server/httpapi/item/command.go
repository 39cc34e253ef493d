package item

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// orderTime is how long an agent that is not connected may come back and begin.
const orderTime = 5 * time.Minute

// keepTime is what it takes to keep a command, even if no caller waits for its result.
const keepTime = 500 * time.Millisecond

// AskTime is how long a question to an agent may take.
const AskTime = 60 * time.Second

// WaitInput says how long to wait for an agent. Its fields are parameters: the decoder sees only what is exported.
type WaitInput struct {
	Wait int `query:"wait" minimum:"0" maximum:"300" default:"30" doc:"Seconds to wait for the agent's answer; after that the answer is 202 and the command continues"`
}

// CommandOutput is a command: 202 where it goes on.
type CommandOutput struct {
	Status int
	Body   api.Command
}

// Command has an agent do something, for the caller and in the audit's name.
func (h *Clusters) Command(ctx context.Context, c *core.Call, in WaitInput, o Order) (*CommandOutput, error) {
	Sign(c, &o, orderTime)
	if o.Reason == "" {
		o.Reason = c.Reason
	}
	c.Reason = o.Reason
	if raw, err := json.Marshal(o.Body); err == nil && o.Body != nil {
		c.Quiet = agentapi.Trial(agentapi.Kind(o.Kind), raw)
	}
	c.After = told(o.Body)
	if c.Request.URL.Query().Get("wait") == "0" {
		in.Wait = 0 // the decoder takes 0 for nothing, and puts the default there
	}
	wait, cancel := context.WithTimeout(ctx, max(keepTime, time.Duration(in.Wait)*time.Second))
	defer cancel()
	done, err := h.Commands.Do(wait, o)
	if err != nil {
		return nil, err
	}
	out := &CommandOutput{http.StatusOK, done}
	if done.Status == api.CommandPending || done.Status == api.CommandSent {
		out.Status = http.StatusAccepted
	}
	return out, nil
}

// Sign adds the author of a command and the checked rights.
func Sign(c *core.Call, o *Order, timeout time.Duration) {
	o.By, o.Groups, o.RequestID, o.Object, o.Timeout = c.Who.Principal, c.Who.Subject.Groups, c.ID, c.Object, timeout
	if o.Judged == nil {
		o.Judged = &agentapi.JudgedProject{There: c.There}
	}
}

// told is the audit entry of a command: what was written into a Secret, and what local manifests hold, is not it.
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
			var m struct {
				Kind     string `json:"kind"`
				Metadata struct {
					Name      string `json:"name"`
					Namespace string `json:"namespace"`
				} `json:"metadata"`
			}
			_ = strict.Decode([]byte(text), &m, strict.Foreign) // the agent says what is wrong with it
			names = append(names, legible.Cut(m.Kind, core.MaxToldName)+" "+legible.Cut(m.Metadata.Namespace, core.MaxToldName)+"/"+
				legible.Cut(m.Metadata.Name, core.MaxToldName))
		}
		b.Manifests = names
		return b
	}
	return body
}

// Ask reads something from an agent.
func (h *Clusters) Ask(ctx context.Context, c *core.Call, o Order, into any) error {
	Sign(c, &o, AskTime)
	ctx, cancel := context.WithTimeout(ctx, AskTime)
	defer cancel()
	raw, err := h.Commands.Ask(ctx, o)
	if err != nil {
		return err
	}
	if err := strict.Decode(raw, into, strict.Foreign); err != nil {
		return api.Errorf(api.CodeUnavailable, "the agent's answer cannot be read: its version may not fit the server's, update the agent")
	}
	return nil
}

package core

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Call is one request in the wrapper.
type Call struct {
	*Core
	Route  *Route
	ID     string
	Client Client
	Who    Identity
	Policy *rbac.Policy
	// Visible is what a list may show.
	Visible rbac.Filter
	Request *http.Request

	// kept says that the answer to this request is kept from before: replays, that it may be given again.
	kept, replays bool
	// Found is what the request is about, as it was when rights were asked for.
	Found Target

	// What the audit says of it. A handler fills in what only it knows.
	Object api.Ref
	There  string
	Before any
	After  any
	Reason string
	// Told is what went wrong if the answer, which is no error, contains it already.
	Told error
	// Quiet is a change that was not made: a dry run that nothing refused.
	Quiet bool
}

type callKey struct{}

func callOf(ctx context.Context) *Call {
	c, _ := ctx.Value(callKey{}).(*Call)
	return c
}

// Target is the object that a request is about.
type Target struct {
	Object rbac.Object
	// Value is what the object is now, for the handler and the audit; nil for one that is to be made.
	Value any
	// Unseen is the answer to users who may not see it, if it was not requested by its own id: the same as where it is
	// not there.
	Unseen error
	// There is the Argo project of what is there, as the server's copy has it; "" where that is not known or not one.
	There string
}

// Ref names it, as the audit and events do.
func (t Target) Ref() api.Ref {
	return api.Ref{Type: string(t.Object.Type), ID: t.Object.ID, Scope: api.Scope(t.Object.Scope)}
}

// May says whether the caller has a permission for an object. What they may not even see is not found.
func (c *Call) May(want api.Permission, t Target) error {
	decision := c.Policy.Can(c.Who.Subject, want, t.Object)
	if decision.Allowed {
		return nil
	}
	view := api.Permission(string(t.Object.Type) + "_view")
	if t.Value != nil && !c.Policy.Can(c.Who.Subject, view, t.Object).Allowed {
		if t.Unseen != nil {
			return t.Unseen
		}
		return NotFound(string(t.Object.Type), t.Object.ID)
	}
	return api.Errorf(api.CodeForbidden, "you may not do this (%s): %s; ask an administrator of bindings there", want, decision.Why)
}

// MayBecome says whether the caller may make of what was found something else. Where it belongs elsewhere then, it takes the
// permission there, whatever labels it brings. With other labels it stays in the caller's reach, and the caller gets no more
// rights by them.
func (c *Call) MayBecome(to Target) error {
	was, will := c.Found.Object, to.Object
	if c.Found.Value == nil {
		return c.May(c.Route.Permission, to)
	}
	moved := was.Scope != will.Scope
	if !moved && maps.Equal(was.Labels, will.Labels) {
		return nil
	}
	will.Asserted = moved
	if err := c.May(c.Route.Permission, Target{Object: will}); err != nil || moved {
		return err
	}
	return Allow(c.Policy.MayRelabel(c.Who.Subject, was, will))
}

// calledOf is what people call a type of objects.
func calledOf(kind string) string {
	switch kind {
	case api.TypeArgoProject:
		return "Argo project"
	case api.TypeApplicationSet:
		return "ApplicationSet"
	case api.TypeAudit:
		return "audit entry"
	case api.TypeCert:
		return "certificate"
	case api.TypeGPGKey:
		return "GnuPG key"
	case api.TypeNotificationChannel:
		return "notification channel"
	case api.TypeNotificationRule:
		return "notification rule"
	case api.TypeResourceGroup:
		return "resource group"
	case api.TypeServiceAccount:
		return "service account"
	}
	return kind
}

// NotFound is the answer for what is not there. It is the same for what may not be seen: kind is the type of the object.
func NotFound(kind, id string) error {
	next := "list what there is"
	if view := api.Permission(kind + "_view"); view.Known() {
		next += ", or ask for the permission " + string(view)
	}
	return api.Errorf(api.CodeNotFound, "there is no %s %q, or you may not see it: %s", calledOf(kind), id, next)
}

// mayOwn says whether the token of a request, where it is limited, may be used for what is its owner's own.
func (c *Call) mayOwn() error {
	if c.Route.Within || c.Who.Subject.Ceiling == nil {
		return nil
	}
	return c.Holds(c.Route.Own)
}

// Holds says whether a limited token is for a permission at the account, where people's own things are.
func (c *Call) Holds(want api.Permission) error {
	if d := c.Who.Subject.Admits(want, rbac.Account); !d.Allowed {
		return api.Errorf(api.CodeForbidden, "your token is limited and may not do this: %s; use a session, or a token without limits", d.Why)
	}
	return nil
}

// authorise lets a request through or says why not.
func (c *Call) authorise(find func() (Target, error)) error {
	switch c.Route.Access {
	case Public:
		return nil
	case SignedIn:
		return c.mayOwn()
	case Listed:
		c.Visible = c.Policy.Filter(c.Who.Subject, c.Route.Permission)
		if c.Visible.Nothing() {
			return api.Errorf(api.CodeForbidden, "nothing gives you %s: ask an administrator of bindings for a role with it", c.Route.Permission)
		}
		return nil
	case Addressed:
	}
	t, err := find()
	if err != nil {
		return err
	}
	c.Object, c.Before, c.Found, c.There = t.Ref(), t.Value, t, t.There
	return c.May(c.Route.Permission, t)
}

// record writes the audit entry of a request that changes something. A change that could not be recorded is reported
// as an error: the caller must not believe that all is well.
func (c *Call) record(ctx context.Context, failure error) error {
	if c.Route.Audit == "" || c.replays || c.Quiet && failure == nil {
		return failure
	}
	if c.Object == (api.Ref{}) {
		c.Object = c.attempted()
	}
	entry := c.Entry(cmp.Or(failure, c.Told))
	if err := c.Tell(ctx, entry); err != nil && failure == nil {
		return fmt.Errorf("record %s of %s: %w", entry.Action, entry.Object.ID, err)
	}
	return failure
}

// Tell writes an entry into the audit log, also where the client has gone. An error is in the log as well.
func (c *Call) Tell(ctx context.Context, entry api.AuditEntry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := c.cfg.Audits.Record(ctx, entry)
	if err != nil {
		c.Log.Error("audit", "request_id", c.ID, "action", entry.Action, "object", entry.Object.ID, "err", err)
	}
	return err
}

// Rules are those of now, where those of the call may be old: in the middle of an answer that lasts.
func (c *Call) Rules(ctx context.Context) (*rbac.Policy, error) { return c.cfg.Policies.Policy(ctx) }

// attempted is what a request was about where nothing was found: its type, and the id that its path names.
func (c *Call) attempted() api.Ref {
	out := api.Ref{Type: c.Route.Permission.Type()}
	value := c.Request.PathValue
	switch {
	case value("id") != "":
		out.ID = value("id")
	case value("agent") != "" && value("namespace") != "" && value("name") != "":
		out.ID = api.ItemID(value("agent"), value("namespace"), value("name"))
	case out.Type == api.TypeAgent:
		out.ID = value("agent")
	}
	return out
}

// Entry is the audit entry of a call that failed with that error, or with nil did not.
func (c *Call) Entry(failure error) api.AuditEntry {
	entry := api.AuditEntry{
		At: c.Now().UTC(), Actor: c.Who.Principal, IP: c.Client.IP, UserAgent: c.Client.UserAgent, RequestID: c.ID,
		Action: c.Route.Audit, Object: c.Object, Reason: c.Reason, Outcome: api.OutcomeSucceeded,
		Before: document(c.Before), After: document(c.After),
	}
	if entry.Actor.Type == "" {
		entry.Actor = api.Principal{Type: api.PrincipalAnonymous}
	}
	if failure == nil {
		return entry
	}
	entry.Outcome, entry.After = api.OutcomeFailed, nil
	switch api.CodeOf(failure) {
	case api.CodeForbidden, api.CodeUnauthenticated, api.CodeNotFound:
		entry.Outcome, entry.Before = api.OutcomeDenied, nil
	case api.CodeInternal:
		entry.Message = "internal error"
		return entry
	}
	entry.Message = legible.Cut(NewProblem(failure, "").Detail, 1000)
	return entry
}

// document is a value as JSON for the audit, which takes secrets out of it; nothing for what has no JSON.
func document(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	raw, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	return raw
}

// maxData is how much of an object an event carries.
const maxData = 16 << 10

// Changed notifies readers that something is different now.
func (c *Call) Changed(ctx context.Context, ref api.Ref, labels map[string]string, what string, value any) {
	var data json.RawMessage
	if value != nil {
		if data = redact.JSON(document(value)); len(data) > maxData {
			data = nil
		}
	}
	c.cfg.Events.Publish(ctx, api.Event{
		Type: ref.Type + "." + what, At: c.Now().UTC(), Object: ref, Labels: labels, Data: data,
	})
}

// Missing is an error of the store as the caller gets it: what is not there is not found.
func Missing(err error, kind, id string) error {
	if api.CodeOf(err) == api.CodeNotFound {
		return NotFound(kind, id)
	}
	return err
}

// Allow turns a decision about giving rights into an error.
func Allow(d rbac.Decision) error {
	if d.Allowed {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "you may not do this: %s", d.Why)
}

// MaxToldName is how much of an unchecked name is shown.
const MaxToldName = 253

// Finder finds an object of a type by its id, as one that rights are asked for.
type Finder func(ctx context.Context, kind, id string) (Target, error)

package httpapi

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/redact"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// call is one request on its way through the wrapper.
type call struct {
	*Core
	route  *Route
	id     string
	client Client
	who    Identity
	policy *rbac.Policy
	// visible is what a list may show.
	visible rbac.Filter
	request *http.Request

	// kept says that the answer to this request is kept from before: replays, that it may be given again.
	kept, replays bool
	// found is what the request is about, as it was when rights were asked for.
	found target

	// What the audit says of it. A handler fills in what only it knows.
	object api.Ref
	there  string
	before any
	after  any
	reason string
	// told is what went wrong where the answer, which is no error, tells it already.
	told error
	// quiet is a change that was not made: a dry run that nothing refused.
	quiet bool
}

type callKey struct{}

func callOf(ctx context.Context) *call {
	c, _ := ctx.Value(callKey{}).(*call)
	return c
}

// target is the object that a request is about.
type target struct {
	object rbac.Object
	// value is what the object is now, for the handler and the audit; nil for one that is to be made.
	value any
	// unseen is what somebody is told who may not see it, where it was not asked for by its own id: the same as where it is
	// not there.
	unseen error
	// there is the Argo project of what is there, as the server's copy has it; "" where that is not known or not one.
	there string
}

func (t target) ref() api.Ref {
	return api.Ref{Type: string(t.object.Type), ID: t.object.ID, Scope: api.Scope(t.object.Scope)}
}

// may says whether the caller has a permission for an object. What they may not even see is not found.
func (c *call) may(want api.Permission, t target) error {
	decision := c.policy.Can(c.who.Subject, want, t.object)
	if decision.Allowed {
		return nil
	}
	view := api.Permission(string(t.object.Type) + "_view")
	if t.value != nil && !c.policy.Can(c.who.Subject, view, t.object).Allowed {
		if t.unseen != nil {
			return t.unseen
		}
		return notFound(string(t.object.Type), t.object.ID)
	}
	return api.Errorf(api.CodeForbidden, "you may not do this (%s): %s; ask somebody who may edit bindings there", want, decision.Why)
}

// mayBecome says whether the caller may make of what was found something else. Where it belongs elsewhere then, it takes the
// permission there, whatever labels it brings. With other labels it stays in the caller's reach, and the caller gets no more
// rights by them.
func (c *call) mayBecome(to target) error {
	was, will := c.found.object, to.object
	if c.found.value == nil {
		return c.may(c.route.Permission, to)
	}
	moved := was.Scope != will.Scope
	if !moved && maps.Equal(was.Labels, will.Labels) {
		return nil
	}
	will.Asserted = moved
	if err := c.may(c.route.Permission, target{object: will}); err != nil || moved {
		return err
	}
	return allow(c.policy.MayRelabel(c.who.Subject, was, will))
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

// notFound is the answer for what is not there. It is the same for what may not be seen: kind is the type of the object.
func notFound(kind, id string) error {
	next := "list what there is"
	if view := api.Permission(kind + "_view"); view.Known() {
		next += ", or ask for the permission " + string(view)
	}
	return api.Errorf(api.CodeNotFound, "there is no %s %q, or you may not see it: %s", calledOf(kind), id, next)
}

// mayOwn says whether the token of a request, where it is limited, may be used for what is its owner's own.
func (c *call) mayOwn() error {
	if c.route.Within || c.who.Subject.Ceiling == nil {
		return nil
	}
	return c.holds(c.route.Own)
}

// holds says whether a limited token is for a permission at the account, where people's own things are.
func (c *call) holds(want api.Permission) error {
	if d := c.who.Subject.Admits(want, rbac.Account); !d.Allowed {
		return api.Errorf(api.CodeForbidden, "your token is limited and may not do this: %s; use a session, or a token without limits", d.Why)
	}
	return nil
}

// authorise lets a request through or says why not.
func (c *call) authorise(find func() (target, error)) error {
	switch c.route.Access {
	case Public:
		return nil
	case SignedIn:
		return c.mayOwn()
	case Listed:
		c.visible = c.policy.Filter(c.who.Subject, c.route.Permission)
		if c.visible.Nothing() {
			return api.Errorf(api.CodeForbidden, "nothing gives you %s: ask somebody who may edit bindings for a role with it", c.route.Permission)
		}
		return nil
	case Addressed:
	}
	t, err := find()
	if err != nil {
		return err
	}
	c.object, c.before, c.found, c.there = t.ref(), t.value, t, t.there
	return c.may(c.route.Permission, t)
}

// record writes the audit entry of a request that changes something. A change that could not be recorded is told as an
// error: the caller must not believe that all is well.
func (c *call) record(ctx context.Context, failure error) error {
	if c.route.Audit == "" || c.replays || c.quiet && failure == nil {
		return failure
	}
	if c.object == (api.Ref{}) {
		c.object = c.attempted()
	}
	entry := c.entry(cmp.Or(failure, c.told))
	if err := c.tell(ctx, entry); err != nil && failure == nil {
		return fmt.Errorf("record %s of %s: %w", entry.Action, entry.Object.ID, err)
	}
	return failure
}

// tell writes an entry into the audit, also where the client has gone. An error is in the log as well.
func (c *call) tell(ctx context.Context, entry api.AuditEntry) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := c.cfg.Audits.Record(ctx, entry)
	if err != nil {
		c.log.Error("audit", "request_id", c.id, "action", entry.Action, "object", entry.Object.ID, "err", err)
	}
	return err
}

// rules are those of now, where those of the call may be old: in the middle of an answer that lasts.
func (c *call) rules(ctx context.Context) (*rbac.Policy, error) { return c.cfg.Policies.Policy(ctx) }

// attempted is what a request was about where nothing was found: its type, and the id that its path names.
func (c *call) attempted() api.Ref {
	out := api.Ref{Type: c.route.Permission.Type()}
	value := c.request.PathValue
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

func (c *call) entry(failure error) api.AuditEntry {
	entry := api.AuditEntry{
		At: c.now().UTC(), Actor: c.who.Principal, IP: c.client.IP, UserAgent: c.client.UserAgent, RequestID: c.id,
		Action: c.route.Audit, Object: c.object, Reason: c.reason, Outcome: api.OutcomeSucceeded,
		Before: document(c.before), After: document(c.after),
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
	entry.Message = cut(newProblem(failure, "").Detail, 1000)
	return entry
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return s[:n] + "…"
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

// changed tells who looks that something is different now.
func (c *call) changed(ctx context.Context, ref api.Ref, labels map[string]string, what string, value any) {
	var data json.RawMessage
	if value != nil {
		if data = redact.JSON(document(value)); len(data) > maxData {
			data = nil
		}
	}
	c.cfg.Events.Publish(ctx, api.Event{
		Type: ref.Type + "." + what, At: c.now().UTC(), Object: ref, Labels: labels, Data: data,
	})
}

func missing(err error, kind, id string) error {
	if api.CodeOf(err) == api.CodeNotFound {
		return notFound(kind, id)
	}
	return err
}

// allow turns a decision about giving rights into an error.
func allow(d rbac.Decision) error {
	if d.Allowed {
		return nil
	}
	return api.Errorf(api.CodeForbidden, "you may not do this: %s", d.Why)
}

// maxToldName is how much of a name that nobody has looked at is told.
const maxToldName = 253

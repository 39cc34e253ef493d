package core

import (
	"context"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// What the interface stands on. Errors are *api.Error where a client can do something about them: not found, conflict
// (stale, taken, referred to), invalid, unavailable. All others are internal.

// Entities keeps the entities of one noun.
type Entities[T any] interface {
	// List gives what the filter lets through.
	List(context.Context, rbac.Filter, api.ListOptions) (api.Page[T], error)
	Get(ctx context.Context, id string) (T, error)
	// Create gives it back with id, version and times.
	Create(context.Context, T) (T, error)
	// Update replaces what can change. Version is that which was read; 0 for any.
	Update(context.Context, T) (T, error)
	// Delete is refused with the references where something refers to it, unless forced.
	Delete(ctx context.Context, id string, options api.DeleteOptions) error
}

// Identity is the caller.
type Identity = authn.Identity

// Client is where a request comes from.
type Client = authn.Client

// Authn authenticates callers.
type Authn interface {
	// Identify reads the session or the bearer token of a request.
	Identify(*http.Request) (Identity, error)
	// SignIn checks a password. The cookies go to the browser, where no token was asked for.
	SignIn(context.Context, api.SignIn, Client) (api.Session, []*http.Cookie, error)
	// SignOut ends the session or deletes the token of a request. The cookies take the browser's away.
	SignOut(*http.Request) ([]*http.Cookie, error)
	ChangePassword(context.Context, Identity, api.PasswordChange) error
	// ResetPassword sets a password that the user must change; the server makes one where it is empty. All sessions
	// and API tokens of the user end.
	ResetPassword(ctx context.Context, user, password string) (string, error)
}

// Policies gives the rules of now.
type Policies interface {
	Policy(context.Context) (*rbac.Policy, error)
	// GroupsOf are the ids of the groups of another user, to answer what they may do.
	GroupsOf(context.Context, api.Principal) ([]string, error)
}

// Audits keeps the audit.
type Audits interface {
	Record(context.Context, api.AuditEntry) error
	ListAudit(context.Context, rbac.Filter, api.AuditFilter) (api.Page[api.AuditEntry], error)
	VerifyAudit(context.Context) (api.AuditVerification, error)
}

// Events is the stream of changes.
type Events interface {
	// Subscribe gives what comes after the event with that id; from now on where it is empty. Where what is between was
	// lost, the first is an api.EventReset. The channel ends with the context.
	Subscribe(ctx context.Context, after string) (<-chan api.Event, error)
	// Publish notifies all subscribers, at every server. The id is given to it.
	Publish(context.Context, api.Event)
}

// Keeper keeps the settings of the server and the answers to idempotent requests.
type Keeper interface {
	Settings(context.Context) (api.Settings, error)
	SetSettings(context.Context, api.Settings) (api.Settings, error)
	Overview(ctx context.Context, agents, applications, clusters, repositories rbac.Filter) (api.Overview, error)
	// Claim takes an idempotency key, or gives what was kept for it. A key that is taken and has no answer yet is a
	// conflict, and so is one that was taken for another request: fingerprint distinguishes them.
	Claim(ctx context.Context, key, fingerprint string, until time.Time) (*Kept, error)
	Keep(ctx context.Context, key string, answer Kept) error
	// Release gives a key back whose request came to nothing.
	Release(ctx context.Context, key string) error
	Ping(context.Context) error
}

// Kept is an answer to an idempotent request.
type Kept struct {
	Status int
	Header map[string]string
	Body   []byte
}

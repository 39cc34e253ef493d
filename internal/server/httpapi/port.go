package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
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

// Tokens keeps API tokens, without their secrets.
type Tokens interface {
	// ListTokens gives those of an owner; of all that the filter lets through where the owner is empty.
	ListTokens(context.Context, rbac.Filter, api.Principal, api.ListOptions) (api.Page[api.Token], error)
	GetToken(ctx context.Context, id string) (api.Token, error)
	// MakeToken gives the secret, once. It makes one only if the grounds, what the request came with, hold.
	MakeToken(context.Context, api.Token, authn.Grounds) (api.TokenCreated, error)
	DeleteToken(ctx context.Context, id string) error
}

// Identity is who asks.
type Identity = authn.Identity

// Client is where a request comes from.
type Client = authn.Client

// Authn knows who asks.
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

// Providers signs people in by an identity provider.
type Providers interface {
	Methods(context.Context) api.SignInMethods
	// BeginOIDC is where to send the browser.
	BeginOIDC(r *http.Request, returnTo string) (target string, cookies []*http.Cookie, err error)
	// FinishOIDC is what the identity provider sends the browser back with; it goes on to returnTo, which for a command line
	// is on its machine.
	FinishOIDC(r *http.Request, c Client) (returnTo string, who api.Principal, cookies []*http.Cookie, err error)
	// ExchangeCode gives a command line the token for the code that its browser brought.
	ExchangeCode(ctx context.Context, code, verifier, tokenName string) (api.Session, error)
}

// Policies gives the rules of now.
type Policies interface {
	Policy(context.Context) (*rbac.Policy, error)
	// GroupsOf are the ids of the groups of somebody else, to answer what they may do.
	GroupsOf(context.Context, api.Principal) ([]string, error)
}

// Agents does with agents what is more than to keep them.
type Agents interface {
	// Register makes a registration token. An agent that is registered stays so until the token is used.
	Register(ctx context.Context, agent string) (token string, expires time.Time, err error)
	// Revoke makes the key of an agent worth nothing and cuts its connection.
	Revoke(ctx context.Context, agent string) error
	// Cut ends the connection of an agent that was deleted, by its uid.
	Cut(ctx context.Context, uid string) error
	Mappings(ctx context.Context, agent string) ([]api.Mapping, error)
	SetMapping(context.Context, api.Mapping) (api.Mapping, error)
	DeleteMapping(ctx context.Context, agent, argoProject string) error
}

// Hosting knows the clusters that agents of the server may run on.
type Hosting interface {
	// Permit says which cluster an agent of a scope goes to, and its namespace where that is given. Without a name it is the
	// only one that may be used; everything is true for who may do everything.
	Permit(cluster string, scope api.Scope, everything bool) (name, namespace string, err error)
}

// Items is the server's copy of what is in the clusters.
type Items interface {
	ListApplications(context.Context, rbac.Filter, api.ApplicationFilter) (api.Page[api.Application], error)
	GetApplication(ctx context.Context, agent, namespace, name string) (api.ApplicationDetail, error)
	ListItems(ctx context.Context, kind string, visible rbac.Filter, filter api.ItemFilter) (api.Page[api.Item], error)
	GetItem(ctx context.Context, kind, agent, namespace, name string) (api.Item, error)
	// ItemReferences are the applications that use a repository, a cluster or an Argo project.
	ItemReferences(context.Context, api.Item) ([]api.Ref, error)
	// ItemScope is where an item of that Argo project belongs: for what does not exist yet.
	ItemScope(ctx context.Context, agent, argoProject string) (api.Scope, error)
	// DropItem forgets an item that its agent does not tell of any more.
	DropItem(ctx context.Context, kind, agent, namespace, name string) error
}

// Order is something that an agent is to do.
type Order struct {
	// Agent is an id.
	Agent, Kind string
	// Object is what rights were asked for.
	Object api.Ref
	// TargetKind is "Application" or another kind of Kubernetes'; empty where the command has no target.
	TargetKind, Namespace, Name string
	Body                        any
	// Judged is what rights were asked for; without it, it is what is there as the target of the request was found.
	Judged    *agentapi.JudgedProject
	By        api.Principal
	Groups    []string
	Reason    string
	RequestID string
	Timeout   time.Duration
}

// Stream is an open stream of an agent.
type Stream interface {
	// Recv waits for what comes next; io.EOF at the end, or *Exited where a command ended by itself.
	Recv(context.Context) ([]byte, error)
	Send(ctx context.Context, data []byte) error
	// EndInput says that nothing more is sent.
	EndInput(ctx context.Context) error
	// Resize tells the size of the terminal.
	Resize(ctx context.Context, columns, rows int) error
	io.Closer
}

// Exited is how a command in a container ended.
type Exited struct{ Code int }

// Error says it.
func (e *Exited) Error() string { return fmt.Sprintf("the command ended with exit code %d", e.Code) }

// Commands has agents do things.
type Commands interface {
	// Do asks and waits for the result till the context ends; a stored command goes on after that. What the agent refused
	// or could not do is an error.
	Do(context.Context, Order) (api.Command, error)
	// Ask reads; nothing is stored.
	Ask(context.Context, Order) (json.RawMessage, error)
	Open(context.Context, Order) (Stream, error)
	GetCommand(ctx context.Context, id string) (api.Command, error)
	ListCommands(ctx context.Context, agent string, options api.ListOptions) (api.Page[api.Command], error)
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
	// Publish tells all that subscribe, at every server. The id is given to it.
	Publish(context.Context, api.Event)
}

// Keeper keeps the settings of the server and the answers to idempotent requests.
type Keeper interface {
	Settings(context.Context) (api.Settings, error)
	SetSettings(context.Context, api.Settings) (api.Settings, error)
	Overview(ctx context.Context, agents, applications, clusters, repositories rbac.Filter) (api.Overview, error)
	// Claim takes an idempotency key, or gives what was kept for it. A key that is taken and has no answer yet is a
	// conflict, and so is one that was taken for another request: fingerprint tells them apart.
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

package server

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/hosting"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
	"github.com/slipway-gitops/slipway/internal/server/store/home"
)

// registrationTime is how long a registration token counts.
const registrationTime = time.Hour

// agents does with agents what takes the store and the link.
type agents struct {
	*store.Store
	gateway *gateway.Gateway
	host    *hosting.Host
	now     func() time.Time
}

// Register makes a registration token.
func (a *agents) Register(ctx context.Context, agent string) (string, time.Time, error) {
	defer a.host.Wake()
	token, hash := gateway.NewToken()
	expires := a.now().Add(registrationTime).UTC().Truncate(time.Second)
	return token, expires, a.SetRegistration(ctx, agent, hash, expires)
}

// Revoke makes the key of an agent worth nothing and cuts its connection.
func (a *agents) Revoke(ctx context.Context, agent string) error {
	uid, err := a.RevokeAgent(ctx, agent)
	if err == nil {
		a.gateway.Revoke(uid) //nolint:contextcheck // it is done whether or not the caller waits
		a.host.Wake()
	}
	return err
}

// Cut ends the connection of an agent that was deleted.
func (a *agents) Cut(_ context.Context, uid string) error {
	a.gateway.Revoke(uid) //nolint:contextcheck // it is done whether or not the caller waits
	a.host.Wake()
	return nil
}

// heardAgents gives agents as the store has them, but with when they were heard last: not every heartbeat is kept, see
// gateway.Health. A list that is sorted by it goes by what is kept.
type heardAgents struct {
	entity.Entities[api.Agent]
	gateway *gateway.Gateway
}

// List gives what the filter lets through.
func (h heardAgents) List(ctx context.Context, visible rbac.Filter, options api.ListOptions) (api.Page[api.Agent], error) {
	page, err := h.Entities.List(ctx, visible, options)
	for i := range page.Items {
		h.hear(&page.Items[i])
	}
	return page, err
}

// Get reads one.
func (h heardAgents) Get(ctx context.Context, id string) (api.Agent, error) {
	a, err := h.Entities.Get(ctx, id)
	h.hear(&a)
	return a, err
}

// Update replaces what can change.
func (h heardAgents) Update(ctx context.Context, a api.Agent) (api.Agent, error) {
	a, err := h.Entities.Update(ctx, a)
	h.hear(&a)
	return a, err
}

// hear has an agent say when this server heard it, where another one has not heard it since.
func (h heardAgents) hear(a *api.Agent) {
	if seen, _ := h.gateway.Health(a.UID); seen.LastHeartbeat.After(a.Status.LastHeartbeatAt) {
		a.Status.LastHeartbeatAt = seen.LastHeartbeat.UTC().Truncate(time.Microsecond) // as the store has them
	}
}

// homes keeps organizations or projects. Agents that go with one lose their connections.
type homes[T any] struct {
	entity.Entities[T]
	gateway *gateway.Gateway
	publish func(context.Context, api.Event)
}

// Delete deletes one, cuts off the agents that were in it, and reports that they are gone.
func (h homes[T]) Delete(ctx context.Context, id string, options api.DeleteOptions) error {
	gone, err := home.DeleteHome(ctx, h.Entities, id, options)
	for _, a := range gone {
		h.gateway.Revoke(a.UID) //nolint:contextcheck // it is done whether or not the caller waits
		h.publish(ctx, api.Event{
			Type: api.TypeAgent + "." + api.EventDeleted, Object: api.Ref{Type: api.TypeAgent, ID: a.ID, Scope: a.Scope}, Labels: a.Labels,
		})
	}
	return err
}

// tokens makes tokens where sign-in is, and keeps them in the store.
type tokens struct {
	*store.Store
	make func(context.Context, api.Token, authn.Grounds) (api.TokenCreated, error)
}

// MakeToken gives the secret, once.
func (t *tokens) MakeToken(ctx context.Context, token api.Token, on authn.Grounds) (api.TokenCreated, error) {
	return t.make(ctx, token, on)
}

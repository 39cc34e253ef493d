package server

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/hosting"
	"github.com/slipway-gitops/slipway/internal/server/store"
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

// homes keeps organizations or projects. Agents that go with one lose their connections.
type homes[T any] struct {
	store.Entities[T]
	gateway *gateway.Gateway
	publish func(context.Context, api.Event)
}

// Delete deletes one, cuts off the agents that were in it, and tells that they are gone.
func (h homes[T]) Delete(ctx context.Context, id string, options api.DeleteOptions) error {
	gone, err := h.DeleteHome(ctx, id, options)
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

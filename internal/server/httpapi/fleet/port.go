package fleet

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

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
	// only one that may be used; everything is true for users who may do everything.
	Permit(cluster string, scope api.Scope, everything bool) (name, namespace string, err error)
}

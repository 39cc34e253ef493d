package server

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/internal/server/httpapi"
	"github.com/slipway-gitops/slipway/internal/server/store"
)

// keeper is the store under the names of the interface.
type keeper struct{ *store.Store }

// Claim takes an idempotency key, or gives what was kept for it.
func (k keeper) Claim(ctx context.Context, key, fingerprint string, until time.Time) (*httpapi.Kept, error) {
	kept, err := k.Store.Claim(ctx, key, fingerprint, until)
	if err != nil || kept == nil {
		return nil, err
	}
	return (*httpapi.Kept)(kept), nil
}

// Keep keeps an answer.
func (k keeper) Keep(ctx context.Context, key string, answer httpapi.Kept) error {
	return k.Store.Keep(ctx, key, store.Kept(answer))
}

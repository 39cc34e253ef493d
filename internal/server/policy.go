package server

import (
	"context"
	"sync"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
)

// policies keeps the rules of now: they are read again when one of them was changed, by whichever server.
type policies struct {
	store *store.Store

	mu      sync.Mutex
	version int64
	policy  *rbac.Policy
}

// Policy gives the rules of now.
func (p *policies) Policy(ctx context.Context) (*rbac.Policy, error) {
	version, err := p.store.GrantsVersion(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.policy != nil && p.version == version {
		return p.policy, nil
	}
	// Read after the version: what is newer than it is read again next time.
	roles, groups, bindings, err := p.store.Grants(ctx)
	if err != nil {
		return nil, err
	}
	p.policy, p.version = rbac.NewPolicy(roles, groups, bindings), version
	return p.policy, nil
}

// GroupsOf are the ids of the groups of a user or a service account.
func (p *policies) GroupsOf(ctx context.Context, who api.Principal) ([]string, error) {
	switch who.Type {
	case api.PrincipalUser:
		user, err := p.store.AuthUser(ctx, who.ID)
		return user.Groups, err
	case api.PrincipalServiceAccount:
		_, groups, err := p.store.AuthServiceAccount(ctx, who.ID)
		return groups, err
	case api.PrincipalGroup:
		_, err := p.store.Groups.Get(ctx, who.ID)
		return nil, err
	}
	return nil, api.Errorf(api.CodeInvalid, "a principal is a user, a group or a serviceaccount, not a %.40q", who.Type)
}

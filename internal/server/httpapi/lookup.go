package httpapi

import (
	"context"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/account"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// finder finds objects of all nouns.
type finder struct {
	cfg      Config
	clusters *item.Clusters
}

// Find finds an object by type and id.
func (f finder) find(ctx context.Context, kind, id string) (core.Target, error) {
	switch kind {
	case api.TypeUser:
		return core.Find(ctx, f.cfg.Users, kind, id)
	case api.TypeGroup:
		return core.Find(ctx, f.cfg.Groups, kind, id)
	case api.TypeServiceAccount:
		return core.Find(ctx, f.cfg.ServiceAccounts, kind, id)
	case api.TypeOrganization:
		return core.Find(ctx, f.cfg.Organizations, kind, id)
	case api.TypeProject:
		return core.Find(ctx, f.cfg.Projects, kind, id)
	case api.TypeRole:
		return core.Find(ctx, f.cfg.Roles, kind, id)
	case api.TypeResourceGroup:
		return core.Find(ctx, f.cfg.ResourceGroups, kind, id)
	case api.TypeBinding:
		return core.Find(ctx, f.cfg.Bindings, kind, id)
	case api.TypeAgent:
		return core.Find(ctx, f.cfg.AgentList, kind, id)
	case api.TypeService:
		return core.Find(ctx, f.cfg.Services, kind, id)
	case api.TypeEnvironment:
		return core.Find(ctx, f.cfg.Environments, kind, id)
	case api.TypeToken:
		t, err := f.cfg.Tokens.GetToken(ctx, id)
		return core.Target{Object: account.TokenObject(&t), Value: &t}, err
	case api.TypeAudit, api.TypeSetting:
		return core.Target{Object: rbac.Object{Type: kind, Scope: api.ScopeAccount, ID: id}}, nil
	}
	agent, namespace, name, err := api.ParseItemID(id)
	if err != nil {
		return core.Target{}, err
	}
	var last error
	for _, k := range kindsOf(kind) {
		t, err := f.clusters.FindItem(ctx, k, agent, namespace, name)
		if err == nil {
			return t, nil
		}
		last = err
	}
	return core.Target{}, last
}

// kindsOf are the kinds of items that rights call by one type.
func kindsOf(t string) []string {
	switch t {
	case api.TypeRepository:
		return []string{api.KindRepository, api.KindRepoCreds}
	case api.TypeCert:
		return []string{api.KindCertificate}
	}
	return []string{strings.ToLower(string(t))}
}

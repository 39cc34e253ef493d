package httpapi

import (
	"context"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// finder finds objects of all nouns.
type finder struct {
	cfg      Config
	clusters *Clusters
}

// find finds an object by type and id.
func (f finder) find(ctx context.Context, kind, id string) (target, error) {
	switch kind {
	case api.TypeUser:
		return find(ctx, f.cfg.Users, kind, id)
	case api.TypeGroup:
		return find(ctx, f.cfg.Groups, kind, id)
	case api.TypeServiceAccount:
		return find(ctx, f.cfg.ServiceAccounts, kind, id)
	case api.TypeOrganization:
		return find(ctx, f.cfg.Organizations, kind, id)
	case api.TypeProject:
		return find(ctx, f.cfg.Projects, kind, id)
	case api.TypeRole:
		return find(ctx, f.cfg.Roles, kind, id)
	case api.TypeResourceGroup:
		return find(ctx, f.cfg.ResourceGroups, kind, id)
	case api.TypeBinding:
		return find(ctx, f.cfg.Bindings, kind, id)
	case api.TypeAgent:
		return find(ctx, f.cfg.AgentList, kind, id)
	case api.TypeService:
		return find(ctx, f.cfg.Services, kind, id)
	case api.TypeEnvironment:
		return find(ctx, f.cfg.Environments, kind, id)
	case api.TypeToken:
		t, err := f.cfg.Tokens.GetToken(ctx, id)
		return target{object: tokenObject(&t), value: &t}, err
	case api.TypeAudit, api.TypeSetting:
		return target{object: rbac.Object{Type: kind, Scope: api.ScopeAccount, ID: id}}, nil
	}
	agent, namespace, name, err := api.ParseItemID(id)
	if err != nil {
		return target{}, err
	}
	var last error
	for _, k := range kindsOf(kind) {
		t, err := f.clusters.findItem(ctx, k, agent, namespace, name)
		if err == nil {
			return t, nil
		}
		last = err
	}
	return target{}, last
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

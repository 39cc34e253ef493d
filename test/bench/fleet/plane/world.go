package plane

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
)

// World is the content of a server: agents belong to organizations, and the Argo projects of an agent to projects of
// its organization.
type World struct {
	// Agents are ids, Tokens what each registers with.
	Agents, Tokens []string
	// Project is the scope of one project, and Member a user who sees only that.
	Project api.Scope
	Member  *client.Client
}

// atOnce is how many requests are made at a time, few enough for the server's bound for one address.
const atOnce = 4

// Populate makes organizations, projects, agents and a user with few rights. Each Argo project is mapped to a project.
func (s *Server) Populate(ctx context.Context, organizations, agents int, argoProjects []string) (*World, error) {
	org := func(i int) string { return fmt.Sprintf("org-%d", i%organizations) }
	w := &World{Agents: make([]string, agents), Tokens: make([]string, agents), Project: api.ProjectScope(org(0), argoProjects[0])}
	for i := range organizations {
		if _, err := s.Admin.Organizations().Create(ctx, api.Organization{Meta: api.Meta{Name: org(i)}}, false); err != nil {
			return nil, fmt.Errorf("make organization %s: %w", org(i), err)
		}
		for _, name := range argoProjects {
			project := api.Project{Meta: api.Meta{Name: name}, Organization: org(i)}
			if _, err := s.Admin.Projects().Create(ctx, project, false); err != nil {
				return nil, fmt.Errorf("make project %s of %s: %w", name, org(i), err)
			}
		}
	}
	g, ctx2 := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range agents {
		g.Go(func() error {
			made, err := s.Admin.CreateAgent(ctx2,
				api.Agent{Meta: api.Meta{Name: fmt.Sprintf("cluster-%03d", i), Scope: api.OrgScope(org(i))}}, false)
			if err != nil {
				return fmt.Errorf("make agent %d: %w", i, err)
			}
			w.Agents[i], w.Tokens[i] = made.Agent.ID, made.Token
			for _, name := range argoProjects {
				_, err := s.Admin.SetMapping(ctx2, made.Agent.ID, api.Mapping{ArgoProject: name, Project: api.ProjectID(org(i), name)})
				if err != nil {
					return fmt.Errorf("map Argo project %s of agent %d: %w", name, i, err)
				}
			}
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var err error
	w.Member, err = s.member(ctx, w.Project)
	return w, err
}

// member makes a service account that sees one project only.
func (s *Server) member(ctx context.Context, scope api.Scope) (*client.Client, error) {
	account, err := s.Admin.ServiceAccounts().Create(ctx, api.ServiceAccount{Meta: api.Meta{Name: "member", Scope: scope}}, false)
	if err != nil {
		return nil, fmt.Errorf("make service account: %w", err)
	}
	who := api.Principal{Type: api.TypeServiceAccount, ID: account.ID}
	if _, err := s.Admin.Bindings().Create(ctx,
		api.Binding{Meta: api.Meta{Name: "member", Scope: scope}, Principal: who, Role: api.RoleViewer}, false); err != nil {
		return nil, fmt.Errorf("make binding: %w", err)
	}
	token, err := s.Admin.CreateToken(ctx, api.Token{Name: "bench", Owner: who}, false)
	if err != nil {
		return nil, fmt.Errorf("make token: %w", err)
	}
	return s.With(token.Secret), nil
}

package application

import (
	"context"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// SourceInput says which repository is looked at, and for which application. Its fields are parameters: the decoder sees
// only what is exported.
type SourceInput struct {
	item.AgentInput
	RepoURL     string `query:"repoURL" required:"true" minLength:"1" maxLength:"2000" doc:"Address of the repository, without user and password" example:"https://git.example.org/shop.git"`
	ArgoProject string `query:"argoProject" maxLength:"253" default:"default" doc:"Argo project of the application, whose rules apply" example:"default"`
	Namespace   string `query:"namespace" maxLength:"63" doc:"Namespace of the application; default: that of the agent" example:"argocd"`
	Application string `query:"application" maxLength:"253" doc:"Name of the application; default: one without a name yet" example:"shop"`
}

type refsInput struct {
	SourceInput
	Type   string `query:"type" enum:"git,helm,oci" doc:"Type of the repository, if the agent has no setting for it"`
	Search string `query:"search" maxLength:"200" doc:"Only names that contain this"`
}

type pathsInput struct {
	SourceInput
	Revision string `query:"revision" maxLength:"253" doc:"Branch, tag, commit or range of versions; default: the default branch" example:"main"`
	Path     string `query:"path" maxLength:"1000" doc:"Directory; default: the root" example:"apps/web"`
	Plugin   string `query:"plugin" maxLength:"253" doc:"Config management plugin whose parameters are asked for" example:"my-plugin-v1.0"`
}

type refsOutput struct{ Body api.RepositoryRefs }

type pathsOutput struct{ Body api.RepositoryPaths }

// sourceRoutes look into repositories for authors of applications. A user who may write one of a project sees what
// the project permits it to deploy, by deploying it; to look into the repository they must be allowed to see repositories as
// well. The agent asks the project before it asks the repository.
func (h *ObjectRoutes) sourceRoutes() []core.Route {
	route := func(path, id, summary string) core.Route {
		return core.Route{
			Method: http.MethodGet, Path: "/api/v1/agents/{agent}/" + path, Permission: api.PermApplicationEdit, ID: id,
			Summary: summary, Tag: "repositories",
		}
	}
	refs := route("repository-refs", "repository-refs",
		"Branches, tags or charts of a repository that an application of an Argo project may deploy; requires repository_view as well")
	refs.Mount = core.Mount(core.Answer[refsInput, refsOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *refsInput) (core.Target, error) {
			return h.findSource(ctx, &in.SourceInput)
		},
		Do: func(ctx context.Context, c *core.Call, in *refsInput) (*refsOutput, error) {
			var out refsOutput
			return &out, h.look(ctx, c, &in.SourceInput, agentapi.KindRepositoryRefs, api.RepositoryRefsRequest{
				RepoURL: in.RepoURL, ArgoProject: in.ArgoProject, Type: in.Type, Search: in.Search,
			}, &out.Body)
		},
	})
	paths := route("repository-paths", "repository-paths",
		"One directory of a repository that an application of an Argo project may deploy, with the tool that renders it; "+
			"requires repository_view as well")
	paths.Mount = core.Mount(core.Answer[pathsInput, pathsOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *pathsInput) (core.Target, error) {
			return h.findSource(ctx, &in.SourceInput)
		},
		Do: func(ctx context.Context, c *core.Call, in *pathsInput) (*pathsOutput, error) {
			var out pathsOutput
			return &out, h.look(ctx, c, &in.SourceInput, agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{
				RepoURL: in.RepoURL, Revision: in.Revision, Path: in.Path, Plugin: in.Plugin, ArgoProject: in.ArgoProject,
			}, &out.Body)
		},
	})
	return []core.Route{refs, paths, h.previewRoute()}
}

// findSource is the application that a repository is looked at for: one of the project that was named, in the place where
// it is or would be.
func (h *ObjectRoutes) findSource(ctx context.Context, in *SourceInput) (core.Target, error) {
	if in.Namespace == "" {
		at, err := core.Find(ctx, h.AgentList, api.TypeAgent, in.Agent)
		if err != nil {
			return core.Target{}, err
		}
		a, _ := at.Value.(*api.Agent)
		in.Namespace = a.Status.Namespace
	}
	return h.FreshItem(ctx, api.KindApplication, in.Agent, in.Namespace, in.Application, in.ArgoProject, h.labelsOf(ctx, in))
}

// labelsOf are those of the application, where there is one: rights may go by them.
func (h *ObjectRoutes) labelsOf(ctx context.Context, in *SourceInput) map[string]string {
	if in.Application == "" {
		return nil
	}
	app, err := h.Items.GetApplication(ctx, in.Agent, in.Namespace, in.Application)
	if err != nil {
		return nil
	}
	return app.Labels
}

// look asks the agent, for users who may see repositories at the scope of the application. That the application may be edited was
// asked before.
func (h *ObjectRoutes) look(ctx context.Context, c *core.Call, in *SourceInput, kind agentapi.Kind, body, into any) error {
	scope := rbac.Scope(c.Object.Scope)
	repository := core.Target{Object: rbac.Object{
		Type: api.TypeRepository, Scope: scope, ID: api.ItemID(in.Agent, in.Namespace, ""), Asserted: true,
	}}
	if err := c.May(api.PermRepositoryView, repository); err != nil {
		return err
	}
	if err := h.mayChange(ctx, c, in.Agent, in.Namespace, in.Application); err != nil {
		return err
	}
	return h.Ask(ctx, c, item.Order{
		Agent: in.Agent, Kind: string(kind), TargetKind: api.KindApplication, Namespace: in.Namespace, Name: in.Application, Body: body,
	}, into)
}

// mayChange asks whether the application that is there under a name may be edited; nil where none is.
func (h *ObjectRoutes) mayChange(ctx context.Context, c *core.Call, agent, namespace, name string) error {
	if name == "" {
		return nil
	}
	there, err := h.FindItem(ctx, api.KindApplication, agent, namespace, name)
	switch {
	case api.CodeOf(err) == api.CodeNotFound:
		return nil
	case err != nil:
		return err
	}
	return c.May(api.PermApplicationEdit, there)
}

package fleet

import (
	"context"
	"net/http"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/install"
)

// AgentRoutes make and end agents, and say which Argo projects of theirs belong to which projects.
type AgentRoutes struct {
	AgentList core.Entities[api.Agent]
	Projects  core.Entities[api.Project]
	Agents    Agents
	Hosting   Hosting // nil where the server hosts none
	Orders    *CommandRoutes
	// PublicURL, Image, Version and AgentCA are what install manifests need.
	PublicURL, Image, Version, AgentCA, ReleaseKeys string
}

// Routes are its rows of the table.
func (h *AgentRoutes) Routes() []core.Route {
	return append(h.agentRoutes(), h.mappingRoutes()...)
}

func (h *AgentRoutes) agents() *core.Noun[api.Agent, *api.Agent] {
	return &core.Noun[api.Agent, *api.Agent]{
		Store: h.AgentList, Kind: api.TypeAgent, Many: "agents", Called: "agent",
		Example: `{"name":"prod","scope":"org.acme","labels":{"region":"eu"}}`,
		Check: func(_ context.Context, c *core.Call, before, after *api.Agent) error {
			switch {
			case after == nil:
				return nil
			case after.Engine == api.EngineArgoCD && (after.Hosted != nil || before != nil && before.Hosted != nil):
				return &api.Error{
					Code: api.CodeInvalid, Field: "body.engine",
					Message: "an agent that the server runs works with its own engine: leave engine out, or install the agent beside the Argo CD",
				}
			case before == nil:
				return h.mayHost(c, after)
			case after.Hosted != nil && (before.Hosted == nil || after.Hosted.Cluster != before.Hosted.Cluster):
				return &api.Error{
					Code: api.CodeInvalid, Field: "body.hosted", Message: "where an agent runs never changes: make another and delete this one",
				}
			}
			after.UID, after.Status, after.SealKey, after.Hosted = before.UID, before.Status, before.SealKey, before.Hosted
			return nil
		},
	}
}

type registrationOutput struct{ Body api.AgentRegistration }

// mayHost checks that an agent may be hosted where it asks for, and says where that is.
func (h *AgentRoutes) mayHost(c *core.Call, a *api.Agent) error {
	if a.Hosted == nil {
		return nil
	}
	if h.Hosting == nil {
		return &api.Error{
			Code: api.CodeInvalid, Field: "body.hosted",
			Message: "this server hosts no agents: leave it out and install the agent in its cluster, " +
				"or ask the operator of the server for --hosted-dir",
		}
	}
	everything := c.Policy.MayBind(c.Who.Subject, api.Binding{
		Meta: api.Meta{ID: "account.everything", Name: "everything", Scope: api.ScopeAccount}, Principal: c.Who.Principal,
		Role: api.RoleAdmin, ResourceGroup: api.AllResources,
	}).Allowed
	cluster, namespace, err := h.Hosting.Permit(a.Hosted.Cluster, a.Scope, everything)
	if err != nil {
		return err
	}
	a.Hosted = &api.Hosting{Cluster: cluster, Namespace: namespace}
	return nil
}

func (h *AgentRoutes) agentRoutes() []core.Route {
	n := h.agents()
	create := n.Create()
	create.Secret, create.Summary = true, "Create an agent and a token that registers it; the token is shown only once"
	create.Mount = core.Mount(core.Answer[core.CreateInput[api.Agent], registrationOutput]{
		Find: func(_ context.Context, _ *core.Call, in *core.CreateInput[api.Agent]) (core.Target, error) {
			return n.Fresh(&in.Body)
		},
		Do: func(ctx context.Context, c *core.Call, in *core.CreateInput[api.Agent]) (*registrationOutput, error) {
			in.Body.UID, in.Body.Status, in.Body.SealKey = "", api.AgentStatus{}, ""
			made, err := n.Make(ctx, c, in.Body, in.DryRun)
			if err != nil || in.DryRun {
				return &registrationOutput{api.AgentRegistration{Agent: in.Body}}, err
			}
			return h.register(ctx, made.Body)
		},
	})
	find := func(ctx context.Context, _ *core.Call, in *core.IDInput) (core.Target, error) {
		return n.Find(ctx, in.ID)
	}

	register := agentRow(http.MethodPost, "/registration", "agent.register", "register-agent",
		"Create a new registration token; the agent's present key is valid until the token is used", api.PermAgentEdit)
	register.Secret = true
	register.Mount = core.Mount(core.Answer[core.IDInput, registrationOutput]{Find: find, Do: func(ctx context.Context, c *core.Call,
		_ *core.IDInput,
	) (*registrationOutput, error) {
		a, _ := c.Before.(*api.Agent)
		c.Before = nil
		return h.register(ctx, *a)
	}})
	rotate := agentRow(http.MethodPost, "/rotate", "agent.rotate", "rotate-agent", "Rotate the keys of an agent", api.PermAgentEdit)
	type rotateInput struct {
		core.IDInput
		item.WaitInput
	}
	rotate.Mount = core.Mount(core.Answer[rotateInput, item.CommandOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *rotateInput) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *rotateInput) (*item.CommandOutput, error) {
			c.Before = nil
			return h.Orders.Command(ctx, c, in.WaitInput, item.Order{Agent: in.ID, Kind: "agent.rotate"})
		},
	})
	revoke := agentRow(http.MethodPost, "/revoke", "agent.revoke", "revoke-agent",
		"Revoke the agent's key and close its connection immediately", api.PermAgentDelete)
	revoke.Mount = core.Mount(core.Answer[core.IDInput, core.NoOutput]{Find: find, Do: func(ctx context.Context, c *core.Call,
		in *core.IDInput,
	) (*core.NoOutput, error) {
		c.Before = nil
		if err := h.Agents.Revoke(ctx, in.ID); err != nil {
			return nil, err
		}
		c.Changed(ctx, c.Object, nil, api.EventChanged, nil)
		return nil, nil //nolint:nilnil // no content
	}})
	remove := n.Remove()
	remove.Mount = core.Mount(core.Answer[core.DeleteInput, core.NoOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *core.DeleteInput) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: h.deleteAgent,
	})
	return append(n.Routes("create", "delete"), append([]core.Route{create, remove, register, rotate, revoke}, h.agentReads(n)...)...)
}

// agentRow is a row about one agent.
func agentRow(method, path, audit, id, summary string, permission api.Permission) core.Route {
	return core.Route{
		Method: method, Path: "/api/v1/agents/{id}" + path, Permission: permission, Audit: audit, ID: id, Summary: summary, Tag: "agents",
	}
}

// agentReads are the rows that read what belongs to an agent: what installs it, and its commands.
func (h *AgentRoutes) agentReads(n *core.Noun[api.Agent, *api.Agent]) []core.Route {
	manifest := agentRow(http.MethodGet, "/manifest", "", "agent-manifest",
		"Get the manifest of the agent, as YAML or Helm values, always without secrets", api.PermAgentView)
	manifest.Mount = core.Mount(core.Answer[manifestInput, manifestOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *manifestInput) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: func(_ context.Context, c *core.Call, in *manifestInput) (*manifestOutput, error) {
			return h.manifest(c, in.Format, in.options())
		},
	})
	write := agentRow(http.MethodPost, "/manifest", "", "write-agent-manifest",
		"Get the manifest of the agent, with options in the body, for example certificates, which are too long for a URL", api.PermAgentView)
	write.Reads, write.Example = true, `{"namespace":"argocd","proxy":"http://proxy.example.org:3128"}`
	write.Mount = core.Mount(core.Answer[manifestWrite, manifestOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *manifestWrite) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: func(_ context.Context, c *core.Call, in *manifestWrite) (*manifestOutput, error) {
			return h.manifest(c, in.Format, in.Body)
		},
	})
	commands := agentRow(http.MethodGet, "/commands", "", "list-agent-commands", "List the commands of an agent", api.PermAgentView)
	type commandsInput struct {
		core.IDInput
		core.ListInput
	}
	commands.Mount = core.Mount(core.Answer[commandsInput, core.PageOutput[api.Command]]{
		Find: func(ctx context.Context, _ *core.Call, in *commandsInput) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *commandsInput) (*core.PageOutput[api.Command], error) {
			options, err := in.Options()
			if err != nil {
				return nil, err
			}
			page, err := h.Orders.Commands.ListCommands(ctx, in.ID, options)
			if err != nil {
				return nil, err
			}
			// To see an agent is not to see all that is asked of it.
			seen := page.Items[:0]
			for i := range page.Items {
				if h.Orders.sight(ctx, c, &page.Items[i]) == nil {
					seen = append(seen, page.Items[i])
				}
			}
			page.Items = seen
			return core.PageOf(page), nil
		},
	})
	return []core.Route{manifest, write, commands}
}

// deleteAgent forgets an agent. What it deployed stays, and so do the agent's own objects in its cluster.
func (h *AgentRoutes) deleteAgent(ctx context.Context, c *core.Call, in *core.DeleteInput) (*core.NoOutput, error) {
	a, _ := c.Before.(*api.Agent)
	asked, err := core.Version(in.IfMatch)
	if err != nil {
		return nil, err
	}
	if in.DryRun {
		c.Quiet = true
		return nil, nil //nolint:nilnil // no content
	}
	// What refers to it is found first, so that a refused deletion leaves the agent connected.
	if err := h.AgentList.Delete(ctx, a.ID, api.DeleteOptions{Version: asked, Force: in.Force}); err != nil {
		return nil, err
	}
	if err := h.Agents.Cut(ctx, a.UID); err != nil {
		return nil, err
	}
	c.Changed(ctx, c.Object, a.Labels, api.EventDeleted, nil)
	return nil, nil //nolint:nilnil // no content
}

// register makes a token and says what to do with it. The server that hosts an agent makes its own.
func (h *AgentRoutes) register(ctx context.Context, a api.Agent) (*registrationOutput, error) {
	token, expires, err := h.Agents.Register(ctx, a.ID)
	if err != nil {
		return nil, err
	}
	if a.Hosted != nil {
		return &registrationOutput{api.AgentRegistration{Agent: a, ExpiresAt: expires, Commands: []string{}}}, nil
	}
	return &registrationOutput{api.AgentRegistration{Agent: a, Token: token, ExpiresAt: expires, Commands: []string{
		"export SLIPWAY_REGISTRATION_TOKEN=" + token, // in the environment: arguments are seen by others on the machine
		"slipway agent install " + a.ID + " --kubeconfig KUBECONFIG",
	}}}, nil
}

type manifestInput struct {
	core.IDInput
	Format         string   `query:"format" enum:"yaml,helm" default:"yaml" doc:"A manifest for kubectl, or values for the Helm chart"`
	Namespace      string   `query:"namespace" maxLength:"63" default:"argocd" doc:"Namespace of the agent and of the Applications"`
	Namespaced     bool     `query:"namespaced" doc:"Create roles in the namespace only; implied if the agent is namespaced"`
	Namespaces     []string `query:"namespaces,explode" maxItems:"200" doc:"With namespaced: the namespaces of its own cluster that the agent deploys to; default: none" example:"[\"shop\"]"`
	Registry       string   `query:"registry" maxLength:"300" doc:"Registry to pull the image from instead" example:"registry.example.org/mirror"`
	PullSecret     string   `query:"pullSecret" maxLength:"253" doc:"Secret with the registry's credentials"`
	Proxy          string   `query:"proxy" maxLength:"500" doc:"Proxy for connections out of the cluster; without user and password, which belong in a Secret" example:"http://proxy.example.org:3128"`
	NoProxy        string   `query:"noProxy" maxLength:"2000" doc:"Hosts that bypass the proxy, separated by commas"`
	CA             string   `query:"ca" maxLength:"60000" doc:"Certificate authorities of the server in PEM; default: the server's own. Proxies accept URLs of about 8 kB: send longer ones in the body of a POST"`
	ExistingSecret string   `query:"existingSecret" maxLength:"253" doc:"Secret that holds the registration token"`
	SkipCRDs       bool     `query:"skipCRDs" doc:"Omit the custom resource definitions, if they are already installed"`
	ClientCert     string   `query:"clientCertSecret" maxLength:"253" doc:"Secret of type kubernetes.io/tls with the certificate that the agent presents to the server" example:"slipway-agent-client"`
	Succession     string   `query:"succession" maxLength:"42" doc:"Name that the agent shares with its standby in another cluster" example:"shop"`
	Standby        bool     `query:"standby" doc:"With succession: the agent waits until it is promoted"`
	CAConfigMap    string   `query:"caConfigMap" maxLength:"253" doc:"Existing ConfigMap with the certificate authorities of the server under ca.crt, instead of ca" example:"company-ca"`
}

func (in *manifestInput) options() api.InstallOptions {
	return api.InstallOptions{
		Namespace: in.Namespace, Namespaced: in.Namespaced, Namespaces: in.Namespaces, Registry: in.Registry, PullSecret: in.PullSecret,
		Proxy:   in.Proxy,
		NoProxy: in.NoProxy, CA: in.CA, ExistingSecret: in.ExistingSecret, SkipCRDs: in.SkipCRDs,
		ClientCertSecret: in.ClientCert, CAConfigMap: in.CAConfigMap, Succession: in.Succession, Standby: in.Standby,
	}
}

type manifestWrite struct {
	core.IDInput
	Format string `query:"format" enum:"yaml,helm" default:"yaml" doc:"A manifest for kubectl, or values for the Helm chart"`
	Body   api.InstallOptions
}

type manifestOutput struct {
	ContentType string `header:"Content-Type" doc:"application/yaml"`
	Body        []byte
}

// manifest writes what installs an agent.
func (h *AgentRoutes) manifest(c *core.Call, format string, o api.InstallOptions) (*manifestOutput, error) {
	a, _ := c.Before.(*api.Agent)
	o.Namespaced = o.Namespaced || a.Namespaced
	o.Registry = strings.TrimSuffix(o.Registry, "/")
	if o.CA == "" && o.CAConfigMap == "" {
		o.CA = h.AgentCA
	}
	if o.ReleaseKeys == "" {
		o.ReleaseKeys = h.ReleaseKeys
	}
	options := install.Options{
		Server: h.PublicURL, Image: h.Image, Version: h.Version, Agent: a.ID, Engine: a.Engine, InstallOptions: o,
	}
	write := install.Manifest
	if format == "helm" {
		write = install.Values
	}
	text, err := write(options)
	if err != nil {
		return nil, api.Errorf(api.CodeInvalid, "%s", err)
	}
	return &manifestOutput{"application/yaml", text}, nil
}

// MappingInput names a mapping. Its fields are parameters: the decoder sees only what is exported.
type MappingInput struct {
	core.IDInput
	ArgoProject string `path:"argoProject" maxLength:"253" doc:"Name of the AppProject" example:"shop"`
}

type mappingPut struct {
	MappingInput
	Body api.Mapping
}

func (h *AgentRoutes) mappingRoutes() []core.Route {
	n := h.agents()
	route := func(method, path, audit, id, summary string, permission api.Permission) core.Route {
		return core.Route{
			Method: method, Path: "/api/v1/agents/{id}/mappings" + path, Permission: permission, Audit: audit, ID: id,
			Summary: summary, Tag: "mappings",
		}
	}
	type listOutput struct{ Body api.Page[api.Mapping] }
	list := route(http.MethodGet, "", "", "list-mappings", "List the assignments of the agent's Argo projects to projects", api.PermAgentView)
	list.Mount = core.Mount(core.Answer[core.IDInput, listOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *core.IDInput) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: func(ctx context.Context, _ *core.Call, in *core.IDInput) (*listOutput, error) {
			all, err := h.Agents.Mappings(ctx, in.ID)
			return &listOutput{core.PageOf(api.Page[api.Mapping]{Items: all, Total: int64(len(all))}).Body}, err
		},
	})
	put := route(http.MethodPut, "/{argoProject}", "mapping.update", "set-mapping", "Assign an Argo project to a project", api.PermAgentEdit)
	put.Example = `{"argoProject":"shop","project":"acme.shop"}`
	put.Mount = core.Mount(core.Answer[mappingPut, core.Output[api.Mapping]]{
		Find: func(ctx context.Context, _ *core.Call, in *mappingPut) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: h.setMapping,
	})
	remove := route(http.MethodDelete, "/{argoProject}", "mapping.delete", "delete-mapping",
		"Assign an Argo project to the scope of its agent again", api.PermAgentEdit)
	remove.Mount = core.Mount(core.Answer[MappingInput, core.NoOutput]{
		Find: func(ctx context.Context, _ *core.Call, in *MappingInput) (core.Target, error) {
			return n.Find(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *MappingInput) (*core.NoOutput, error) {
			c.Before = api.Mapping{Agent: in.ID, ArgoProject: in.ArgoProject}
			if err := h.mayUnmap(ctx, c, in.ID, in.ArgoProject); err != nil {
				return nil, err
			}
			return nil, h.Agents.DeleteMapping(ctx, in.ID, in.ArgoProject)
		},
	})
	return []core.Route{list, put, remove}
}

// setMapping takes the right to edit the agent, and the project: every user there sees what is mapped.
func (h *AgentRoutes) setMapping(ctx context.Context, c *core.Call, in *mappingPut) (*core.Output[api.Mapping], error) {
	a, _ := c.Before.(*api.Agent)
	c.Before = nil
	m := in.Body
	if m.ArgoProject != in.ArgoProject {
		return nil, api.Errorf(api.CodeInvalid, "the body is about %q and the path about %q: make them the same", m.ArgoProject, in.ArgoProject)
	}
	org, project, err := api.ParseProjectID(m.Project)
	if err != nil {
		return nil, &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "body.project"}
	}
	if !a.Scope.Contains(api.ProjectScope(org, project)) {
		return nil, &api.Error{
			Code:    api.CodeInvalid,
			Message: "project " + m.Project + " is not inside " + string(a.Scope) + ", where the agent is", Field: "body.project",
		}
	}
	to, err := core.Find(ctx, h.Projects, api.TypeProject, m.Project)
	if err != nil {
		return nil, err
	}
	if err := c.May(api.PermProjectEdit, to); err != nil {
		return nil, err
	}
	if err := h.mayUnmap(ctx, c, in.ID, m.ArgoProject); err != nil {
		return nil, err
	}
	m.Agent = in.ID
	stored, err := h.Agents.SetMapping(ctx, m)
	if err != nil {
		return nil, err
	}
	c.After = stored
	c.Changed(ctx, c.Object, a.Labels, api.EventChanged, nil)
	return &core.Output[api.Mapping]{ETag: core.ETag(stored.Version), Body: stored}, nil
}

// mayUnmap takes the right to edit the project that an Argo project belongs to now: no user takes it from others.
func (h *AgentRoutes) mayUnmap(ctx context.Context, c *core.Call, agent, argoProject string) error {
	all, err := h.Agents.Mappings(ctx, agent)
	if err != nil {
		return err
	}
	for _, m := range all {
		if m.ArgoProject != argoProject {
			continue
		}
		from, err := core.Find(ctx, h.Projects, api.TypeProject, m.Project)
		if err != nil {
			return err
		}
		return c.May(api.PermProjectEdit, from)
	}
	return nil
}

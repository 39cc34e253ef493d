package fleet

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/wave"
	"github.com/slipway-gitops/slipway/internal/statement"
)

// Upgrades keeps upgrades of agents, and has them run.
type Upgrades interface {
	// AddStatement keeps the releases of a signed statement.
	AddStatement(ctx context.Context, statement []byte, by api.Principal) ([]api.AgentRelease, error)
	Releases(ctx context.Context) ([]api.AgentRelease, error)

	// AddUpgrade keeps an upgrade with its agents, and has it begin. token is the id of the token that it was asked for with; "" for
	// none.
	AddUpgrade(ctx context.Context, u api.Upgrade, token string, targets []api.UpgradeTarget) error
	UpgradeReads
	// Change stops an upgrade, has it go on, or takes it back.
	Change(ctx context.Context, id string, what api.UpgradeChange, by string) error
}

// UpgradeReads reads upgrades.
type UpgradeReads interface {
	GetUpgrade(ctx context.Context, id string) (api.Upgrade, error)
	ListUpgrades(ctx context.Context, limit int) ([]api.Upgrade, error)
	UpgradeTargets(ctx context.Context, id string) ([]api.UpgradeTarget, error)
}

// AgentVersions keeps which version agents should run.
type AgentVersions interface {
	AgentVersions(ctx context.Context) (api.AgentVersions, error)
	SetAgentVersions(ctx context.Context, v api.AgentVersions) (api.AgentVersions, error)
}

// UpgradeRoutes upgrade agents.
type UpgradeRoutes struct {
	AgentList core.Entities[api.Agent]
	Upgrades  Upgrades
	Versions  AgentVersions
}

// UpgradeInput names an upgrade. Its fields are parameters: the decoder sees only what is exported.
type UpgradeInput struct {
	ID string `path:"id" maxLength:"64" doc:"Identifier" example:"b7k2m4x6q3w5"`
}

type (
	releaseList     struct{ Body api.Page[api.AgentRelease] }
	releaseAdd      struct{ Body api.AgentStatement }
	versionsOutput  struct{ Body api.AgentVersions }
	versionsPut     struct{ Body api.AgentVersions }
	upgradeList     struct{ Body api.Page[api.Upgrade] }
	upgradePlan     struct{ Body api.UpgradePlan }
	upgradeOutput   struct{ Body api.Upgrade }
	upgradeTryInput struct {
		UpgradeInput
		core.TryInput
	}
	upgradeCreate struct {
		core.TryInput
		Body api.UpgradeRequest
	}
)

// agentsOf is what takes rights for the agents of a scope.
func agentsOf(scope api.Scope, id string) rbac.Object {
	return rbac.Object{Type: api.TypeAgent, Scope: scope, ID: id}
}

func accountAgents(context.Context, *core.Call) (core.Target, error) {
	return core.Target{Object: agentsOf(api.ScopeAccount, "")}, nil
}

// find finds an upgrade.
func (h *UpgradeRoutes) find(ctx context.Context, c *core.Call, id string) (core.Target, error) {
	u, err := h.Upgrades.GetUpgrade(ctx, id)
	if api.CodeOf(err) == api.CodeNotFound {
		return core.Target{}, core.NotFound("upgrade", id)
	}
	if err != nil {
		return core.Target{}, err
	}
	c.Object = api.Ref{Type: api.TypeAgent, ID: id, Scope: u.Request.Scope}
	return core.Target{Object: agentsOf(u.Request.Scope, id), Value: &u, Unseen: core.NotFound("upgrade", id)}, nil
}

// exampleStatement is one that is read: base64 of an envelope with version 1.4.0.
const exampleStatement = "eyJwYXlsb2FkVHlwZSI6ImFwcGxpY2F0aW9uL3ZuZC5zbGlwd2F5LnJlbGVhc2VzK2pzb24iLCJwYXlsb2FkIjoiZXlKeVpXeGxZ" +
	"WE5sY3lJNlczc2lkbVZ5YzJsdmJpSTZJakV1TkM0d0lpd2laR2xuWlhOMElqb2ljMmhoTWpVMk9qbG1PRFprTURneE9EZzBZemRr" +
	"TmpVNVlUSm1aV0ZoTUdNMU5XRmtNREUxWVROaVpqUm1NV0l5WWpCaU9ESXlZMlF4TldRMll6RTFZakJtTURCaE1EZ2lmVjBzSW1s" +
	"emMzVmxaQ0k2SWpJd016QXRNRFl0TURGVU1USTZNREE2TURCYUluMD0iLCJzaWduYXR1cmVzIjpbeyJzaWciOiJBQUFBIn1dfQ=="

// Routes are its rows of the table.
func (h *UpgradeRoutes) Routes() []core.Route {
	row := func(method, path, audit, id, summary string, access core.Access, permission api.Permission) core.Route {
		return core.Route{
			Method: method, Path: "/api/v1/agent-" + path, Access: access, Permission: permission, Audit: audit, ID: id, Summary: summary,
			Tag: "upgrades",
		}
	}
	releases := row(http.MethodGet, "releases", "", "list-agent-releases", "List the versions of the agent that were added", core.Listed,
		api.PermAgentView)
	releases.Mount = core.Mount(core.Answer[struct{}, releaseList]{Do: h.listReleases})
	add := row(http.MethodPost, "releases", "agent.release.add", "add-agent-releases",
		"Add the versions of a signed statement of releases; agents verify its signature by their own keys", core.Addressed, api.PermAgentEdit)
	add.Example = `{"statement":"` + exampleStatement + `"}`
	add.Mount = core.Mount(core.Answer[releaseAdd, releaseList]{
		Find: func(ctx context.Context, c *core.Call, _ *releaseAdd) (core.Target, error) {
			return accountAgents(ctx, c)
		},
		Do: func(ctx context.Context, c *core.Call, in *releaseAdd) (*releaseList, error) {
			all, err := h.Upgrades.AddStatement(ctx, in.Body.Statement, c.Who.Principal)
			for i := range all {
				all[i].Statement = nil
			}
			c.Object, c.After = api.Ref{Type: api.TypeAgent, Scope: api.ScopeAccount}, all
			return &releaseList{core.PageOf(api.Page[api.AgentRelease]{Items: all, Total: int64(len(all))}).Body}, err
		},
	})
	versions := row(http.MethodGet, "versions", "", "get-agent-versions", "Get which version agents should run", core.Listed,
		api.PermAgentView)
	versions.Mount = core.Mount(core.Answer[struct{}, versionsOutput]{Do: h.getVersions})
	put := row(http.MethodPut, "versions", "agent.versions.update", "set-agent-versions",
		"Set which version agents should run; an upgrade makes them run it", core.Addressed, api.PermAgentEdit)
	put.Example = `{"rules":[{"selector":{"ring":"early"},"release":"1.4.0"}]}`
	put.Mount = core.Mount(core.Answer[versionsPut, versionsOutput]{
		Find: func(ctx context.Context, c *core.Call, _ *versionsPut) (core.Target, error) {
			return accountAgents(ctx, c)
		},
		Do: h.setVersions,
	})
	return append([]core.Route{releases, add, versions, put}, h.upgradeRoutes(row)...)
}

func (h *UpgradeRoutes) listReleases(ctx context.Context, _ *core.Call, _ *struct{}) (*releaseList, error) {
	all, err := h.Upgrades.Releases(ctx)
	return &releaseList{core.PageOf(api.Page[api.AgentRelease]{Items: all, Total: int64(len(all))}).Body}, err
}

func (h *UpgradeRoutes) getVersions(ctx context.Context, _ *core.Call, _ *struct{}) (*versionsOutput, error) {
	v, err := h.Versions.AgentVersions(ctx)
	return &versionsOutput{v}, err
}

// setVersions says which version agents should run.
func (h *UpgradeRoutes) setVersions(ctx context.Context, c *core.Call, in *versionsPut) (*versionsOutput, error) {
	known, err := h.known(ctx)
	if err != nil {
		return nil, err
	}
	for i, r := range in.Body.Rules {
		if _, ok := known[r.Release]; !ok {
			return nil, unknownRelease("body.rules", r.Release)
		}
		if r.Scope != "" && !r.Scope.Valid() {
			return nil, &api.Error{
				Code: api.CodeInvalid, Field: "body.rules", Message: "the scope of a rule is none: write account, org.NAME or project.ORG.NAME",
			}
		}
		in.Body.Rules[i].Selector = nonEmpty(r.Selector)
	}
	before, err := h.Versions.AgentVersions(ctx)
	if err != nil {
		return nil, err
	}
	after, err := h.Versions.SetAgentVersions(ctx, in.Body)
	c.Object, c.Before, c.After = api.Ref{Type: api.TypeAgent, Scope: api.ScopeAccount}, before, after
	return &versionsOutput{after}, err
}

func nonEmpty(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	return m
}

func unknownRelease(field, release string) error {
	return &api.Error{Code: api.CodeInvalid, Field: field, Message: "there is no release " + release +
		": add the signed statement that names it (slipway agent release add)"}
}

// known are the releases, by version.
func (h *UpgradeRoutes) known(ctx context.Context) (map[string]api.AgentRelease, error) {
	all, err := h.Upgrades.Releases(ctx)
	out := make(map[string]api.AgentRelease, len(all))
	for _, r := range all {
		out[r.Version] = r
	}
	return out, err
}

// listedUpgrades is how many upgrades a list has at most.
const listedUpgrades = 200

func (h *UpgradeRoutes) upgradeRoutes(row func(_, _, _, _, _ string, _ core.Access, _ api.Permission) core.Route) []core.Route {
	list := row(http.MethodGet, "upgrades", "", "list-agent-upgrades", "List upgrades of agents, the newest first", core.Listed,
		api.PermAgentView)
	list.Mount = core.Mount(core.Answer[struct{}, upgradeList]{Do: func(ctx context.Context, c *core.Call, _ *struct{}) (*upgradeList, error) {
		all, err := h.Upgrades.ListUpgrades(ctx, listedUpgrades)
		all = slices.DeleteFunc(all, func(u api.Upgrade) bool {
			return !c.Policy.Can(c.Who.Subject, api.PermAgentView, agentsOf(u.Request.Scope, u.ID)).Allowed
		})
		return &upgradeList{core.PageOf(api.Page[api.Upgrade]{Items: all, Total: int64(len(all))}).Body}, err
	}})
	create := row(http.MethodPost, "upgrades", "agent.upgrade", "create-agent-upgrade",
		"Upgrade agents: canaries first, then in steps, each of which waits until its agents are healthy; dryRun lists the agents in their order",
		core.Addressed, api.PermAgentEdit)
	create.Example = `{"release":"1.4.0","canary":1,"steps":[25,50,100],"maxUnavailable":3,"reason":"fixes"}`
	create.Mount = core.Mount(core.Answer[upgradeCreate, upgradePlan]{
		Find: func(_ context.Context, _ *core.Call, in *upgradeCreate) (core.Target, error) {
			if in.Body.Scope == "" {
				in.Body.Scope = api.ScopeAccount
			}
			if !in.Body.Scope.Valid() {
				return core.Target{}, &api.Error{
					Code: api.CodeInvalid, Field: "body.scope", Message: "this is no scope: write account, org.NAME or project.ORG.NAME",
				}
			}
			return core.Target{Object: agentsOf(in.Body.Scope, "")}, nil
		},
		Do: h.create,
	})
	get := row(http.MethodGet, "upgrades/{id}", "", "get-agent-upgrade", "Get an upgrade of agents with its agents", core.Addressed,
		api.PermAgentView)
	get.Mount = core.Mount(core.Answer[UpgradeInput, upgradePlan]{
		Find: func(ctx context.Context, c *core.Call, in *UpgradeInput) (core.Target, error) {
			return h.find(ctx, c, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *UpgradeInput) (*upgradePlan, error) {
			u, _ := c.Found.Value.(*api.Upgrade)
			targets, err := h.Upgrades.UpgradeTargets(ctx, in.ID)
			return &upgradePlan{api.UpgradePlan{Upgrade: *u, Targets: targets}}, err
		},
	})
	out := []core.Route{list, create, get}
	for _, change := range []struct {
		what    api.UpgradeChange
		summary string
	}{
		{api.UpgradeStop, "Stop an upgrade: no further agents are begun, and those under way are waited for"},
		{api.UpgradeResume, "Resume an upgrade that was stopped or failed, with the agents that have not begun"},
		{api.UpgradeBack, "Roll back an upgrade: its agents run again what they ran before"},
	} {
		r := row(http.MethodPost, "upgrades/{id}/"+string(change.what), "agent.upgrade."+string(change.what),
			string(change.what)+"-agent-upgrade", change.summary, core.Addressed, api.PermAgentEdit)
		r.Mount = core.Mount(core.Answer[upgradeTryInput, upgradeOutput]{
			Find: func(ctx context.Context, c *core.Call, in *upgradeTryInput) (core.Target, error) {
				return h.find(ctx, c, in.ID)
			},
			Do: func(ctx context.Context, c *core.Call, in *upgradeTryInput) (*upgradeOutput, error) {
				u, _ := c.Found.Value.(*api.Upgrade)
				c.Object = api.Ref{Type: api.TypeAgent, ID: in.ID, Scope: u.Request.Scope}
				if in.DryRun {
					c.Quiet = true
					return &upgradeOutput{*u}, nil
				}
				err := h.Upgrades.Change(ctx, in.ID, change.what, c.Who.Principal.Type+":"+c.Who.Principal.ID)
				if err != nil {
					return nil, err
				}
				now, err := h.Upgrades.GetUpgrade(ctx, in.ID)
				c.After = now
				return &upgradeOutput{now}, err
			},
		})
		out = append(out, r)
	}
	return out
}

// create plans an upgrade and has it begin.
func (h *UpgradeRoutes) create(ctx context.Context, c *core.Call, in *upgradeCreate) (*upgradePlan, error) {
	c.Object, c.Quiet = api.Ref{Type: api.TypeAgent, Scope: in.Body.Scope}, in.DryRun
	request := in.Body
	if request.Reason == "" {
		request.Reason = c.Reason
	}
	c.Reason = request.Reason
	if err := complete(&request); err != nil {
		return nil, err
	}
	targets, canary, err := h.targets(ctx, c, &request)
	if err != nil {
		return nil, err
	}
	idle := ""
	switch {
	case len(targets) > 0:
	case request.Release == "":
		idle = "no rule says which version these agents should run: name a version, or set one (slipway agent version set)"
	default:
		idle = "no agent matches: give another scope or other labels"
	}
	if idle != "" && !in.DryRun {
		return nil, &api.Error{Code: api.CodeInvalid, Field: "body.release", Message: idle}
	}
	u := api.Upgrade{
		By: c.Who.Principal, Request: request, State: api.UpgradeRunning, Message: idle, CreatedAt: c.Now().UTC(),
	}
	targets, u.Steps = wave.Plan(targets, &request, canary)
	for i := range targets {
		u.Counts.Count(targets[i].State)
	}
	plan := &upgradePlan{api.UpgradePlan{Upgrade: u, Targets: targets}}
	if in.DryRun {
		return plan, nil
	}
	if u.Counts.Waiting == 0 {
		return nil, api.Errorf(api.CodeInvalid, "there is no agent to upgrade: see why with a dry run")
	}
	if !slices.ContainsFunc(targets, func(t api.UpgradeTarget) bool { return t.Step == 0 }) {
		return nil, &api.Error{
			Code: api.CodeInvalid, Field: "body.canarySelector", Message: "no agent has the labels of the canaries: give others, or a number",
		}
	}
	token := ""
	if c.Who.Token != nil {
		token = c.Who.Token.ID
	}
	u.ID = strings.ToLower(rand.Text())
	c.Object.ID, c.After = u.ID, u
	if err := h.Upgrades.AddUpgrade(ctx, u, token, targets); err != nil {
		return nil, err
	}
	plan.Body.Upgrade.ID = u.ID
	return plan, nil
}

// complete fills in what a request leaves out, and refuses what means nothing.
func complete(r *api.UpgradeRequest) error {
	invalid := func(field, message string) error {
		return &api.Error{Code: api.CodeInvalid, Field: "body." + field, Message: message}
	}
	if len(r.Steps) == 0 {
		r.Steps = []int{25, 50, 100}
	}
	for i, s := range r.Steps {
		if s < 1 || s > 100 || i > 0 && s <= r.Steps[i-1] {
			return invalid("steps", "steps are percentages from 1 to 100, each larger than the one before")
		}
	}
	if r.Steps[len(r.Steps)-1] != 100 {
		return invalid("steps", "the last step is 100: all agents")
	}
	if r.Canary > 0 && len(r.CanarySelector) > 0 {
		return invalid("canary", "canaries are a number of agents, or those with some labels: give one of them")
	}
	if r.Canary == 0 && len(r.CanarySelector) == 0 {
		r.Canary = 1
	}
	if r.MaxUnavailable == 0 {
		r.MaxUnavailable = api.DefaultUpgradeUnavailable
	}
	if r.Hold == 0 {
		r.Hold = api.DefaultUpgradeHold
	}
	if r.Timeout == 0 {
		r.Timeout = api.DefaultUpgradeTimeout
	}
	return nil
}

// targets are the agents of an upgrade, and which of them are canaries.
func (h *UpgradeRoutes) targets(ctx context.Context, c *core.Call, r *api.UpgradeRequest) ([]api.UpgradeTarget, func(string) bool, error) {
	known, err := h.known(ctx)
	if err != nil {
		return nil, nil, err
	}
	if _, ok := known[r.Release]; r.Release != "" && !ok {
		return nil, nil, unknownRelease("body.release", r.Release)
	}
	wanted, err := h.Versions.AgentVersions(ctx)
	if err != nil {
		return nil, nil, err
	}
	agents, err := h.agents(ctx, c, r)
	if err != nil {
		return nil, nil, err
	}
	var targets []api.UpgradeTarget
	first := map[string]bool{}
	for i := range agents {
		a := &agents[i]
		version := r.Release
		if version == "" {
			version = wanted.Wanted(a)
		}
		if version == "" {
			continue // no rule is about it
		}
		release := known[version]
		t := api.UpgradeTarget{
			Agent: a.ID, State: api.UpgradeTargetWaiting, Version: version, Digest: release.Digest,
			From: a.Status.Image, FromVersion: a.Status.Version,
		}
		if why := leftOut(a, release, known, r.AllowDowngrade); why != "" {
			t.State, t.Message = api.UpgradeTargetSkipped, why
		}
		first[a.ID] = len(r.CanarySelector) > 0 && api.HasLabels(a.Labels, r.CanarySelector)
		targets = append(targets, t)
	}
	if len(targets) > api.MaxUpgradeTargets {
		return nil, nil, api.Errorf(api.CodeInvalid, "an upgrade has at most %d agents: narrow it by scope or labels", api.MaxUpgradeTargets)
	}
	if len(r.CanarySelector) == 0 {
		return targets, nil, nil
	}
	return targets, func(id string) bool { return first[id] }, nil
}

// leftOut says why an agent is not upgraded; "" where it is.
func leftOut(a *api.Agent, release api.AgentRelease, known map[string]api.AgentRelease, downgrade bool) string {
	runs := a.Status.Version
	for version := range known {
		if strings.HasSuffix(a.Status.Image, known[version].Digest) {
			runs = version
		}
	}
	switch s := &a.Status; {
	case a.Hosted != nil:
		return "the server runs this agent: it is upgraded with the server"
	case s.State != api.AgentConnected && s.State != api.AgentDegraded:
		return "the agent is not connected"
	case release.Digest == "":
		return "there is no release with the version that it should run"
	case strings.HasSuffix(s.Image, release.Digest):
		return "the agent runs this version already"
	case s.NoUpgrade != "":
		return s.NoUpgrade
	case !s.Upgrades:
		return "the agent is too old to upgrade itself: upgrade it by hand once"
	case !downgrade && statement.Older(release.Version, runs):
		return "the agent runs " + runs + ", which is newer: allow the downgrade if you mean it"
	}
	return ""
}

// agents are those that a request is about, and that the caller may upgrade.
func (h *UpgradeRoutes) agents(ctx context.Context, c *core.Call, r *api.UpgradeRequest) ([]api.Agent, error) {
	named := make(map[string]bool, len(r.Agents))
	for _, id := range r.Agents {
		named[id] = true
	}
	visible := c.Policy.Filter(c.Who.Subject, api.PermAgentEdit)
	var out []api.Agent
	options := api.ListOptions{Limit: api.MaxLimit}
	for {
		page, err := h.AgentList.List(ctx, visible, options)
		if err != nil {
			return nil, err
		}
		for _, a := range page.Items {
			if r.Scope.Contains(a.Scope) && api.HasLabels(a.Labels, r.Selector) && (len(named) == 0 || named[a.ID]) {
				out = append(out, a)
				delete(named, a.ID)
				if len(named) == 0 && len(r.Agents) > 0 {
					return out, nil
				}
			}
		}
		if options.Cursor = page.NextCursor; options.Cursor == "" {
			break
		}
	}
	for id := range named {
		return nil, &api.Error{
			Code: api.CodeInvalid, Field: "body.agents", Message: "there is no agent " + id + " in the scope with these labels",
		}
	}
	return out, nil
}

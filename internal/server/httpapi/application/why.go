package application

import (
	"context"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/why"
)

type whyInput struct {
	item.Input
	Logs bool `query:"logs" doc:"Include the last lines of failing containers; requires the permission application_logs"`
}

// whyRoute answers from the server's copy, so that it says why also while the agent is away. What fails in the cluster only the
// agent knows: it is asked where an object may have something to say.
func (h *Routes) whyRoute() core.Route {
	r := h.applicationRoute("/why", "why-application", "Explain the state of an application, since when, and what would change it")
	type out struct{ Body api.Why }
	r.Mount = core.Mount(core.Answer[whyInput, out]{
		Find: item.Application[whyInput](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *whyInput) (*out, error) {
			answer, err := h.why(ctx, c, in)
			return &out{answer}, err
		},
	})
	return r
}

// lookTime is how long an answer waits for what the agent sees in the cluster.
const lookTime = 6 * time.Second

// findings asks the agent what fails in the cluster. An agent that is away, or older, costs a warning.
func (h *Routes) findings(ctx context.Context, c *core.Call, in *whyInput, app *v1alpha1.Application) ([]api.Finding, []string) {
	if len(cause.Candidates(app)) == 0 {
		return nil, nil
	}
	denied := c.Policy.Can(c.Who.Subject, api.PermApplicationLogs, c.Found.Object)
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	var got api.FindingsAnswer
	err := h.Ask(ctx, c, in.Order("application.findings", api.FindingsRequest{Logs: in.Logs && denied.Allowed}), &got)
	if err != nil {
		return nil, []string{"the objects in the cluster are not looked at: " + core.NewProblem(err, c.ID).Detail}
	}
	for i := range got.Items {
		if log := got.Items[i].Log; log != nil && !denied.Allowed {
			log.Lines, log.Note = nil, "the container has a log, and you may not read it: "+denied.Why
		}
	}
	return got.Items, got.Warnings
}

// revisionStatusRoute says at which revisions an application is: from the server's copy, and where its branches are from the
// agent.
func (h *Routes) revisionStatusRoute() core.Route {
	r := h.applicationRoute("/revision-status", "revision-status",
		"Get the tips of the branches of an application, and the compared, deployed and pinned revisions")
	type out struct{ Body api.RevisionStatus }
	r.Mount = core.Mount(core.Answer[item.Input, out]{
		Find: item.Application[item.Input](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *item.Input) (*out, error) {
			_, _, facts, err := h.factsOf(ctx, c, in.Agent)
			if err != nil {
				return nil, err
			}
			status := why.Revisions(facts)
			ctx, cancel := context.WithTimeout(ctx, tipTime)
			defer cancel()
			var tips api.TipsAnswer
			if err := h.Ask(ctx, c, in.Order("application.tips", nil), &tips); err != nil {
				status.Warnings = append(status.Warnings, "where the branches are is not known: "+core.NewProblem(err, c.ID).Detail)
			}
			return &out{why.WithTips(status, tips)}, nil
		},
	})
	return r
}

// tipTime is how long an answer waits for where branches are.
const tipTime = 10 * time.Second

func (h *Routes) why(ctx context.Context, c *core.Call, in *whyInput) (api.Why, error) {
	detail, agent, facts, err := h.factsOf(ctx, c, in.Agent)
	if err != nil {
		return api.Why{}, err
	}
	app := facts.App
	if detail.AgentAway {
		facts.Away = &why.Away{Agent: in.Agent, Heard: detail.AsOf}
	}
	var warnings []string
	if facts.Project, facts.ProjectError, err = h.projectOf(ctx, c, agent, app); err != nil {
		warnings = append(warnings, "sync windows are not looked at: "+core.NewProblem(err, c.ID).Detail)
	}
	if !detail.AgentAway { // otherwise the absence is reported
		found, unseen := h.findings(ctx, c, in, app)
		facts.Findings, warnings = found, append(warnings, unseen...)
	}
	out := why.Explain(facts).API()
	if out.Age = detail.Age; facts.Away == nil { // the first reason says it otherwise
		warnings = append(warnings, absence(detail)...)
	}
	out.Warnings, out.Window = warnings, why.Window(facts)
	return out, nil
}

// factsOf is the application of a call as the server's copy has it, with what its agent does not carry out.
func (h *Routes) factsOf(ctx context.Context, c *core.Call, id string) (*api.ApplicationDetail, api.Agent, why.Facts, error) {
	detail, app, err := known(c)
	if err != nil {
		return nil, api.Agent{}, why.Facts{}, err
	}
	agent, err := h.AgentList.Get(ctx, id)
	facts := why.Facts{Name: app.Name, Namespace: app.Namespace, App: app, Now: c.Now(), Lacks: agent.Status.Unsupported}
	return detail, agent, facts, err
}

// known is the application of a call as the server's copy has it.
func known(c *core.Call) (*api.ApplicationDetail, *v1alpha1.Application, error) {
	detail, _ := c.Before.(*api.ApplicationDetail)
	app, _, err := v1alpha1.Decode(detail.Resource)
	if err != nil {
		return nil, nil, api.Errorf(api.CodeInvalid, "the Application cannot be read: %v: correct its fields in the cluster", err)
	}
	app.Namespace, app.Name = detail.Namespace, detail.Name
	return detail, app, nil
}

// absence reports how old the copy is of an application whose agent is away, or no longer reports it.
func absence(detail *api.ApplicationDetail) []string {
	switch {
	case !detail.StaleSince.IsZero():
		return []string{"the agent no longer reports the application since " + detail.StaleSince.UTC().Format(time.RFC3339) +
			": it was deleted, or its namespace is not looked at; this is what was known last"}
	case detail.AgentAway:
		return []string{"agent " + detail.Agent + " is away: this is its last report, of " + detail.AsOf.UTC().Format(time.RFC3339)}
	}
	return nil
}

// projectOf reads the rules of an application's project, for users who may see the project. What it inherits from others is not
// known here; the agent says in a condition what that holds.
func (h *Routes) projectOf(ctx context.Context, c *core.Call, agent api.Agent,
	app *v1alpha1.Application,
) (rules *project.Rules, wrong, err error) {
	name, namespace := app.Spec.ProjectName(), agent.Status.Namespace
	if namespace == "" {
		namespace = app.Namespace
	}
	t, err := h.FindItem(ctx, api.KindArgoProject, agent.ID, namespace, name)
	switch {
	case api.CodeOf(err) == api.CodeNotFound:
		return nil, nil, nil // where the application needs it, the agent says so
	case err != nil:
		return nil, nil, err
	}
	if err := c.May(api.PermArgoProjectView, t); err != nil {
		return nil, nil, err
	}
	found, _ := t.Value.(*api.Item)
	p, _, err := v1alpha1.DecodeProject(found.Resource)
	if err != nil {
		return nil, nil, api.Errorf(api.CodeInvalid, "the AppProject %s cannot be read: %v: correct its fields", name, err)
	}
	rules, wrong = project.New(p)
	return rules, wrong, nil
}

package httpapi

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/why"
)

// whyRoute answers from the server's copy, so that it says why also while the agent is away.
func (h *Handler) whyRoute() Route {
	r := h.applicationRoute("/why", "why-application", "Why an application is as it is, since when, and what would change that")
	type out struct{ Body api.Why }
	r.mount = mount(handler[ItemInput, out]{
		find: func(ctx context.Context, _ *call, in *ItemInput) (target, error) { return h.findApplication(ctx, *in) },
		do: func(ctx context.Context, c *call, in *ItemInput) (*out, error) {
			answer, err := h.why(ctx, c, in)
			return &out{answer}, err
		},
	})
	return r
}

func (h *Handler) why(ctx context.Context, c *call, in *ItemInput) (api.Why, error) {
	detail, app, err := known(c)
	if err != nil {
		return api.Why{}, err
	}
	facts := why.Facts{Name: app.Name, Namespace: app.Namespace, App: app, Now: h.now()}
	agent, err := h.cfg.AgentList.Get(ctx, in.Agent)
	if err != nil {
		return api.Why{}, err
	}
	var warnings []string
	if facts.Project, facts.ProjectError, err = h.projectOf(ctx, c, agent, app); err != nil {
		warnings = append(warnings, "sync windows are not looked at: "+newProblem(err, c.id).Detail)
	}
	out := why.Explain(facts).API()
	out.Warnings = append(warnings, absence(detail, agent)...)
	return out, nil
}

// known is the application of a call as the server's copy has it.
func known(c *call) (*api.ApplicationDetail, *v1alpha1.Application, error) {
	detail, _ := c.before.(*api.ApplicationDetail)
	app, _, err := v1alpha1.Decode(detail.Resource)
	if err != nil {
		return nil, nil, api.Errorf(api.CodeInvalid, "the Application cannot be read: %v: correct its fields in the cluster", err)
	}
	app.Namespace, app.Name = detail.Namespace, detail.Name
	return detail, app, nil
}

// absence says how old the copy may be.
func absence(detail *api.ApplicationDetail, agent api.Agent) []string {
	switch {
	case !detail.StaleSince.IsZero():
		return []string{"the agent does not tell of the application any more since " + detail.StaleSince.UTC().Format(time.RFC3339) + ": it was deleted, or its namespace is not looked at; this is what was known last"}
	case agent.Status.State == api.AgentDisconnected || agent.Status.State == api.AgentRevoked:
		return []string{fmt.Sprintf("agent %s is not connected: this is what was known at %s", agent.ID, detail.UpdatedAt.UTC().Format(time.RFC3339))}
	}
	return nil
}

// projectOf reads the rules of an application's project, for who may see the project. What it inherits from others is not
// known here; the agent says in a condition what that holds.
func (h *Handler) projectOf(ctx context.Context, c *call, agent api.Agent, app *v1alpha1.Application) (rules *project.Rules, wrong, err error) {
	name, namespace := app.Spec.ProjectName(), agent.Status.Namespace
	if namespace == "" {
		namespace = app.Namespace
	}
	t, err := h.findItem(ctx, api.KindArgoProject, agent.ID, namespace, name)
	switch {
	case api.CodeOf(err) == api.CodeNotFound:
		return nil, nil, nil // where the application needs it, the agent says so
	case err != nil:
		return nil, nil, err
	}
	if err := c.may(api.PermArgoProjectView, t); err != nil {
		return nil, nil, err
	}
	item, _ := t.value.(*api.Item)
	p, _, err := v1alpha1.DecodeProject(item.Resource)
	if err != nil {
		return nil, nil, api.Errorf(api.CodeInvalid, "the AppProject %s cannot be read: %v: correct its fields", name, err)
	}
	rules, wrong = project.New(p)
	return rules, wrong, nil
}

package fleet

import (
	"context"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Fleet knows the applications of all agents.
type Fleet interface {
	// Summary counts what a filter leaves of what may be seen.
	Summary(ctx context.Context, visible rbac.Filter, filter api.FleetFilter) (api.FleetSummary, error)
	// Attention lists what needs attention, of applications and agents that may be seen, the worst first.
	Attention(ctx context.Context, applications, agents rbac.Filter, filter api.AttentionFilter) (api.Attention, error)
	// Matrix says how it is, for each value of agent, cluster, environment, region, service, argoProject or scope.
	Matrix(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, by string) (api.FleetMatrix, error)
	// ListFleet lists it; of the options only those of the page count.
	ListFleet(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, options api.ListOptions) (api.Page[api.Application], error)
	// FleetIDs are the ids of it, one more than limit where there are more.
	FleetIDs(ctx context.Context, visible rbac.Filter, filter api.FleetFilter, limit int) ([]string, error)
	// DORA are the figures of delivery for a time, ServiceLevels how long deliveries took.
	DORA(ctx context.Context, visible rbac.Filter, filter api.DORAFilter) (api.DORAReport, error)
	ServiceLevels(ctx context.Context, visible rbac.Filter, filter api.LedgerFilter) (api.ServiceLevels, error)
}

// OverviewRoutes look at the applications of all agents.
type OverviewRoutes struct {
	Fleet Fleet
	Saved *ViewRoutes
}

// FilterInput is api.FleetFilter as parameters. Its fields are parameters: the decoder sees only what is exported.
type FilterInput struct {
	View        string   `query:"view" maxLength:"63" doc:"Saved filter to start from; other parameters override it" example:"degraded"`
	Search      string   `query:"search" maxLength:"200" doc:"Words, in any order: each is in the name, namespace, repository, cluster or name of the agent"`
	Scope       string   `query:"scope" maxLength:"140" doc:"Only objects in this scope or below it" example:"org.acme"`
	Label       []string `query:"label,explode" maxItems:"20" doc:"Only objects with this label, key=value or key; several must all match" example:"[\"team=shop\"]"`
	Agent       string   `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	ArgoProject string   `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project" example:"default"`
	Namespace   string   `query:"namespace" maxLength:"63" doc:"Only those in this namespace" example:"argocd"`
	Sync        []string `query:"sync,explode" maxItems:"5" enum:"Synced,OutOfSync,Unknown" doc:"Only those with one of these sync statuses"`
	Health      []string `query:"health,explode" maxItems:"8" enum:"Healthy,Progressing,Degraded,Suspended,Missing,Unknown" doc:"Only those with one of these health statuses"`
	Phase       []string `query:"phase,explode" maxItems:"8" enum:"Running,Terminating,Succeeded,Failed,Error" doc:"Only those whose last operation is in one of these phases"`
	RepoURL     string   `query:"repoURL" maxLength:"2000" doc:"Only those with a source in this repository"`
	Cluster     string   `query:"cluster" maxLength:"500" doc:"Only those that deploy to this cluster, by name or address"`
	Service     string   `query:"service" maxLength:"210" doc:"Only those that run this service" example:"org.acme.checkout"`
	Environment string   `query:"environment" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
	Region      string   `query:"region" maxLength:"63" doc:"Only those of environments of this region"`
	Type        string   `query:"type" enum:"Production,PreProduction" doc:"Only those of environments of this type"`
	Version     string   `query:"version" maxLength:"1000" doc:"Only those that run this version" example:"1.4.2"`
	Held        bool     `query:"held" doc:"Only those whose sync is held"`
	Stale       bool     `query:"stale" doc:"Only those whose state may be out of date: the agent is away, or no longer reports them"`
	Attention   []string `query:"attention,explode" maxItems:"6" enum:"SourceError,Degraded,SyncFailed,Held,OutOfSync,NeverDeployed" doc:"Only those that need attention for one of these reasons"`
	DriftOlder  string   `query:"driftOlder" maxLength:"20" doc:"Only those that are out of sync for longer than this: 90m, 36h, 7d" example:"2h"`
	Since       string   `query:"since" maxLength:"20" doc:"Only those whose last operation ended within this time before now" example:"7d"`
}

func (in *FilterInput) filter(ctx context.Context, c *core.Call, saved *ViewRoutes) (f api.FleetFilter, err error) {
	options, err := (&core.SelectInput{Scope: in.Scope, Label: in.Label}).Selection()
	if err != nil {
		return f, err
	}
	f = api.FleetFilter{
		Search: in.Search, Scope: options.Scope, Labels: options.Labels, Agent: in.Agent, ArgoProject: in.ArgoProject, Namespace: in.Namespace,
		Sync: in.Sync, Health: in.Health, Phase: in.Phase, RepoURL: in.RepoURL, Cluster: in.Cluster, Service: in.Service,
		Environment: in.Environment, Region: in.Region, Type: in.Type, Version: in.Version, Held: in.Held, Stale: in.Stale,
		Attention:  in.Attention,
		DriftOlder: in.DriftOlder, Since: in.Since,
	}
	if in.View != "" {
		v, err := saved.findView(ctx, c, in.View, false)
		if err != nil {
			return f, err
		}
		f = f.Over(v.Filter)
	}
	err = checkFleet(&f, c.Now())
	return f, err
}

// checkFleet looks at what the decoder does not: scope, labels and ages.
func checkFleet(f *api.FleetFilter, now time.Time) error {
	if f.Scope != "" {
		if _, err := api.ParseScope(string(f.Scope)); err != nil {
			return &api.Error{Code: api.CodeInvalid, Message: err.Error(), Field: "filter.scope"}
		}
	}
	if len(f.Labels) > core.MaxLabels {
		return &api.Error{Code: api.CodeInvalid, Message: "there are more than 64 labels: leave some out", Field: "filter.labels"}
	}
	_, _, err := f.Times(now)
	return err
}

type fleetList struct {
	FilterInput
	Limit  int    `query:"limit" minimum:"1" maximum:"1000" default:"100" doc:"Maximum number"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page"`
	Page   int    `query:"page" minimum:"1" maximum:"100000" doc:"Number of the page, from 1, instead of the cursor"`
	Sort   string `query:"sort" maxLength:"64" doc:"Field to sort by, with - before it in reverse order" example:"-driftSince"`
}

type matrixOf struct {
	FilterInput
	By string `query:"by" required:"true" enum:"agent,cluster,environment,region,service,argoProject,scope" doc:"Grouping of applications" example:"environment"`
}

type summaryOutput struct{ Body api.FleetSummary }

type attentionInput struct {
	Scope string   `query:"scope" maxLength:"140" doc:"Only objects in this scope or below it" example:"org.acme"`
	Agent string   `query:"agent" maxLength:"210" doc:"Only this agent and its applications" example:"account.prod"`
	Kind  []string `query:"kind,explode" maxItems:"8" enum:"SourceError,Degraded,SyncFailed,Held,AgentAway,AgentDegraded,OutOfSync,NeverDeployed" doc:"Only those that need attention for one of these reasons"`
	Limit int      `query:"limit" minimum:"1" maximum:"100" default:"20" doc:"Maximum number of rows of each of the two lists"`
}

type attentionOutput struct{ Body api.Attention }

// attentionRoute lists applications as the caller sees them, and those agents that the caller sees.
func (h *OverviewRoutes) attentionRoute() core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: "/api/v1/fleet/attention", Permission: api.PermApplicationView, Access: core.Listed,
		ID: "fleet-attention", Tag: "fleet",
		Summary: "List what needs attention, the worst first: errors of sources, degraded, failed syncs, held, " +
			"agents that are away, long out of sync",
	}
	r.Mount = core.Mount(core.Answer[attentionInput, attentionOutput]{Do: func(ctx context.Context, c *core.Call,
		in *attentionInput,
	) (*attentionOutput, error) {
		options, err := (&core.SelectInput{Scope: in.Scope}).Selection()
		if err != nil {
			return nil, err
		}
		filter := api.AttentionFilter{Scope: options.Scope, Agent: in.Agent, Kinds: in.Kind, Limit: in.Limit}
		out, err := h.Fleet.Attention(ctx, c.Visible, c.Policy.Filter(c.Who.Subject, api.PermAgentView), filter)
		return &attentionOutput{out}, err
	}})
	return r
}

// Routes are its rows of the table.
func (h *OverviewRoutes) Routes() []core.Route {
	route := func(path, id, summary string) core.Route {
		return core.Route{
			Method: http.MethodGet, Path: "/api/v1/fleet/" + path, Permission: api.PermApplicationView, Access: core.Listed, ID: id,
			Summary: summary, Tag: "fleet",
		}
	}
	summary := route("summary", "fleet-summary", "Count applications of all agents by their properties and state, for any filter")
	summary.Mount = core.Mount(core.Answer[FilterInput, summaryOutput]{Do: func(ctx context.Context, c *core.Call,
		in *FilterInput,
	) (*summaryOutput, error) {
		filter, err := in.filter(ctx, c, h.Saved)
		if err != nil {
			return nil, err
		}
		out, err := h.Fleet.Summary(ctx, c.Visible, filter)
		return &summaryOutput{out}, err
	}})
	matrix := route("matrix", "fleet-matrix",
		"Get the health and sync of applications for each agent, environment or other group, for any filter")
	type matrixOutput struct{ Body api.FleetMatrix }
	matrix.Mount = core.Mount(core.Answer[matrixOf, matrixOutput]{Do: func(ctx context.Context, c *core.Call,
		in *matrixOf,
	) (*matrixOutput, error) {
		filter, err := in.filter(ctx, c, h.Saved)
		if err != nil {
			return nil, err
		}
		out, err := h.Fleet.Matrix(ctx, c.Visible, filter, in.By)
		return &matrixOutput{out}, err
	}})
	list := route("applications", "fleet-applications", "List applications of all agents, for any filter")
	list.Mount = core.Mount(core.Answer[fleetList, core.PageOutput[api.Application]]{Do: func(ctx context.Context, c *core.Call,
		in *fleetList,
	) (*core.PageOutput[api.Application], error) {
		filter, err := in.filter(ctx, c, h.Saved)
		if err != nil {
			return nil, err
		}
		var options api.ListOptions
		if err := (&core.PageInput{Limit: in.Limit, Cursor: in.Cursor, Page: in.Page, Sort: in.Sort}).Put(&options); err != nil {
			return nil, err
		}
		page, err := h.Fleet.ListFleet(ctx, c.Visible, filter, options)
		return core.PageOf(page), err
	}})
	figures := route("dora", "fleet-dora", "Get the four DORA figures")
	type doraOutput struct{ Body api.DORAReport }
	figures.Mount = core.Mount(core.Answer[doraInput, doraOutput]{Do: func(ctx context.Context, c *core.Call,
		in *doraInput,
	) (*doraOutput, error) {
		filter, err := in.filter(c.Now())
		if err != nil {
			return nil, err
		}
		out, err := h.Fleet.DORA(ctx, c.Visible, api.DORAFilter{LedgerFilter: filter, Group: in.Group, Week: in.By == "week"})
		return &doraOutput{out}, err
	}})
	levels := route("service-levels", "fleet-service-levels", "Get how long deliveries take: commit, detected, rendered, applied, healthy")
	type levelsOutput struct{ Body api.ServiceLevels }
	levels.Mount = core.Mount(core.Answer[DeliveryInput, levelsOutput]{Do: func(ctx context.Context, c *core.Call,
		in *DeliveryInput,
	) (*levelsOutput, error) {
		filter, err := in.filter(c.Now())
		if err != nil {
			return nil, err
		}
		out, err := h.Fleet.ServiceLevels(ctx, c.Visible, filter)
		return &levelsOutput{out}, err
	}})
	return []core.Route{summary, h.attentionRoute(), matrix, list, figures, levels}
}

// DeliveryInput says which operations are measured. Its fields are parameters: the decoder sees only what is exported.
type DeliveryInput struct {
	From        time.Time `query:"from" doc:"Start of the period; default: 30 days before its end" example:"2030-06-01T00:00:00Z"`
	To          time.Time `query:"to" doc:"End of the period; default: now" example:"2030-07-01T00:00:00Z"`
	Scope       string    `query:"scope" maxLength:"140" doc:"Only objects in this scope or below it" example:"org.acme"`
	Agent       string    `query:"agent" maxLength:"210" doc:"Only those of this agent" example:"account.prod"`
	Namespace   string    `query:"namespace" maxLength:"63" doc:"Only Applications in this namespace" example:"argocd"`
	Name        string    `query:"name" maxLength:"253" doc:"Only Applications of this name" example:"shop"`
	ArgoProject string    `query:"argoProject" maxLength:"253" doc:"Only those of this Argo project" example:"default"`
	Service     string    `query:"service" maxLength:"210" doc:"Only those of this service" example:"org.acme.checkout"`
	Environment string    `query:"environment" maxLength:"210" doc:"Only those of this environment" example:"org.acme.production"`
}

type doraInput struct {
	DeliveryInput
	Group string `query:"group" enum:"application,service,environment,project,scope" doc:"Also figures for each of these; project is the Argo project"`
	By    string `query:"by" enum:"day,week" doc:"Interval of the series; default: days"`
}

const (
	// doraTime is what is measured by default, longestDORA the longest that can be.
	doraTime, longestDORA = 30 * 24 * time.Hour, 400 * 24 * time.Hour
)

func (in *DeliveryInput) filter(now time.Time) (f api.LedgerFilter, err error) {
	options, err := (&core.SelectInput{Scope: in.Scope}).Selection()
	if err != nil {
		return f, err
	}
	f = api.LedgerFilter{
		ListOptions: options, From: in.From, To: in.To, Agent: in.Agent, Namespace: in.Namespace, Name: in.Name, ArgoProject: in.ArgoProject,
		Service: in.Service, Environment: in.Environment,
	}
	if f.To.IsZero() {
		f.To = now
	}
	if f.From.IsZero() {
		f.From = f.To.Add(-doraTime)
	}
	if !f.From.Before(f.To) || f.To.Sub(f.From) > longestDORA {
		return f, &api.Error{Code: api.CodeInvalid, Message: "from is before to, and at most 400 days before it", Field: "query.from"}
	}
	return f, nil
}

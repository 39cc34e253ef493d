package delivery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
)

// stageNames are names of environments that are known at the end of the name of
// an application, and whether they are of production.
//
//nolint:gochecknoglobals // a table
var stageNames = map[string]bool{
	"dev": false, "development": false, "test": false, "testing": false, "qa": false, "int": false, "integration": false,
	"stage": false, "staging": false,
	"uat": false, "preprod": false, "pre-prod": false, "preproduction": false, "demo": false, "sandbox": false,
	"prod": true, "prd": true, "production": true, "live": true,
}

// LinkApplications finds services and environments for the applications of an
// agent that lack one, and makes and links what is missing. may is asked before
// anything is made, perhaps more than once; with dryRun nothing is.
func (s *Links) LinkApplications(ctx context.Context, agent string, dryRun bool,
	may func(api.LinkPlan) error,
) (plan api.LinkPlan, err error) {
	do := s.db.Write
	if dryRun {
		do = s.db.Read
	}
	err = do(ctx, func(t db.Tx) error {
		if _, err := fleet.AgentKind().Get(ctx, t, agent); err != nil {
			return err
		}
		if !dryRun {
			if err := LockLinks(ctx, t, true); err != nil {
				return err
			}
		}
		if plan, err = propose(ctx, t, agent, nil); err != nil {
			return fmt.Errorf("find services of applications: %w", err)
		}
		if err := may(plan); err != nil || dryRun {
			return err
		}
		return carryOut(ctx, t, plan)
	})
	return plan, err
}

// propose says what those applications of an agent would be linked to that have
// some ids; for nil, what all would be.
func propose(ctx context.Context, t db.Tx, agent string, only map[string]bool) (api.LinkPlan, error) {
	plan := api.LinkPlan{Items: []api.LinkProposal{}, Services: []string{}, Environments: []string{}}
	var apps []Linkable
	query := "SELECT namespace, name, scope, labels, destination FROM item WHERE kind = ? AND agent_id = ? AND stale_since = 0 ORDER BY id"
	err := t.Each(ctx, query, []any{api.KindApplication, agent}, func(row db.Row) error {
		var a Linkable
		err := row.Scan(&a.Namespace, &a.Name, (*string)(&a.Scope), db.Decode(&a.Labels), &a.Destination)
		if only == nil || only[api.ItemID(agent, a.Namespace, a.Name)] {
			apps = append(apps, a)
		}
		return err
	})
	if err != nil {
		return plan, err
	}
	p := proposer{plan: &plan, agent: agent}
	if p.linker, err = NewLinker(ctx, t, agent, apps); err != nil {
		return plan, err
	}
	for table, into := range map[string]*map[string]bool{"service": &p.services, "environment": &p.environments} {
		known, err := db.Column[string](ctx, t, "SELECT id FROM "+table)
		if err != nil {
			return plan, err
		}
		*into = db.Set(known)
	}
	for _, a := range apps {
		p.add(a)
	}
	slices.Sort(plan.Services)
	slices.Sort(plan.Environments)
	return plan, nil
}

// proposer makes a plan of what is known.
type proposer struct {
	plan                   *api.LinkPlan
	agent                  string
	linker                 *Linker
	services, environments map[string]bool // ids that there are, or will be
}

// add proposes what an application lacks.
func (p *proposer) add(a Linkable) {
	now := p.linker.Of(a)
	out := api.LinkProposal{Application: api.ItemID(p.agent, a.Namespace, a.Name)}
	base, stage := p.split(a)
	var why []string
	if now.Service == "" {
		if id := nameable(a.Labels[api.LabelService], a.Scope); id != "" {
			out.Service = id
			why = append(why, "its label "+api.LabelService)
		} else if base != "" {
			out.Service, out.Link = nearest(base, a.Scope, p.services), true
			why = append(why, "its name")
		}
		out.MakesService = out.Service != "" && !p.services[out.Service]
	}
	if now.Environment == "" {
		if id := nameable(a.Labels[api.LabelEnvironment], a.Scope); id != "" {
			out.Environment = id
			why = append(why, "its label "+api.LabelEnvironment)
		} else if stage != "" {
			out.Environment, out.Link = nearest(stage, a.Scope, p.environments), true
			why = append(why, "its name, which ends in -"+stage)
		}
		out.MakesEnvironment = out.Environment != "" && !p.environments[out.Environment]
	}
	if out.Service == "" && out.Environment == "" {
		return
	}
	out.Why = strings.Join(why, ", ")
	if out.MakesService {
		p.services[out.Service] = true
		p.plan.Services = append(p.plan.Services, out.Service)
	}
	if out.MakesEnvironment {
		p.environments[out.Environment] = true
		p.plan.Environments = append(p.plan.Environments, out.Environment)
	}
	p.plan.Items = append(p.plan.Items, out)
}

// split takes the name of an environment off the end of an application's name:
// one that there is, or one that is usual. Of several the longest counts.
func (p *proposer) split(a Linkable) (base, stage string) {
	base = strings.ReplaceAll(a.Name, ".", "-")
	for at := 1; at < len(base)-1; at++ {
		if base[at] != '-' {
			continue
		}
		end := base[at+1:]
		_, usual := stageNames[end]
		if usual || p.environments[nearest(end, a.Scope, p.environments)] {
			base, stage = base[:at], end
			break
		}
	}
	if len(base) > api.MaxName {
		base = base[:api.MaxName]
	}
	base = strings.Trim(base, "-")
	if api.CheckName(base) != nil {
		return "", stage
	}
	return base, stage
}

// nameable is the id of what a label names and is not there: at the scope of the
// application. "" where it names nothing.
func nameable(name string, scope api.Scope) string {
	if ids := meanings(name, scope); len(ids) > 0 {
		return ids[0]
	}
	return ""
}

// nearest is the id of what a name means that is there, else of what would be
// made at the scope.
func nearest(name string, scope api.Scope, there map[string]bool) string {
	ids := meanings(name, scope)
	for _, id := range ids {
		if there[id] {
			return id
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

// carryOut makes and links what a plan says.
func carryOut(ctx context.Context, t db.Tx, plan api.LinkPlan) error {
	var errs []error
	for _, id := range plan.Services {
		scope, name, err := api.ParseID(id)
		if err == nil {
			err = Services().Insert(ctx, t, &api.Service{Meta: api.Meta{Name: name, Scope: scope}})
		}
		errs = append(errs, err)
	}
	for _, id := range plan.Environments {
		scope, name, err := api.ParseID(id)
		if err == nil {
			made := api.Environment{Meta: api.Meta{Name: name, Scope: scope}, Type: api.EnvironmentPreProduction}
			if stageNames[name] {
				made.Type = api.EnvironmentProduction
			}
			err = Environments().Insert(ctx, t, &made)
		}
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, p := range plan.Items {
		if !p.Link {
			continue
		}
		agent, namespace, name, err := api.ParseItemID(p.Application)
		if err != nil {
			return err
		}
		link, err := getLink(ctx, t, agent, namespace, name)
		if err != nil {
			return err
		}
		if link == nil {
			link = &api.ApplicationLink{}
		}
		link.Service, link.Environment = cmp.Or(p.Service, link.Service), cmp.Or(p.Environment, link.Environment)
		if err := setLink(ctx, t, agent, namespace, name, *link); err != nil {
			return err
		}
	}
	return nil
}

// FindCluster finds a cluster of an agent by name or address: its item without
// the resource. The cluster of the agent itself has the agent's scope and no
// name where its agent knows no Secret for it.
func (s *Links) FindCluster(ctx context.Context, agent, cluster string) (api.Item, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (item api.Item, err error) {
		of, err := fleet.AgentKind().Get(ctx, t, agent)
		if err != nil {
			return item, err
		}
		item = api.Item{Agent: agent, Kind: api.KindCluster, Scope: of.Scope}
		query := "SELECT namespace, name, scope, labels FROM item WHERE agent_id = ? AND kind = ? AND (title = ? " +
			"OR destination = ?) ORDER BY id LIMIT 1"
		err = t.One(ctx, query, []any{agent, api.KindCluster, cluster, cluster}, &item.Namespace, &item.Name, (*string)(&item.Scope),
			db.Decode(&item.Labels))
		if db.IsNotFound(err) && (cluster == api.InCluster || cluster == api.InClusterServer) {
			return item, nil
		}
		return item, db.Missing(err, "cluster", agent+"/"+cluster)
	})
}

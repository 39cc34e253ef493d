package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/test/bench/fleet/swarm"
)

// underWay bounds how many requests of one loop wait at a time: a server that falls behind is to show in the figures, not
// to be drowned.
const underWay = 16

// churn lets Applications change while people read lists and dashboards and give commands.
func (b *bench) churn(ctx context.Context, name string) error {
	queries, err := b.queries(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.o.length)
	defer cancel()
	begun := time.Now()
	told := &lags{since: map[string]time.Time{}}
	pages, dashboards, commands := &samples{}, &samples{}, &samples{}
	each := make([]samples, len(queries))
	changed := 0
	rng := rand.New(rand.NewPCG(b.o.seed, 1))
	executed := b.swarm.Executed()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		changed, err = b.swarm.Churn(ctx, b.o.churn, rng, func(agent int, name string) {
			told.begin(api.ItemID(b.world.Agents[agent], swarm.Namespace, name))
		})
		return err
	})
	g.Go(func() error {
		err := b.server.Admin.Events(ctx, client.EventOptions{}, func(e api.Event) error { told.end(e.Object.ID); return nil })
		return unlessOver(ctx, err)
	})
	g.Go(func() error {
		return pace(ctx, b.o.pages, pages, func(ctx context.Context, i int) error {
			q, begun := queries[i%len(queries)], time.Now()
			if _, err := q.by.Applications(ctx, q.filter); err != nil {
				return fmt.Errorf("read page %s: %w", q.name, err)
			}
			each[i%len(queries)].add(time.Since(begun))
			return nil
		})
	})
	g.Go(func() error {
		return pace(ctx, b.o.dashboards, dashboards, func(ctx context.Context, _ int) error { return b.dashboard(ctx) })
	})
	g.Go(func() error {
		return pace(ctx, b.o.commands, commands, func(ctx context.Context, i int) error {
			// The order of a permutation by a step that is prime to any size that is likely.
			target := api.Target{Agent: b.world.Agents[i*7919%b.o.agents], Namespace: swarm.Namespace, Name: swarm.AppName(i % b.o.applications)}
			_, err := b.server.Admin.Application(target).Operate(ctx, api.RefreshRequest{})
			return err
		})
	})
	if err := g.Wait(); err != nil {
		return err
	}
	for i := range queries {
		if len(each[i].values) > 0 {
			b.add(each[i].figure(name, "page of 100: "+queries[i].name, 0))
		}
	}
	b.add(
		pages.figure(name, "page of 100, all of these", limitPage),
		dashboards.figure(name, "dashboard: "+dashboardName, limitDashboard),
		commands.figure(name, "command round trip (refresh)", limitCommand),
		told.samples.figure(name, "change in the agent to event at a reader", 0),
		figure{Phase: name, Name: "changes made", Unit: "/s", Value: float64(changed) / time.Since(begun).Seconds()},
	)
	if done := b.swarm.Executed() - executed; done == 0 || len(told.samples.values) == 0 {
		return fmt.Errorf("%d commands were executed, %d events came: the figures are meaningless", done, len(told.samples.values))
	}
	return nil
}

// pace begins one piece of work after the other at a rate, whether those before have ended or not, and takes their times.
func pace(ctx context.Context, perSecond float64, took *samples, do func(context.Context, int) error) error {
	tick := time.NewTicker(time.Duration(float64(time.Second) / perSecond))
	defer tick.Stop()
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(underWay)
	for i := 0; ; i++ {
		select {
		case <-ctx.Done():
			return g.Wait()
		case due := <-tick.C:
			g.Go(func() error {
				err := do(ctx, i)
				// What the end of the phase cut off took at least that long: left out, the slowest would not count.
				took.add(time.Since(due))
				return unlessOver(ctx, err)
			})
		}
	}
}

// unlessOver drops the error of what the end of a phase cut off.
func unlessOver(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil && (errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.Canceled)) {
		return nil
	}
	return err
}

// lags are the times from a change to its event.
type lags struct {
	samples samples

	mu    sync.Mutex
	since map[string]time.Time
}

// begin notes that something changed. What changed twice before its report is measured from the first time.
func (l *lags) begin(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, waits := l.since[id]; !waits {
		l.since[id] = time.Now()
	}
}

func (l *lags) end(id string) {
	l.mu.Lock()
	since, waits := l.since[id]
	delete(l.since, id)
	l.mu.Unlock()
	if waits {
		l.samples.add(time.Since(since))
	}
}

// query is a page that a user looks at.
type query struct {
	name   string
	by     *client.Client
	filter api.ApplicationFilter
}

// queries are the pages that people look at.
func (b *bench) queries(ctx context.Context) ([]query, error) {
	page := func(change func(*api.ApplicationFilter)) api.ApplicationFilter {
		f := api.ApplicationFilter{ItemFilter: api.ItemFilter{ListOptions: api.ListOptions{Limit: 100}}}
		change(&f)
		return f
	}
	admin, team := b.server.Admin, swarm.Team(0)
	out := []query{
		{"first", admin, page(func(*api.ApplicationFilter) {})},
		{"by name", admin, page(func(f *api.ApplicationFilter) { f.Sort = "name" })},
		{"by time, newest first", admin, page(func(f *api.ApplicationFilter) { f.Sort = "-updatedAt" })},
		{"by end of operation", admin, page(func(f *api.ApplicationFilter) { f.Sort = "-finishedAt" })},
		{"by health", admin, page(func(f *api.ApplicationFilter) { f.Sort = "health" })},
		{"degraded, by name", admin, page(func(f *api.ApplicationFilter) { f.Health, f.Sort = []string{"Degraded"}, "name" })},
		{"healthy, by time", admin, page(func(f *api.ApplicationFilter) { f.Health, f.Sort = []string{"Healthy"}, "-updatedAt" })},
		{"out of sync", admin, page(func(f *api.ApplicationFilter) { f.Sync = []string{"OutOfSync"} })},
		{"by label", admin, page(func(f *api.ApplicationFilter) { f.Labels = map[string]string{"team": team} })},
		{"by two labels and sync", admin, page(func(f *api.ApplicationFilter) {
			f.Labels, f.Sync, f.Sort = map[string]string{"team": team, "tier": "critical"}, []string{"OutOfSync"}, "name"
		})},
		{"of an organization", admin, page(func(f *api.ApplicationFilter) { f.Scope, f.Sort = api.OrgScope(b.world.Project.Org()), "name" })},
		{"of a project", admin, page(func(f *api.ApplicationFilter) { f.Scope, f.Sort = b.world.Project, "name" })},
		{"of an Argo project", admin, page(func(f *api.ApplicationFilter) { f.ArgoProject = team })},
		{"of an agent", admin, page(func(f *api.ApplicationFilter) { f.Agent, f.Sort = b.world.Agents[0], "name" })},
		{"search, many hits", admin, page(func(f *api.ApplicationFilter) { f.Search, f.Sort = "cart", "name" })},
		{"search, one hit for each agent", admin, page(func(f *api.ApplicationFilter) { f.Search = swarm.AppName(b.o.applications - 1) })},
		{"search, nothing", admin, page(func(f *api.ApplicationFilter) { f.Search = "no such thing" })},
		{"of a repository", admin, page(func(f *api.ApplicationFilter) { f.RepoURL = "https://git.example.com/" + team + "/deploy-1.git" })},
		{"seen by a member of a project", b.world.Member, page(func(f *api.ApplicationFilter) { f.Sort = "name" })},
	}
	half := max(1, b.result.Applications/200)
	deep := page(func(f *api.ApplicationFilter) { f.Sort, f.Page = "name", half })
	out = append(out, query{"by name, skipping half", admin, deep})
	there, err := admin.Applications(ctx, deep)
	if err != nil {
		return nil, fmt.Errorf("find the middle of the list: %w", err)
	}
	if there.NextCursor != "" {
		out = append(out, query{
			"by name, on from the middle", admin, page(func(f *api.ApplicationFilter) { f.Sort, f.Cursor = "name", there.NextCursor }),
		})
	}
	return slices.Clip(out), nil
}

// dashboardName says of what a dashboard is made.
const dashboardName = "counts of all applications, all agents"

// dashboard reads what a first page shows: how many applications there are of what, and how all agents are.
func (b *bench) dashboard(ctx context.Context) error {
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		_, err := b.server.Admin.FleetSummary(ctx, api.FleetFilter{})
		return err
	})
	g.Go(func() error {
		_, err := b.server.Admin.AgentEntities().All(ctx, api.ListOptions{})
		return err
	})
	return g.Wait()
}

package app

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/desire"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// requestFlags describe a sync.
type requestFlags struct {
	revisions []string
	prune     bool
	dryRun    bool
	force     bool
	replace   bool
	server    bool
	applyOnly bool
	resources []string
	labels    []string
	options   []string
	local     []string
	reason    string
	retry     retryFlags
}

// retryFlags say how often a sync is tried again.
type retryFlags struct {
	limit    int64
	duration time.Duration
	longest  time.Duration
	factor   int64
	refresh  bool
}

func (f *requestFlags) addFlags(flags *pflag.FlagSet) {
	flags.StringArrayVar(&f.revisions, "revision", nil,
		"`commit`, tag or branch to sync to, instead of the target revision; with several sources, one for each in their order")
	flags.BoolVar(&f.prune, "prune", false, "delete objects that are no longer wanted")
	flags.BoolVar(&f.dryRun, "dry-run", false, "only test the changes against the API server")
	flags.BoolVar(&f.force, "force", false, "recreate objects that cannot be changed in place")
	flags.BoolVar(&f.replace, "replace", false, "replace objects instead of merging into them (sync option Replace=true)")
	flags.BoolVar(&f.server, "server-side", false,
		"use server-side apply, even if the application does not (sync option ServerSideApply=true)")
	flags.BoolVar(&f.applyOnly, "apply-only", false, "run no hooks")
	flags.StringArrayVar(&f.resources, "resource", nil, "only this `[GROUP/]KIND:[NAMESPACE/]NAME`, without hooks; repeat for several")
	flags.StringArrayVar(&f.labels, "label", nil,
		"only objects with these `labels`, for example tier=web, without hooks; all of several must match")
	flags.StringArrayVar(&f.options, "sync-option", nil, "`Name=value` to use for this sync in place of the application's own options")
	flags.StringArrayVar(&f.local, "local", nil,
		"`[URL=]DIR`: sync what the files of a local directory render to, instead of Git; automated sync must be off")
	flags.StringVar(&f.reason, "reason", "", "reason, for later readers")
	flags.Int64Var(&f.retry.limit, "retry-limit", 0, "how often to try again after a failure; below 0 without end")
	flags.DurationVar(&f.retry.duration, "retry-backoff-duration", 0, "wait before the first further attempt (default 5s)")
	flags.DurationVar(&f.retry.longest, "retry-backoff-max-duration", 0, "longest wait between attempts (default 3m)")
	flags.Int64Var(&f.retry.factor, "retry-backoff-factor", 0, "what the wait is multiplied by after each attempt (default 2)")
	flags.BoolVar(&f.retry.refresh, "retry-refresh", false, "use a newer revision for the next attempt, if there is one")
}

// check finds flags that make no sense, before anything is asked of a cluster.
func (f *requestFlags) check() error {
	if len(f.local) > 0 && len(f.revisions) > 0 {
		return iostream.Usagef("give --local or --revision, not both: a directory has no revisions")
	}
	r := f.retry
	switch {
	case r.limit == 0 && (r.duration != 0 || r.longest != 0 || r.factor != 0 || r.refresh):
		return iostream.Usagef("--retry-backoff-... and --retry-refresh are about further attempts: add --retry-limit")
	case r.duration < 0 || r.longest < 0 || r.factor < 0:
		return iostream.Usagef("--retry-backoff-... cannot be negative")
	}
	req, err := f.plain()
	if err != nil {
		return err
	}
	return usage(operate.CheckSync(req))
}

// plain is the request as far as flags alone say it.
func (f *requestFlags) plain() (api.SyncRequest, error) {
	objects, err := parseObjects(f.resources)
	return api.SyncRequest{
		Revisions: f.revisions, Prune: f.prune, DryRun: f.dryRun, Force: f.force, Replace: f.replace, ServerSide: f.server,
		ApplyOnly: f.applyOnly, Objects: objects, Labels: f.labels, Options: f.options, Retry: f.retry.request(), Reason: f.reason,
	}, err
}

func (f retryFlags) request() *api.SyncRetry {
	if f == (retryFlags{}) {
		return nil
	}
	out := &api.SyncRetry{Limit: f.limit, Factor: f.factor, Refresh: f.refresh}
	if f.duration > 0 {
		out.Duration = f.duration.String()
	}
	if f.longest > 0 {
		out.MaxDuration = f.longest.String()
	}
	return out
}

// errand builds the request for one Application. Directories are rendered here; labels are looked for here at a cluster,
// and by the agent at a server.
func (f *requestFlags) errand(ctx context.Context, common *connect.Common, name string) (errand, error) {
	req, err := f.plain()
	if err != nil {
		return errand{}, err
	}
	server, err := common.Server()
	if err != nil {
		return errand{}, err
	}
	if server == nil && (len(f.labels) > 0 || len(f.local) > 0) {
		if req, err = f.atCluster(ctx, common, name, req); err != nil {
			return errand{}, usage(err)
		}
	} else if len(f.local) > 0 {
		app, err := server.Get(ctx, name)
		if err != nil {
			return errand{}, err
		}
		// What charts ask about the cluster is not known here.
		if req.Manifests, err = f.localManifests(ctx, &app.Application, render.Capabilities{}); err != nil {
			return errand{}, usage(err)
		}
	}
	by := who()
	return errand{req, func(app *v1alpha1.Application) (operate.Change, error) { return operate.Sync(app, req, by, time.Now()) }}, nil
}

// atCluster fills in what a cluster has to be asked for.
func (f *requestFlags) atCluster(ctx context.Context, common *connect.Common, name string, req api.SyncRequest) (api.SyncRequest, error) {
	cluster, err := common.Connect()
	if err != nil {
		return req, err
	}
	got, err := cluster.Apps.Get(ctx, name)
	if err != nil {
		return req, err
	}
	app := &got.Application
	if len(f.labels) > 0 {
		objects, err := f.labelled(ctx, common, cluster, app)
		if err != nil {
			return req, err
		}
		if req, err = operate.Select(app, req, objects); err != nil {
			return req, err
		}
	}
	if len(f.local) > 0 {
		if err := operate.MayLocal(app, f.dryRun); err != nil {
			return req, err
		}
		capabilities, err := desire.Capabilities(cluster)
		if err != nil {
			return req, err
		}
		if req.Manifests, err = f.localManifests(ctx, app, capabilities); err != nil {
			return req, err
		}
	}
	return req, nil
}

// labelled gives the objects among which labels choose: those that are wanted, and those that would be pruned.
func (f *requestFlags) labelled(ctx context.Context, common *connect.Common, cluster *connect.Cluster,
	app *v1alpha1.Application,
) ([]object.Manifest, error) {
	if err := inCluster(app); err != nil {
		return nil, err
	}
	revision := ""
	if len(f.revisions) > 0 {
		revision = f.revisions[0]
	}
	wanted, err := desired(ctx, common, cluster, app, f.local, revision)
	if err != nil || !f.prune {
		return wanted, err
	}
	gone := app.DeepCopy()
	gone.Status.Resources = slices.DeleteFunc(gone.Status.Resources, func(r v1alpha1.ResourceStatus) bool { return !r.Leftover() })
	live, err := liveManifests(ctx, cluster, gone)
	return append(wanted, live...), err
}

// localManifests renders directories.
func (f *requestFlags) localManifests(ctx context.Context, app *v1alpha1.Application, capabilities render.Capabilities) ([]string, error) {
	if err := operate.MayLocal(app, f.dryRun); err != nil {
		return nil, err
	}
	local, err := desire.OpenLocal(f.local)
	if err != nil {
		return nil, err
	}
	defer local.Close()
	remote, err := desire.Surroundings(app.Spec.ProjectName())
	if err != nil {
		return nil, err
	}
	defer remote.Close()
	local.Elsewhere = remote
	objects, err := desire.Render(ctx, app, local, desire.Options{Cluster: capabilities})
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", app.Name, err)
	}
	return operate.Locals(app, objects)
}

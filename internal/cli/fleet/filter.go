package fleet

import (
	"cmp"
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/service"
)

// What flags that choose can say.
func syncs() []string { return []string{"Synced", "OutOfSync", "Unknown"} }

func healths() []string {
	return []string{"Healthy", "Progressing", "Degraded", "Suspended", "Missing", "Unknown"}
}

func phases() []string {
	return []string{"Running", "Terminating", "Succeeded", "Failed", "Error"}
}

func types() []string {
	return []string{api.EnvironmentProduction, api.EnvironmentPreProduction}
}

// choice says which applications a command is about.
type choice struct {
	api.FleetFilter
	view, scope string
	labels      []string
	flags       *pflag.FlagSet
}

// addFlags registers the flags of a filter; without the one that begins with a saved filter where that is to be saved.
func (o *choice) addFlags(common *connect.Common, cmd *cobra.Command, saved bool) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	if saved {
		flags.StringVar(&o.view, "view", "", "start from the saved filter of this `name`; other flags override it")
	}
	flags.StringVar(&o.Search, "search", "", "only applications with this `text` in name, namespace, repository or cluster")
	flags.StringSliceVarP(&o.labels, "selector", "l", nil,
		"only those with this `label`, key=value or key; with commas, or repeated, all of them")
	flags.StringVar(&o.scope, "scope", "", "only those of this `scope` or below it")
	flags.StringVar(&o.Agent, "agent", "", "only those of this `agent`, by id or name")
	flags.StringVar(&o.Cluster, "cluster", "", "only those that deploy to this `cluster`, by name or address")
	flags.StringVarP(&o.Namespace, "namespace", "n", "", "only Applications in this `namespace`")
	flags.StringVar(&o.ArgoProject, "project", "", "only those of this Argo `project`")
	flags.StringVar(&o.Service, "service", "", "only those of this `service`, by id or name")
	flags.StringVar(&o.Environment, "environment", "", "only those of this `environment`, by id or name")
	flags.StringVar(&o.Region, "region", "", "only those of environments of this `region`")
	flags.StringVar(&o.FleetFilter.Type, "type", "", "only those of environments of this type: `Production|PreProduction`")
	flags.StringVar(&o.Version, "version", "", "only those that run this `version`")
	flags.StringVar(&o.RepoURL, "repo", "", "only those with a source in this repository, by `URL`")
	flags.StringSliceVar(&o.Sync, "sync", nil, "only `Synced|OutOfSync|Unknown`; with commas, any of them")
	flags.StringSliceVar(&o.Health, "health", nil, "only `Healthy|Progressing|Degraded|Suspended|Missing|Unknown`; with commas, any of them")
	flags.StringSliceVar(&o.Phase, "phase", nil,
		"only those whose last operation is `Running|Terminating|Succeeded|Failed|Error`; with commas, any of them")
	flags.StringSliceVar(&o.Attention, "attention", nil,
		"only those that need attention: `SourceError|Degraded|SyncFailed|Held|OutOfSync|NeverDeployed`; with commas, any of them")
	flags.BoolVar(&o.Held, "held", false, "only those whose sync or deletion is held: by a sync window, or until a user confirms it")
	flags.BoolVar(&o.Stale, "stale", false, "only those whose state may be out of date: their agent is away, or no longer reports them")
	flags.StringVar(&o.DriftOlder, "drift-older", "", "only those that are out of sync for longer than this `time`: 90m, 36h, 7d")
	flags.StringVar(&o.Since, "since", "", "only those whose last operation ended within this `time` before now")
	o.flags = flags
	cmd.Flags().AddFlagSet(flags)
	fixed(cmd, "sync", syncs()...)
	fixed(cmd, "health", healths()...)
	fixed(cmd, "phase", phases()...)
	fixed(cmd, "attention", api.ApplicationAttentionKinds()...)
	fixed(cmd, "type", types()...)
	if saved {
		_ = cmd.RegisterFlagCompletionFunc("view", completeViews(common)) // it is there
	}
}

// given reports whether any filter was set.
func (o *choice) given() bool {
	any := false
	o.flags.VisitAll(func(f *pflag.Flag) { any = any || f.Changed })
	return any
}

// check reads what can be read without a server.
func (o *choice) check() (err error) {
	if o.scope != "" {
		if o.Scope, err = api.ParseScope(o.scope); err != nil {
			return iostream.Usagef("--scope: %w", err)
		}
	}
	if o.Labels, err = noun.ReadLabels(o.labels); err != nil {
		return err
	}
	err = cmp.Or(noun.OneOf("sync", syncs(), o.Sync...), noun.OneOf("health", healths(), o.Health...),
		noun.OneOf("phase", phases(), o.Phase...), noun.OneOf("attention", api.ApplicationAttentionKinds(), o.Attention...),
		noun.OneOf("type", types(), o.FleetFilter.Type))
	if err != nil {
		return err
	}
	if _, _, err = o.Times(time.Time{}); err != nil {
		return iostream.Usagef("%w", err)
	}
	return nil
}

// filter is the whole filter, as a server takes it.
func (o *choice) filter(ctx context.Context, s *connect.Server) (f api.FleetFilter, err error) {
	f = o.FleetFilter
	if f.Service, err = service.Service(ctx, s, f.Service); err != nil {
		return f, err
	}
	if f.Environment, err = service.Environment(ctx, s, f.Environment); err != nil {
		return f, err
	}
	if f.Agent, err = service.Agent(ctx, s, f.Agent); err != nil {
		return f, err
	}
	if o.view == "" {
		return f, nil
	}
	v, err := s.Client.View(ctx, o.view, false)
	if err != nil {
		return f, s.Explain(err)
	}
	return f.Over(v.Filter), nil
}

// ask checks the flags, and gives the server and the whole filter.
func (o *choice) ask(ctx context.Context, common *connect.Common) (*connect.Server, api.FleetFilter, error) {
	if err := o.check(); err != nil {
		return nil, api.FleetFilter{}, err
	}
	s, err := common.MustServer()
	if err != nil {
		return nil, api.FleetFilter{}, err
	}
	filter, err := o.filter(ctx, s)
	return s, filter, err
}

// words are a filter as one would write it on the command line.
func words(f *api.FleetFilter) string {
	var out []string
	add := func(flag, value string) {
		if value != "" {
			out = append(out, "--"+flag+" "+value)
		}
	}
	add("search", f.Search)
	add("selector", noun.Labels(f.Labels))
	add("scope", string(f.Scope))
	add("agent", f.Agent)
	add("cluster", f.Cluster)
	add("namespace", f.Namespace)
	add("project", f.ArgoProject)
	add("service", f.Service)
	add("environment", f.Environment)
	add("region", f.Region)
	add("type", f.Type)
	add("version", f.Version)
	add("repo", f.RepoURL)
	add("sync", strings.Join(f.Sync, ","))
	add("health", strings.Join(f.Health, ","))
	add("phase", strings.Join(f.Phase, ","))
	add("attention", strings.Join(f.Attention, ","))
	if f.Held {
		out = append(out, "--held")
	}
	if f.Stale {
		out = append(out, "--stale")
	}
	add("drift-older", f.DriftOlder)
	add("since", f.Since)
	return strings.Join(out, " ")
}

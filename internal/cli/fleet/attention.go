package fleet

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/service"
)

type attentionOptions struct {
	*connect.Common
	scope, agent string
	kinds        []string
	limit        int
}

func newAttentionCmd(common *connect.Common) *cobra.Command {
	o := attentionOptions{Common: common}
	cmd := &cobra.Command{
		Use: "attention", Short: "List what needs attention, the worst first", Args: cobra.NoArgs,
		Long: "List what needs attention, the worst first: applications whose source cannot be read or compared, degraded or missing ones,\n" +
			"failed syncs, held syncs, agents that are away or not well, and applications that have been out of sync for more than an\n" +
			"hour. Applications that were never deployed come last, apart from the others.",
		Example: "  slipway fleet attention\n  slipway fleet attention --kind SourceError,SyncFailed --scope org.acme\n  slipway fleet " +
			"attention --agent prod -o json",
		RunE: func(cmd *cobra.Command, _ []string) error { return attentionRun(cmd.Context(), &o) },
	}
	cmd.Flags().StringVar(&o.scope, "scope", "", "only those of this `scope` or below it")
	cmd.Flags().StringVar(&o.agent, "agent", "", "only this `agent` and its applications, by id or name")
	cmd.Flags().StringSliceVar(&o.kinds, "kind", nil,
		"only `SourceError|Degraded|SyncFailed|Held|AgentAway|AgentDegraded|OutOfSync|NeverDeployed`; with commas, any of them")
	cmd.Flags().IntVar(&o.limit, "limit", 20, "how many rows at most, from 1 to 100; as many again of applications that were never deployed")
	fixed(cmd, "kind", api.AttentionKinds()...)
	return cmd
}

func attentionRun(ctx context.Context, o *attentionOptions) error {
	filter := api.AttentionFilter{Kinds: o.kinds, Limit: o.limit}
	if o.limit < 1 || o.limit > api.MaxAttention {
		return iostream.Usagef("--limit is from 1 to %d", api.MaxAttention)
	}
	if err := noun.OneOf("kind", api.AttentionKinds(), o.kinds...); err != nil {
		return err
	}
	var err error
	if o.scope != "" {
		if filter.Scope, err = api.ParseScope(o.scope); err != nil {
			return iostream.Usagef("--scope: %w", err)
		}
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if filter.Agent, err = service.Agent(ctx, s, o.agent); err != nil {
		return err
	}
	found, err := s.Client.FleetAttention(ctx, filter)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, found)
	}
	rows, now := &iostream.Rows{Header: []string{"KIND", "WHERE", "SINCE", "WHAT", "MESSAGE"}}, time.Now()
	for _, list := range [][]api.AttentionItem{found.Items, found.NeverDeployed} {
		for i := range list {
			item := &list[i]
			what := item.What
			if item.Stale && item.Object.Type == api.TypeApplication {
				what += " (as of " + noun.Time(item.AsOf) + ")"
			}
			rows.Add(item.Kind, item.Object.ID, noun.Ago(item.Since, now), what, item.Message)
		}
	}
	if rows.Len() == 0 {
		o.Sayf("nothing that you may see needs attention")
		return nil
	}
	for _, c := range found.Counts {
		shown := int64(0)
		for _, list := range [][]api.AttentionItem{found.Items, found.NeverDeployed} {
			for i := range list {
				if list[i].Kind == c.Value {
					shown++
				}
			}
		}
		if more := c.Count - shown; more > 0 {
			o.Sayf("%s: %s more: raise --limit, or give --kind %s", c.Value, strconv.FormatInt(more, 10), c.Value)
		}
	}
	return o.Table(rows)
}

package app

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

type historyOptions struct {
	*access.Common
	name string
}

func newHistoryCmd(common *access.Common) *cobra.Command {
	o := historyOptions{Common: common}
	return &cobra.Command{
		Use:     "history NAME",
		Short:   "List what was deployed, when, and who asked for it",
		Example: "  slipway app history web\n  slipway app history web -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return historyRun(cmd.Context(), o)
		},
	}
}

func historyRun(ctx context.Context, o historyOptions) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	app, err := cluster.Apps.Get(ctx, o.name)
	if err != nil {
		return err
	}
	if o.Output != iostream.Table {
		history := app.Status.History
		if history == nil {
			history = []v1alpha1.RevisionHistory{}
		}
		return o.Print(o.Output, map[string]any{"items": history})
	}
	rows := iostream.Rows{Header: []string{"ID", "REVISION", "DEPLOYED", "BY"}}
	for _, h := range app.Status.History {
		rows.Add(strconv.FormatInt(h.ID, 10), revisions(h.Revision, h.Revisions), timeText(&h.DeployedAt), initiator(h.InitiatedBy))
	}
	if rows.Len() == 0 {
		o.Sayf("application %s was not synced yet", o.name)
		return nil
	}
	return o.Streams.Table(&rows)
}

func initiator(by v1alpha1.OperationInitiator) string {
	if by.Automated {
		return "automated sync"
	}
	return by.Username
}

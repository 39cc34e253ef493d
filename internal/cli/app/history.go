package app

import (
	"cmp"
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type historyOptions struct {
	*connect.Common
	name string
}

func newHistoryCmd(common *connect.Common) *cobra.Command {
	o := historyOptions{Common: common}
	return &cobra.Command{
		Use:     "history NAME",
		Short:   "List deployments with time, user, reason and commit",
		Example: "  slipway app history web\n  slipway app history web -o json",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return historyRun(cmd.Context(), o)
		},
	}
}

func historyRun(ctx context.Context, o historyOptions) error {
	_, app, err := find(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	notes, err := mark.ReadNotes(app)
	if err != nil {
		o.Sayf("warning: %v; reasons and commits can be missing in the list", err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, map[string]any{"items": noted(app.Status.History, notes)})
	}
	rows := iostream.Rows{Header: []string{"ID", "REVISION", "DEPLOYED", "BY", "REASON", "AUTHOR", "COMMIT"}}
	for _, d := range noted(app.Status.History, notes) {
		by := operate.Initiator(d.InitiatedBy)
		note := v1alpha1.Note{}
		if d.Note != nil {
			note = *d.Note
		}
		rows.Add(strconv.FormatInt(d.ID, 10), revisions(d.Revision, d.Revisions), timeText(&d.DeployedAt), cmp.Or(note.By, by),
			note.Reason, note.Author, note.Subject)
	}
	if rows.Len() == 0 {
		o.Sayf("application %s was not synced yet", o.name)
		return nil
	}
	return o.Streams.Table(&rows)
}

// deployment is one entry of the history, and what is noted about it.
type deployment struct {
	v1alpha1.RevisionHistory
	Note *v1alpha1.Note `json:"note,omitempty"`
}

func noted(history []v1alpha1.RevisionHistory, notes map[int64]v1alpha1.Note) []deployment {
	out := make([]deployment, 0, len(history))
	for _, h := range history {
		d := deployment{RevisionHistory: h}
		if note, ok := notes[h.ID]; ok {
			d.Note = &note
		}
		out = append(out, d)
	}
	return out
}

package app

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type confirmOptions struct {
	*connect.Common
	name   string
	yes    bool
	reason string
	dryRun bool
}

func newConfirmCmd(common *connect.Common) *cobra.Command {
	o := confirmOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "confirm NAME",
		Short: "Confirm a sync or a deletion that waits for approval",
		Long: "List what would be deleted, ask, and let it continue. The confirmation is for exactly that set of objects: if the\n" +
			"set changes before they are deleted, the agent asks again.",
		Example: "  slipway app confirm web --dry-run    # only list what would be deleted\n  slipway app confirm web --yes",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return confirmRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	cmd.Flags().StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only list what would be deleted")
	return cmd
}

func confirmRun(ctx context.Context, o confirmOptions) error {
	site, app, err := find(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	q := operate.Asks(app)
	if q == nil {
		o.Sayf("%s: nothing waits for a confirmation", o.name)
		return nil
	}
	if err := o.show(q); err != nil || o.dryRun {
		return err
	}
	if !o.yes {
		if err := o.ask(len(q.Objects)); err != nil {
			return err
		}
	}
	// Exactly what was shown: if it has changed in the meantime, nothing is confirmed.
	req := api.ConfirmRequest{Plan: q.Plan, Reason: o.reason}
	if q.Plan == "" {
		req.Message = q.Message
	}
	_, err = errand{req, func(app *v1alpha1.Application) (operate.Change, error) {
		return operate.Confirm(app, req, who(), time.Now())
	}}.ask(ctx, site, o.name)
	if err != nil {
		return err
	}
	o.Sayf("%s: confirmed; `slipway app wait %s` follows what becomes of it", o.name, o.name)
	return nil
}

// show lists what would go.
func (o *confirmOptions) show(q *operate.Question) error {
	if o.Output != iostream.Table {
		items := make([]any, 0, len(q.Objects))
		for _, k := range q.Objects {
			items = append(items, map[string]any{"group": k.Group, "kind": k.Kind, "namespace": k.Namespace, "name": k.Name})
		}
		return o.Print(o.Output, map[string]any{"message": q.Message, "plan": q.Plan, "items": items})
	}
	o.Sayf("%s: %s", o.name, q.Message)
	rows := iostream.Rows{Header: []string{"KIND", "OBJECT"}}
	for _, k := range q.Objects {
		rows.Add(kindText(k.Group, k.Kind), objectText(k.Namespace, k.Name))
	}
	if q.Plan != "" && plan.Digest(q.Objects) != q.Plan {
		o.Sayf("warning: the list is not exactly what plan %s deletes: some of it is kept or was found later; the message above is what counts",
			q.Plan)
	}
	if rows.Len() == 0 {
		return nil
	}
	return o.Streams.Table(&rows)
}

// ask reads the answer of a person.
func (o *confirmOptions) ask(count int) error {
	what := fmt.Sprintf("Delete %d objects?", count)
	if count == 0 { // the message above names them
		what = "Let it go on?"
	}
	_, _ = fmt.Fprint(o.Err, what+" [y/N] ")
	const longest = 64
	line, err := bufio.NewReader(io.LimitReader(o.In, longest)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("read the answer: %w", err)
	}
	if answer := strings.ToLower(strings.TrimSpace(line)); answer != "y" && answer != "yes" {
		return errors.New("not confirmed, nothing was deleted; answer y, or give --yes")
	}
	return nil
}

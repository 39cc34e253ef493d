// Package audit is `slipway audit`: what was done, by whom and why.
package audit

import (
	"context"
	"fmt"
	"io"
	"os"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

type options struct {
	*connect.Common
	api.AuditFilter
	noun.Span
	limit int
}

func (o *options) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.Actor, "actor", "", "only actions of this `user`, service account or agent")
	flags.StringVar(&o.Action, "action", "", "only this `action`, such as application.sync; with a dot at the end all of a noun")
	flags.StringVar(&o.ObjectType, "type", "", "only actions on objects of this `type`, such as application")
	flags.StringVar(&o.ObjectID, "object", "", "only actions on the object with this `id`")
	flags.StringVar(&o.Outcome, "outcome", "", "only what ended like this: `succeeded|failed|denied`")
	flags.StringVar(&o.RequestID, "request", "", "only actions of the request with this `id`")
	o.Span.AddFlags(flags, "only what was done ")
}

// NewCmd returns the command `audit` with its verbs.
func NewCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "audit", Short: "What was done, by whom and why",
		Example: "  slipway audit list --from 24h --action application.\n  slipway audit verify",
	}
	cmd.AddCommand(newListCmd(common), newVerifyCmd(common), newExportCmd(common))
	return cmd
}

func newListCmd(common *connect.Common) *cobra.Command {
	o := options{Common: common}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List actions, the newest first", Args: cobra.NoArgs,
		Example: "  slipway audit list --actor ada --from 24h\n  slipway audit list --object account.prod/argocd/shop -o json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), o) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.limit, "limit", api.DefaultLimit, "how many at most")
	return cmd
}

func listRun(ctx context.Context, o options) error {
	if err := o.Read(&o.From, &o.To); err != nil {
		return err
	}
	if o.limit < 1 {
		return iostream.Usagef("--limit is at least 1")
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	all, _, err := noun.Pages(o.ListOptions, o.limit, func(options api.ListOptions) (api.Page[api.AuditEntry], error) {
		o.ListOptions = options
		return s.Client.Audit(ctx, o.AuditFilter)
	})
	if err != nil {
		return s.Explain(err)
	}
	return noun.PrintList(o.Common, all, []string{
		"ID", "TIME", "WHO", "ACTION", "OBJECT", "OUTCOME", "REASON", "MESSAGE",
	}, func(e *api.AuditEntry) []string {
		return []string{
			strconv.FormatInt(e.ID, 10), noun.Time(e.At), e.Actor.Type + " " + e.Actor.ID, e.Action, e.Object.ID, e.Outcome, e.Reason, e.Message,
		}
	}, "nothing that you may see was done")
}

func newExportCmd(common *connect.Common) *cobra.Command {
	o := options{Common: common}
	var format, file string
	cmd := &cobra.Command{
		Use: "export", Short: "Write all entries, the oldest first, as JSON lines or CSV", Args: cobra.NoArgs,
		Example: "  slipway audit export --from 720h > audit.jsonl\n  slipway audit export --format csv --file audit.csv",
		RunE:    func(cmd *cobra.Command, _ []string) error { return exportRun(cmd.Context(), o, format, file) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().StringVar(&format, "format", "jsonl", "`jsonl|csv`")
	cmd.Flags().StringVar(&file, "file", "", "`file` to write (default standard output)")
	return cmd
}

func exportRun(ctx context.Context, o options, format, file string) error {
	if format != "jsonl" && format != "csv" {
		return iostream.Usagef("--format is jsonl or csv, not %q", format)
	}
	if err := o.Read(&o.From, &o.To); err != nil {
		return err
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	body, err := s.Client.ExportAudit(ctx, o.AuditFilter, format)
	if err != nil {
		return s.Explain(err)
	}
	defer func() { _ = body.Close() }() // its end shows when it is read
	out := o.Out
	if file != "" {
		f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) //nolint:gosec // the user names it
		if err != nil {
			return fmt.Errorf("write export: %w", err)
		}
		defer func() { _ = f.Close() }() // an early return has its own error
		out = f
		n, err := io.Copy(f, body)
		if err != nil {
			return fmt.Errorf("export ended early, %s is not whole: %w; remove it and try again", file, err)
		}
		if err := f.Close(); err != nil {
			return fmt.Errorf("write export: %w", err)
		}
		o.Sayf("%d bytes written to %s", n, file)
		return nil
	}
	if _, err := io.Copy(out, body); err != nil {
		return fmt.Errorf("export ended early, what was written is not whole: %w; try again", err)
	}
	return nil
}

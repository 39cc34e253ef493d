package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// pages reads up to limit items. more is how many there are that it did not read.
func pages[T any](f api.LedgerFilter, limit int, read func(api.LedgerFilter) (api.Page[T], error)) (all []T, more int64, err error) {
	all, total, err := noun.Pages(f.ListOptions, limit, func(options api.ListOptions) (api.Page[T], error) {
		f.ListOptions = options
		return read(f)
	})
	return all, max(0, total-int64(len(all))), err
}

// sayMore says that a list was cut.
func sayMore(common *connect.Common, more int64) {
	if more > 0 && common.Output == iostream.Table {
		common.Sayf("there are %d more, older ones: raise --limit, or narrow the time with --from and --to", more)
	}
}

func newListCmd(common *connect.Common) *cobra.Command {
	o := entries{choice: choice{Common: common}}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List operations, the newest first", Args: cobra.NoArgs,
		Example: "  slipway ledger list --app shop --changed\n  slipway ledger list --environment org.acme.production --from 2030-06-01 -o json",
		RunE:    func(cmd *cobra.Command, _ []string) error { return listRun(cmd.Context(), o) },
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.limit, "limit", api.DefaultLimit, "how many at most")
	return cmd
}

func listRun(ctx context.Context, o entries) error {
	s, err := o.begin(ctx)
	if err != nil {
		return err
	}
	all, more, err := pages(o.LedgerFilter, o.limit,
		func(f api.LedgerFilter) (api.Page[api.LedgerEntry], error) { return s.Client.Ledger(ctx, f) })
	if err != nil {
		return s.Explain(err)
	}
	defer sayMore(o.Common, more)
	return noun.PrintList(o.Common, all, []string{
		"ID", "ENDED", "APPLICATION", "ACTION", "PHASE", "REVISION", "CHANGES", "BY", "REASON",
	}, func(e *api.LedgerEntry) []string {
		return []string{
			e.ID, noun.Time(e.FinishedAt), application(e), action(e), e.Phase, shortRevision(e.Revision), counts(e.Counts), who(e), e.Reason,
		}
	}, "no operation that you may see")
}

type showOptions struct {
	*connect.Common
	id        string
	manifests bool
}

func newShowCmd(common *connect.Common) *cobra.Command {
	o := showOptions{Common: common}
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show the request, decisions, manifests and changes of one operation", Args: cobra.ExactArgs(1),
		Example: "  slipway ledger show 6b1f0c5a9d2e4f708192a3b4c5d6e7f8\n  slipway ledger show 6b1f0c5a9d2e4f708192a3b4c5d6e7f8 --manifests",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.id = args[0]
			return showRun(cmd.Context(), o)
		},
	}
	cmd.Flags().BoolVar(&o.manifests, "manifests", false, "print the manifests that it rendered, secrets as hashes")
	return cmd
}

func showRun(ctx context.Context, o showOptions) error {
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if o.manifests {
		found, err := s.Client.LedgerManifests(ctx, o.id, api.LedgerKey{})
		if err != nil {
			return s.Explain(err)
		}
		return printManifests(o.Common, found)
	}
	d, err := s.Client.LedgerEntry(ctx, o.id)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, d)
	}
	if err := noun.Facts(o.Common, &iostream.Rows{Header: []string{"FIELD", "VALUE"}}, d.LedgerEntry); err != nil {
		return err
	}
	rows := iostream.Rows{Header: []string{"OBJECT", "CHANGE", "OUTCOME", "MESSAGE"}}
	for _, c := range d.Changes {
		rows.Add(objectText(c.LedgerKey), c.Verb, c.Outcome, c.Message)
	}
	if rows.Len() > 0 {
		fmt.Fprintln(o.Out)
		if err := o.Table(&rows); err != nil {
			return err
		}
	}
	fmt.Fprintln(o.Out)
	return o.Table(objectRows(d.Objects))
}

func objectRows(list []api.LedgerObject) *iostream.Rows {
	rows := &iostream.Rows{Header: []string{"OBJECT", "HASH", "IMAGES"}}
	for _, x := range list {
		hash := x.Hash[:min(12, len(x.Hash))]
		if x.Lacking {
			hash += " (manifest lost)"
		}
		rows.Add(objectText(x.LedgerKey), hash, strings.Join(x.Images, ", "))
	}
	return rows
}

func printManifests(common *connect.Common, found api.LedgerManifests) error {
	if common.Output == iostream.JSON {
		return common.Print(common.Output, found)
	}
	for _, m := range found.Manifests {
		fmt.Fprintf(common.Out, "---\n# %s, sha256:%s\n", objectText(m.LedgerKey), m.Hash)
		if m.Manifest == nil {
			fmt.Fprintln(common.Out, "# the manifest is not there")
			continue
		}
		raw, err := object.YAML(m.Manifest)
		if err != nil {
			return fmt.Errorf("print %s: %w", objectText(m.LedgerKey), err)
		}
		if _, err := common.Out.Write(raw); err != nil {
			return err
		}
	}
	if found.Truncated {
		common.Sayf("there is more than one answer holds: use `slipway ledger export --format tar`")
	}
	return nil
}

func newAtCmd(common *connect.Common) *cobra.Command {
	o := choice{Common: common}
	cmd := &cobra.Command{
		Use: "at [TIME]", Short: "Show what ran at a time: objects with hashes and images", Args: cobra.MaximumNArgs(1),
		Long: "Show what ran at TIME, or runs now: for each application its last deployment before that, with what later operations\n" +
			"changed in parts of it. TIME is RFC 3339, a date, or how long ago.",
		Example: "  slipway ledger at 2030-06-01T12:00:00Z --app shop\n  slipway ledger at 720h --environment org.acme.production -o json",
		RunE: func(cmd *cobra.Command, args []string) error {
			return atRun(cmd.Context(), o, strings.Join(args, ""))
		},
	}
	o.addFlags(cmd.Flags())
	return cmd
}

func atRun(ctx context.Context, o choice, text string) error {
	when, err := noun.ReadTime("TIME", text, time.Now())
	if err != nil {
		return err
	}
	if err := o.parse(); err != nil {
		return err
	}
	s, err := o.server(ctx)
	if err != nil {
		return err
	}
	const most = 1_000_000
	all, _, err := pages(o.LedgerFilter, most,
		func(f api.LedgerFilter) (api.Page[api.LedgerState], error) { return s.Client.LedgerAt(ctx, when, f) })
	if err != nil {
		return s.Explain(err)
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, map[string]any{"items": all})
	}
	rows := iostream.Rows{Header: []string{"APPLICATION", "REVISION", "DEPLOYED", "OBJECT", "HASH", "IMAGES"}}
	for _, state := range all {
		e := &state.Entry
		for _, x := range state.Objects {
			rows.Add(application(e), shortRevision(e.Revision), noun.Time(e.FinishedAt), objectText(x.LedgerKey), x.Hash[:min(12, len(x.Hash))],
				strings.Join(x.Images, ", "))
		}
	}
	if rows.Len() == 0 {
		o.Sayf("nothing that you may see ran then, as far as the ledger knows")
		return nil
	}
	return o.Table(&rows)
}

// diffPage is how many applications are compared at a time.
const diffPage = 200

type diffOptions struct {
	choice
	names bool
}

func newDiffCmd(common *connect.Common) *cobra.Command {
	o := diffOptions{choice: choice{Common: common}}
	cmd := &cobra.Command{
		Use: "diff FROM [TO] | ENTRY OTHER", Short: "Show what differs between two times or two operations, as a unified diff for each object",
		Args: cobra.RangeArgs(1, 2),
		Long: "Show what ran at FROM and not at TO, or now. With the ids of two operations, show what they rendered differently; flags\n" +
			"that choose applications are for times only. Values of Secrets are hashes.",
		Example: "  slipway ledger diff 2030-05-31 2030-06-01 --app shop\n  slipway ledger diff 24h --environment org.acme.production --names\n" +
			"  slipway ledger diff 6b1f0c5a9d2e4f708192a3b4c5d6e7f8 0f1e2d3c4b5a69788796a5b4c3d2e1f0",
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.ContainsFunc(args, isEntry) {
				if narrowed(cmd) {
					return iostream.Usagef("operations are compared by their ids alone: leave out the flags that choose applications")
				}
				return compareRun(cmd.Context(), o, args)
			}
			return diffRun(cmd.Context(), o, append(args, "")[:2])
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().BoolVar(&o.names, "names", false, "list the objects that differ, without the manifests")
	return cmd
}

func diffRun(ctx context.Context, o diffOptions, times []string) error {
	now := time.Now()
	var err error
	if o.From, err = noun.ReadTime("FROM", times[0], now); err != nil {
		return err
	}
	if o.To, err = noun.ReadTime("TO", times[1], now); err != nil {
		return err
	}
	to := o.To
	if to.IsZero() {
		to = now
	}
	if !o.From.Before(to) {
		return iostream.Usagef("FROM, %s, is not before TO, %s: turn them round", noun.Time(o.From), noun.Time(to))
	}
	if err := o.parse(); err != nil {
		return err
	}
	s, err := o.server(ctx)
	if err != nil {
		return err
	}
	found, err := wholeDiff(ctx, s, &o)
	if err != nil {
		return s.Explain(err)
	}
	if found.Truncated {
		o.Sayf("warning: of one application there is more than an answer holds; --names lists more of it, " +
			"`slipway ledger export --format tar` has all")
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, found)
	}
	for _, w := range found.Warnings {
		o.Sayf("warning: %s", object.Line(w))
	}
	if len(found.Differences) == 0 && len(found.Warnings) == 0 {
		o.Sayf("nothing differs")
		return nil
	}
	if len(found.Differences) == 0 {
		return nil
	}
	if o.names {
		rows := iostream.Rows{Header: []string{"APPLICATION", "OBJECT", "CHANGE", "IMAGES"}}
		for _, d := range found.Differences {
			rows.Add(d.Application, objectText(d.LedgerKey), d.Change, strings.Join(d.Images, ", "))
		}
		return o.Table(&rows)
	}
	for _, d := range found.Differences {
		if err := printDifference(o.Common, d); err != nil {
			return err
		}
	}
	return nil
}

// wholeDiff reads all pages.
func wholeDiff(ctx context.Context, s *connect.Server, o *diffOptions) (api.LedgerDiff, error) {
	var all api.LedgerDiff
	o.Limit = diffPage
	for {
		page, err := s.Client.LedgerDiff(ctx, o.LedgerFilter, !o.names)
		if err != nil {
			return all, err
		}
		all.Differences = append(all.Differences, page.Differences...)
		all.Truncated = all.Truncated || page.Truncated
		all.Warnings = append(all.Warnings, page.Warnings...)
		if page.NextCursor == "" || page.NextCursor == o.Cursor {
			return all, nil
		}
		o.Cursor = page.NextCursor
	}
}

func printDifference(common *connect.Common, d api.LedgerDifference) error {
	fmt.Fprintf(common.Out, "%s: %s %s\n", d.Application, objectText(d.LedgerKey), d.Change)
	if d.Before != "" && d.ManifestBefore == nil || d.After != "" && d.ManifestAfter == nil {
		fmt.Fprintf(common.Out, "  a manifest is not there; hashes %.12s and %.12s\n", d.Before, d.After)
		return nil
	}
	var from, to map[string]any
	for raw, into := range map[*json.RawMessage]*map[string]any{&d.ManifestBefore: &from, &d.ManifestAfter: &to} {
		if *raw == nil {
			continue
		}
		obj, err := object.DecodeJSON(*raw)
		if err != nil {
			return fmt.Errorf("read the manifest of %s: %w", objectText(d.LedgerKey), err)
		}
		*into = obj
	}
	text, err := diff.Unified(from, to, diff.Text{From: "before", To: "after", Context: 3})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(common.Out, strings.TrimSuffix(text, "\n"))
	return err
}

func newObjectCmd(common *connect.Common) *cobra.Command {
	o := entries{choice: choice{Common: common}}
	cmd := &cobra.Command{
		Use: "object KIND[.GROUP] [NAMESPACE/]NAME", Short: "List every change to an object, the newest first", Args: cobra.ExactArgs(2),
		Example: "  slipway ledger object Deployment shop/web\n  slipway ledger object ConfigMap shop/web --from 720h",
		RunE: func(cmd *cobra.Command, args []string) error {
			kind, group, _ := strings.Cut(args[0], ".")
			o.Kind, o.ObjectGroup, o.Object = kind, group, args[1]
			if namespace, name, ok := strings.Cut(args[1], "/"); ok {
				o.ObjectNS, o.Object = namespace, name
			}
			return objectRun(cmd.Context(), o)
		},
	}
	o.addFlags(cmd.Flags())
	cmd.Flags().IntVar(&o.limit, "limit", api.DefaultLimit, "how many at most")
	return cmd
}

func objectRun(ctx context.Context, o entries) error {
	s, err := o.begin(ctx)
	if err != nil {
		return err
	}
	all, more, err := pages(o.LedgerFilter, o.limit, func(f api.LedgerFilter) (api.Page[api.LedgerObjectChange], error) {
		return s.Client.LedgerObject(ctx, f)
	})
	if err != nil {
		return s.Explain(err)
	}
	defer sayMore(o.Common, more)
	return noun.PrintList(o.Common, all, []string{"ENDED", "APPLICATION", "CHANGE", "OUTCOME", "REVISION", "BY", "REASON", "HASH", "ENTRY"},
		func(c *api.LedgerObjectChange) []string {
			e := &c.Entry
			return []string{
				noun.Time(e.FinishedAt), application(e), c.Change.Verb, c.Change.Outcome, shortRevision(e.Revision), who(e), e.Reason,
				c.Hash[:min(12, len(c.Hash))], e.ID,
			}
		}, "no change to such an object that you may see")
}

package ledger

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// isEntry distinguishes the id of an operation from a time.
func isEntry(text string) bool {
	raw, err := hex.DecodeString(text)
	return err == nil && len(raw) == 16
}

// narrowed reports whether flags choose applications.
func narrowed(cmd *cobra.Command) bool {
	given := false
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { given = given || f.Changed && f.Name != "names" })
	return given
}

// compareRun prints what two operations rendered differently.
func compareRun(ctx context.Context, o diffOptions, ids []string) error {
	if len(ids) != 2 || !isEntry(ids[0]) || !isEntry(ids[1]) {
		return iostream.Usagef("compare two operations, or two times: `slipway ledger list` shows the ids of operations")
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	found, err := s.Client.CompareLedger(ctx, ids[0], ids[1])
	if err != nil {
		return s.Explain(err)
	}
	for _, w := range found.Warnings {
		o.Sayf("warning: %s", iostream.Clean(w))
	}
	if o.Output != iostream.Table {
		return o.Print(o.Output, found)
	}
	if len(found.Items) == 0 && found.Same == 0 && len(found.Warnings) > 0 {
		return nil
	}
	if len(found.Items) == 0 {
		o.Sayf("nothing differs in %d objects", found.Same)
		return nil
	}
	if o.names {
		rows := iostream.Rows{Header: []string{"OBJECT", "CHANGE"}}
		for i := range found.Items {
			rows.Add(objectText(found.Items[i].LedgerKey), found.Items[i].Change)
		}
		return o.Table(&rows)
	}
	for i := range found.Items {
		x := &found.Items[i]
		text := strings.TrimSuffix(x.Diff, "\n")
		if text == "" {
			text = "  the difference is missing: a warning gives the reason"
		}
		if _, err := fmt.Fprintf(o.Out, "%s %s\n%s\n", objectText(x.LedgerKey), x.Change, text); err != nil {
			return err
		}
	}
	return nil
}

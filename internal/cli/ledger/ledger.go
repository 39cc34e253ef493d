// Package ledger is `slipway ledger`: what operations on applications were, and what ran at a time.
package ledger

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/service"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// NewCmd returns the command `ledger` with its verbs.
func NewCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "ledger", Short: "What was deployed when, by whom and how, and what ran at a time",
		Example: "  slipway ledger list --app shop --from 24h\n  slipway ledger at 2030-06-01T12:00:00Z --environment org.acme.production",
	}
	cmd.AddCommand(newListCmd(common), newShowCmd(common), newAtCmd(common), newDiffCmd(common), newObjectCmd(common),
		newExportCmd(common), newVerifyCmd(common))
	return cmd
}

// choice says which applications a question is about.
type choice struct {
	*connect.Common
	api.LedgerFilter
	app, scope string
	limit      int
}

func (o *choice) addFlags(flags *pflag.FlagSet) {
	flags.StringVar(&o.app, "app", "", "only the `application` NAME, NAMESPACE/NAME or AGENT/NAMESPACE/NAME")
	flags.StringVar(&o.Agent, "agent", "", "only applications of this `agent`, by id or name")
	flags.StringVar(&o.ArgoProject, "project", "", "only those of this Argo `project`")
	flags.StringVar(&o.Destination, "cluster", "", "only those to this `cluster`, by address or name, as in the application")
	flags.StringVar(&o.Service, "service", "", "only applications of this `service` at that time, by id or name")
	flags.StringVar(&o.Environment, "environment", "", "only applications of this `environment` at that time, by id or name")
	flags.StringVar(&o.scope, "scope", "", "only those of this `scope` at that time, or below it")
}

func (o *choice) parse() error {
	parts := strings.Split(o.app, "/")
	switch {
	case o.app == "":
	case len(parts) == 1:
		o.Name = parts[0]
	case len(parts) == 2:
		o.Namespace, o.Name = parts[0], parts[1]
	case len(parts) == 3 && o.Agent != "":
		return iostream.Usagef("--app names an agent, and so does --agent: leave one of them out")
	case len(parts) == 3:
		o.Agent, o.Namespace, o.Name = parts[0], parts[1], parts[2]
	default:
		return iostream.Usagef("--app %q: write NAME, NAMESPACE/NAME or AGENT/NAMESPACE/NAME", o.app)
	}
	if o.scope == "" {
		return nil
	}
	scope, err := api.ParseScope(o.scope)
	if err != nil {
		return iostream.Usagef("--scope: %w", err)
	}
	o.Scope = scope
	return nil
}

// server is the one that is asked. It knows the ids of what was named: an id is taken as it is, since what it was of may be
// gone by now.
func (o *choice) server(ctx context.Context) (*connect.Server, error) {
	s, err := o.MustServer()
	if err != nil {
		return nil, err
	}
	if o.Agent, err = service.Agent(ctx, s, o.Agent); err != nil {
		return nil, err
	}
	if o.Service, err = service.Service(ctx, s, o.Service); err != nil {
		return nil, err
	}
	o.Environment, err = service.Environment(ctx, s, o.Environment)
	return s, err
}

// What flags can say.
func phases() []string { return []string{"Succeeded", "Failed", "Error"} }

func actions() []string {
	return []string{api.LedgerSync, api.LedgerRollback, api.LedgerRestore, api.LedgerDryRun, api.LedgerPartial, api.LedgerDelete}
}

// entries are the flags of a list of entries.
type entries struct {
	choice
	noun.Span
	automatic bool
	manual    bool
}

// begin reads what the flags say, and finds the server.
func (o *entries) begin(ctx context.Context) (*connect.Server, error) {
	if err := o.parse(); err != nil {
		return nil, err
	}
	if o.limit < 1 {
		return nil, iostream.Usagef("--limit is at least 1")
	}
	return o.server(ctx)
}

func (o *entries) addFlags(flags *pflag.FlagSet) {
	o.choice.addFlags(flags)
	flags.StringVar(&o.Phase, "phase", "", "only what ended like this: `Succeeded|Failed|Error`")
	flags.StringVar(&o.Action, "action", "", "only `sync|rollback|restore|dry-run|partial|delete`")
	flags.StringVar(&o.Actor, "actor", "", "only operations that this `user` requested")
	flags.StringVar(&o.Revision, "revision", "", "only revisions that begin with this `text`")
	flags.BoolVar(&o.automatic, "automatic", false, "only operations that automated sync started")
	flags.BoolVar(&o.manual, "manual", false, "only operations that were requested")
	flags.BoolVar(&o.Changed, "changed", false, "only operations that changed something")
	o.Span.AddFlags(flags, "only operations that ended ")
}

func (o *entries) parse() error {
	if err := cmp.Or(noun.OneOf("phase", phases(), o.Phase), noun.OneOf("action", actions(), o.Action)); err != nil {
		return err
	}
	if o.automatic && o.manual {
		return iostream.Usagef("--automatic and --manual exclude each other: give one of them")
	}
	if o.automatic || o.manual {
		o.Automatic = &o.automatic
	}
	return cmp.Or(o.Read(&o.From, &o.To), o.choice.parse())
}

// application is how people name the application of an entry.
func application(e *api.LedgerEntry) string { return api.ItemID(e.Agent, e.Namespace, e.Name) }

// who is the author of an operation.
func who(e *api.LedgerEntry) string {
	if e.Automatic {
		return "automated"
	}
	return e.Actor
}

// action is what an operation was; for repairs, how many of them the entry stands for.
func action(e *api.LedgerEntry) string {
	switch {
	case e.Options == nil || !e.Options.Repair:
		return e.Action
	case e.Repeats > 0:
		return fmt.Sprintf("%s (%d repairs)", e.Action, e.Repeats+1)
	}
	return e.Action + " (repair)"
}

func shortRevision(text string) string { return legible.Revision(text, 7) }

// counts say on one line what an operation did.
func counts(n api.LedgerCounts) string {
	var out []string
	for _, c := range []struct {
		sign string
		n    int
	}{{"+", n.Created}, {"~", n.Changed}, {"-", n.Deleted}, {"!", n.Failed}} {
		if c.n > 0 {
			out = append(out, c.sign+strconv.Itoa(c.n))
		}
	}
	if len(out) == 0 {
		return "none"
	}
	return strings.Join(out, " ")
}

func objectText(k api.LedgerKey) string {
	kind := k.Kind
	if k.Group != "" {
		kind += "." + k.Group
	}
	if k.Namespace == "" {
		return fmt.Sprintf("%s %s", kind, k.Name)
	}
	return fmt.Sprintf("%s %s/%s", kind, k.Namespace, k.Name)
}

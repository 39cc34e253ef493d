// Package noun makes the commands of an entity of the control plane: list, get, create, update and delete. A Noun
// describes what entities differ in.
package noun

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
)

// Entity is a pointer to something that has an api.Meta.
type Entity[T any] interface {
	*T
	Base() *api.Meta
}

// Noun is what is special about an entity.
type Noun[T any, P Entity[T]] struct {
	// Use is the word of the command line, Called is for people, Short says what one is.
	Use, Called, Short string
	// Under is the command that it is below, "notify" of `slipway notify rule`; "" for none.
	Under   string
	Aliases []string
	// Entities are those of a server.
	Entities func(*client.Client) client.Entities[T]
	// Header and Row are the columns of a list after ID.
	Header []string
	Row    func(P) []string
	// ID is what ids are made of: Scoped for "<scope>.<name>", which is the zero value.
	ID Identity
	// Flags are those that say more than a name. They are registered for create and update; what it returns puts those that
	// were given into an entity. nil for none.
	Flags func(*pflag.FlagSet) func(v P, given func(flag string) bool) error
	// Named fills in what else the id of one that is made says; nil for nothing.
	Named func(v P, id string) error
	// Create makes one, where there is more to it; nil for Entities.Create.
	Create func(ctx context.Context, common *connect.Common, s *connect.Server, v P, dryRun bool) error
	// Example of create, and of the arguments of the others.
	Example, Name string
}

// Identity is what an id is made of.
type Identity int

// Kinds of ids.
const (
	// Scoped ids are "<scope>.<name>"; a name alone is of the scope that --scope says, else of the account.
	Scoped Identity = iota
	// Named ids are the name.
	Named
	// Nested ids are "<organization>.<name>".
	Nested
)

// Cmd is the command with its verbs; more are added to it by the caller.
func (n *Noun[T, P]) Cmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: n.Use, Aliases: n.Aliases, Short: n.Short,
		Example: fmt.Sprintf("  slipway %s list\n  slipway %s get %s -o yaml", n.path(), n.path(), n.Name),
	}
	cmd.AddCommand(n.list(common), n.get(common), n.create(common), n.update(common), n.remove(common))
	return cmd
}

// path is how the command is written.
func (n *Noun[T, P]) path() string { return strings.TrimSpace(n.Under + " " + n.Use) }

// common flags of those that choose one.
type choice struct{ scope string }

func (n *Noun[T, P]) addScope(flags *pflag.FlagSet, c *choice) {
	if n.ID == Scoped {
		flags.StringVar(&c.scope, "scope", "",
			"`scope` of a name that is not a full id: account, org.ORG or project.ORG.PROJECT (default account)")
	}
}

// id is the id that an argument stands for.
func (n *Noun[T, P]) id(arg string, c choice) (string, error) {
	if n.ID != Scoped || strings.Contains(arg, ".") {
		return arg, nil
	}
	scope, err := api.ParseScope(c.scope)
	if err != nil {
		return "", iostream.Usagef("--scope: %w", err)
	}
	return scope.ID(arg), nil
}

type listOptions struct {
	*connect.Common
	api.ListOptions
	scope  string
	labels []string
}

func (n *Noun[T, P]) list(common *connect.Common) *cobra.Command {
	o := listOptions{Common: common}
	cmd := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List those that you may see", Args: cobra.NoArgs,
		Example: fmt.Sprintf("  slipway %s list\n  slipway %s list --search shop -o json", n.path(), n.path()),
		RunE:    func(cmd *cobra.Command, _ []string) error { return n.listRun(cmd.Context(), o) },
	}
	addListFlags(cmd.Flags(), &o)
	return cmd
}

func addListFlags(flags *pflag.FlagSet, o *listOptions) {
	flags.StringVar(&o.scope, "scope", "", "only those of this `scope` or below it")
	flags.StringVar(&o.Search, "search", "", "only those with this `text` in name, display name or description")
	flags.StringVar(&o.Sort, "sort", "", "`field` to sort by, with - before it the other way round")
	flags.StringArrayVarP(&o.labels, "selector", "l", nil, "only what has this `label`, key=value or key; repeat for several")
}

func (o *listOptions) parse() error {
	scope, err := api.ParseScope(o.scope)
	if err != nil {
		return iostream.Usagef("--scope: %w", err)
	}
	if o.scope != "" {
		o.Scope = scope
	}
	o.Labels, err = ReadLabels(o.labels)
	return err
}

func (n *Noun[T, P]) listRun(ctx context.Context, o listOptions) error {
	if err := o.parse(); err != nil {
		return err
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	all, err := n.Entities(s.Client).All(ctx, o.ListOptions)
	if err != nil {
		return s.Explain(err)
	}
	return PrintList(o.Common, all, append([]string{"ID"}, n.Header...), func(v *T) []string {
		return append([]string{P(v).Base().ID}, n.Row(v)...)
	}, "no "+n.Called+" that you may see; make one with `slipway "+n.path()+" create`")
}

func (n *Noun[T, P]) get(common *connect.Common) *cobra.Command {
	var c choice
	cmd := &cobra.Command{
		Use: "get ID", Short: "Show one", Args: cobra.ExactArgs(1),
		Example:           fmt.Sprintf("  slipway %s get %s\n  slipway %s get %s -o yaml", n.path(), n.Name, n.path(), n.Name),
		ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			return n.with(cmd.Context(), common, args[0], c, func(_ *connect.Server, _ string, v P) error { return Print(common, v) })
		},
	}
	n.addScope(cmd.Flags(), &c)
	return cmd
}

// with reads one and goes on with it.
func (n *Noun[T, P]) with(ctx context.Context, common *connect.Common, arg string, c choice,
	do func(*connect.Server, string, P) error,
) error {
	id, err := n.id(arg, c)
	if err != nil {
		return err
	}
	s, err := common.MustServer()
	if err != nil {
		return err
	}
	v, err := n.Entities(s.Client).Get(ctx, id)
	if err != nil {
		return s.Explain(err)
	}
	return do(s, id, &v)
}

type writeOptions struct {
	*connect.Common
	choice
	arg         string
	displayName string
	description string
	labels      []string
	reason      string
	upsert      bool
	dryRun      bool
	given       func(string) bool
	fill        func(P any, given func(string) bool) error
}

func (n *Noun[T, P]) write(use, short, example string, common *connect.Common,
	run func(context.Context, writeOptions) error,
) *cobra.Command {
	o := writeOptions{Common: common}
	cmd := &cobra.Command{Use: use, Short: short, Example: example, Args: cobra.ExactArgs(1)}
	flags := cmd.Flags()
	n.addScope(flags, &o.choice)
	flags.StringVar(&o.displayName, "display-name", "", "`name` for people")
	flags.StringVar(&o.description, "description", "", "`text` that describes it")
	flags.StringArrayVar(&o.labels, "label", nil, "`key=value` to set, or key- to remove; repeat for several")
	flags.StringVar(&o.reason, "reason", "", "why, for the audit")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only validate at the server, and change nothing")
	fill := func(P, func(string) bool) error { return nil }
	if n.Flags != nil {
		fill = n.Flags(flags)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		o.arg, o.given = args[0], cmd.Flags().Changed
		o.fill = func(v any, given func(string) bool) error {
			p, _ := v.(P)
			return fill(p, given)
		}
		return run(cmd.Context(), o)
	}
	return cmd
}

func (n *Noun[T, P]) create(common *connect.Common) *cobra.Command {
	var upsert bool
	cmd := n.write("create NAME", "Create one", n.Example, common, func(ctx context.Context, o writeOptions) error {
		o.upsert = upsert
		return n.createRun(ctx, o)
	})
	if n.Create == nil {
		cmd.Flags().BoolVar(&upsert, "upsert", false, "update it if it exists")
	}
	return cmd
}

func (n *Noun[T, P]) createRun(ctx context.Context, o writeOptions) error {
	v := P(new(T))
	if err := n.name(v.Base(), o); err != nil {
		return err
	}
	if n.Named != nil {
		if err := n.Named(v, o.arg); err != nil {
			return iostream.Usagef("%w", err)
		}
	}
	if err := n.apply(v, o); err != nil {
		return err
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	s.Client = s.Client.Because(o.reason)
	if n.Create != nil {
		return s.Explain(n.Create(ctx, o.Common, s, v, o.dryRun))
	}
	var made T
	if o.upsert {
		made, err = n.Entities(s.Client).Upsert(ctx, n.idOf(v, o.arg), *v, o.dryRun)
	} else {
		made, err = n.Entities(s.Client).Create(ctx, *v, o.dryRun)
	}
	if err != nil {
		return s.Explain(err)
	}
	return Done(o.Common, n.Called+" "+P(&made).Base().ID, "created", o.dryRun, &made)
}

// name reads what the argument of create stands for.
func (n *Noun[T, P]) name(m *api.Meta, o writeOptions) error {
	switch {
	case n.ID == Nested:
		_, project, err := api.ParseProjectID(o.arg)
		if err != nil {
			return iostream.Usagef("%w", err)
		}
		m.Name = project
	case n.ID == Scoped && strings.Contains(o.arg, "."):
		scope, name, err := api.ParseID(o.arg)
		if err != nil {
			return iostream.Usagef("%w", err)
		}
		if o.scope != "" && o.scope != string(scope) {
			return iostream.Usagef("%s is of scope %s, and --scope is %s: give one of them", o.arg, scope, o.scope)
		}
		m.Scope, m.Name = scope, name
	case n.ID == Scoped:
		scope, err := api.ParseScope(o.scope)
		if err != nil {
			return iostream.Usagef("--scope: %w", err)
		}
		m.Scope, m.Name = scope, o.arg
	default:
		m.Name = o.arg
	}
	if err := api.CheckName(m.Name); err != nil {
		return iostream.Usagef("%w", err)
	}
	return nil
}

func (n *Noun[T, P]) idOf(v P, arg string) string {
	if n.ID == Scoped {
		return v.Base().Scope.ID(v.Base().Name)
	}
	return arg
}

// apply puts what was given into an entity.
func (n *Noun[T, P]) apply(v P, o writeOptions) error {
	m := v.Base()
	if o.given("display-name") {
		m.DisplayName = o.displayName
	}
	if o.given("description") {
		m.Description = o.description
	}
	if err := changeLabels(m, o.labels); err != nil {
		return err
	}
	return o.fill(v, o.given)
}

func changeLabels(m *api.Meta, labels []string) error {
	for _, text := range labels {
		key, value, ok := strings.Cut(text, "=")
		gone, off := strings.CutSuffix(text, "-")
		switch {
		case ok && key != "":
			if m.Labels == nil {
				m.Labels = map[string]string{}
			}
			m.Labels[key] = value
		case off && gone != "":
			delete(m.Labels, gone)
		default:
			return iostream.Usagef("--label %q is neither key=value nor key-", text)
		}
	}
	return nil
}

func (n *Noun[T, P]) update(common *connect.Common) *cobra.Command {
	example := fmt.Sprintf("  slipway %s update %s --description 'what it is for' --label team=shop", n.path(), n.Name)
	cmd := n.write("update ID", "Change the fields that flags set, and keep the rest", example, common, n.updateRun)
	cmd.Aliases = []string{"edit"}
	cmd.ValidArgsFunction = n.Complete(common)
	return cmd
}

func (n *Noun[T, P]) updateRun(ctx context.Context, o writeOptions) error {
	return n.with(ctx, o.Common, o.arg, o.choice, func(s *connect.Server, id string, v P) error {
		if err := n.apply(v, o); err != nil {
			return err
		}
		changed, err := n.Entities(s.Client.Because(o.reason)).Update(ctx, id, *v, o.dryRun)
		if err != nil {
			return s.Explain(err)
		}
		return Done(o.Common, n.Called+" "+id, "changed", o.dryRun, &changed)
	})
}

// Done says what was done, or prints what came of it.
func Done(common *connect.Common, what, did string, dryRun bool, v any) error {
	if common.Output != iostream.Table && v != nil {
		return common.Print(common.Output, v)
	}
	if dryRun {
		did = "would be " + did
	}
	common.Sayf("%s %s", what, did)
	return nil
}

type removeOptions struct {
	choice
	force  bool
	dryRun bool
	reason string
}

func (n *Noun[T, P]) remove(common *connect.Common) *cobra.Command {
	var o removeOptions
	cmd := &cobra.Command{
		Use: "delete ID...", Short: "Delete some; those that other objects refer to only with --force", Args: cobra.MinimumNArgs(1),
		Example: fmt.Sprintf("  slipway %s delete %s\n  slipway %s delete %s --force --reason 'not needed any more'", n.path(),
			n.Name, n.path(), n.Name),
		ValidArgsFunction: n.Complete(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := common.MustServer()
			if err != nil {
				return err
			}
			for _, arg := range args {
				id, err := n.id(arg, o.choice)
				if err != nil {
					return err
				}
				err = n.Entities(s.Client.Because(o.reason)).Delete(cmd.Context(), id, api.DeleteOptions{Force: o.force}, o.dryRun)
				if err != nil {
					return s.Explain(Forceable(err, o.force))
				}
				if err := Done(common, n.Called+" "+id, "deleted", o.dryRun, nil); err != nil {
					return err
				}
			}
			return nil
		},
	}
	n.addScope(cmd.Flags(), &o.choice)
	cmd.Flags().BoolVar(&o.force, "force", false, "delete it although other objects refer to it; the references to it are removed too")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only check whether it could be deleted")
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the audit")
	return cmd
}

// Forceable adds what to do to the error of a deletion that something stands in the way of.
func Forceable(err error, forced bool) error {
	if api.CodeOf(err) != api.CodeConflict || forced {
		return err
	}
	return fmt.Errorf("%w; to delete it anyway, use --force", err)
}

// completeTime is how long a shell may wait for names.
const completeTime = 3 * time.Second

// Complete gives a shell the ids that a server knows.
func (n *Noun[T, P]) Complete(common *connect.Common) cobra.CompletionFunc {
	return Complete(common, func(ctx context.Context, s *connect.Server, prefix string) ([]string, error) {
		all, err := n.Entities(s.Client).All(ctx, api.ListOptions{})
		var out []string
		for i := range all {
			m := P(&all[i]).Base()
			if strings.HasPrefix(m.ID, prefix) {
				out = append(out, cobra.CompletionWithDesc(m.ID, m.DisplayName))
			}
		}
		return out, err
	})
}

// Complete gives a shell what find finds at the server; nothing where there is none.
func Complete(common *connect.Common,
	find func(ctx context.Context, s *connect.Server, prefix string) ([]string, error),
) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		s, err := common.MustServer()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		out, err := find(ctx, s, prefix)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

// Package declare is `slipway appset` and `slipway proj`: resources of Argo CD's that are written as a whole, in a cluster
// or at a server.
package declare

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

// kind is a noun of the command line, and the resource that it stands for.
type kind struct {
	use, called string
	aliases     []string
	short, long string
	// kind and plural are those of Kubernetes, objects those of a server.
	kind, plural string
	objects      func(*client.Client) client.Objects
	// example is a name of one.
	example string
	// header and row are the columns after the name.
	header []string
	row    func(*unstructured.Unstructured) []string
	// flags registers those that make one without a manifest; nil where there is always a manifest.
	flags func(*pflag.FlagSet) build
	// cascades: Applications go with it.
	cascades bool
	// used names the Applications in a cluster that keep it from being deleted; nil where none do.
	used func(ctx context.Context, cluster *connect.Cluster, name string) ([]string, error)
}

// build makes a resource of what flags say.
type build func(name string) (*unstructured.Unstructured, error)

// NewCmds returns the commands.
func NewCmds(common *connect.Common) []*cobra.Command {
	return []*cobra.Command{applicationSet().cmd(common), project().cmd(common)}
}

func applicationSet() *kind {
	return &kind{
		use: "appset", called: "application set", aliases: []string{"applicationset", "appsets"},
		short: "ApplicationSets, which are kept and shown",
		long: "ApplicationSets, in a namespace of a cluster or at a server. Slipway keeps and shows them, " +
			"and generates no Applications from them\n" +
			"yet: only the ApplicationSet controller of an Argo CD in the cluster does.",
		kind: v1alpha1.KindApplicationSet, plural: v1alpha1.ResourceApplicationSets, objects: (*client.Client).ApplicationSets,
		example: "shops", header: []string{"PROJECT", "GENERATORS", "APPLICATIONS"}, cascades: true,
		row: func(obj *unstructured.Unstructured) []string {
			project, _, _ := unstructured.NestedString(obj.Object, "spec", "template", "spec", "project")
			made, _, _ := unstructured.NestedSlice(obj.Object, "status", "resources")
			return []string{project, generators(obj), strconv.Itoa(len(made))}
		},
	}
}

// generators names the kinds of generators of an ApplicationSet, each once.
func generators(obj *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(obj.Object, "spec", "generators")
	var out []string
	for _, g := range list {
		fields, _ := g.(map[string]any)
		for name := range fields {
			if name != "selector" {
				out = append(out, name)
			}
		}
	}
	slices.Sort(out)
	return strings.Join(slices.Compact(out), ", ")
}

func (k *kind) cmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: k.use, Aliases: k.aliases, Short: k.short, Long: k.long,
		Example: fmt.Sprintf("  slipway %s list\n  slipway %s get %s -o yaml", k.use, k.use, k.example),
	}
	cmd.AddCommand(k.list(common), k.get(common), k.create(common), k.edit(common), k.remove(common))
	return cmd
}

func (k *kind) list(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List those of the namespace, or those at a server that you may see", Args: cobra.NoArgs,
		Example: fmt.Sprintf("  slipway %s list\n  slipway %s list --agent account.prod -o json", k.use, k.use),
		RunE:    func(cmd *cobra.Command, _ []string) error { return k.listRun(cmd.Context(), common) },
	}
}

func (k *kind) listRun(ctx context.Context, common *connect.Common) error {
	place, err := k.place(common)
	if err != nil {
		return err
	}
	all, err := place.list(ctx)
	if err != nil {
		return err
	}
	if common.Output != iostream.Table {
		items := make([]any, 0, len(all))
		for _, r := range all {
			items = append(items, r.shown)
		}
		return common.Print(common.Output, map[string]any{"items": items})
	}
	rows := iostream.Rows{Header: append([]string{"NAME"}, k.header...)}
	_, served := place.(*served)
	if served {
		rows.Header = append(rows.Header, "AGENT", "AS OF")
	}
	for _, r := range all {
		line := append([]string{r.obj.GetName()}, k.row(r.obj)...)
		if served {
			line = append(line, r.agent+"/"+r.obj.GetNamespace(), noun.Time(r.stale))
		}
		rows.Add(line...)
	}
	if rows.Len() == 0 {
		common.Sayf("no %s at %s; make one with `slipway %s create`", k.called, place.name(), k.use)
		return nil
	}
	return common.Table(&rows)
}

func (k *kind) get(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "get NAME", Short: "Show one; with -o yaml or json, the resource", Args: cobra.ExactArgs(1), ValidArgsFunction: k.complete(common),
		Example: fmt.Sprintf("  slipway %s get %s\n  slipway %s get %s -o yaml > %s.yaml", k.use, k.example, k.use, k.example, k.example),
		RunE: func(cmd *cobra.Command, args []string) error {
			place, err := k.place(common)
			if err != nil {
				return err
			}
			found, err := place.get(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if common.Output != iostream.Table {
				return common.Print(common.Output, found.obj.Object)
			}
			rows := &iostream.Rows{Header: []string{"FIELD", "VALUE"}}
			rows.Add("name", found.obj.GetName())
			rows.Add("namespace", found.obj.GetNamespace())
			if found.agent != "" {
				rows.Add("agent", found.agent)
			}
			if !found.stale.IsZero() {
				rows.Add("stale since", noun.Time(found.stale))
			}
			return noun.Facts(common, rows, found.obj.Object["spec"])
		},
	}
}

type createOptions struct {
	*connect.Common
	name, file, reason string
	upsert, dryRun     bool
	build              build
}

func (k *kind) create(common *connect.Common) *cobra.Command {
	o := createOptions{Common: common}
	cmd := &cobra.Command{
		Use: "create -f FILE", Short: "Create one from a manifest", Args: cobra.NoArgs,
		Example: fmt.Sprintf("  slipway %s create -f %s.yaml\n  slipway %s create -f - --upsert --agent account.prod < %s.yaml", k.use,
			k.example, k.use, k.example),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.name = args[0]
			}
			return k.createRun(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.file, "file", "f", "", "manifest `file` with one or more of them, - for standard input")
	flags.BoolVar(&o.upsert, "upsert", false, "update it if it exists")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only validate at the API server, and write nothing")
	flags.StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	if k.flags != nil {
		cmd.Use, cmd.Short, cmd.Args = "create NAME | -f FILE", "Create one from flags or from a manifest", cobra.MaximumNArgs(1)
		cmd.Example = fmt.Sprintf("  slipway %s create %s --source-repo 'https://git.example.org/shop/*' --dest in-cluster,shop-*\n", k.use,
			k.example) + cmd.Example
		o.build = k.flags(flags)
	}
	return cmd
}

func (k *kind) createRun(ctx context.Context, o createOptions) error {
	objects, err := k.wanted(o)
	if err != nil {
		return err
	}
	place, err := k.place(o.Common)
	if err != nil {
		return err
	}
	namespace := o.Namespace
	if _, atServer := place.(*served); atServer {
		namespace = o.ChosenNamespace()
	}
	if err := manifest.Place(objects, namespace); err != nil {
		return err
	}
	made := make([]any, 0, len(objects))
	for _, obj := range objects {
		out, err := place.create(ctx, obj, o.upsert, o.dryRun, o.reason)
		if err != nil {
			return err
		}
		made = append(made, out.Object)
		if o.Output == iostream.Table {
			did := "created"
			if o.upsert {
				did = "applied"
			}
			if err := noun.Done(o.Common, k.called+" "+obj.GetName(), did, o.dryRun, nil); err != nil {
				return err
			}
		}
	}
	switch {
	case o.Output == iostream.Table:
		return nil
	case len(made) == 1:
		return o.Print(o.Output, made[0])
	}
	return o.Print(o.Output, map[string]any{"items": made})
}

// wanted are the resources that a command is to write, as flags or a file describe them.
func (k *kind) wanted(o createOptions) ([]*unstructured.Unstructured, error) {
	switch {
	case o.file != "" && o.name != "":
		return nil, iostream.Usagef("give a name or -f, not both: the manifest has the name")
	case o.name != "":
		obj, err := o.build(o.name)
		return []*unstructured.Unstructured{obj}, err
	case o.file == "" && o.build != nil:
		return nil, iostream.Usagef("give a name, or a manifest with -f")
	case o.file == "":
		return nil, iostream.Usagef("give a manifest with -f")
	}
	docs, err := manifest.Read(o.file, o.In)
	if err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, 0, len(docs))
	for i, doc := range docs {
		obj := &unstructured.Unstructured{Object: doc}
		if err := k.check(obj); err != nil {
			return nil, fmt.Errorf("document %d of %s: %w", i+1, o.file, err)
		}
		out = append(out, obj)
	}
	return out, nil
}

// check says whether an object is of the kind.
func (k *kind) check(obj *unstructured.Unstructured) error {
	if obj.GetKind() != k.kind || obj.GetAPIVersion() != v1alpha1.GroupVersion().String() {
		return fmt.Errorf("it is a %s %s, not an %s of %s", obj.GetAPIVersion(), obj.GetKind(), k.kind, v1alpha1.GroupVersion())
	}
	if obj.GetName() == "" {
		return errors.New("it has no metadata.name; give it one")
	}
	return nil
}

type removeOptions struct {
	*connect.Common
	names                          []string
	reason                         string
	cascade, force, forget, dryRun bool
}

func (k *kind) remove(common *connect.Common) *cobra.Command {
	o := removeOptions{Common: common}
	cmd := &cobra.Command{
		Use: "delete NAME...", Short: "Delete some", Args: cobra.MinimumNArgs(1), ValidArgsFunction: k.complete(common),
		Example: fmt.Sprintf("  slipway %s delete %s\n  slipway %s delete account.old/argocd/%s --forget    # its agent is gone", k.use,
			k.example, k.use, k.example),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.names = args
			return k.removeRun(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	if k.cascades {
		flags.BoolVar(&o.cascade, "cascade", true, "also delete its Applications, and with them their objects if their finalizers require it")
	} else {
		cmd.Short = "Delete some; those that applications belong to only with --force"
		flags.BoolVar(&o.force, "force", false, "delete it although applications belong to it")
	}
	flags.BoolVar(&o.forget, "forget", false, "at a server: delete only its copy, of a resource that the agent no longer reports")
	flags.BoolVar(&o.dryRun, "dry-run", false, "only check whether it could be deleted")
	flags.StringVar(&o.reason, "reason", "", "reason, for the audit log of a server")
	cmd.MarkFlagsMutuallyExclusive("forget", "dry-run")
	return cmd
}

func (k *kind) removeRun(ctx context.Context, o removeOptions) error {
	place, err := k.place(o.Common)
	if err != nil {
		return err
	}
	at, ok := place.(*served)
	if o.forget && !ok {
		return iostream.Usagef("--forget is about a server's copy: sign in with `slipway login URL`, or give --server")
	}
	for _, name := range o.names {
		did := "deleted"
		if o.forget {
			did, err = "forgotten", at.forget(ctx, name, o.reason)
		} else {
			err = place.remove(ctx, name, o)
		}
		if err != nil {
			return err
		}
		if err := noun.Done(o.Common, k.called+" "+name, did, o.dryRun, nil); err != nil {
			return err
		}
	}
	return nil
}

// completeTime is how long a shell may wait for names.
const completeTime = 3 * time.Second

func (k *kind) complete(common *connect.Common) cobra.CompletionFunc {
	return func(cmd *cobra.Command, _ []string, prefix string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(cmd.Context(), completeTime)
		defer cancel()
		place, err := k.place(common)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		all, err := place.list(ctx)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		var out []cobra.Completion
		for _, name := range names(all, strings.Contains(prefix, "/")) {
			if strings.HasPrefix(name, prefix) {
				out = append(out, name)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp
	}
}

package app

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/delta"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

type diffOptions struct {
	*connect.Common
	name     string
	repos    []string
	revision string
	color    bool
	all      bool // also ignored differences
}

func newDiffCmd(common *connect.Common) *cobra.Command {
	o := diffOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "diff NAME",
		Short: "Show what a sync would change",
		Long: "Render the desired state of the application, make a dry run of the apply at the API server, and print what would\n" +
			"change as unified diffs, each with the managers of the fields that differ, and when. Fields that are ignored by\n" +
			"spec.ignoreDifferences and by the ConfigMap argocd-cm are left out. Values of Secrets are masked, and so are the\n" +
			"annotations that argocd-cm names. Exit code 3 when something would change.",
		Example: "  slipway app diff web\n  slipway app diff web --revision my-branch\n  slipway app diff web --repo .\n" +
			"  slipway app diff web --show-ignored -o json",
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return diffRun(cmd.Context(), o)
		},
	}
	addSourceFlags(cmd, &o.repos, &o.revision)
	cmd.Flags().BoolVar(&o.color, "color", false, "use colors even if the output is not a terminal")
	cmd.Flags().BoolVar(&o.all, "show-ignored", false, "also list ignored differences")
	return cmd
}

func diffRun(ctx context.Context, o diffOptions) error {
	answer, err := differences(ctx, o, api.DiffRequest{Revision: o.revision, Ignored: o.all})
	if err != nil {
		return err
	}
	sayWarnings(o.Common, answer.Warnings)
	return delta.Print(o.Common, answer.Items, o.color)
}

// differences finds what a request asks for: the agent does at a server, this program at a cluster.
func differences(ctx context.Context, o diffOptions, req api.DiffRequest) (api.DiffAnswer, error) {
	server, err := o.Server()
	if err != nil {
		return api.DiffAnswer{}, err
	}
	if server != nil {
		if len(o.repos) > 0 {
			return api.DiffAnswer{}, noDirectories()
		}
		app, err := server.Application(ctx, o.name)
		if err != nil {
			return api.DiffAnswer{}, err
		}
		answer, err := app.Diff(ctx, req)
		return answer, server.Explain(err)
	}
	cluster, app, err := connectToOwn(ctx, o.Common, o.name)
	if err != nil {
		return api.DiffAnswer{}, err
	}
	c, answer, err := newComparison(ctx, cluster, app, req)
	if err != nil {
		return answer, err
	}
	as := operate.Effective(app)
	if req.Drift {
		sources, at, err := operate.Standing(app)
		if err != nil {
			return answer, err
		}
		as = operate.AsDeployed(app, sources, at)
	}
	wanted, err := desired(ctx, o.Common, cluster, as, o.repos, req.Revision)
	if err != nil {
		return answer, err
	}
	changes, err := c.compare(ctx, wanted)
	if err != nil {
		return answer, err
	}
	for _, err := range c.rules.Problems() {
		answer.Warnings = append(answer.Warnings, "not in force: "+err.Error())
	}
	options := inspect.Options{Mask: c.rules.Mask}
	if !req.Drift {
		answer.Items, err = inspect.Describe(changes, options)
		return answer, err
	}
	allowed, err := mark.ReadAllowances(app)
	if err != nil {
		answer.Warnings = append(answer.Warnings, err.Error())
	}
	answer.Items, err = inspect.Drifted(changes, allowed, options, time.Now())
	return answer, err
}

// noDirectories refuses directories at a server, where the agent renders.
func noDirectories() error {
	return iostream.Usagef("--repo renders directories of this machine, which an agent does not see: leave it out, or give --kubeconfig")
}

// comparison is what a diff of one Application goes by.
type comparison struct {
	cluster *connect.Cluster
	app     *v1alpha1.Application
	rules   inspect.Rules
	leaves  func(object.Kind) bool // kinds that the settings leave alone
}

// newComparison reads the ignore rules. Rules that are wrong, or that must not be read, are warned of and not in force.
func newComparison(ctx context.Context, cluster *connect.Cluster, app *v1alpha1.Application,
	req api.DiffRequest,
) (*comparison, api.DiffAnswer, error) {
	var answer api.DiffAnswer
	data, err := readSettings(ctx, cluster)
	if apierrors.IsForbidden(err) {
		answer.Warnings = append(answer.Warnings,
			"not allowed to read the ConfigMap "+configSettings+", so what it leaves out of differences is shown")
	} else if err != nil {
		return nil, answer, connect.Explain(fmt.Errorf("read ConfigMap %s: %w", configSettings, err))
	}
	rules, wrong := inspect.NewRules(app, data, connect.Manager)
	for _, err := range wrong {
		answer.Warnings = append(answer.Warnings, "not in force: "+err.Error())
	}
	rules.All = req.Ignored
	excluded, err := diff.ParseExclusions(data)
	if err != nil {
		return nil, answer, err
	}
	server := cmp.Or(app.Spec.Destination.Server, v1alpha1.InClusterServer)
	leaves := func(kind object.Kind) bool { return excluded.Excludes(kind, server) }
	return &comparison{cluster, app, rules, leaves}, answer, nil
}

const configSettings = "argocd-cm"

// readSettings returns the settings of the installation; none where there are none.
func readSettings(ctx context.Context, cluster *connect.Cluster) (map[string]string, error) {
	in := cluster.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(cluster.Apps.Namespace())
	config, err := in.Get(ctx, configSettings, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, _, err := unstructured.NestedStringMap(config.Object, "data")
	return data, err
}

// compare tries every wanted object out, and adds those of the Application that are not wanted any more.
func (c *comparison) compare(ctx context.Context, wanted []object.Manifest) ([]inspect.Change, error) {
	wanted = slices.DeleteFunc(slices.Clone(wanted), func(m object.Manifest) bool { return c.leaves(m.Key.GroupKind()) })
	extra := slices.DeleteFunc(inspect.Extra(c.app, wanted),
		func(r v1alpha1.ResourceStatus) bool { return c.leaves(inspect.KeyOf(&r).GroupKind()) })
	found := make([]*inspect.Change, len(wanted)+len(extra))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, m := range wanted {
		group.Go(func() (err error) {
			found[i], err = c.tryOut(ctx, m)
			return err
		})
	}
	for i := range extra {
		group.Go(func() error {
			key := inspect.KeyOf(&extra[i])
			live, err := readLive(ctx, c.cluster, key, extra[i].Version)
			if err == nil && live != nil {
				found[len(wanted)+i] = c.rules.Deleted(key, live.Object)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var changes []inspect.Change
	for _, c := range found {
		if c != nil {
			changes = append(changes, *c)
		}
	}
	return changes, nil
}

// tryOut returns what applying m would change; nil for nothing, and for hooks, which are not kept.
func (c *comparison) tryOut(ctx context.Context, m object.Manifest) (*inspect.Change, error) {
	want, err := m.Decode()
	if err != nil {
		return nil, err
	}
	if object.IsHook(want) {
		return nil, nil
	}
	diff.FoldSecret(want)
	mapping, err := c.cluster.Mapper.RESTMapping(schema.GroupKind{Group: m.Key.Group, Kind: m.Key.Kind}, m.Version)
	if meta.IsNoMatchError(err) {
		return c.rules.Created(m.Key, want), nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("find %s: %w", m.Key.GroupKind(), err))
	}
	client := c.cluster.Dynamic.Resource(mapping.Resource).Namespace(m.Key.Namespace)
	live, err := client.Get(ctx, m.Key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return c.rules.Created(m.Key, want), nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("read %s: %w", m.Key, err))
	}
	answer, err := client.Apply(ctx, m.Key.Name, &unstructured.Unstructured{Object: want},
		metav1.ApplyOptions{FieldManager: connect.Manager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil && m.Key.Group == "" && m.Key.Kind == "Secret" && ctx.Err() == nil {
		return &inspect.Change{
			Key: m.Key, Refused: "the API server refuses it (its words are left out: they can quote the Secret); check type, data and stringData",
		}, nil
	}
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) {
		return &inspect.Change{Key: m.Key, Refused: err.Error()}, nil // one object must not hide the others
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("try out %s: %w", m.Key, err))
	}
	return c.rules.Compare(m.Key, live.Object, answer.Object), nil
}

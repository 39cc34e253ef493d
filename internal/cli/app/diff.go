package app

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/delta"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

type diffOptions struct {
	*access.Common
	name     string
	repos    []string
	revision string
}

func newDiffCmd(common *access.Common) *cobra.Command {
	o := diffOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "diff NAME",
		Short: "Show what a sync would change",
		Long: "Render what the application wants, let the API server try it out (a dry run of the apply), and print what would\n" +
			"change as unified diffs. Values of Secrets are masked. Exit code 3 when something would change.",
		Example: "  slipway app diff web\n  slipway app diff web --revision my-branch\n  slipway app diff web --repo .",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return diffRun(cmd.Context(), o)
		},
	}
	addSourceFlags(cmd, &o.repos, &o.revision)
	return cmd
}

func diffRun(ctx context.Context, o diffOptions) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	app, err := cluster.Apps.Get(ctx, o.name)
	if err != nil {
		return err
	}
	if err := inCluster(&app.Application); err != nil {
		return err
	}
	for _, rule := range app.Spec.IgnoreDifferences {
		if len(rule.JQPathExpressions)+len(rule.ManagedFieldsManagers) > 0 {
			o.Sayf("warning: of ignoreDifferences only jsonPointers are used here; the rule for %s has others", kindText(rule.Group, rule.Kind))
		}
	}
	wanted, err := desired(ctx, cluster, &app.Application, o.repos, o.revision)
	if err != nil {
		return err
	}
	changes, err := compare(ctx, cluster, &app.Application, wanted)
	if err != nil {
		return err
	}
	return delta.Print(o.Common, changes)
}

// compare tries every wanted object out, and adds those of the Application that are not wanted any more.
func compare(ctx context.Context, cluster *access.Cluster, app *v1alpha1.Application, wanted []object.Manifest) ([]delta.Change, error) {
	keys := map[object.Key]bool{}
	for _, m := range wanted {
		keys[m.Key] = true
	}
	var extra []v1alpha1.ResourceStatus
	for _, r := range app.Status.Resources {
		if !r.Hook && !keys[object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}] {
			extra = append(extra, r)
		}
	}
	found := make([]*delta.Change, len(wanted)+len(extra))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, m := range wanted {
		group.Go(func() (err error) {
			found[i], err = tryOut(ctx, cluster, app, m)
			return err
		})
	}
	for i, r := range extra {
		group.Go(func() error {
			key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
			live, err := readLive(ctx, cluster, key, r.Version)
			if err == nil && live != nil {
				found[len(wanted)+i] = &delta.Change{Key: key, Before: diff.Normalize(live.Object, diff.CompareOptions{})}
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	var changes []delta.Change
	for _, c := range found {
		if c != nil {
			changes = append(changes, *c)
		}
	}
	slices.SortStableFunc(changes, func(a, b delta.Change) int { return a.Key.Compare(b.Key) })
	return changes, nil
}

// tryOut returns what applying m would change; nil for nothing, and for hooks, which are not kept.
func tryOut(ctx context.Context, cluster *access.Cluster, app *v1alpha1.Application, m object.Manifest) (*delta.Change, error) {
	want, err := m.Decode()
	if err != nil {
		return nil, err
	}
	if object.Annotation(want, v1alpha1.AnnotationHook) != "" || object.Annotation(want, "helm.sh/hook") != "" {
		return nil, nil
	}
	opts := diff.CompareOptions{IgnorePaths: ignored(app, m.Key), Manager: access.Manager}
	missing := &delta.Change{Key: m.Key, After: diff.Normalize(want, opts)}
	mapping, err := cluster.Mapper.RESTMapping(schema.GroupKind{Group: m.Key.Group, Kind: m.Key.Kind}, m.Version)
	if meta.IsNoMatchError(err) {
		return missing, nil
	}
	if err != nil {
		return nil, access.Explain(fmt.Errorf("find %s: %w", m.Key.GroupKind(), err))
	}
	client := cluster.Dynamic.Resource(mapping.Resource).Namespace(m.Key.Namespace)
	live, err := client.Get(ctx, m.Key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return missing, nil
	}
	if err != nil {
		return nil, access.Explain(fmt.Errorf("read %s: %w", m.Key, err))
	}
	answer, err := client.Apply(ctx, m.Key.Name, &unstructured.Unstructured{Object: want},
		metav1.ApplyOptions{FieldManager: access.Manager, Force: true, DryRun: []string{metav1.DryRunAll}})
	if err != nil {
		return nil, access.Explain(fmt.Errorf("try out %s: %w", m.Key, err))
	}
	result := diff.CompareDryRun(live.Object, answer.Object, opts)
	if !result.Modified {
		return nil, nil
	}
	return &delta.Change{Key: m.Key, Before: result.Normalized, After: result.Predicted}, nil
}

// ignored returns the fields of an object that do not count.
func ignored(app *v1alpha1.Application, key object.Key) []string {
	var out []string
	for _, rule := range app.Spec.IgnoreDifferences {
		if matches(rule.Group, key.Group) && matches(rule.Kind, key.Kind) &&
			(rule.Name == "" || rule.Name == key.Name) && (rule.Namespace == "" || rule.Namespace == key.Namespace) {
			out = append(out, rule.JSONPointers...)
		}
	}
	return out
}

// matches is the glob of ignoreDifferences.
func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return err == nil && ok
}

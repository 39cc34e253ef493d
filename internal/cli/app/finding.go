package app

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cause"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/clue"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// findings reads what fails at and below the objects of an Application in the cluster that it is in.
func findings(ctx context.Context, cluster *connect.Cluster, app *v1alpha1.Application, o *whyOptions) ([]api.Finding, error) {
	wanted := cause.Candidates(app)
	if len(wanted) == 0 {
		return nil, nil
	}
	if err := inCluster(app); err != nil {
		return nil, err
	}
	found := make([]map[string]any, len(wanted))
	const parallel = 8
	g, reading := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, r := range wanted {
		g.Go(func() (err error) {
			found[i], err = live(reading, cluster, r)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, connect.Explain(err)
	}
	var roots []clue.Root
	for i, r := range wanted {
		if found[i] != nil {
			roots = append(roots, clue.Root{Key: inspect.KeyOf(&r), Object: found[i]})
		}
	}
	core, err := typedcorev1.NewForConfig(cluster.Config)
	if err != nil {
		return nil, fmt.Errorf("make client for logs: %w", err)
	}
	answer := clue.Look(ctx, clue.Dynamic{Client: cluster.Dynamic, Core: core}, roots, clue.Ask{App: app.Name, Now: time.Now(), Logs: o.logs})
	sayWarnings(o.Common, answer.Warnings)
	return answer.Items, nil
}

// live reads an object; nil where it, or its kind, does not exist or may not be read.
func live(ctx context.Context, cluster *connect.Cluster, r v1alpha1.ResourceStatus) (map[string]any, error) {
	mapping, err := cluster.Mapper.RESTMapping(schema.GroupKind{Group: r.Group, Kind: r.Kind})
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", r.Kind, err)
	}
	obj, err := cluster.Dynamic.Resource(mapping.Resource).Namespace(r.Namespace).Get(ctx, r.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsForbidden(err) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read %s %s: %w", r.Kind, r.Name, err)
	}
	return obj.Object, nil
}

package app

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"

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
	"github.com/slipway-gitops/slipway/internal/cli/desire"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// readers is how many objects are read together.
const readers = 8

type manifestsOptions struct {
	*connect.Common
	name     string
	repos    []string
	revision string
	live     bool
}

func newManifestsCmd(common *connect.Common) *cobra.Command {
	o := manifestsOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "manifests NAME",
		Short: "Print what an application wants, or what is live",
		Long: "Fetch and render the application's sources here, with the repository credentials of the cluster, and print the\n" +
			"objects as YAML documents, or one JSON list with -o json. Values of Secrets are masked.",
		Example: "  slipway app manifests web\n  slipway app manifests web --revision my-branch\n  slipway app manifests web --live",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name = args[0]
			return manifestsRun(cmd.Context(), o)
		},
	}
	addSourceFlags(cmd, &o.repos, &o.revision)
	cmd.Flags().BoolVar(&o.live, "live", false, "print the objects that are in the cluster")
	cmd.MarkFlagsMutuallyExclusive("live", "repo")
	cmd.MarkFlagsMutuallyExclusive("live", "revision")
	return cmd
}

func addSourceFlags(cmd *cobra.Command, repos *[]string, revision *string) {
	cmd.Flags().StringArrayVar(repos, "repo", nil,
		"`[URL=]DIR`: take files from a directory instead of fetching them; repeat for several repositories")
	cmd.Flags().StringVar(revision, "revision", "", "`commit`, tag or branch to use instead of the target revision")
	cmd.MarkFlagsMutuallyExclusive("repo", "revision")
}

func manifestsRun(ctx context.Context, o manifestsOptions) error {
	server, err := o.Server()
	if err != nil {
		return err
	}
	if server != nil {
		return o.atServer(ctx, server)
	}
	cluster, app, err := connectToOwn(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	var objects []object.Manifest
	if o.live {
		objects, err = liveManifests(ctx, cluster, app)
	} else {
		objects, err = desired(ctx, o.Common, cluster, app, o.repos, o.revision)
	}
	if err != nil {
		return err
	}
	items, err := inspect.Manifests(objects, nil)
	if err != nil {
		return err
	}
	return o.print(items)
}

// atServer prints what the agent renders, or sees.
func (o *manifestsOptions) atServer(ctx context.Context, server *connect.Server) error {
	if len(o.repos) > 0 {
		return noDirectories()
	}
	app, err := server.Application(ctx, o.name)
	if err != nil {
		return err
	}
	answer, err := app.Manifests(ctx, api.ManifestsRequest{Live: o.live, Revision: o.revision})
	if err != nil {
		return server.Explain(err)
	}
	sayWarnings(o.Common, answer.Warnings)
	return o.print(answer.Items)
}

func (o *manifestsOptions) print(items []json.RawMessage) error {
	objects := make([]object.Manifest, 0, len(items))
	for _, raw := range items {
		obj, err := object.DecodeJSON(raw)
		if err != nil {
			return fmt.Errorf("read manifest: %w", err)
		}
		m, err := object.NewManifest(obj)
		if err != nil {
			return fmt.Errorf("read manifest: %w", err)
		}
		objects = append(objects, m)
	}
	return desire.Print(o.Common, objects)
}

// inCluster refuses applications whose objects are in another cluster than the one that this command talks to.
func inCluster(app *v1alpha1.Application) error {
	d := app.Spec.Destination
	if d.Server == v1alpha1.InClusterServer || d.Name == v1alpha1.InClusterName || d.Server == "" && d.Name == "" {
		return nil
	}
	return fmt.Errorf("application %s deploys to another cluster (%s), whose objects this command cannot read; "+
		"`slipway app get %s` shows their status",
		app.Name, destination(d), app.Name)
}

// desired renders what app wants in cluster, from local directories or over git.
func desired(
	ctx context.Context, common *connect.Common, cluster *connect.Cluster, app *v1alpha1.Application, repos []string, revision string,
) ([]object.Manifest, error) {
	var fetch desire.Fetcher
	var permits func(address, chart string) error
	if len(repos) > 0 {
		local, err := desire.OpenLocal(repos)
		if err != nil {
			return nil, err
		}
		defer local.Close()
		remote, err := desire.Surroundings(app.Spec.ProjectName())
		if err != nil {
			return nil, err
		}
		defer remote.Close()
		local.Elsewhere = remote
		fetch = local
	} else {
		remote, err := desire.OpenRemote(ctx, cluster, app.Spec.ProjectName())
		if err != nil {
			return nil, err
		}
		defer remote.Close()
		if permits, err = permitted(ctx, cluster, app); err != nil {
			return nil, err
		}
		if permits != nil {
			remote.Permits = func(address string) error { return permits(address, "") }
		}
		fetch = remote
	}
	capabilities, err := desire.Capabilities(cluster)
	if err != nil {
		return nil, err
	}
	objects, err := desire.Render(ctx, app, fetch, desire.Options{Revision: revision, Cluster: capabilities, Permits: permits})
	if err != nil {
		return nil, fmt.Errorf("render %s: %w", app.Name, err)
	}
	tracking, err := readTracking(ctx, common, cluster)
	if err != nil {
		return nil, err
	}
	return desire.Place(ctx, app, objects, cluster.Mapper, cluster.Apps.Namespace(), tracking)
}

// permitted reads what the project of an Application permits, since its Secrets are used; nil where it permits all. Sources that it does
// not permit are an error, as for an agent.
func permitted(ctx context.Context, cluster *connect.Cluster, app *v1alpha1.Application) (func(address, chart string) error, error) {
	rules, wrong, err := readProject(ctx, cluster, app.Spec.ProjectName())
	if err := cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	if rules == nil {
		return nil, nil
	}
	for _, src := range app.Spec.EffectiveSources() {
		if err := rules.PermitsChart(src.RepoURL, src.Chart); err != nil {
			return nil, err
		}
	}
	return rules.PermitsChart, nil
}

// readTracking reads how objects are marked. A rule that is wrong, or must not be read, is reported and not in force.
func readTracking(ctx context.Context, common *connect.Common, cluster *connect.Cluster) (object.Tracking, error) {
	data, err := readSettings(ctx, cluster)
	if apierrors.IsForbidden(err) {
		common.Sayf("warning: not allowed to read the ConfigMap %s, so objects are shown with the tracking annotation alone", configSettings)
		return object.Tracking{}, nil
	}
	if err != nil {
		return object.Tracking{}, connect.Explain(fmt.Errorf("read ConfigMap %s: %w", configSettings, err))
	}
	tracking, err := object.ParseTracking(data)
	if err != nil {
		common.Sayf("warning: not in force in the ConfigMap %s: %v", configSettings, err)
	}
	return tracking, nil
}

// liveManifests reads the objects that the Application's status names; those that are missing are left out.
func liveManifests(ctx context.Context, cluster *connect.Cluster, app *v1alpha1.Application) ([]object.Manifest, error) {
	found := make([]*unstructured.Unstructured, len(app.Status.Resources))
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for i, r := range app.Status.Resources {
		group.Go(func() (err error) {
			found[i], err = readLive(ctx, cluster, object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}, r.Version)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	found = slices.DeleteFunc(found, func(o *unstructured.Unstructured) bool { return o == nil })
	out := make([]object.Manifest, 0, len(found))
	for _, obj := range found {
		m, err := object.NewManifest(obj.Object)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// readLive reads one object without its managed fields; nil where it does not exist.
func readLive(ctx context.Context, cluster *connect.Cluster, key object.Key, version string) (*unstructured.Unstructured, error) {
	mapping, err := cluster.Mapper.RESTMapping(schema.GroupKind{Group: key.Group, Kind: key.Kind}, version)
	if meta.IsNoMatchError(err) {
		return nil, nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("find %s: %w", key.GroupKind(), err))
	}
	obj, err := cluster.Dynamic.Resource(mapping.Resource).Namespace(key.Namespace).Get(ctx, key.Name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, connect.Explain(fmt.Errorf("read %s: %w", key, err))
	}
	unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	return obj, nil
}

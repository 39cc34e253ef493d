package agent

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

func (v *verbs) tree(ctx context.Context, cmd agentapi.Command) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p, err := v.place(ctx, app)
	if err != nil {
		return nil, err
	}
	resources := v.permitted(app)
	leaves, warnings, err := v.leaves(ctx, p, inspect.Places(resources))
	if err != nil {
		return nil, err
	}
	return api.TreeAnswer{Items: inspect.Tree(resources, leaves, p.instance), Warnings: warnings}, nil
}

// permitted are the objects of a status that the project lets the Application have.
func (v *verbs) permitted(app *v1alpha1.Application) []v1alpha1.ResourceStatus {
	permits := v.engine.Permits(app)
	var out []v1alpha1.ResourceStatus
	for i := range app.Status.Resources {
		if permits(inspect.KeyOf(&app.Status.Resources[i]), "") == nil {
			out = append(out, app.Status.Resources[i])
		}
	}
	return out
}

// family reads what objects own, as a tree. What may not be listed is left out.
func (v *verbs) family(ctx context.Context, p *place, resources []v1alpha1.ResourceStatus) ([]*api.TreeNode, error) {
	leaves, _, err := v.leaves(ctx, p, inspect.Heirs(resources))
	if err != nil {
		return nil, err
	}
	return inspect.Tree(resources, leaves, p.instance), nil
}

// leaves lists objects for a tree. What may not be listed is left out and named in warnings.
func (v *verbs) leaves(ctx context.Context, p *place, places []inspect.Place) ([]*inspect.Leaf, []string, error) {
	client, err := watcherOf(actor{}.config(p.d.rest))
	if err != nil {
		return nil, nil, err
	}
	eye := v.eye(p)
	found, barred := make([][]*inspect.Leaf, len(places)), make([]string, len(places))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, at := range places {
		res, err := p.cluster.Find(ctx, at.Kind, "")
		if unknownKind(err) || err == nil && !res.Watchable {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		g.Go(func() (err error) {
			found[i], err = listLeaves(ctx, client, res, at, eye)
			if lack, passed := without(at, err); passed {
				barred[i] = lack
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	var warnings []string
	for _, one := range barred {
		if one != "" {
			warnings = append(warnings, one)
		}
	}
	var all []*inspect.Leaf
	for _, some := range found {
		all = append(all, some...)
	}
	return all, warnings, nil
}

// without reports whether a tree can do without what was not listed, and what to say of that. What is in the status is in the
// tree all the same: where there is only metadata to it, nobody misses it.
func without(at inspect.Place, err error) (warning string, can bool) {
	switch {
	case err == nil:
		return "", false
	case at.Bare && apierrors.IsForbidden(err):
		return "", true
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("may not list %s in namespace %s; the tree is without them", at.Kind, at.Namespace), true
	case at.Bare && apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return fmt.Sprintf("could not list %s, so the tree knows less of them: %v", at.Kind, err), true
	}
	return "", false
}

// eye looks at objects as the agent does that judges and owns them.
func (v *verbs) eye(p *place) inspect.Eye {
	eye := inspect.Eye{Owner: p.cluster.Tracking.Owner}
	if assessor, _ := v.clusters.scripts.get(); assessor != nil {
		eye.Judge = assessor.Judge
	}
	return eye
}

// watcherOf is a client that lists and watches in a cluster, over the connections that there are.
func watcherOf(config *rest.Config) (*stream.Client, error) {
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("make HTTP client: %w", err)
	}
	return stream.NewClient(config, client)
}

// listLeaves reads all objects of a kind in a namespace, page by page.
func listLeaves(ctx context.Context, client *stream.Client, res live.Resource, at inspect.Place, eye inspect.Eye) ([]*inspect.Leaf, error) {
	const page = 500
	if at.Bare {
		client = client.Metadata()
	}
	in := client.ListWatch(res.Path(res.Version, at.Namespace, ""), nil, nil)
	var out []*inspect.Leaf
	opts := metav1.ListOptions{Limit: page}
	for {
		got, err := in.ListWithContextFunc(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list %s in namespace %s: %w", res.Plural, at.Namespace, err)
		}
		list, ok := got.(*stream.List)
		if !ok {
			return nil, fmt.Errorf("list %s in namespace %s: the answer is a %T", res.Plural, at.Namespace, got)
		}
		for i := range list.Items {
			leaf, err := leafOf(&list.Items[i], res, at.Bare, eye)
			if err != nil {
				return nil, err
			}
			out = append(out, leaf)
		}
		if len(out) > inspect.MaxObjects {
			return nil, refusedAs(agentapi.CodeTooLarge, "namespace %s has more than %d %s: too many for a tree", at.Namespace, inspect.MaxObjects, res.Plural)
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

// leafOf reads an object of a list or a watch. In a list, and where only metadata was asked for, it does not say of what kind
// it is.
func leafOf(o *stream.Object, res live.Resource, bare bool, eye inspect.Eye) (*inspect.Leaf, error) {
	obj, err := object.DecodeJSON(o.Raw)
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", res.Kind, o.Namespace, o.Name, err)
	}
	obj["kind"], obj["apiVersion"] = res.Kind.Kind, res.Version
	if res.Kind.Group != "" {
		obj["apiVersion"] = res.Kind.Group + "/" + res.Version
	}
	return eye.Leaf(obj, bare), nil
}

package kin

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
)

// atOnce is how many lists are read at a time.
const atOnce = 8

// List reads objects for a tree, once. What may not be listed is left out and named in warnings; listed says where all are
// there.
func List(ctx context.Context, c Cluster,
	places []inspect.Place,
) (leaves []*inspect.Leaf, listed map[inspect.Spot]bool, warnings []string, err error) {
	found, lacks, whole := make([][]*inspect.Leaf, len(places)), make([]string, len(places)), make([]bool, len(places))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i, at := range places {
		res, there, err := c.find(ctx, at.Kind)
		if err != nil {
			return nil, nil, nil, err
		}
		if !there {
			continue
		}
		g.Go(func() (err error) {
			found[i], err = c.list(ctx, res, at)
			whole[i] = err == nil
			if lack, can := without(at, err); can {
				lacks[i] = lack
				return nil
			}
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, nil, nil, err
	}
	listed = make(map[inspect.Spot]bool, len(places))
	for i, at := range places {
		if whole[i] {
			listed[at.Spot()] = true
		}
	}
	lacks = slices.DeleteFunc(lacks, func(s string) bool { return s == "" })
	return slices.Concat(found...), listed, lacks, nil
}

// without reports whether a tree can do without what was not listed, and what to say of that. What is in the status is still
// in the tree: where there is only metadata to it, it is not missed.
func without(at inspect.Place, err error) (warning string, can bool) {
	switch {
	case err == nil:
		return "", false
	case at.Bare && apierrors.IsForbidden(err):
		return "", true
	case at.Judged && apierrors.IsForbidden(err):
		return fmt.Sprintf("may not list %s, so their health is unknown", at.Kind), true
	case apierrors.IsForbidden(err):
		return fmt.Sprintf("may not list %s in namespace %s; the tree is without them", at.Kind, at.Namespace), true
	case at.Bare && apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return fmt.Sprintf("could not list %s, so the tree knows less of them: %v", at.Kind, err), true
	}
	return "", false
}

// list reads all objects of a kind in a namespace, page by page.
func (c *Cluster) list(ctx context.Context, res live.Resource, at inspect.Place) ([]*inspect.Leaf, error) {
	const page = 500
	in := c.client(at).ListWatch(res.Path(res.Version, at.Namespace, ""), nil, nil)
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
			leaf, err := c.leaf(&list.Items[i], res, at)
			if err != nil {
				return nil, err
			}
			out = append(out, leaf)
		}
		if len(out) > inspect.MaxObjects {
			return nil, tooMany(res, at)
		}
		if opts.Continue = list.Continue; opts.Continue == "" {
			return out, nil
		}
	}
}

func tooMany(res live.Resource, at inspect.Place) error {
	return &agentapi.Error{
		Code:    agentapi.CodeTooLarge,
		Message: fmt.Sprintf("namespace %s has more than %d %s: too many for a tree", at.Namespace, inspect.MaxObjects, res.Plural),
	}
}

// client reads no more of objects than a place needs.
func (c *Cluster) client(at inspect.Place) *stream.Client {
	if at.Bare {
		return c.Client.Metadata()
	}
	return c.Client
}

// leaf reads an object of a list or a watch. In a list, and where only metadata was asked for, it does not say of what kind
// it is.
func (c *Cluster) leaf(o *stream.Object, res live.Resource, at inspect.Place) (*inspect.Leaf, error) {
	obj, err := object.DecodeJSON(o.Raw)
	if err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", res.Kind, o.Namespace, o.Name, err)
	}
	obj["kind"], obj["apiVersion"] = res.Kind.Kind, res.Version
	if res.Kind.Group != "" {
		obj["apiVersion"] = res.Kind.Group + "/" + res.Version
	}
	return c.Eye.Leaf(obj, at.Bare), nil
}

package engine

import (
	"context"

	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// observe makes sure that live state is complete for every kind that the Application uses or has used.
func (r *rendering) observe(ctx context.Context) error {
	defer r.lap(StageLive)
	kinds := map[object.Kind]bool{}
	for _, w := range r.want.objects {
		if w.barred == nil {
			kinds[w.key.GroupKind()] = true
		}
	}
	if r.operation() != nil || decide.Automated(r.app) != nil {
		for _, h := range r.want.hooks {
			if h.barred == nil {
				kinds[h.key.GroupKind()] = true
			}
		}
	}
	r.known(kinds)
	return r.watch(ctx, kinds)
}

// known adds the kinds that the status lists.
func (in *inputs) known(kinds map[object.Kind]bool) {
	for _, res := range in.app.Status.Resources {
		key := object.Key{Group: res.Group, Kind: res.Kind, Namespace: res.Namespace, Name: res.Name}
		// any client can write a status, and a watch costs memory
		if kind := key.GroupKind(); !kinds[kind] && !in.target.Live.Excludes(kind) && !in.outside(key) {
			kinds[kind] = true
		}
	}
}

// watch makes sure that live state of kinds is complete.
func (in *inputs) watch(ctx context.Context, kinds map[object.Kind]bool) error {
	for kind := range kinds {
		res, err := in.target.Live.Find(ctx, kind, "")
		if prepare.Unknown(err) {
			continue // comes with a definition of the same source, or is gone with its definition
		}
		if err != nil {
			return err
		}
		if err := in.target.Live.Watch(ctx, res); err != nil {
			return err
		}
	}
	return nil
}

package engine

import (
	"cmp"
	"context"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// prepare makes manifests ready to apply: namespace, tracking mark. Of objects that come twice the last one counts,
// as with kubectl.
func (in *inputs) prepare(ctx context.Context, objects []object.Manifest, m *wanted) (
	manifests map[object.Key]object.Manifest, hooks []object.Manifest, err error,
) {
	m.rendered = len(objects)
	ready := in.preparer(objects)
	manifests = make(map[object.Key]object.Manifest, len(objects))
	at := make(map[object.Key]int, len(objects))
	for i, o := range objects {
		if in.target.Live.Excludes(o.Key.GroupKind()) {
			m.excluded = append(m.excluded, o.Key)
			continue
		}
		var barred error
		p, err := in.prepareOne(ctx, ready, o)
		if prepare.Unknown(err) {
			p.Key, p.Version = in.unplaced(o.Key), o.Version
			err, barred, m.lacking = nil, fmt.Errorf("%s: %w", o.Key, err), true
		}
		if err != nil {
			return nil, nil, err
		}
		if p.Hook.Skip {
			continue
		}
		m.options = append(m.options, p.Misread...)
		if p.Hook.Is {
			m.hooks = append(m.hooks, wantedHook{
				key: p.Key, prefix: p.Prefix, version: p.Version, Hook: p.Hook, options: p.Options, at: i, barred: barred,
			})
			hooks = append(hooks, p.Manifest)
			continue
		}
		w := wantedObject{
			key: p.Key, version: p.Version, hash: p.Hash(), wave: p.Hook.Wave, options: p.Options, defines: p.Defines, at: i, barred: barred,
		}
		if before, twice := at[p.Key]; twice {
			m.repeated = append(m.repeated, p.Key)
			m.objects[before] = w
		} else {
			at[p.Key] = len(m.objects)
			m.objects = append(m.objects, w)
		}
		if barred == nil {
			manifests[p.Key] = p.Manifest
		} else {
			delete(manifests, p.Key)
		}
	}
	return manifests, hooks, nil
}

// unplaced is the key of an object of which it is not known whether it has a namespace.
func (t *turn) unplaced(key object.Key) object.Key {
	key.Namespace = cmp.Or(key.Namespace, t.app.Spec.Destination.Namespace)
	return key
}

// preparer makes objects ready that were rendered together.
func (in *inputs) preparer(objects []object.Manifest) prepare.For {
	return prepare.For{
		App: in.app, Instance: in.instance, Tracking: in.target.Live.Tracking, Defined: prepare.Defined(objects),
		Namespaced: func(ctx context.Context, kind object.Kind, version string) (bool, error) {
			res, err := in.target.Live.Find(ctx, kind, version)
			return res.Namespaced, aboutCluster(err)
		},
	}
}

// prepareOne makes one object ready to apply, with the number by which it is compared.
func (in *inputs) prepareOne(ctx context.Context, ready prepare.For, o object.Manifest) (p prepare.Object, err error) {
	if p, err = ready.Object(ctx, o); err == nil && !p.Hook.Skip {
		p.Sum, err = in.ignore.For(p.Key).Hash(p.Manifest)
	}
	return p, err
}

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ErrMoved says that an object has other content than the one that was compared.
var ErrMoved = errors.New("the object has changed since it was read")

// Takeover is an object that other programs have written and Slipway has not, or not last. Its owners of fields can pass
// to Slipway without a change of its content.
type Takeover struct {
	resource live.Resource
	manifest object.Manifest
	have     map[string]any // at the version of the manifest
	ours     map[string]any // our entry of metadata.managedFields afterwards
	how      How
	migrate  bool
}

// TakesOver reports whether a write of ours would be the first one of an object: nothing in it is owned by our applies, or
// Argo CD has written it since. have is the live object with its managed fields.
func TakesOver(have map[string]any, how How) bool {
	migrate := how.Own.WithLive(object.OptionsOf(have)).Over(how.App).Migrate != object.No
	ours := false
	for entry := range object.Managed(have) {
		ours = ours || entry["manager"] == live.Replacer || object.AppliedBy(entry, live.Manager)
		if live.Rival(object.Text(entry, "manager"), how.Manager) && live.Inherits(entry, migrate, how.Manager) {
			return true
		}
	}
	return !ours
}

// Passing returns the fields that are ours once those of other programs have passed to us, in the format fieldsV1.
func Passing(have map[string]any, how How) map[string]any {
	migrate := how.Own.WithLive(object.OptionsOf(have)).Over(how.App).Migrate != object.No
	entries, _ := inherited(have, migrate, how.Manager)
	return ourSet(entries, have["apiVersion"])
}

// ourSet is the set of our applies among entries of metadata.managedFields, at one version; nil for none.
func ourSet(entries []any, version any) map[string]any {
	for _, e := range entries {
		if entry, _ := e.(map[string]any); object.AppliedBy(entry, live.Manager) && entry["apiVersion"] == version {
			return object.Dict(entry, "fieldsV1")
		}
	}
	return nil
}

// Foretell returns what an apply would make of an object after the owners of its fields have passed to us, and how they
// pass. It writes nothing. have is the object with its managed fields, at the version of its manifest; the options
// Replace and Force are ignored.
func (t Target) Foretell(ctx context.Context, res live.Resource, have map[string]any, m object.Manifest,
	how How,
) (map[string]any, *Takeover, error) {
	how.DryRun = true
	w := writing{target: t, change: diff.Change{Key: m.Key}, resource: res, manifest: m, how: how}
	w.settleOptions(object.OptionsOf(have))
	then, err := w.applied(ctx)
	if err != nil {
		return nil, nil, err
	}
	over := &Takeover{resource: res, manifest: m, have: have, how: how, migrate: w.options.Migrate != object.No}
	if set := ourSet(object.List(object.Dict(then, "metadata"), "managedFields"), then["apiVersion"]); set != nil {
		// Without a time: the object itself was not changed by us.
		over.ours = map[string]any{
			"manager": live.Manager, "operation": "Apply", "apiVersion": then["apiVersion"], "fieldsType": "FieldsV1", "fieldsV1": set,
		}
	}
	then, err = w.without(ctx, have, then)
	return then, over, err
}

// patch makes the owners of the object's fields what they are to be. It is refused when the object has changed since.
func (o *Takeover) patch(have map[string]any) []operation {
	entries, _ := inherited(have, o.migrate, o.how.Manager)
	kept := make([]any, 0, len(entries)+1)
	for _, e := range entries {
		if entry, _ := e.(map[string]any); !object.AppliedBy(entry, live.Manager) {
			kept = append(kept, e)
		}
	}
	if o.ours != nil {
		kept = append(kept, o.ours)
	}
	return []operation{
		{Op: "add", Path: "/metadata/managedFields", Value: kept},
		{Op: "replace", Path: "/metadata/resourceVersion", Value: object.Dict(have, "metadata")["resourceVersion"]},
	}
}

// From names the field managers whose fields pass, sorted.
func (o *Takeover) From() []string {
	names := map[string]bool{}
	for entry := range object.Managed(o.have) {
		if live.Inherits(entry, o.migrate, o.how.Manager) {
			names[object.Text(entry, "manager")] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// Patch is the JSON patch that passes the owners, as it would be sent now.
func (o *Takeover) Patch() (string, error) {
	raw, err := json.Marshal(o.patch(o.have))
	if err != nil {
		return "", fmt.Errorf("encode patch of %s: %w", o.manifest.Key, err)
	}
	return string(raw), nil
}

// TakeOver passes the owners of an object's fields to us and changes nothing else in it. hash is that of its manifest, which
// the object matches from then on. Where its content is another one by now, the error is ErrMoved.
func (t Target) TakeOver(ctx context.Context, o *Takeover, hash uint64) error {
	have, at := o.have, o.resource
	at.Version = o.manifest.Version
	for range maxRaces {
		obj, err := t.Client.patched(ctx, at, o.manifest.Key, o.patch(have))
		switch {
		case err == nil:
			return t.tookOver(ctx, o, obj, hash)
		case !apierrors.IsConflict(err):
			return err
		}
		now, err := t.Client.Get(ctx, at, o.manifest.Key)
		if err != nil {
			return err
		}
		if !diff.SameContent(o.have, now) {
			return ErrMoved
		}
		have = now
	}
	return ErrMoved
}

// tookOver records the answer to a takeover. Of an object without a mark nothing is kept.
func (t Target) tookOver(ctx context.Context, o *Takeover, obj map[string]any, hash uint64) error {
	if _, tracked, _ := t.Live.Get(o.manifest.Key); !tracked {
		return nil
	}
	if o.manifest.Version != o.resource.Version { // the fingerprint must be of the version that the watch reads
		var err error
		if obj, err = t.Client.Get(ctx, o.resource, o.manifest.Key); err != nil {
			return err
		}
	}
	t.Live.Applied(o.resource, obj, hash)
	return nil
}

package apply

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Predict returns what Write would make of an object that is there, and writes nothing: it sends dry runs, so defaults and
// admission included. have is the object with its managed fields, at the version of its manifest. What Write would do by
// deleting the object first is an error, with the API server's reason.
func (t Target) Predict(ctx context.Context, res live.Resource, have map[string]any, m object.Manifest, how How) (map[string]any, error) {
	how.DryRun = true
	w := writing{target: t, change: diff.Change{Key: m.Key}, resource: res, manifest: m, how: how}
	w.settleOptions(object.OptionsOf(have))
	if w.options.Replace.Is() {
		return w.put(ctx, have)
	}
	then, err := w.applied(ctx)
	if err != nil {
		return nil, err
	}
	return w.without(ctx, have, then)
}

// without returns the answer to a dry run of an apply without the fields that had passed to us before it and are not
// wanted, as the API server would make it.
func (w *writing) without(ctx context.Context, have, then map[string]any) (map[string]any, error) {
	rest, changed := w.leave(have, then)
	if !changed {
		return then, nil
	}
	// A dry run remembers nothing, so no dry run of an apply shows what goes with fields that pass to us by a write
	// before it. A dry run of writing the rest does, with the defaults for what is left out.
	body, err := json.Marshal(rest)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", w.change.Key, err)
	}
	return w.target.Client.update(ctx, w.resource, w.manifest, body, w.validation(), true)
}

// leave takes out of the answer to an apply what had passed to us before it, and is not wanted.
func (w *writing) leave(have, then map[string]any) (map[string]any, bool) {
	entries, changed := inherited(have, w.options.Migrate != object.No, w.how.Manager)
	if !changed {
		return then, false
	}
	var before map[string]any
	var keep []map[string]any
	for _, e := range entries {
		entry, _ := e.(map[string]any)
		switch {
		case entry["apiVersion"] != have["apiVersion"]: // its fields may have other names
		case object.AppliedBy(entry, live.Manager):
			before = fieldSet(entry["fieldsV1"])
		default:
			keep = append(keep, fieldSet(entry["fieldsV1"]))
		}
	}
	list := object.List(object.Dict(then, "metadata"), "managedFields")
	rest, changed := diff.Leave(then, before, append(keep, ourSet(list, then["apiVersion"]))...)
	if !changed {
		return then, false
	}
	return withVersion(rest, object.Dict(have, "metadata")["resourceVersion"]), true
}

// withVersion returns obj at a resourceVersion.
func withVersion(obj map[string]any, version any) map[string]any {
	meta, _ := obj["metadata"].(map[string]any)
	out, at := maps.Clone(obj), map[string]any{}
	maps.Copy(at, meta)
	at["resourceVersion"] = version
	out["metadata"] = at
	return out
}

package apply

import (
	"context"
	"fmt"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// lastApplied is kubectl's copy of what it applied last. It stays: without it kubectl could not take an object back.
const (
	lastAppliedNote = "kubectl.kubernetes.io/last-applied-configuration"
	lastApplied     = "f:" + lastAppliedNote
)

// inherit makes ours what others set who wrote the object before us, so that the apply that follows removes what is
// not wanted any more. It changes no field of the object.
func (w *writing) inherit(ctx context.Context, have map[string]any) error {
	for range maxRaces {
		entries, changed := inherited(have, w.options.Migrate != object.No, w.how.Manager)
		if !changed {
			return nil
		}
		err := w.target.Client.patch(ctx, w.resource, w.change.Key, []operation{
			{Op: "replace", Path: "/metadata/managedFields", Value: entries},
			// refused when it has changed since
			{Op: "replace", Path: "/metadata/resourceVersion", Value: object.Dict(have, "metadata")["resourceVersion"]},
		})
		if apierrors.IsNotFound(err) {
			return nil
		}
		if !apierrors.IsConflict(err) {
			return err
		}
		if have, err = w.get(ctx); apierrors.IsNotFound(err) {
			return nil
		} else if err != nil {
			return err
		}
	}
	return fmt.Errorf("take over the fields of %s: others change it all the time: the sync is tried again", w.change.Key)
}

// inherited returns the managedFields of an object with all that passes to us in one entry, and whether anything does. Of
// entries at several versions, those at the version of our own entry count, or else of the first: fields of other
// versions may have other names. They lose their owner, and so does what client-side apply wrote by the way: defaults and
// what else its note does not name. It would not remove that either.
func inherited(have map[string]any, clientSide bool, manager string) (entries []any, changed bool) {
	note := noteOf(have)
	list := object.List(object.Dict(have, "metadata"), "managedFields")
	var ours map[string]any
	var from []map[string]any
	for _, e := range list {
		entry, _ := e.(map[string]any)
		switch {
		case object.AppliedBy(entry, live.Manager):
			ours = entry
		case live.Inherits(entry, clientSide, manager):
			from = append(from, entry)
		default:
			entries = append(entries, e)
		}
	}
	if len(from) == 0 {
		return list, false
	}
	merged := map[string]any{"manager": live.Manager, "operation": "Apply", "fieldsType": "FieldsV1", "fieldsV1": map[string]any{}}
	if ours == nil {
		ours = from[0]
	} else {
		merged["fieldsV1"] = ours["fieldsV1"]
	}
	merged["apiVersion"], merged["time"] = ours["apiVersion"], ours["time"]
	for _, entry := range from {
		if entry["apiVersion"] == merged["apiVersion"] {
			merged["fieldsV1"] = union(fieldSet(merged["fieldsV1"]), note.passing(entry))
		}
	}
	if len(fieldSet(merged["fieldsV1"])) > 0 {
		entries = append(entries, merged)
	}
	return entries, true
}

// note is what client-side apply has written down of its last manifest; nil where nothing can be read.
type note map[string]any

func noteOf(have map[string]any) note {
	text := object.Annotation(have, lastAppliedNote)
	if text == "" {
		return nil
	}
	said, err := object.DecodeJSON([]byte(text))
	if err != nil || said["apiVersion"] == nil {
		return nil
	}
	return said
}

// passing returns the fields of an entry that pass to us. Of an entry of client-side apply those are the fields of the note,
// where there is one at the version of the entry.
func (n note) passing(entry map[string]any) map[string]any {
	set := passing(fieldSet(entry["fieldsV1"]))
	if n == nil || entry["operation"] != "Update" || entry["manager"] == live.Replacer || entry["apiVersion"] != n["apiVersion"] {
		return set
	}
	return diff.Within(set, map[string]any(n))
}

func fieldSet(v any) map[string]any {
	set, _ := v.(map[string]any)
	return set
}

// passing leaves out of a set what is not ours to remove: the status, and kubectl's note.
func passing(set map[string]any) map[string]any {
	return without(without(set, "f:status"), "f:metadata", "f:annotations", lastApplied)
}

// without returns set without the field at path, and without the map that holds it: that one must stay for the field to
// stay. It shares what it does not change.
func without(set map[string]any, path ...string) map[string]any {
	sub, ok := set[path[0]]
	if !ok {
		return set
	}
	out := maps.Clone(set)
	if len(path) == 1 {
		delete(out, path[0])
		delete(out, ".")
		return out
	}
	left := without(fieldSet(sub), path[1:]...)
	out[path[0]] = left
	if len(left) == 0 && len(fieldSet(sub)) > 0 {
		delete(out, path[0]) // empty would mean the whole of it
	}
	return out
}

// union returns the fields that are in either of two sets, in the format of metadata.managedFields: a field with
// nothing below it stands for itself, one with fields below it only if "." is among them.
func union(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	maps.Copy(out, a)
	for name, v := range b {
		mine, both := out[name]
		if !both {
			out[name] = v
			continue
		}
		x, y := fieldSet(mine), fieldSet(v)
		merged := union(x, y)
		if len(merged) > 0 && (len(x) == 0 || len(y) == 0) {
			merged["."] = map[string]any{}
		}
		out[name] = merged
	}
	return out
}

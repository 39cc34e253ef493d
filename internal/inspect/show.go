package inspect

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// lastApplied is where kubectl keeps what was applied last.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// Shown returns an object as people may see it: values of a Secret and of the annotations in mask are replaced, managed
// fields and what kubectl applied last are left out. The object itself is left alone; nil stays nil.
func Shown(obj map[string]any, mask []string) map[string]any {
	masked, _ := diff.Mask(obj, nil, mask)
	return trimmed(masked)
}

// ShownPair is Shown for two states of one object: equal values of a Secret have equal masks.
func ShownPair(desired, live map[string]any, mask []string) (shownDesired, shownLive map[string]any) {
	desired, live = diff.Mask(desired, live, mask)
	return trimmed(desired), trimmed(live)
}

// trimmed leaves out what is of no use to people.
func trimmed(masked map[string]any) map[string]any {
	if masked == nil {
		return nil
	}
	out := maps.Clone(masked)
	if meta, ok := out["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		if notes, ok := meta["annotations"].(map[string]any); ok {
			notes = maps.Clone(notes)
			delete(notes, lastApplied)
			if meta["annotations"] = any(notes); len(notes) == 0 {
				delete(meta, "annotations")
			}
		}
		out["metadata"] = meta
	}
	if ours(out) {
		withoutSecrets(out)
	}
	return out
}

// ShownJSON is Shown as JSON; null for nil.
func ShownJSON(obj map[string]any, mask []string) (json.RawMessage, error) {
	raw, err := json.Marshal(Shown(obj, mask))
	if err != nil {
		return nil, fmt.Errorf("encode object: %w", err)
	}
	return raw, nil
}

// Manifests are the objects as people may see them, as JSON.
func Manifests(objects []object.Manifest, mask []string) ([]json.RawMessage, error) {
	out := make([]json.RawMessage, 0, len(objects))
	for _, m := range objects {
		obj, err := m.Decode()
		if err != nil {
			return nil, err
		}
		raw, err := ShownJSON(obj, mask)
		if err != nil {
			return nil, err
		}
		out = append(out, raw)
	}
	return out, nil
}

func ours(obj map[string]any) bool {
	apiVersion, _ := obj["apiVersion"].(string)
	group, _ := object.SplitAPIVersion(apiVersion)
	return group == v1alpha1.Group
}

// withoutSecrets takes out what is secret in the resources of Argo CD: user information of addresses, and manifests of operations.
func withoutSecrets(obj map[string]any) {
	for field, value := range obj {
		obj[field] = redacted(value, 0)
	}
}

// maxDepth bounds how deep an object is looked into; what is deeper is left out.
const maxDepth = 100

func redacted(value any, depth int) any {
	if depth > maxDepth {
		return nil
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, inner := range v {
			if _, list := inner.([]any); key == "manifests" && list {
				continue // of an operation: it may hold anything
			}
			out[key] = redacted(inner, depth+1)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, inner := range v {
			out[i] = redacted(inner, depth+1)
		}
		return out
	case string:
		return redact.Addresses(v)
	}
	return value
}

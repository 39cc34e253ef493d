package link

import (
	"encoding/json"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// fit returns a body that may be sent: the body itself, or where it is too large, what fits of it, and whether something
// was left out. The parts that go first are those that are long and that few people look for.
func fit(body []byte) (fitted []byte, truncated bool) { return fitTo(body, agentapi.MaxItem) }

// fitTo is fit for a limit in bytes, which is at least 2: an empty object fits always.
func fitTo(body []byte, limit int) (fitted []byte, truncated bool) {
	if len(body) <= limit {
		return body, false
	}
	var obj map[string]json.RawMessage
	if strict.Decode(body, &obj, strict.Foreign) != nil {
		return []byte("{}"), true
	}
	for _, path := range [][]string{
		{"status", "operationState", "syncResult", "resources"},
		{"status", "resources"},
		{"status", "history"},
		{"status", "operationState"},
		{"status", "conditions"},
		{"status"},
		{"operation"},
		{"metadata", "annotations"},
		{"spec"},
	} {
		obj = without(obj, path)
		if out, err := json.Marshal(obj); err == nil && len(out) <= limit {
			return out, true
		}
	}
	return []byte("{}"), true
}

// without returns an object without the field at a path.
func without(obj map[string]json.RawMessage, path []string) map[string]json.RawMessage {
	raw, there := obj[path[0]]
	if !there {
		return obj
	}
	if len(path) == 1 {
		delete(obj, path[0])
		return obj
	}
	var below map[string]json.RawMessage
	if strict.Decode(raw, &below, strict.Foreign) != nil {
		return obj
	}
	if out, err := json.Marshal(without(below, path[1:])); err == nil {
		obj[path[0]] = out
	}
	return obj
}

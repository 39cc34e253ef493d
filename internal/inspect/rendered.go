package inspect

import (
	"encoding/json"
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Rendered writes what differs between two manifests as they were rendered, as YAML in the unified format. Secrets must have
// been taken out before. Either can be nil.
func Rendered(from, to json.RawMessage, fromName, toName string) (string, error) {
	var sides [2]map[string]any
	for i, raw := range []json.RawMessage{from, to} {
		if raw == nil {
			continue
		}
		var err error
		if sides[i], err = object.DecodeJSON(raw); err != nil {
			return "", fmt.Errorf("read manifest: %w", err)
		}
	}
	return diff.Unified(sides[0], sides[1], diff.Text{From: fromName, To: toName, Context: 3})
}

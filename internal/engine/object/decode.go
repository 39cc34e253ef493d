package object

import (
	"fmt"

	kjson "sigs.k8s.io/json"
)

// DecodeJSON reads one JSON object into maps, slices and scalars as the API machinery does: keys are
// case-sensitive and whole numbers become int64, so that equal values compare equal.
func DecodeJSON(raw []byte) (map[string]any, error) {
	var obj map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(raw, &obj); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if obj == nil {
		return nil, fmt.Errorf("read JSON: not an object")
	}
	return obj, nil
}

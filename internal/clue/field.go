package clue

import "github.com/slipway-gitops/slipway/internal/engine/object"

// Fields of objects may have any type: what has another one than expected is as if it were not there.

func dict(from map[string]any, field string) map[string]any {
	m, _ := from[field].(map[string]any)
	return m
}

func list(from map[string]any, field string) []any {
	l, _ := from[field].([]any)
	return l
}

func text(from map[string]any, field string) string {
	s, _ := from[field].(string)
	return s
}

func count(from map[string]any, field string) int64 {
	switch v := from[field].(type) {
	case int64:
		return v
	case float64:
		return int64(v)
	}
	return 0
}

// dicts are the objects of a list.
func dicts(from map[string]any, field string) []map[string]any {
	var out []map[string]any
	for _, one := range list(from, field) {
		if m, ok := one.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

func nameOf(obj map[string]any) string { return text(dict(obj, "metadata"), "name") }

func keyOf(group, kind string, obj map[string]any) object.Key {
	return object.Key{Group: group, Kind: kind, Namespace: text(dict(obj, "metadata"), "namespace"), Name: nameOf(obj)}
}

package clue

import "github.com/slipway-gitops/slipway/internal/engine/object"

func nameOf(obj map[string]any) string { return object.Text(object.Dict(obj, "metadata"), "name") }

func keyOf(group, kind string, obj map[string]any) object.Key {
	return object.Key{Group: group, Kind: kind, Namespace: object.Text(object.Dict(obj, "metadata"), "namespace"), Name: nameOf(obj)}
}

package health

import "github.com/slipway-gitops/slipway/internal/engine/object"

// condition finds the status condition of a type; it is nil where there is none.
func condition(status map[string]any, name string) map[string]any {
	for _, c := range object.Dicts(status, "conditions") {
		if object.Text(c, "type") == name {
			return c
		}
	}
	return nil
}

// observed reports whether the controller has seen the newest spec.
func observed(obj, status map[string]any) bool {
	return object.Count(object.Dict(obj, "metadata"), "generation") <= object.Count(status, "observedGeneration")
}

package health

// The readers below take any shape: what is missing or of another type reads as the zero value.

func dict(m map[string]any, key string) map[string]any {
	v, _ := m[key].(map[string]any)
	return v
}

func list(m map[string]any, key string) []any {
	v, _ := m[key].([]any)
	return v
}

func text(m map[string]any, key string) string {
	v, _ := m[key].(string)
	return v
}

// number reports false where there is no number: an absent replica count means something else than zero.
func number(m map[string]any, key string) (int64, bool) {
	switch v := m[key].(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case float64:
		return int64(v), true
	}
	return 0, false
}

func count(m map[string]any, key string) int64 {
	n, _ := number(m, key)
	return n
}

// condition finds the status condition of a type; it is nil where there is none.
func condition(status map[string]any, name string) map[string]any {
	for _, item := range list(status, "conditions") {
		if c, ok := item.(map[string]any); ok && text(c, "type") == name {
			return c
		}
	}
	return nil
}

// observed reports whether the controller has seen the newest spec.
func observed(obj, status map[string]any) bool {
	return count(dict(obj, "metadata"), "generation") <= count(status, "observedGeneration")
}

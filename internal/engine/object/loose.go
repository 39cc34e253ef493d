package object

import "iter"

// What follows reads fields of objects from a cluster or from Git, which may have any type: what has another one than expected
// is as if it were not there.

// Dict is a field that holds fields.
func Dict(from map[string]any, field string) map[string]any {
	m, _ := from[field].(map[string]any)
	return m
}

// List is a field that holds a list.
func List(from map[string]any, field string) []any {
	l, _ := from[field].([]any)
	return l
}

// Dicts are those of a list that hold fields.
func Dicts(from map[string]any, field string) []map[string]any {
	var out []map[string]any
	for _, one := range List(from, field) {
		if m, ok := one.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// Text is a field that holds a text.
func Text(from map[string]any, field string) string {
	s, _ := from[field].(string)
	return s
}

// Flag is a field that is true.
func Flag(from map[string]any, field string) bool {
	b, _ := from[field].(bool)
	return b
}

// Number is a field that holds a number, without its fraction.
func Number(from map[string]any, field string) (n int64, ok bool) {
	switch v := from[field].(type) {
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

// Count is a number; 0 where there is none.
func Count(from map[string]any, field string) int64 {
	n, _ := Number(from, field)
	return n
}

// Float is a number; false for any other value.
func Float(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// Managed yields the entries of an object's metadata.managedFields.
func Managed(obj map[string]any) iter.Seq[map[string]any] {
	return func(yield func(map[string]any) bool) {
		for _, e := range List(Dict(obj, "metadata"), "managedFields") {
			if entry, ok := e.(map[string]any); ok && !yield(entry) {
				return
			}
		}
	}
}

// AppliedBy reports whether an entry of Managed is of what a manager has applied, subresources aside.
func AppliedBy(entry map[string]any, manager string) bool {
	return entry["manager"] == manager && entry["operation"] == "Apply" && Text(entry, "subresource") == ""
}

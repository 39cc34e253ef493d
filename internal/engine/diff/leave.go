package diff

import (
	"slices"
	"strings"
)

// Leave returns obj without the fields that its manager gives up: those of before that are in none of keep, all sets in
// the format fieldsV1. It is what a server-side apply makes of them. The second result is false when nothing goes, and
// obj is returned as it is.
func Leave(obj, before map[string]any, keep ...map[string]any) (map[string]any, bool) {
	gone := goneSet(before, keep)
	if len(gone) == 0 {
		return obj, false
	}
	rest, ok := cut(obj, gone, []string{"apiVersion", "kind", "metadata"}, true).(map[string]any)
	if !ok {
		return obj, false
	}
	return rest, !sameValue(rest, obj)
}

// Within returns the fields of a set that obj has, in the format fieldsV1: what it does not have is left out, and so is what
// would be left without anything below it.
func Within(set map[string]any, obj any) map[string]any {
	out := make(map[string]any, len(set))
	for name, v := range set {
		if name == "." {
			out[name] = v
			continue
		}
		value, has := itemOrField(obj, name)
		if !has {
			continue
		}
		below, _ := v.(map[string]any)
		kept := Within(below, value)
		if len(below) == 0 || len(kept) > 0 {
			out[name] = kept
		}
	}
	return out
}

// goneSet returns what of before is in none of keep. A member without anything below it goes as a whole.
func goneSet(before map[string]any, keep []map[string]any) map[string]any {
	out := map[string]any{}
	for name, v := range before {
		if name == "." || name == "" {
			continue
		}
		below, whole, found := keptBelow(keep, name)
		switch set, _ := v.(map[string]any); {
		case !found && name != "f:metadata":
			out[name] = map[string]any{}
		case whole || len(set) == 0:
		default:
			if rest := goneSet(set, below); len(rest) > 0 {
				out[name] = rest
			}
		}
	}
	return out
}

// keptBelow collects what sets have below a member: whole says that one of them has all of it.
func keptBelow(sets []map[string]any, name string) (below []map[string]any, whole, found bool) {
	for _, set := range sets {
		v, ok := set[name]
		if !ok {
			continue
		}
		sub, _ := v.(map[string]any)
		found, whole = true, whole || len(sub) == 0
		below = append(below, sub)
	}
	return below, whole, found
}

// cut returns value without the members of a set, but with the fields named in keep. An item of a list that is a member by its
// key goes only where whole is set. What does not change is not copied.
func cut(value any, set map[string]any, keep []string, whole bool) any {
	switch v := value.(type) {
	case map[string]any:
		var out map[string]any
		for name, s := range set {
			field, ok := strings.CutPrefix(name, "f:")
			sub, has := v[field]
			below, _ := s.(map[string]any)
			if !ok || !has || len(below) == 0 && slices.Contains(keep, field) {
				continue
			}
			if out == nil {
				out = shallow(v)
			}
			if len(below) > 0 {
				out[field] = cut(sub, below, nil, whole)
			} else {
				delete(out, field)
			}
		}
		if out != nil {
			return out
		}
	case []any:
		return cutItems(v, set, whole)
	}
	return value
}

func cutItems(list []any, set map[string]any, whole bool) []any {
	out := slices.Clone(list)
	gone := make([]bool, len(list))
	for name, s := range set {
		i := -1
		switch {
		case strings.HasPrefix(name, "k:"):
			i = indexByKey(list, tail(name))
		case strings.HasPrefix(name, "v:"):
			i = indexByValue(list, tail(name))
		}
		if i < 0 {
			continue
		}
		if below, _ := s.(map[string]any); len(below) > 0 {
			out[i] = cut(out[i], below, keyFields(name), whole)
		} else {
			gone[i] = whole || name[0] == 'v'
		}
	}
	rest := make([]any, 0, len(out))
	for i, item := range out {
		if !gone[i] {
			rest = append(rest, item)
		}
	}
	return rest
}

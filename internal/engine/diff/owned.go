package diff

import (
	"encoding/json"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ownedSets returns the fields that manager owns by apply, in the format fieldsV1, and those of every other owner. The
// first is nil where manager has not applied obj at the version that obj is at.
func ownedSets(obj map[string]any, manager string) (mine map[string]any, others []map[string]any) {
	for entry := range object.Managed(obj) {
		version := object.Text(entry, "apiVersion")
		if version != "" && version != object.Text(obj, "apiVersion") || object.Text(entry, "subresource") != "" {
			continue
		}
		set, _ := entry["fieldsV1"].(map[string]any)
		switch {
		case set == nil:
		case object.AppliedBy(entry, manager):
			mine = set
		default:
			others = append(others, set)
		}
	}
	return mine, others
}

// withoutSet returns the fields of a that are not in b.
func withoutSet(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a))
	for k, v := range a {
		sub, _ := v.(map[string]any)
		other, shared := b[k].(map[string]any)
		switch {
		case !shared:
			out[k] = v
		case len(sub) > 0 && len(other) > 0:
			if rest := withoutSet(sub, other); len(rest) > 0 {
				out[k] = rest
			}
		}
	}
	return out
}

// leafSet reports whether a set has nothing below it: its field is owned whole.
func leafSet(set map[string]any) bool {
	if len(set) == 1 {
		_, self := set["."]
		return self
	}
	return len(set) == 0
}

// ownedValue projects value on the fields of set.
func ownedValue(value any, set map[string]any) any {
	if leafSet(set) {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(set))
		for name, s := range set {
			field, ok := strings.CutPrefix(name, "f:")
			if sub, has := v[field]; ok && has {
				deeper, _ := s.(map[string]any)
				out[field] = ownedValue(sub, deeper)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(set))
		for name, s := range set {
			item, ok := itemOf(v, name)
			if !ok {
				continue
			}
			deeper, _ := s.(map[string]any)
			item = ownedValue(item, deeper)
			if m, ok := item.(map[string]any); ok && name[0] == 'k' {
				item = withKeys(m, name)
			}
			out = append(out, item)
		}
		return out
	}
	return value
}

// tail is the name of a set's member without its kind: "replicas" of "f:replicas".
func tail(name string) string {
	if len(name) < 2 {
		return ""
	}
	return name[2:]
}

func itemOf(list []any, name string) (any, bool) {
	if name == "" || name == "." {
		return nil, false
	}
	return step(list, name[0], tail(name))
}

// withKeys adds the key fields to an item: they identify it although the set need not list them.
func withKeys(item map[string]any, name string) map[string]any {
	var keys map[string]any
	if json.Unmarshal([]byte(tail(name)), &keys) != nil {
		return item
	}
	out := shallow(item)
	for k, v := range keys {
		if _, ok := out[k]; !ok {
			out[k] = v
		}
	}
	return out
}

// restore puts back what differs between predicted and have and is not owned: now is the set after the apply, past the
// one before. A field with an owned field below it stays, and so does the key of a list item.
func restore(predicted, have any, now, past map[string]any) any {
	if leafSet(now) && len(past) == 0 {
		return predicted
	}
	switch p := predicted.(type) {
	case map[string]any:
		if h, ok := have.(map[string]any); ok || have == nil {
			return restoreFields(p, h, now, past)
		}
	case []any:
		if h, ok := have.([]any); (ok || have == nil) && identifiedItems(now, past) {
			return restoreItems(p, h, now, past)
		}
	}
	return predicted
}

func restoreFields(predicted, have, now, past map[string]any) map[string]any {
	out := make(map[string]any, len(predicted))
	for k, p := range predicted {
		h, before := have[k]
		set, owned := now["f:"+k].(map[string]any)
		old, wasOwned := past["f:"+k].(map[string]any)
		switch {
		case k == "apiVersion" || k == "kind":
			out[k] = p
		case owned && leafSet(set), !owned && wasOwned && leafSet(old):
			out[k] = p // ours, or what our giving it up made of it
		case owned || wasOwned:
			out[k] = restore(p, h, set, old)
		case before:
			out[k] = h
		}
	}
	for k, h := range have {
		if _, ok := predicted[k]; ok {
			continue
		}
		old, owned := past["f:"+k].(map[string]any)
		if owned && leafSet(old) {
			continue // it was ours, and we do not want it any more
		}
		if rest := withoutOwned(h, old); rest != nil {
			out[k] = rest
		}
	}
	return out
}

// identifiedItems reports whether the sets name single items of a list.
func identifiedItems(sets ...map[string]any) bool {
	for _, set := range sets {
		for name := range set {
			if name != "" && (name[0] == 'k' || name[0] == 'v') {
				return true
			}
		}
	}
	return false
}

func restoreItems(predicted, have []any, now, past map[string]any) []any {
	out := make([]any, 0, len(predicted))
	for _, p := range predicted {
		name, set, owned := memberOf(p, now)
		oldName, old, wasOwned := memberOf(p, past)
		if name == "" {
			name = oldName
		}
		h, before := itemOf(have, name)
		switch {
		case owned || wasOwned:
			item := restore(p, h, set, old)
			if m, ok := item.(map[string]any); ok && name[0] == 'k' {
				item = withKeys(m, name)
			}
			out = append(out, item)
		case before:
			out = append(out, h)
		default:
			if h, ok := twin(p, have); ok {
				out = append(out, h)
			}
		}
	}
	for _, h := range have {
		if _, ok := twin(h, predicted); ok {
			continue
		}
		if _, _, owned := memberOf(h, past); !owned {
			if _, _, still := memberOf(h, now); !still {
				out = append(out, h)
			}
		}
	}
	return out
}

// memberOf finds the member of a set that stands for a list item.
func memberOf(item any, set map[string]any) (name string, sub map[string]any, ok bool) {
	for name, v := range set {
		if name == "" || name == "." {
			continue
		}
		if _, ok := itemOf([]any{item}, name); ok && name[0] != 'i' {
			sub, _ := v.(map[string]any)
			return name, sub, true
		}
	}
	return "", nil, false
}

// twin finds the item of a list that has the same identity as item, going by the names that identify most items.
func twin(item any, list []any) (any, bool) {
	for _, keys := range [][]string{{"containerPort", "protocol"}, {"port", "protocol"}, {"name"}, {"mountPath"}, {"type"}, {"ip"}} {
		id, ok := keyOf(keys, item)
		if !ok {
			continue
		}
		for _, other := range list {
			if o, ok := keyOf(keys, other); ok && o == id {
				return other, true
			}
		}
		return nil, false
	}
	for _, other := range list {
		if sameValue(item, other) {
			return other, true
		}
	}
	return nil, false
}

// withoutOwned is value without the fields of set; nil when nothing is left of a map that had some.
func withoutOwned(value any, set map[string]any) any {
	m, ok := value.(map[string]any)
	if !ok || len(set) == 0 {
		return value
	}
	out := make(map[string]any, len(m))
	for k, v := range m {
		sub, owned := set["f:"+k].(map[string]any)
		if owned && leafSet(sub) {
			continue
		}
		if rest := withoutOwned(v, sub); rest != nil {
			out[k] = rest
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

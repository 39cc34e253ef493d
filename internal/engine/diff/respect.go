package diff

import (
	"slices"
	"strconv"
)

// Respect returns desired as it is to be applied if ignored differences are to stay: a field that the rules
// leave out has its live value, or is missing where live has none. What manager owns of such fields and desired does not
// name stays too, since leaving it out would remove it. Items of lists are matched by what identifies them; what live
// lacks altogether, an item or the whole object, is applied as desired. Neither object is changed.
func (r *Rules) Respect(desired, live map[string]any, manager string) map[string]any {
	mine, _ := ownedSets(live, manager)
	return r.RespectOwned(desired, live, mine)
}

// RespectOwned does what Respect does for the owner of a set of fields, in the format fieldsV1.
func (r *Rules) RespectOwned(desired, live, mine map[string]any) map[string]any {
	if r == nil || desired == nil || live == nil {
		return desired
	}
	r = r.Of(live)
	var out any = desired
	if !r.theirs.none() {
		out = adoptSet(out, live, r.theirs.set(), nil)
	}
	if wanted := r.places(desired); wanted != nil {
		out = wanted.adopt(out, live)
	}
	if there := r.places(live); there != nil && len(mine) > 0 {
		out, _ = there.keep(out, live, mine)
	}
	if rest, ok := out.(map[string]any); ok {
		return rest
	}
	return desired
}

// places are the fields of obj that pointers and expressions name; nil for none.
func (r *Rules) places(obj map[string]any) *tree {
	root := &tree{}
	if r.aggregated && isAggregated(obj) {
		root.add([]any{"rules"}, obj)
	}
	for _, p := range r.pointers {
		if path, ok := resolve(obj, p); ok {
			root.add(path, obj)
		}
	}
	for _, e := range r.jq {
		found, err := e.Places(obj)
		if err != nil {
			r.complain(e, err)
			continue
		}
		for _, p := range found {
			root.add(p.Keys(), obj)
		}
	}
	if root.whole || len(root.below) == 0 {
		return nil
	}
	return root
}

// resolve finds the indices of a pointer from its names; false where it points at nothing.
func resolve(value any, pointer []string) ([]any, bool) {
	out := make([]any, 0, len(pointer))
	for _, part := range pointer {
		switch v := value.(type) {
		case map[string]any:
			sub, ok := v[part]
			if !ok {
				return nil, false
			}
			value, out = sub, append(out, part)
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(v) {
				return nil, false
			}
			value, out = v[i], append(out, i)
		default:
			return nil, false
		}
	}
	return out, true
}

// adopt takes the places of the tree over from have.
func (t *tree) adopt(want, have any) any {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return want
		}
		out := shallow(w)
		for key, sub := range t.below {
			name, _ := key.(string)
			adoptField(out, h, name, sub.whole, sub.adopt)
		}
		return out
	case []any:
		h, ok := have.([]any)
		if !ok {
			return want
		}
		out := make([]any, 0, len(w))
		for i, item := range w {
			sub := t.below[i]
			if sub == nil {
				out = append(out, item)
				continue
			}
			now, there := counterpart(item, i, w, h)
			switch {
			case there && sub.whole:
				out = append(out, now)
			case there:
				out = append(out, sub.adopt(item, now))
			case !sub.whole:
				out = append(out, item)
			}
		}
		return out
	}
	return want
}

// adoptField takes a field of a map over from live: the whole of it, which is missing where live has none, or what
// inside makes of its two values.
func adoptField(out, live map[string]any, name string, whole bool, inside func(want, have any) any) {
	now, there := live[name]
	switch {
	case whole && there:
		out[name] = now
	case whole:
		delete(out, name)
	case there:
		out[name] = inside(out[name], now)
	}
}

// counterpart finds the item of another list that is the same one: by what identifies it, else by its place.
func counterpart(item any, i int, list, other []any) (any, bool) {
	if found, ok := twin(item, other); ok {
		return found, true
	}
	if _, named := keyOf([]string{"name"}, item); named || len(list) != len(other) {
		return nil, false
	}
	return other[i], true
}

// keep adds to want what have holds in the places of the tree, is in the set mine, and want lacks. Places inside of
// lists are left alone: an item that is not wanted goes as a whole.
func (t *tree) keep(want, have any, mine map[string]any) (any, bool) {
	w, _ := want.(map[string]any)
	h, ok := have.(map[string]any)
	if !ok || want != nil && w == nil {
		return want, false
	}
	out, added := shallow(w), false
	for key, sub := range t.below {
		name, isName := key.(string)
		set, owned := mine["f:"+name].(map[string]any)
		now, there := h[name]
		old, wanted := w[name]
		switch {
		case !isName || !owned || !there:
		case !sub.whole:
			if next, some := sub.keep(old, now, set); some {
				out[name], added = next, true
			}
		case !wanted:
			out[name], added = ownedValue(now, set), true
		}
	}
	if !added {
		return want, false
	}
	return out, true
}

// adoptSet takes the fields of a set over from have, where want names them.
func adoptSet(want, have any, set map[string]any, keep []string) any {
	switch w := want.(type) {
	case map[string]any:
		h, ok := have.(map[string]any)
		if !ok {
			return want
		}
		out := shallow(w)
		for name, s := range set {
			field := tail(name)
			_, wanted := w[field]
			if len(name) < 2 || name[0] != 'f' || !wanted || slices.Contains(keep, field) {
				continue
			}
			below, _ := s.(map[string]any)
			adoptField(out, h, field, len(below) == 0, func(want, have any) any { return adoptSet(want, have, below, nil) })
		}
		return out
	case []any:
		h, ok := have.([]any)
		if !ok {
			return want
		}
		out := slices.Clone(w)
		for name, s := range set {
			if len(name) < 2 || name[0] != 'k' {
				continue
			}
			i, j := indexByKey(w, tail(name)), indexByKey(h, tail(name))
			if i >= 0 && j >= 0 {
				below, _ := s.(map[string]any)
				out[i] = adoptSet(out[i], h[j], below, keyFields(name))
			}
		}
		return out
	}
	return want
}

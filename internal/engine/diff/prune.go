package diff

import "github.com/slipway-gitops/slipway/internal/engine/jq"

// tree is a set of places, by their first keys.
type tree struct {
	whole bool // the place itself
	below map[any]*tree
}

// grove gathers places of obj in a tree; slices become the indices that they cover.
func grove(places []*jq.Place, obj any) *tree {
	root := &tree{}
	for _, p := range places {
		root.add(p.Keys(), obj)
	}
	return root
}

func (t *tree) add(path []any, value any) {
	if len(path) == 0 {
		t.whole = true
		return
	}
	switch key := path[0].(type) {
	case string:
		fields, _ := value.(map[string]any)
		if sub, ok := fields[key]; ok {
			t.child(key).add(path[1:], sub)
		}
	case int:
		list, _ := value.([]any)
		if key < 0 {
			key += len(list)
		}
		if key >= 0 && key < len(list) {
			t.child(key).add(path[1:], list[key])
		}
	case jq.Slice:
		list, _ := value.([]any)
		if len(path) > 1 { // a place inside of the slice
			t.addShifted(path[1:], list, key)
			return
		}
		for i := key.From; i < min(key.To, len(list)); i++ {
			t.child(i).whole = true
		}
	}
}

// addShifted adds a place that is given from the start of a slice.
func (t *tree) addShifted(path []any, list []any, s jq.Slice) {
	part := list[min(s.From, len(list)):min(s.To, len(list))]
	switch key := path[0].(type) {
	case int:
		if key < 0 {
			key += len(part)
		}
		if key >= 0 && key < len(part) {
			t.child(s.From+key).add(path[1:], part[key])
		}
	case jq.Slice:
		t.add(append([]any{jq.Slice{From: s.From + key.From, To: min(s.From+key.To, s.To)}}, path[1:]...), list)
	}
}

func (t *tree) child(key any) *tree {
	if t.below == nil {
		t.below = map[any]*tree{}
	}
	sub := t.below[key]
	if sub == nil {
		sub = &tree{}
		t.below[key] = sub
	}
	return sub
}

// prune returns value without the places of the tree; nil when the place itself is one. It copies what it changes.
func prune(value any, t *tree) any {
	if t.whole {
		return nil
	}
	if len(t.below) == 0 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		out := shallow(v)
		for key, sub := range t.below {
			name, _ := key.(string)
			if sub.whole {
				delete(out, name)
			} else {
				out[name] = prune(v[name], sub)
			}
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for i, item := range v {
			switch sub := t.below[i]; {
			case sub == nil:
				out = append(out, item)
			case !sub.whole:
				out = append(out, prune(item, sub))
			}
		}
		return out
	}
	return value
}

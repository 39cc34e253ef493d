package diff

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
)

// none reports whether the set names no field at all.
func (f Fields) none() bool { return f == Fields{} || f.code.Value() == "\x00" }

// set decodes the set into the format fieldsV1.
func (f Fields) set() map[string]any {
	if f.none() || f.code.Value() == whole {
		return map[string]any{}
	}
	c := fieldCursor{code: f.code.Value()}
	return c.set()
}

func (c *fieldCursor) set() map[string]any {
	out := map[string]any{}
	for n := c.uvarint(); n > 0; n-- {
		kind, text := c.child()
		name := string(kind)
		if kind != '.' {
			name += ":" + text
		}
		out[name] = c.set()
	}
	return out
}

// less returns the set without the fields that are in obj and not in rest, what Strip left of it.
func (f Fields) less(obj, rest map[string]any) Fields {
	if f.none() || f.code.Value() == whole || sameTree(obj, rest) {
		return f
	}
	return internFields(setLess(obj, rest, f.set()))
}

func setLess(value, rest any, set map[string]any) map[string]any {
	out := make(map[string]any, len(set))
	for name, s := range set {
		sub, was := itemOrField(value, name)
		left, is := itemOrField(rest, name)
		if name == "." || !was {
			out[name] = s
			continue
		}
		if !is {
			continue
		}
		below, _ := s.(map[string]any)
		kept := setLess(sub, left, below)
		if len(below) == 0 || len(kept) > 0 {
			out[name] = kept
		}
	}
	return out
}

// sameTree reports whether two maps are one and the same.
func sameTree(a, b map[string]any) bool {
	return reflect.ValueOf(a).UnsafePointer() == reflect.ValueOf(b).UnsafePointer()
}

func itemOrField(value any, name string) (any, bool) {
	if name == "" {
		return nil, false
	}
	return step(value, name[0], tail(name))
}

// remove returns value without the fields of the set. What merely exists by it (a map, an item of a list) stays, and so
// do the fields that identify an item. Only what changes is copied.
func (f Fields) remove(value any) any {
	if f.none() || f.code.Value() == whole {
		return value
	}
	return cut(value, f.set(), nil, false)
}

// keyFields names the fields that identify the item of a list: name and protocol of k:{"name":"a","protocol":"TCP"}.
func keyFields(name string) []string {
	var keys map[string]any
	if json.Unmarshal([]byte(tail(name)), &keys) != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(keys))
}

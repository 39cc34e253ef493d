package diff

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Owner is a field manager that has set a field.
type Owner struct {
	Manager     string `json:"manager"`
	Operation   string `json:"operation"`             // Apply or Update
	Subresource string `json:"subresource,omitempty"` // such as scale
	Since       string `json:"since,omitempty"`       // when it last changed anything in the object, RFC 3339
}

// FieldPath is the place of a field: names of fields, and Items.
type FieldPath []any

// Item is an item of a list in a FieldPath: its place, and what identifies it.
type Item struct {
	Index int
	Label string // such as name=web; "" if only the place identifies it
	value any
}

// String prints the path, for example .spec.template.spec.containers[name=web].image.
func (p FieldPath) String() string {
	var out strings.Builder
	for _, step := range p {
		switch s := step.(type) {
		case string:
			if strings.ContainsAny(s, `./[]"' `) || s == "" {
				out.WriteString("[" + strconv.Quote(s) + "]")
			} else {
				out.WriteString("." + s)
			}
		case Item:
			label := s.Label
			if label == "" {
				label = strconv.Itoa(s.Index)
			}
			out.WriteString("[" + label + "]")
		}
	}
	return out.String()
}

// Owners returns who has set a field of a live object, those who changed the object last first. Owners of something
// below the field are included; a field that live does not have has no owners.
func Owners(live map[string]any, path FieldPath) []Owner {
	var out []Owner
	for entry := range object.Managed(live) {
		set, _ := entry["fieldsV1"].(map[string]any)
		if len(set) > 0 && setHas(set, path) {
			out = append(out, Owner{
				Manager: object.Text(entry, "manager"), Operation: object.Text(entry, "operation"),
				Subresource: object.Text(entry, "subresource"), Since: object.Text(entry, "time"),
			})
		}
	}
	slices.SortStableFunc(out, func(a, b Owner) int { return cmp.Compare(b.Since, a.Since) })
	return out
}

func setHas(set map[string]any, path FieldPath) bool {
	for i, step := range path {
		if i > 0 && leafSet(set) && !onlyItself(set) {
			return true // owned whole, with all that is below
		}
		var next map[string]any
		found := false
		switch s := step.(type) {
		case string:
			next, found = set["f:"+s].(map[string]any)
		case Item:
			if _, next, found = memberOf(s.value, set); !found {
				next, found = set["i:"+strconv.Itoa(s.Index)].(map[string]any)
			}
		}
		if !found {
			return false
		}
		set = next
	}
	return true
}

// onlyItself reports whether a set names nothing but the map or item itself, not what is in it.
func onlyItself(set map[string]any) bool {
	_, self := set["."]
	return self && len(set) == 1
}

// FieldChange is one field that differs.
type FieldChange struct {
	Path   FieldPath
	Live   any // nil where live has no such field
	Wanted any // nil where it is to go
}

// FieldChanges lists the fields in which two objects differ, in the order of their names. Items of lists are matched by
// what identifies them. A field that only one of the two has is one change, whatever is below it.
func FieldChanges(live, wanted map[string]any) []FieldChange {
	var out []FieldChange
	fieldChanges(&out, nil, live, wanted)
	return out
}

func fieldChanges(out *[]FieldChange, path FieldPath, live, wanted any) {
	if len(*out) >= maxChanges || sameValue(live, wanted) {
		return
	}
	switch l := live.(type) {
	case map[string]any:
		if w, ok := wanted.(map[string]any); ok {
			names := shallow(l)
			for k := range w {
				names[k] = nil
			}
			for _, k := range slices.Sorted(maps.Keys(names)) {
				fieldChanges(out, with(path, k), l[k], w[k])
			}
			return
		}
	case []any:
		if w, ok := wanted.([]any); ok && itemChanges(out, path, l, w) {
			return
		}
	}
	*out = append(*out, FieldChange{Path: path, Live: live, Wanted: wanted})
}

// maxChanges bounds how many fields are listed of one object.
const maxChanges = 1000

func with(path FieldPath, step any) FieldPath { return append(path[:len(path):len(path)], step) }

// itemChanges compares lists item by item; false if their items cannot be distinguished.
func itemChanges(out *[]FieldChange, path FieldPath, live, wanted []any) bool {
	keys := identity(live, wanted)
	if keys == nil {
		if len(live) != len(wanted) || len(live) == 0 || !structured(live) || !structured(wanted) {
			return false
		}
		for i := range live {
			fieldChanges(out, with(path, Item{Index: i, value: live[i]}), live[i], wanted[i])
		}
		return true
	}
	there := byKey(keys, wanted)
	before := len(*out)
	seen := make(map[string]bool, len(live))
	for i, item := range live {
		id, _ := keyOf(keys, item)
		seen[id] = true
		var w any
		if m, ok := there[id]; ok {
			w = m
		}
		fieldChanges(out, with(path, Item{Index: i, Label: label(keys, item), value: item}), item, w)
	}
	for i, item := range wanted {
		if id, _ := keyOf(keys, item); !seen[id] {
			fieldChanges(out, with(path, Item{Index: i, Label: label(keys, item), value: item}), nil, item)
		}
	}
	return len(*out) > before // else they differ in their order alone
}

// identity finds the names that distinguish the items of both lists.
func identity(lists ...[]any) []string {
	if len(lists[0])+len(lists[1]) == 0 {
		return nil
	}
	for _, keys := range [][]string{{"name"}, {"containerPort", "protocol"}, {"port", "protocol"}, {"mountPath"}, {"type"}, {"ip"}, {"key"}} {
		if identified(keys, lists) {
			return keys
		}
	}
	return nil
}

func structured(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(map[string]any); return !ok })
}

func label(keys []string, item any) string {
	m, _ := item.(map[string]any)
	var parts []string
	for _, k := range keys {
		if v, ok := m[k]; ok {
			text, isText := v.(string)
			if !isText {
				raw, err := json.Marshal(v)
				if err != nil {
					continue
				}
				text = string(raw)
			}
			parts = append(parts, k+"="+text)
		}
	}
	return strings.Join(parts, ",")
}

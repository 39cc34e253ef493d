package diff

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

const (
	maskUnit = 4 // how much longer each further mask is
	maskMin  = 8
)

// Mask returns copies of a desired and a live Secret that can be shown: every value is replaced by plus signs, and so
// are the annotations named in hidden, also inside of kubectl's last-applied annotation, and those that repeat a value. So are
// the values of Secrets within another object. For one key, equal values get
// equal masks and different ones different masks, numbered in order of appearance, so that nothing shows how long a
// value is. Of what is not a Secret only the named annotations are replaced; either object can be nil.
func Mask(desired, live map[string]any, hidden []string) (maskedDesired, maskedLive map[string]any) {
	secret := isSecret(desired) || isSecret(live)
	if !secret && len(hidden) == 0 && !object.HoldsSecret(desired) && !object.HoldsSecret(live) {
		return desired, live
	}
	m := masker{hidden: map[string]bool{}, seen: map[string]map[string]string{}, secret: secret}
	for _, name := range hidden {
		m.hidden[name] = true
	}
	first, second := m.view(desired), m.view(live)
	first.before, second.before = first.decodeBefore(m), second.decodeBefore(m)
	for _, v := range []*secretView{first, second, first.before, second.before} {
		if v != nil {
			if secret {
				values := tellingValues(v.obj)
				m.contents(v.obj)
				m.repeated(v.notes(), values)
			} else {
				m.within(v.obj)
			}
			m.annotations(v.notes())
		}
	}
	first.encodeBefore(m)
	second.encodeBefore(m)
	return first.obj, second.obj
}

func isSecret(obj map[string]any) bool {
	return object.Text(obj, "kind") == "Secret" && groupOf(object.Text(obj, "apiVersion")) == ""
}

// secretView is one Secret while it is masked.
type secretView struct {
	obj    map[string]any
	before *secretView // what the last-applied annotation holds, if it can be read
	broken bool        // the annotation is there and cannot be read
}

func (m masker) view(obj map[string]any) *secretView {
	if obj == nil {
		return &secretView{}
	}
	out := shallow(obj)
	if meta, ok := out["metadata"].(map[string]any); ok {
		meta = shallow(meta)
		if a, ok := meta["annotations"].(map[string]any); ok {
			meta["annotations"] = shallow(a)
		}
		out["metadata"] = meta
	}
	if m.secret {
		foldSecret(out, "Secret")
	}
	return &secretView{obj: out}
}

func (v *secretView) notes() map[string]any {
	return object.Dict(object.Dict(v.obj, "metadata"), "annotations")
}

// decodeBefore reads the last-applied annotation, unless it is to be hidden whole.
func (v *secretView) decodeBefore(m masker) *secretView {
	raw, ok := v.notes()[lastApplied]
	if !ok || m.hidden[lastApplied] {
		return nil
	}
	text, _ := raw.(string)
	var obj map[string]any
	if len(text) > maxLastApplied || json.Unmarshal([]byte(text), &obj) != nil || obj == nil {
		v.broken = true
		return nil
	}
	return m.view(obj)
}

func (v *secretView) encodeBefore(m masker) {
	notes := v.notes()
	switch {
	case notes == nil:
	case v.before != nil:
		raw, err := json.Marshal(v.before.obj)
		if err != nil {
			notes[lastApplied] = m.mask("annotation", lastApplied, nil)
			return
		}
		notes[lastApplied] = string(raw)
	case v.broken:
		notes[lastApplied] = m.mask("annotation", lastApplied, notes[lastApplied])
	}
}

type masker struct {
	secret bool // all contents are hidden, not only annotations
	hidden map[string]bool
	seen   map[string]map[string]string // place -> value -> mask
}

func (m masker) mask(place, key string, value any) string {
	place += "\x00" + key
	if m.seen[place] == nil {
		m.seen[place] = map[string]string{}
	}
	raw, err := json.Marshal(value)
	if err != nil {
		raw = []byte("?")
	}
	known := m.seen[place]
	if _, ok := known[string(raw)]; !ok {
		known[string(raw)] = strings.Repeat("+", maskMin+maskUnit*len(known))
	}
	return known[string(raw)]
}

// contents masks data, and whatever a Secret should not have at all: a misspelt field can hold a value too.
func (m masker) contents(obj map[string]any) {
	for field, value := range obj {
		switch field {
		case "apiVersion", "kind", "metadata", "type", "immutable":
			continue
		}
		data, ok := value.(map[string]any)
		if !ok || field != "data" {
			if value != nil {
				obj[field] = m.mask("field", field, value)
			}
			continue
		}
		masked := make(map[string]any, len(data))
		for k, secret := range data {
			masked[k] = m.mask("data", k, secret)
		}
		obj[field] = masked
	}
}

// within masks the Secrets that an object has in it, as the wrappers of several operators do.
func (m masker) within(obj map[string]any) {
	for field, value := range obj {
		if next, changed := m.inner(value, field, 0); changed {
			obj[field] = next
		}
	}
}

// maxInner bounds how deep an object is looked into.
const maxInner = 200

func (m masker) inner(value any, path string, depth int) (any, bool) {
	if depth > maxInner {
		return m.mask("deep", path, value), true
	}
	switch v := value.(type) {
	case map[string]any:
		out, changed := shallow(v), false
		if isSecret(v) {
			for field, inner := range v {
				switch data, ok := inner.(map[string]any); {
				case field == "apiVersion" || field == "kind" || field == "type" || field == "immutable" || inner == nil:
				case field == "metadata":
					continue
				case ok && (field == "data" || field == "stringData"):
					masked := make(map[string]any, len(data))
					for k, secret := range data {
						masked[k] = m.mask(path+"/"+field, k, secret)
					}
					out[field] = masked
				default:
					out[field] = m.mask(path, field, inner)
				}
			}
			return out, true
		}
		for field, inner := range v {
			if next, is := m.inner(inner, path+"/"+field, depth+1); is {
				out[field], changed = next, true
			}
		}
		return out, changed
	case []any:
		out, changed := slices.Clone(v), false
		for i, inner := range v {
			if next, is := m.inner(inner, path+"/"+strconv.Itoa(i), depth+1); is {
				out[i], changed = next, true
			}
		}
		return out, changed
	}
	return value, false
}

// repeated masks annotations of a Secret that hold what it holds.
func (m masker) repeated(notes map[string]any, values []string) {
	for name, note := range notes {
		text, _ := note.(string)
		if name != lastApplied && (object.RepeatsObject(name) ||
			slices.ContainsFunc(values, func(v string) bool { return strings.Contains(text, v) })) {
			notes[name] = m.mask("annotation", name, note)
		}
	}
}

// shortestTelling is how long a value is at least that is looked for in other fields.
const shortestTelling = 8

// tellingValues are the values of a Secret that do not occur by chance, as they are and in base64.
func tellingValues(obj map[string]any) []string {
	var out []string
	add := func(text string) {
		if len(text) < shortestTelling {
			return
		}
		lower := text == strings.ToLower(text)
		if strings.ContainsFunc(text, func(r rune) bool { return r >= '0' && r <= '9' || !lower || strings.ContainsRune("/+=:!@#$%^&*()", r) }) {
			out = append(out, text)
		}
	}
	for _, field := range []string{"data", "stringData"} {
		data, _ := obj[field].(map[string]any)
		for _, value := range data {
			text, _ := value.(string)
			add(text)
			if plain, err := base64.StdEncoding.DecodeString(text); err == nil && field == "data" {
				add(strings.TrimSpace(string(plain)))
			}
		}
	}
	return out
}

func (m masker) annotations(notes map[string]any) {
	for k, value := range notes {
		if m.hidden[k] {
			notes[k] = m.mask("annotation", k, value)
		}
	}
}

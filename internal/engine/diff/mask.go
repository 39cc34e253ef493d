package diff

import (
	"encoding/json"
	"strings"
)

const (
	maskUnit = 4 // how much longer each further mask is
	maskMin  = 8
)

// Mask returns copies of a desired and a live Secret that can be shown: every value is replaced by plus signs, and so
// are the annotations named in hidden, also inside of kubectl's last-applied annotation. For one key, equal values get
// equal masks and different ones different masks, numbered in order of appearance, so that nothing tells how long a
// value is. Of what is not a Secret only the named annotations are replaced; either object can be nil.
func Mask(desired, live map[string]any, hidden []string) (maskedDesired, maskedLive map[string]any) {
	secret := isSecret(desired) || isSecret(live)
	if !secret && len(hidden) == 0 {
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
				m.contents(v.obj)
			}
			m.annotations(v.notes())
		}
	}
	first.encodeBefore(m)
	second.encodeBefore(m)
	return first.obj, second.obj
}

func isSecret(obj map[string]any) bool {
	return stringAt(obj, "kind") == "Secret" && groupOf(stringAt(obj, "apiVersion")) == ""
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
	meta, _ := v.obj["metadata"].(map[string]any)
	notes, _ := meta["annotations"].(map[string]any)
	return notes
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

func (m masker) annotations(notes map[string]any) {
	for k, value := range notes {
		if m.hidden[k] {
			notes[k] = m.mask("annotation", k, value)
		}
	}
}

package strict

import (
	"encoding"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// shape is what a scan has to know of a type.
type shape struct {
	// fields are those of a struct by their names; nil for every other type.
	fields map[string]reflect.Type
	// folded are the names of the fields by the form in which encoding/json compares names that are not exact.
	folded map[string]string
	// elem is the type of the values of a map or a list; nil for what has none.
	elem reflect.Type
}

// shapes holds what was found out about types: they never change.
var shapes sync.Map //nolint:gochecknoglobals // a cache

// shapeOf says what there is to know of a type.
func shapeOf(t reflect.Type) *shape {
	if known, ok := shapes.Load(t); ok {
		return known.(*shape) //nolint:forcetypeassert // nothing else is in it
	}
	s := makeShape(t)
	shapes.Store(t, s)
	return s
}

func makeShape(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer {
		if readsItself(t) {
			return &shape{}
		}
		t = t.Elem()
	}
	if readsItself(t) || readsItself(reflect.PointerTo(t)) {
		return &shape{}
	}
	switch t.Kind() {
	case reflect.Map, reflect.Slice, reflect.Array:
		return &shape{elem: t.Elem()}
	case reflect.Struct:
		s := &shape{fields: map[string]reflect.Type{}, folded: map[string]string{}}
		for name, f := range fieldsOf(t) {
			s.fields[name] = f
			s.folded[fold(name)] = name
		}
		return s
	}
	return &shape{}
}

// readsItself reports whether values of a type know how to read themselves: what is in them is theirs.
func readsItself(t reflect.Type) bool {
	return t.Implements(reflect.TypeFor[json.Unmarshaler]()) || t.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// candidate is a field that a name may stand for.
type candidate struct {
	at     reflect.Type
	tagged bool
	many   bool
}

// fieldsOf are the fields that encoding/json reads, by name: of those with one name the least deep counts, of these the one
// with a tag, and none where that leaves several.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out, seen := map[string]candidate{}, map[reflect.Type]bool{t: true}
	for level := []reflect.Type{t}; len(level) > 0; {
		found := map[string]candidate{}
		var next []reflect.Type
		for _, at := range level {
			for i := range at.NumField() {
				f := at.Field(i)
				name, tagged, below := named(f)
				switch {
				case below != nil && !seen[below]:
					seen[below] = true
					next = append(next, below)
				case name != "":
					found[name] = better(found, name, candidate{at: f.Type, tagged: tagged})
				}
			}
		}
		for name, c := range found {
			if _, there := out[name]; !there {
				out[name] = c
			}
		}
		level = next
	}
	fields := map[string]reflect.Type{}
	for name, c := range out {
		if !c.many {
			fields[name] = c.at
		}
	}
	return fields
}

func better(found map[string]candidate, name string, c candidate) candidate {
	old, there := found[name]
	switch {
	case !there, c.tagged && !old.tagged:
		return c
	case old.tagged && !c.tagged:
		return old
	}
	old.many = true
	return old
}

// named is the name of a field in JSON; below is the struct whose fields count as those of the one that the field is in.
func named(f reflect.StructField) (name string, tagged bool, below reflect.Type) {
	tag := f.Tag.Get("json")
	if tag == "-" {
		return "", false, nil
	}
	name, _, _ = strings.Cut(tag, ",")
	if !validName(name) {
		name = ""
	}
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case f.Anonymous && name == "" && t.Kind() == reflect.Struct:
		return "", false, t
	case !f.IsExported():
		return "", false, nil
	case name == "":
		return f.Name, false, nil
	}
	return name, true, nil
}

// validName reports whether encoding/json takes a name from a tag.
func validName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) && !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
}

// fold is the form in which encoding/json compares names that are not exact: of all letters that differ in case only, or are
// signs for one of these, the first one. The Kelvin sign is a k so, and the long s an s.
func fold(name string) string {
	out := make([]byte, 0, len(name))
	for _, r := range name {
		for {
			next := unicode.SimpleFold(r)
			if next <= r {
				r = next
				break
			}
			r = next
		}
		out = utf8.AppendRune(out, r)
	}
	return string(out)
}

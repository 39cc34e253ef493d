package document

import (
	"errors"
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// maxListDepth bounds lists inside lists.
const maxListDepth = 4

// ErrLimit is wrapped by the errors that say a rendering is larger than it may be.
var ErrLimit = errors.New("limit exceeded")

// Set gathers the objects of one rendering in the order in which they come. It is not safe for concurrent use.
type Set struct {
	maxBytes   int64
	maxObjects int
	bytes      int64
	out        []object.Manifest
}

// NewSet returns an empty Set that takes at most objects objects of together at most bytes bytes of JSON.
func NewSet(bytes int64, objects int) *Set { return &Set{maxBytes: bytes, maxObjects: objects} }

// Manifests returns what was gathered.
func (s *Set) Manifests() []object.Manifest { return s.out }

// AddYAML adds every object of a YAML file. file is for messages only.
func (s *Set) AddYAML(file string, data []byte) error {
	docs, err := ReadYAML(data)
	if err != nil {
		return In(file, err)
	}
	return s.AddDocuments(file, docs)
}

// AddDocuments adds what ReadYAML or ReadJSON returned for file.
func (s *Set) AddDocuments(file string, docs []Document) error {
	for i := range docs {
		d := &docs[i]
		if err := s.add(&d.val, 0); err != nil {
			return &Error{File: file, Line: d.Line, Err: fmt.Errorf("document %d: %w", d.Number, err)}
		}
	}
	return nil
}

// AddObject adds one object tree as libraries return it: maps with string keys, slices and scalars. A nil object is
// dropped. where is for messages, for example "templates/web.yaml".
func (s *Set) AddObject(where string, obj map[string]any) error {
	if obj == nil {
		return nil
	}
	v, err := fromAny(obj, 0)
	if err != nil {
		return In(where, err)
	}
	if err := s.add(&v, 0); err != nil {
		return In(where, err)
	}
	return nil
}

func (s *Set) add(v *value, depth int) error {
	if v.kind == null {
		return nil
	}
	if v.kind != mapping {
		return errors.New("it is not an object; a manifest needs apiVersion, kind and metadata")
	}
	if items, ok := listOf(v); ok {
		return s.addList(v, items, depth)
	}
	m, err := s.manifest(v)
	if err != nil {
		return err
	}
	if len(s.out) >= s.maxObjects {
		return fmt.Errorf("more than %d objects: %w; split the application", s.maxObjects, ErrLimit)
	}
	s.out = append(s.out, m)
	return nil
}

func (s *Set) addList(list *value, items []value, depth int) error {
	if depth >= maxListDepth {
		return fmt.Errorf("lists are nested deeper than %d levels; unpack them", maxListDepth)
	}
	kind := strings.TrimSuffix(list.text("kind"), "List")
	for i := range items {
		it := items[i]
		if it.kind == null {
			continue
		}
		// The items of a typed list, as an API server returns it, have no type of their own.
		if _, has := it.get("kind"); !has && it.kind == mapping && kind != "" {
			it.members = append([]member{
				{"apiVersion", value{kind: text, str: list.text("apiVersion")}},
				{"kind", value{kind: text, str: kind}},
			}, it.members...)
			it.normalise()
		}
		if err := s.add(&it, depth+1); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

// listOf returns the items of a List. An object that has a name, a spec or a status is no list, whatever its
// items are.
func listOf(v *value) ([]value, bool) {
	items, ok := v.get("items")
	if !ok || items.kind != sequence && items.kind != null {
		return nil, false
	}
	if _, has := v.get("spec"); has {
		return nil, false
	}
	if _, has := v.get("status"); has {
		return nil, false
	}
	if meta, has := v.get("metadata"); has && (meta.text("name") != "" || meta.text("generateName") != "") {
		return nil, false
	}
	return items.items, true
}

// manifest checks the identity of an object and encodes it.
func (s *Set) manifest(v *value) (object.Manifest, error) {
	if err := checkTexts(v, legible.Word, "kind", "apiVersion"); err != nil {
		return object.Manifest{}, err
	}
	kind, apiVersion := v.text("kind"), v.text("apiVersion")
	if kind == "" {
		return object.Manifest{}, errors.New("the object has no kind; add kind and apiVersion, or leave it out")
	}
	if apiVersion == "" {
		return object.Manifest{}, fmt.Errorf("%s has no apiVersion; add it", kind)
	}
	meta, _ := v.get("metadata")
	if meta == nil || meta.kind != mapping {
		return object.Manifest{}, fmt.Errorf("%s has no metadata.name; add it", kind)
	}
	if err := checkTexts(meta, legible.Name, "name", "namespace", "generateName"); err != nil {
		return object.Manifest{}, fmt.Errorf("metadata of %s: %w", kind, err)
	}
	if meta.text("name") == "" && meta.text("generateName") == "" {
		return object.Manifest{}, fmt.Errorf("%s has no metadata.name; add it", kind)
	}
	for _, field := range []string{"annotations", "labels"} {
		if err := checkStrings(meta, field); err != nil {
			return object.Manifest{}, fmt.Errorf("%s %s: %w", kind, meta.text("name"), err)
		}
	}
	group, version := object.SplitAPIVersion(apiVersion)
	key := object.Key{Group: group, Kind: kind, Namespace: meta.text("namespace"), Name: meta.text("name")}
	size := v.size(s.maxBytes - s.bytes)
	if s.bytes+size > s.maxBytes {
		return object.Manifest{}, fmt.Errorf("the objects are larger than %d bytes together: %w; split the application", s.maxBytes, ErrLimit)
	}
	raw := v.appendJSON(make([]byte, 0, size+size/8+16))
	s.bytes += int64(len(raw))
	return object.Manifest{Key: key, Version: version, JSON: raw}, nil
}

// checkTexts makes sure that fields of an identity are texts, since YAML reads an unquoted no, on or 1 as something else,
// and that these can be stored and shown.
func checkTexts(v *value, check func(string) error, fields ...string) error {
	for _, f := range fields {
		m, ok := v.get(f)
		if !ok || m.kind == null {
			continue
		}
		if m.kind != text {
			return fmt.Errorf("%s is not a text; %s", f, asText(m.kind))
		}
		if err := check(m.str); err != nil {
			return fmt.Errorf("%s cannot be kept: %w", f, err)
		}
	}
	return nil
}

// asText says how to make a text of a value that is none.
func asText(k kind) string {
	switch k {
	case null:
		return `it is null: write "" for an empty text, or remove the key`
	case mapping:
		return "it is a map: write a text"
	case sequence:
		return "it is a list: write a text"
	default:
		return "quote it"
	}
}

// checkStrings makes sure that labels or annotations map texts to texts. The value is not shown: an annotation can
// hold a secret. A null map is dropped, since it means the same as none.
func checkStrings(meta *value, field string) error {
	m, ok := meta.get(field)
	if !ok {
		return nil
	}
	if m.kind == null {
		meta.remove(field)
		return nil
	}
	if m.kind != mapping {
		return fmt.Errorf("metadata.%s is not a map", field)
	}
	for i := range m.members {
		if m.members[i].val.kind != text {
			return fmt.Errorf("metadata.%s contains non-string value in the map under key %q; %s", field, m.members[i].key,
				asText(m.members[i].val.kind))
		}
		if err := legible.Word(m.members[i].key); err != nil {
			return fmt.Errorf("a key of metadata.%s cannot be kept: %w", field, err)
		}
	}
	return nil
}

// AddJSON adds the object, or the objects of the array, that data holds. Null elements are dropped.
func (s *Set) AddJSON(where string, data []byte) error {
	if int64(len(data)) > s.maxBytes {
		return In(where, fmt.Errorf("the output is larger than %d bytes: %w; split the application", s.maxBytes, ErrLimit))
	}
	out, err := decodeJSON(data)
	if err != nil {
		return In(where, fmt.Errorf("read JSON: %w", err))
	}
	v, err := fromAny(out, 0)
	if err != nil {
		return In(where, err)
	}
	if v.kind != sequence {
		if err := s.add(&v, 0); err != nil {
			return In(where, err)
		}
		return nil
	}
	for i := range v.items {
		if err := s.add(&v.items[i], 0); err != nil {
			return In(where, fmt.Errorf("element %d: %w", i, err))
		}
	}
	return nil
}

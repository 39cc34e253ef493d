package object

import (
	"encoding/json"
	"fmt"

	"github.com/cespare/xxhash/v2"
)

// Manifest is one desired object: its identity and its content as canonical JSON (keys sorted, no insignificant
// space), so that equal objects have equal bytes. A Manifest is immutable once made.
type Manifest struct {
	Key     Key
	Version string // API version without the group, for example "v1"
	JSON    []byte
	// Sum is the hash of what counts of the content, where that is not all of it; 0 for all.
	Sum uint64
}

// APIVersion returns group and version as a manifest spells them, for example "apps/v1".
func (m Manifest) APIVersion() string {
	if m.Key.Group == "" {
		return m.Version
	}
	return m.Key.Group + "/" + m.Version
}

// Hash returns a 64-bit hash of the content, or of what counts of it. It is for comparison within one process, not for
// storage.
func (m Manifest) Hash() uint64 {
	if m.Sum != 0 {
		return m.Sum
	}
	return xxhash.Sum64(m.JSON)
}

// String prints the identity. The content is left out: it can hold a Secret.
func (m Manifest) String() string { return m.Key.String() }

// Decode returns the content as a fresh tree of maps, slices and scalars; whole numbers are int64.
func (m Manifest) Decode() (map[string]any, error) {
	obj, err := DecodeJSON(m.JSON)
	if err != nil {
		return nil, fmt.Errorf("decode %s: %w", m.Key, err)
	}
	return obj, nil
}

// NewManifest makes a Manifest of an object tree. The object needs apiVersion, kind and metadata.name (or
// metadata.generateName); the error names what is missing.
func NewManifest(obj map[string]any) (Manifest, error) {
	apiVersion, _ := obj["apiVersion"].(string)
	kind, _ := obj["kind"].(string)
	meta, _ := obj["metadata"].(map[string]any)
	name, _ := meta["name"].(string)
	namespace, _ := meta["namespace"].(string)
	generated, _ := meta["generateName"].(string)
	switch {
	case kind == "":
		return Manifest{}, fmt.Errorf("object has no kind")
	case apiVersion == "":
		return Manifest{}, fmt.Errorf("%s has no apiVersion", kind)
	case name == "" && generated == "":
		return Manifest{}, fmt.Errorf("%s has no metadata.name", kind)
	}
	group, version := SplitAPIVersion(apiVersion)
	raw, err := json.Marshal(obj)
	if err != nil {
		return Manifest{}, fmt.Errorf("encode %s %s: %w", kind, name, err)
	}
	return Manifest{
		Key:     Key{Group: group, Kind: kind, Namespace: namespace, Name: name},
		Version: version,
		JSON:    raw,
	}, nil
}

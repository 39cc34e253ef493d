package diff

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// knownField is a field of a custom resource that holds a type of Kubernetes: two spellings of one value are equal.
type knownField struct {
	path []string
	typ  string
}

// Types that are one value. All others are types of the core API, such as core/v1/PodSpec.
const (
	typeQuantity = "core/Quantity"
	typeDuration = "meta/v1/Duration"
	typeCore     = "core/v1/"
)

func newKnownField(field, typ string) (knownField, error) {
	k := knownField{path: strings.Split(field, "."), typ: typ}
	name, core := strings.CutPrefix(typ, typeCore)
	switch {
	case field == "":
		return k, errors.New("names no field: set field, for example spec.template.spec")
	case len(field) > maxPointer:
		return k, fmt.Errorf("has a field of %d bytes; at most %d are allowed", len(field), maxPointer)
	case typ == typeQuantity || typ == typeDuration:
	case !core || name == "" || name[0] < 'A' || name[0] > 'Z' || strings.ContainsAny(name, "/. "):
		return k, fmt.Errorf("type %q is not known: use %s, %s or a type of the core API such as core/v1/PodSpec",
			legible.Cut(typ, 80), typeQuantity, typeDuration)
	}
	return k, nil
}

// normalize brings the values at path below value into one spelling; lists on the way are followed.
func (k knownField) normalize(value any, path []string) any {
	if len(path) == 0 {
		return k.spell(value)
	}
	switch v := value.(type) {
	case map[string]any:
		sub, ok := v[path[0]]
		if !ok {
			return v
		}
		out := shallow(v)
		out[path[0]] = k.normalize(sub, path[1:])
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = k.normalize(item, path)
		}
		return out
	}
	return value
}

func (k knownField) spell(value any) any {
	if list, ok := value.([]any); ok {
		out := make([]any, len(list))
		for i, item := range list {
			out[i] = k.spell(item)
		}
		return out
	}
	switch k.typ {
	case typeQuantity:
		return canonicalQuantities(value)
	case typeDuration:
		text, _ := value.(string)
		if d, err := time.ParseDuration(text); err == nil {
			return d.String()
		}
		return value
	case typeCore + "ResourceList":
		return canonicalQuantities(value)
	}
	n := normalizer{kind: strings.TrimPrefix(k.typ, typeCore), builtIn: true}
	parent := ""
	if n.kind == "ResourceRequirements" || n.kind == "VolumeResourceRequirements" {
		parent = "resources"
	}
	return n.value(value, parent)
}

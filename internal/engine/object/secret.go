package object

import (
	"bytes"
	"strconv"
)

// IsSecret reports whether a kind is that of Kubernetes' Secrets.
func (k Kind) IsSecret() bool { return k.Group == "" && k.Kind == "Secret" }

// IsSecret reports whether an object is a Secret of Kubernetes.
func (k Key) IsSecret() bool { return k.GroupKind().IsSecret() }

// IsSecret reports whether an object, or a map within one, is a Secret of Kubernetes.
func IsSecret(obj map[string]any) bool {
	if kind, _ := obj["kind"].(string); kind != "Secret" {
		return false
	}
	apiVersion, _ := obj["apiVersion"].(string)
	group, _ := SplitAPIVersion(apiVersion)
	return group == ""
}

// maxSecretDepth bounds how deep an object is looked into for Secrets.
const maxSecretDepth = 200

// HoldsSecret reports whether an object is a Secret, or has one in it, as the wrappers of several operators do.
func HoldsSecret(obj map[string]any) bool { return holdsSecret(obj, 0) }

func holdsSecret(value any, depth int) bool {
	if depth > maxSecretDepth {
		return true // it is not known
	}
	switch v := value.(type) {
	case map[string]any:
		if IsSecret(v) {
			return true
		}
		for _, inner := range v {
			if holdsSecret(inner, depth+1) {
				return true
			}
		}
	case []any:
		for _, inner := range v {
			if holdsSecret(inner, depth+1) {
				return true
			}
		}
	}
	return false
}

// MayHoldSecret reports whether the JSON of a manifest could have a Secret in it. It is quick, and wrong in one direction only.
func MayHoldSecret(raw []byte) bool { return bytes.Contains(raw, []byte(`"Secret"`)) }

// secretFields are those of a Secret that hold no value.
func secretFields(field string) bool {
	switch field {
	case "apiVersion", "kind", "metadata", "type", "immutable":
		return true
	}
	return false
}

// WithoutSecrets gives an object in which the values of a Secret, and of Secrets within it, are replaced by one text that
// says nothing. It is what expressions and scripts are given: whatever they make of an object, no value can be in it. Keys,
// and which fields there are, stay. The object itself is left alone, and is returned where there is nothing to hide.
func WithoutSecrets(obj map[string]any) map[string]any {
	b := blinder{}
	out, _ := b.object(obj, nil, 0).(map[string]any)
	return out
}

// Blind does so for the annotations that are named, too, and puts another text in place of each value, which begins with
// stand: where a copy of one turns up, it can be recognized.
func Blind(obj map[string]any, stand string, annotations ...string) map[string]any {
	b := blinder{stand: stand}
	out, _ := b.object(obj, annotations, 0).(map[string]any)
	return out
}

type blinder struct {
	stand string
	count int
}

func (b *blinder) text() string {
	b.count++
	if b.stand == "" {
		return "(hidden)"
	}
	return b.stand + strconv.Itoa(b.count)
}

// object gives a map without secrets: the same where it has none.
func (b *blinder) object(obj map[string]any, annotations []string, depth int) any {
	if depth > maxSecretDepth {
		return b.text()
	}
	secret := IsSecret(obj)
	var out map[string]any
	set := func(field string, value any) {
		if out == nil {
			out = make(map[string]any, len(obj))
			for k, v := range obj {
				out[k] = v
			}
		}
		out[field] = value
	}
	for field, value := range obj {
		before := b.count
		var next any
		switch {
		case secret && !secretFields(field):
			next = b.all(value, depth+1)
		case field == "metadata" && (secret || len(annotations) > 0):
			next = b.meta(value, secret, annotations)
		default:
			next = b.value(value, depth+1)
		}
		if b.count > before {
			set(field, next)
		}
	}
	if out == nil {
		return obj
	}
	return out
}

func (b *blinder) value(value any, depth int) any {
	switch v := value.(type) {
	case map[string]any:
		return b.object(v, nil, depth)
	case []any:
		var out []any
		for i, inner := range v {
			before := b.count
			next := b.value(inner, depth+1)
			if b.count > before {
				if out == nil {
					out = append([]any{}, v...)
				}
				out[i] = next
			}
		}
		if out != nil {
			return out
		}
	}
	return value
}

// all hides every value; keys stay.
func (b *blinder) all(value any, depth int) any {
	if depth > maxSecretDepth {
		return b.text()
	}
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, inner := range v {
			out[k] = b.all(inner, depth+1)
		}
		return out
	case nil:
		return nil
	}
	return b.text()
}

// meta hides annotations: those that are named, and of a Secret all that can repeat what it holds.
func (b *blinder) meta(value any, secret bool, annotations []string) any {
	meta, ok := value.(map[string]any)
	notes, has := meta["annotations"].(map[string]any)
	if !ok || !has {
		return value
	}
	hidden := map[string]bool{}
	for _, name := range annotations {
		hidden[name] = true
	}
	var out map[string]any
	for name := range notes {
		if !hidden[name] && (!secret || !RepeatsObject(name)) {
			continue
		}
		if out == nil {
			out = make(map[string]any, len(notes))
			for k, v := range notes {
				out[k] = v
			}
		}
		out[name] = b.text()
	}
	if out == nil {
		return value
	}
	next := make(map[string]any, len(meta))
	for k, v := range meta {
		next[k] = v
	}
	next["annotations"] = out
	return next
}

// RepeatsObject reports whether tools keep the object that they applied last in an annotation of this name, at times packed:
// on a Secret it holds what the Secret holds.
func RepeatsObject(annotation string) bool {
	switch annotation {
	case "kubectl.kubernetes.io/last-applied-configuration", "kapp.k14s.io/original", "kapp.k14s.io/original-diff-md5",
		"objectset.rio.cattle.io/applied", "banzaicloud.com/last-applied", "pulumi.com/last-applied-configuration",
		"kopf.zalando.org/last-handled-configuration":
		return true
	}
	return false
}

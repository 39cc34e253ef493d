package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// masker makes manifests ones that may leave the agent. Values of Secrets are replaced by hashes with a key that never
// does: for one field of one object equal values have equal hashes, and a value cannot be found by trying, not even by
// a user who may write another Secret.
type masker struct {
	key     []byte
	cluster string
	object  object.Key
	hidden  []string // annotations
	private bool     // only its kind is reported
}

// mask returns the content of a manifest without secrets, as canonical JSON that a server can keep.
func (k masker) mask(m object.Manifest) ([]byte, error) {
	raw, err := k.masked(m)
	return legible.JSON(raw), err
}

func (k masker) masked(m object.Manifest) ([]byte, error) {
	secret := m.Key.IsSecret()
	if !secret && !k.private && !k.annotated(m.JSON) && !object.MayHoldSecret(m.JSON) {
		return m.JSON, nil
	}
	obj, err := m.Decode()
	if err != nil {
		return nil, err
	}
	if meta, ok := obj["metadata"].(map[string]any); ok {
		if notes, ok := meta["annotations"].(map[string]any); ok {
			delete(notes, corev1.LastAppliedConfigAnnotation)
			for _, name := range k.hidden {
				if value, there := notes[name]; there {
					notes[name] = k.hash("annotation "+name, value)
				}
			}
		}
	}
	if secret || k.private {
		k.contents(obj)
	} else {
		k.within(obj, "", 0)
	}
	if meta, ok := obj["metadata"].(map[string]any); ok && k.private {
		for _, field := range slices.Collect(maps.Keys(meta)) {
			if field != "name" && field != "namespace" {
				meta[field] = k.hash("metadata "+field, meta[field])
			}
		}
	}
	return json.Marshal(obj)
}

// annotated reports whether an object may have an annotation that is not to be seen.
func (k masker) annotated(raw []byte) bool {
	return bytes.Contains(raw, []byte(corev1.LastAppliedConfigAnnotation)) ||
		slices.ContainsFunc(k.hidden, func(name string) bool { return bytes.Contains(raw, []byte(name)) })
}

// maxWithin bounds how deep an object is looked into for Secrets.
const maxWithin = 200

// within hides the values of Secrets that an object has in it, in place.
func (k masker) within(value any, path string, depth int) {
	if depth > maxWithin {
		return // a manifest is never so deep
	}
	switch v := value.(type) {
	case map[string]any:
		if depth > 0 && object.IsSecret(v) {
			k.contentsAt(v, path+" ")
			return
		}
		for field, inner := range v {
			k.within(inner, path+"/"+field, depth+1)
		}
	case []any:
		for i, inner := range v {
			k.within(inner, path+"/"+strconv.Itoa(i), depth+1)
		}
	}
}

// contents hides the values of a Secret, and whatever it should not have at all: a misspelt field can hold a value too.
func (k masker) contents(obj map[string]any) { k.contentsAt(obj, "") }

func (k masker) contentsAt(obj map[string]any, at string) {
	for _, field := range slices.Collect(maps.Keys(obj)) {
		switch field {
		case "apiVersion", "kind", "metadata":
			continue
		case "type", "immutable":
			if !k.private {
				continue
			}
		}
		values, ok := obj[field].(map[string]any)
		if !ok || field != "data" && field != "stringData" {
			obj[field] = k.hash(at+"field "+field, obj[field])
			continue
		}
		for name, value := range values {
			values[name] = k.hash(at+field+" "+name, value)
		}
	}
}

func (k masker) hash(place string, value any) string {
	raw, err := json.Marshal(value)
	if err != nil {
		raw = []byte("?")
	}
	h := hmac.New(sha256.New, k.key)
	for _, part := range []string{k.cluster, k.object.String(), place, string(raw)} {
		sum := sha256.Sum256([]byte(part))
		_, _ = h.Write(sum[:])
	}
	return "hmac:" + hex.EncodeToString(h.Sum(nil)[:16])
}

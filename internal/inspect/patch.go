package inspect

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ErrOtherObject is that an action wants to patch an object that it did not run on.
var ErrOtherObject = errors.New("an action may patch the object that it ran on, and no other")

// ActionPatch is what an action changes of a live object, as JSON merge patches (RFC 7386); empty ones are not sent. A kind
// with a status subresource takes Status there and Rest at the object itself; one without takes Whole.
type ActionPatch struct {
	Status, Rest, Whole map[string]any
}

// NewActionPatch compares the live object that an action ran on with what the action made of it. The error is
// ErrOtherObject if that is another one.
func NewActionPatch(live, changed map[string]any) (ActionPatch, error) {
	from, to := &unstructured.Unstructured{Object: live}, &unstructured.Unstructured{Object: changed}
	if to.GroupVersionKind() != from.GroupVersionKind() || to.GetName() != from.GetName() || to.GetNamespace() != from.GetNamespace() {
		return ActionPatch{}, ErrOtherObject
	}
	whole, err := MergePatch(live, changed)
	if err != nil {
		return ActionPatch{}, err
	}
	p := ActionPatch{Rest: maps.Clone(whole), Whole: whole}
	if status, ok := whole["status"]; ok {
		p.Status = map[string]any{"status": status}
		delete(p.Rest, "status")
	}
	return p, nil
}

// MergePatch is what makes one object of the other, as a JSON merge patch (RFC 7386); empty where they are equal.
func MergePatch(from, to map[string]any) (map[string]any, error) {
	before, err := json.Marshal(from)
	if err != nil {
		return nil, fmt.Errorf("encode live object: %w", err)
	}
	after, err := json.Marshal(to)
	if err != nil {
		return nil, fmt.Errorf("encode changed object: %w", err)
	}
	raw, err := jsonpatch.CreateMergePatch(before, after)
	if err != nil {
		return nil, fmt.Errorf("compare with the live object: %w", err)
	}
	return object.DecodeJSON(raw)
}

package parity

import (
	"encoding/json"
	"testing"

	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

type healthCase struct {
	ID, Layer, Group, Kind string
	Object                 json.RawMessage
	Status, Message        *string
}

func (c healthCase) assess(t *testing.T) (health.Result, bool) {
	t.Helper()
	obj, err := object.DecodeJSON(c.Object)
	if err != nil {
		t.Fatal(err)
	}
	return health.Assess(obj)
}

func (c healthCase) passes(r health.Result, assessed bool) bool {
	if c.Status == nil {
		return !assessed
	}
	return assessed && string(r.Status) == *c.Status && (c.Message == nil || r.Message == *c.Message)
}

// builtInGroup reports whether Kubernetes itself serves a group that the data files under customizations.
func builtInGroup(group string) bool {
	switch group {
	case "batch", "policy", "apiextensions.k8s.io":
		return true
	}
	return false
}

func TestHealthOfBuiltInKindsAgrees(t *testing.T) {
	t.Parallel()
	var later, laterPass int
	for _, c := range loadLines[healthCase](t, dir(t, "health"), "cases.jsonl") {
		if c.Layer == "customization" && !builtInGroup(c.Group) {
			later++
			if c.passes(c.assess(t)) {
				laterPass++
			}
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if r, ok := c.assess(t); !c.passes(r, ok) {
				want, _ := json.Marshal([]*string{c.Status, c.Message})
				t.Errorf("assessed %v: %s; want status and message %s", ok, r, want)
			}
		})
	}
	t.Logf("customizations, not asserted: %d of %d agree", laterPass, later)
}

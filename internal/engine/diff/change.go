package diff

import (
	"maps"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Verb says what a comparison found must happen to an object.
type Verb string

// The verbs.
const (
	Keep   Verb = "keep"
	Create Verb = "create"
	Update Verb = "update"
	Delete Verb = "delete"
)

// Change is the difference between what is wanted and what is live, for one object.
type Change struct {
	Key     object.Key
	Version string // API version without group; of the manifest, or of the live object for Delete
	Verb    Verb
	Why     string             // one phrase: "missing", "manifest changed", "changed in the cluster", "not in Git"
	Phase   v1alpha1.SyncPhase // of an operation; "" is Sync
	Wave    int
	Ignored bool // of a deletion: it is no difference, and no reason to begin a sync (IgnoreExtraneous)
}

// String prints the change as one line, for example "update Deployment.apps shop/web (manifest changed)".
func (c Change) String() string {
	s := string(c.Verb) + " " + c.Key.String()
	if c.Why != "" {
		s += " (" + c.Why + ")"
	}
	return s
}

// What Change.Why says where the rest of the engine goes by it.
const (
	WhyDiffers   = "differs"                // it does not show which side changed
	WhyDrift     = "changed in the cluster" // the object was changed in the cluster
	WhyUntracked = "not tracked yet"        // no Application tracks the object
)

// MetadataVerb compares the labels and annotations of an object with those that it is to have.
func MetadataVerb(have, then map[string]any) Verb {
	of := func(obj map[string]any, field string) map[string]any {
		return object.Dict(object.Dict(obj, "metadata"), field)
	}
	for _, field := range []string{"labels", "annotations"} {
		if !maps.Equal(of(have, field), of(then, field)) { // of texts
			return Update
		}
	}
	return Keep
}

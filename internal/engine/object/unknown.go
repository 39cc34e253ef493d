package object

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// UnknownKindError says that a cluster does not know a kind, or not at that version.
type UnknownKindError struct {
	Kind    Kind
	Version string   // what was asked for
	Served  []string // versions that the cluster has, if any
}

func (e *UnknownKindError) Error() string {
	if len(e.Served) > 0 {
		return fmt.Sprintf(v1alpha1.MessageUnservedVersion+"%s at version %s, not %s: change apiVersion in the manifest",
			e.Kind, strings.Join(e.Served, ", "), e.Version)
	}
	return fmt.Sprintf(v1alpha1.MessageUnknownKind+
		"%s: install its CustomResourceDefinition first, or correct apiVersion and kind in the manifest", e.Kind)
}

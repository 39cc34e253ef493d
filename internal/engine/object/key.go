// Package object holds the values that every stage of the engine exchanges: the identity of a Kubernetes object,
// a desired object as rendered, and the mark that ties an object to its Application. It is pure.
package object

import (
	"cmp"
	"strings"
)

// Kind names a group and kind. The version is left out on purpose: one object can be read at several versions.
type Kind struct {
	Group string // empty for the core group
	Kind  string
}

// String prints "Deployment.apps", or "Pod" for the core group.
func (k Kind) String() string {
	if k.Group == "" {
		return k.Kind
	}
	return k.Kind + "." + k.Group
}

// Key identifies one object within one cluster.
type Key struct {
	Group     string // empty for the core group
	Kind      string
	Namespace string // empty for cluster-scoped objects
	Name      string
}

// GroupKind returns the kind of the object that k identifies.
func (k Key) GroupKind() Kind { return Kind{Group: k.Group, Kind: k.Kind} }

// String prints "Deployment.apps shop/web", or "Namespace shop" for a cluster-scoped object.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.GroupKind().String() + " " + k.Name
	}
	return k.GroupKind().String() + " " + k.Namespace + "/" + k.Name
}

// Compare orders keys by group, kind, namespace and name, for stable output.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		strings.Compare(k.Group, o.Group),
		strings.Compare(k.Kind, o.Kind),
		strings.Compare(k.Namespace, o.Namespace),
		strings.Compare(k.Name, o.Name),
	)
}

// SplitAPIVersion splits "apps/v1" into group and version; "v1" is the core group.
func SplitAPIVersion(apiVersion string) (group, version string) {
	if g, v, ok := strings.Cut(apiVersion, "/"); ok {
		return g, v
	}
	return "", apiVersion
}

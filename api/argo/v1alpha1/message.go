package v1alpha1

import "strings"

// How messages of conditions begin or what they hold, where an advice depends on it.
const (
	// MessageDestination begins a message about the destination cluster itself: how it is found, reached or read.
	MessageDestination = "destination cluster: "
	// MessageUnknownKind and MessageUnservedVersion are in a message about a kind that the destination cluster does not serve.
	MessageUnknownKind     = "the cluster does not know kind "
	MessageUnservedVersion = "the cluster serves "
)

// Unverified reports whether a message is about a source whose signature was not verified. Those begin with the check that failed,
// as those of Argo CD do.
func Unverified(message string) bool {
	check, _, ok := strings.Cut(message, ": Failed verifying ")
	if !ok {
		return false
	}
	switch check {
	case "GIT/GPG", "GIT/SSH", "OCI/COSIGN", "OCI/NOTATION", "HELM/GPG", "URL":
		return true
	}
	return false
}

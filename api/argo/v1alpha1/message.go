package v1alpha1

// How messages of conditions begin or what they hold, where an advice depends on it.
const (
	// MessageDestination begins a message about the destination cluster itself: how it is found, reached or read.
	MessageDestination = "destination cluster: "
	// MessageUnknownKind and MessageUnservedVersion are in a message about a kind that the destination cluster does not serve.
	MessageUnknownKind     = "the cluster does not know kind "
	MessageUnservedVersion = "the cluster serves "
)

package mirror

// ConditionHeld is the condition of an application whose sync waits for
// a user, a window or a date.
const ConditionHeld = "Held"

// A deletion that waits for a person has another condition, with a message that
// begins so.
const (
	ConditionDeletion = "DeletionError"
	heldPrefix        = "held: "
)

// OutOfSync is the sync status of an application that has drifted, or that Git
// has moved on from.
const OutOfSync = "OutOfSync"

// driftSince is since when an application is out of sync: what is known of it
// stays for as long as it is.
func driftSince(sync string, was, now int64) int64 {
	switch {
	case sync != OutOfSync:
		return 0
	case was != 0:
		return was
	}
	return now
}

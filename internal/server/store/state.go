package store

// conditionHeld is the condition of an application whose sync waits for
// somebody or something.
const conditionHeld = "Held"

// A deletion that waits for a person has another condition, with a message that
// begins so.
const (
	conditionDeletion = "DeletionError"
	heldPrefix        = "held: "
)

// outOfSync is the sync status of an application that has drifted, or that Git
// has moved on from.
const outOfSync = "OutOfSync"

// driftSince is since when an application is out of sync: what is known of it
// stays for as long as it is.
func driftSince(sync string, was, now int64) int64 {
	switch {
	case sync != outOfSync:
		return 0
	case was != 0:
		return was
	}
	return now
}

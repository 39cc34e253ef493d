package health

// Knows reports whether objects of a kind are judged: a missing one then counts for its Application.
func Knows(group, kind string) bool {
	return assessment(group, kind) != nil || rulesOf(group, kind) != nil
}

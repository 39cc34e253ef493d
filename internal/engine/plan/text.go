package plan

import (
	"iter"
	"strings"
)

// fields yields the words of a comma-separated annotation.
func fields(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for word := range strings.SplitSeq(list, ",") {
			if word = strings.TrimSpace(word); word != "" && !yield(word) {
				return
			}
		}
	}
}

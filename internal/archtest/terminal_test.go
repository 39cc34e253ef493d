package archtest

import (
	"strings"
	"testing"
)

// bare are the files of the command line that write to a terminal what it obeys, by why nothing of others is in it.
func bare() map[string]string {
	return map[string]string{
		"internal/cli/app/exec.go":     "a terminal of a container draws on that of the user, who asked for it",
		"internal/cli/declare/edit.go": "the user's own editor draws on it",
		"internal/cli/delta/delta.go":  "puts colors around lines that it made legible",
	}
}

// TestTheCommandLineShowsTextsOfOthersThroughOneDoor finds code that writes past iostream.Screen.
func TestTheCommandLineShowsTextsOfOthersThroughOneDoor(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	eachUse(t, func(name string, line int, of, what string) {
		if !strings.HasPrefix(name, "internal/cli/") || strings.HasPrefix(name, "internal/cli/iostream/") || strings.HasSuffix(name, "_test.go") {
			return
		}
		switch use := of + "." + what; use {
		case "os.Stdout", "os.Stderr", "fmt.Print", "fmt.Printf", "fmt.Println":
			t.Errorf("%s:%d uses %s: write to the streams of the command, which make texts of others legible", name, line, use)
		case "iostream.Bare":
			if used[name] = bare()[name] != ""; !used[name] {
				t.Errorf("%s:%d uses %s: write to the stream as it is", name, line, use)
			}
		}
	})
	for name := range bare() {
		if !used[name] {
			t.Errorf("%s needs no exception any more: take it out", name)
		}
	}
}

package plan

import (
	"fmt"
	"strings"
)

// waiting says what an operation waits for, hooks first. The words are Argo CD's: tools and people look for them.
func waiting(tasks []Task, deletion bool) string {
	if len(tasks) == 0 {
		return ""
	}
	first := tasks[0]
	hooks := 0
	for _, t := range tasks {
		if t.Hook {
			if hooks == 0 {
				first = t
			}
			hooks++
		}
	}
	others := "resources"
	if hooks == len(tasks) {
		others = "hooks"
	}
	reason := "healthy state of"
	switch {
	case deletion && hooks > 0:
		reason = "deletion of hook"
	case deletion:
		reason = "deletion of"
	case hooks > 0:
		reason = "completion of hook"
	}
	return waitingFor(reason, first, len(tasks)-1, others)
}

// creating says which hooks are about to be created; "" for none.
func creating(tasks []Task) string {
	var hooks []Task
	for _, t := range tasks {
		if t.Hook {
			hooks = append(hooks, t)
		}
	}
	if len(hooks) == 0 {
		return ""
	}
	return waitingFor("creation of hook", hooks[0], len(hooks)-1, "hooks")
}

func waitingFor(reason string, first Task, more int, others string) string {
	text := fmt.Sprintf("waiting for %s %s", reason, first.text())
	if more > 0 {
		text += fmt.Sprintf(" and %d more %s", more, others)
	}
	return text
}

// maxReasons bounds how many reasons a message repeats; each object has its own in the results.
const maxReasons = 5

// because adds reasons to a message, each once.
func because(text string, reasons []string) string {
	var different []string
	said := map[string]bool{}
	for _, r := range reasons {
		if !said[r] {
			said[r] = true
			different = append(different, r)
		}
	}
	if len(different) == 0 {
		return text
	}
	more := ""
	if n := len(different) - maxReasons; n > 0 {
		different, more = different[:maxReasons], fmt.Sprintf(" and %d more", n)
	}
	return text + ", reason: " + strings.Join(different, ",") + more
}

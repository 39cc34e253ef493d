package project

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// checkWindow says what is wrong with a sync window.
func checkWindow(w v1alpha1.SyncWindow) error {
	if w.Kind != v1alpha1.SyncWindowAllow && w.Kind != v1alpha1.SyncWindowDeny {
		return fmt.Errorf("kind %q is neither allow nor deny: choose one", w.Kind)
	}
	if err := checkSchedule(w.Schedule); err != nil {
		return fmt.Errorf("schedule %q: %w", w.Schedule, err)
	}
	if d, err := time.ParseDuration(w.Duration); err != nil || d <= 0 {
		return fmt.Errorf("duration %q is not one: write it as 1h30m", w.Duration)
	}
	if _, err := time.LoadLocation(w.TimeZone); err != nil {
		return fmt.Errorf("timeZone %q is not known: use a name such as Europe/Berlin", w.TimeZone)
	}
	if len(w.Applications)+len(w.Namespaces)+len(w.Clusters) == 0 {
		return errors.New("it is for nothing: set applications, namespaces or clusters")
	}
	return nil
}

// span is what one field of a schedule may hold.
type span struct {
	name      string
	low, high int
	words     string // names for low, low+1, ...
}

func schedule() []span {
	return []span{
		{"minute", 0, 59, ""},
		{"hour", 0, 23, ""},
		{"day of month", 1, 31, ""},
		{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
		{"day of week", 0, 6, "sun mon tue wed thu fri sat"},
	}
}

// checkSchedule says what is wrong with a cron expression of five fields, or one of the words that stand for one.
func checkSchedule(text string) error {
	const longest = 1024
	if len(text) > longest {
		return fmt.Errorf("it is longer than %d bytes: shorten it", longest)
	}
	switch text {
	case "@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly":
		return nil
	}
	fields := strings.Fields(text)
	spans := schedule()
	if len(fields) != len(spans) {
		return fmt.Errorf("it has %d fields: write minute, hour, day of month, month and day of week", len(fields))
	}
	for i, s := range spans {
		for part := range strings.SplitSeq(fields[i], ",") {
			if !s.valid(part) {
				return fmt.Errorf("%q is no %s: write *, a number from %d to %d, a range such as a-b, or a step such as */n", part, s.name, s.low, s.high)
			}
		}
	}
	return nil
}

// valid reads *, ?, n, a-b, and each with /step.
func (s span) valid(part string) bool {
	values, step, stepped := strings.Cut(part, "/")
	if n, err := strconv.ParseUint(step, 10, 16); stepped && (err != nil || n == 0) {
		return false
	}
	if values == "*" || values == "?" {
		return true
	}
	from, to, ranged := strings.Cut(values, "-")
	low, ok := s.number(from)
	if !ok || !ranged {
		return ok
	}
	high, ok := s.number(to)
	return ok && low <= high
}

func (s span) number(text string) (int, bool) {
	for i, word := range strings.Fields(s.words) {
		if strings.EqualFold(word, text) {
			return s.low + i, true
		}
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil && int(n) >= s.low && int(n) <= s.high
}

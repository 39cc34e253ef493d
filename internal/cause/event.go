package cause

import (
	"regexp"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// fieldPattern finds the container in the field that an Event is about.
var fieldPattern = regexp.MustCompile(`^spec\.(?:initContainers|containers|ephemeralContainers)\{([^}]+)\}$`)

// EventOf reads an Event of Kubernetes, of the group "" or events.k8s.io.
func EventOf(obj map[string]any) Event {
	first, last := moment(obj, "firstTimestamp"), moment(obj, "lastTimestamp")
	n := count(obj, "count")
	if series := dict(obj, "series"); series != nil {
		n = max(n, count(series, "count"))
		last = firstOf(moment(series, "lastObservedTime"), last)
	}
	about := dict(obj, "involvedObject")
	if about == nil {
		about = dict(obj, "regarding")
	}
	first = firstOf(first, moment(obj, "eventTime"), moment(dict(obj, "metadata"), "creationTimestamp"))
	out := Event{ResourceEvent: api.ResourceEvent{
		Type: text(obj, "type"), Reason: text(obj, "reason"), Message: text(obj, "message") + text(obj, "note"),
		Count: int(max(n, 1)), First: first, Last: firstOf(last, first),
	}}
	if m := fieldPattern.FindStringSubmatch(text(about, "fieldPath")); m != nil {
		out.Container = m[1]
	}
	return out
}

func firstOf(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

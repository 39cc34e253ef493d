package cause

import (
	"regexp"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// fieldPattern finds the container in the field that an Event is about.
var fieldPattern = regexp.MustCompile(`^spec\.(?:initContainers|containers|ephemeralContainers)\{([^}]+)\}$`)

// EventOf reads an Event of Kubernetes, of the group "" or events.k8s.io.
func EventOf(obj map[string]any) Event {
	first, last := moment(obj, "firstTimestamp"), moment(obj, "lastTimestamp")
	n := object.Count(obj, "count")
	if series := object.Dict(obj, "series"); series != nil {
		n = max(n, object.Count(series, "count"))
		last = firstOf(moment(series, "lastObservedTime"), last)
	}
	about := object.Dict(obj, "involvedObject")
	if about == nil {
		about = object.Dict(obj, "regarding")
	}
	first = firstOf(first, moment(obj, "eventTime"), moment(object.Dict(obj, "metadata"), "creationTimestamp"))
	out := Event{ResourceEvent: api.ResourceEvent{
		Type: object.Text(obj, "type"), Reason: object.Text(obj, "reason"), Message: object.Text(obj, "message") + object.Text(obj, "note"),
		Count: int(max(n, 1)), First: first, Last: firstOf(last, first),
	}}
	if m := fieldPattern.FindStringSubmatch(object.Text(about, "fieldPath")); m != nil {
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

package kubelet

import (
	"errors"
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// Annotations of a pod that say what its containers say. With a dot and the
// name of a container each is about that one, and counts before the other.
const (
	logAnnotation      = "devcluster/log"
	previousAnnotation = "devcluster/previous-log"
)

// line is one line of a log.
type line struct {
	// at is when it was written; zero for a line that names no time.
	at   time.Time
	text string
}

// span is one life of a container, as its log is served.
type span struct {
	began      time.Time
	annotation string // that has its lines
	ended      bool
}

// spanOf returns the present life of a container, or the one before. The errors
// are those of a kubelet.
func spanOf(pod *corev1.Pod, status *corev1.ContainerStatus, previous bool) (span, error) {
	last, now := status.LastTerminationState.Terminated, status.State
	switch {
	case previous && last == nil:
		return span{}, fmt.Errorf("previous terminated container %q in pod %q not found", status.Name, pod.Name)
	case previous:
		return span{began: last.StartedAt.Time, annotation: previousAnnotation, ended: true}, nil
	case now.Running != nil:
		return span{began: now.Running.StartedAt.Time, annotation: logAnnotation}, nil
	case now.Terminated != nil:
		return span{began: now.Terminated.StartedAt.Time, annotation: logAnnotation, ended: true}, nil
	case last != nil:
		return span{began: last.StartedAt.Time, annotation: previousAnnotation, ended: true}, nil
	case now.Waiting != nil:
		return span{}, fmt.Errorf("container %q in pod %q is waiting to start: %s", status.Name, pod.Name, now.Waiting.Reason)
	}
	return span{}, errors.New("container " + status.Name + " is waiting to start - no logs yet")
}

// said returns what a container has written: that it started, then the lines of
// the annotation. A line that begins with an RFC 3339 time and a space was
// written then; the time is no part of its text.
func said(pod *corev1.Pod, container, annotation string) []line {
	lines := []line{{text: container + " started"}}
	text, ok := pod.Annotations[annotation+"."+container]
	if !ok {
		text = pod.Annotations[annotation]
	}
	if text == "" {
		return lines
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		stamp, rest, _ := strings.Cut(one, " ")
		if at, err := time.Parse(time.RFC3339Nano, stamp); err == nil {
			lines = append(lines, line{at: at, text: rest})
		} else {
			lines = append(lines, line{text: one})
		}
	}
	return lines
}

// fresh returns the lines that were not there before. Written lines cannot be
// taken back: where lines differ, all after them count as new.
func fresh(before, now []line) []line {
	same := 0
	for same < len(before) && same < len(now) && before[same] == now[same] {
		same++
	}
	return now[same:]
}

// dated gives a time to the lines that name none.
func dated(lines []line, at time.Time) []line {
	out := make([]line, len(lines))
	for i, l := range lines {
		if l.at.IsZero() {
			l.at = at
		}
		out[i] = l
	}
	return out
}

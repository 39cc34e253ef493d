package cause

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// moment reads a time; zero for what is none.
func moment(from map[string]any, field string) time.Time {
	at, err := time.Parse(time.RFC3339, object.Text(from, field))
	if err != nil {
		return time.Time{}
	}
	return at
}

func nameOf(k object.Key) api.ObjectName {
	return api.ObjectName{Group: k.Group, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}
}

// called names an object in a sentence: "Pod shop/web".
func called(b *Branch) string { return spoken(b.Key.Kind, b.Key.Namespace, b.Key.Name) }

func spoken(kind, namespace, name string) string {
	if namespace != "" {
		name = namespace + "/" + name
	}
	return kind + " " + name
}

// some lists a few of many names.
func some(names []string) string {
	const most = 4
	if n := len(names) - most; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), n)
	}
	return strings.Join(names, ", ")
}

// Quote quotes a word that comes from outside for a shell, so that a command that is shown can be pasted.
func Quote(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-._:/", r)
	}
	if word != "" && !strings.HasPrefix(word, "-") && !strings.ContainsFunc(word, func(r rune) bool { return !plain(r) }) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// describe is the command that shows an object with its Events.
func (s *scene) describe(b *Branch) string {
	kind := strings.ToLower(b.Key.Kind)
	if b.Key.Group != "" {
		kind += "." + b.Key.Group
	}
	if b.Key.Namespace == "" {
		return fmt.Sprintf("`kubectl describe %s %s` shows more", Quote(kind), Quote(b.Key.Name))
	}
	return fmt.Sprintf("`kubectl -n %s describe %s %s` shows more", Quote(b.Key.Namespace), Quote(kind), Quote(b.Key.Name))
}

// logs is the command that shows the log of a container.
func (s *scene) logs(b *Branch, container string, previous bool) string {
	out := fmt.Sprintf("`slipway app logs %s %s --container %s", Quote(s.app), Quote("Pod:"+b.Key.Namespace+"/"+b.Key.Name), Quote(container))
	if previous {
		out += " --previous"
	}
	return out + "` shows its log"
}

// condition is one condition of a status.
type condition struct {
	kind, is, reason, message string
	since                     time.Time
}

func conditionsOf(obj map[string]any) []condition {
	var out []condition
	for _, c := range object.Dicts(object.Dict(obj, "status"), "conditions") {
		since := moment(c, "lastTransitionTime")
		out = append(out, condition{
			kind: object.Text(c, "type"), is: object.Text(c, "status"), reason: object.Text(c, "reason"),
			message: object.Text(c, "message"), since: since,
		})
	}
	return out
}

// conditionOf finds a condition by its type; the zero value where there is none.
func conditionOf(obj map[string]any, kind string) condition {
	for _, c := range conditionsOf(obj) {
		if c.kind == kind {
			return c
		}
	}
	return condition{}
}

// bad reports whether a condition says that something is wrong. Controllers use both directions: Ready is False, Stalled is True.
func (c condition) bad() bool {
	switch c.kind {
	case "Failed", "Stalled", "Degraded", "Error", "ReplicaFailure", "Failure", "ErrorOccurred", "ReconcileError", "NonStructuralSchema",
		"NamespaceDeletionDiscoveryFailure", "NamespaceDeletionContentFailure", "NamespaceContentRemaining", "NamespaceFinalizersRemaining":
		return c.is == "True"
	case "Ready", "Available", "Progressing", "Healthy", "Synced", "Reconciled", "Established", "NamesAccepted", "Accepted", "Programmed",
		"ResolvedRefs", "Complete", "Succeeded", "Initialized", "ScalingActive", "AbleToScale", "ContainersReady", "Issued", "Valid":
		return c.is == "False"
	}
	return false
}

func (c condition) text() string {
	out := c.kind + " is " + c.is
	if c.reason != "" {
		out += " (" + c.reason + ")"
	}
	if c.message != "" {
		out += ": " + c.message
	}
	return out
}

func (c condition) evidence(b *Branch) api.Evidence {
	return api.Evidence{Object: nameOf(b.Key), Source: api.EvidenceStatus, Text: c.text(), Since: c.since}
}

// status is evidence from the status of an object.
func status(b *Branch, format string, args ...any) api.Evidence {
	return api.Evidence{Object: nameOf(b.Key), Source: api.EvidenceStatus, Text: fmt.Sprintf(format, args...)}
}

// spec is evidence from the specification of an object.
func spec(b *Branch, format string, args ...any) api.Evidence {
	return api.Evidence{Object: nameOf(b.Key), Source: api.EvidenceSpec, Text: fmt.Sprintf(format, args...)}
}

// evidence is an Event as evidence.
func (e *Event) evidence(b *Branch) api.Evidence {
	return api.Evidence{
		Object: nameOf(b.Key), Container: e.Container, Source: api.EvidenceEvent, Text: e.Reason + ": " + e.Message, Count: e.Count,
		Since: e.First, Last: e.Last,
	}
}

// told are the newest Warnings about an object that want holds for; nil: all. The newest comes first.
func (s *scene) told(b *Branch, want func(*Event) bool) []api.Evidence {
	const most = 3
	var out []api.Evidence
	for i := len(b.Events) - 1; i >= 0 && len(out) < most; i-- {
		if e := &b.Events[i]; e.Type == "Warning" && (want == nil || want(e)) {
			out = append(out, e.evidence(b))
		}
	}
	return out
}

// last finds the newest Event that want holds for.
func (b *Branch) last(want func(*Event) bool) *Event {
	for i := len(b.Events) - 1; i >= 0; i-- {
		if want(&b.Events[i]) {
			return &b.Events[i]
		}
	}
	return nil
}

// reasons holds for Events with one of some reasons.
func reasons(names ...string) func(*Event) bool {
	return func(e *Event) bool {
		for _, name := range names {
			if e.Reason == name {
				return true
			}
		}
		return false
	}
}

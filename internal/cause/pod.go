package cause

import (
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Trouble says how much of a pod's trouble its object alone shows: 0 for a pod that is well, more for one that explains more.
func Trouble(pod map[string]any, now time.Time) int {
	s := scene{now: now}
	meta := object.Dict(pod, "metadata")
	b := &Branch{Object: pod, Key: object.Key{Kind: "Pod", Namespace: object.Text(meta, "namespace"), Name: object.Text(meta, "name")}}
	f := s.deleting(b)
	if f == nil {
		f = s.pod(b)
	}
	if f == nil {
		return 0
	}
	return int(f.weight)
}

// pod finds what fails in a pod: what stops its containers, in the order in which they start, else what keeps it off a node.
func (s *scene) pod(b *Branch) *fault {
	st := object.Dict(b.Object, "status")
	phase, reason := object.Text(st, "phase"), object.Text(st, "reason")
	if phase == "Succeeded" || object.Text(object.Dict(b.Object, "metadata"), "deletionTimestamp") != "" {
		return nil
	}
	if reason == "NodeLost" || reason == "Evicted" || phase == "Failed" && reason != "" {
		return s.given(b, reason, object.Text(st, "message"))
	}
	if f := s.unscheduled(b); f != nil {
		return f
	}
	var waits *fault // the first that is not well, and has not failed
	for _, c := range containersOf(b.Object) {
		f := s.container(b, c)
		if f != nil && f.weight > minor {
			return f
		}
		if waits == nil {
			waits = f
		}
		if c.first && !c.done() {
			break // those behind it have not begun
		}
	}
	if f := s.unprepared(b); f != nil {
		return f
	}
	if c := conditionOf(b.Object, "Ready"); waits == nil && c.is == "False" && c.reason == "ReadinessGatesNotReady" {
		f := s.newFault(b, Gate, unready)
		f.What, f.Since = called(b)+" waits for a readiness gate: "+c.message, c.since
		f.Next = "look at the controller that sets this condition, often that of a load balancer; " + s.describe(b)
		f.evidence(c.evidence(b))
		return f
	}
	if waits == nil && phase == "Pending" {
		waits = s.newFault(b, Starting, minor)
		waits.What, waits.Since = called(b)+" is starting", moment(object.Dict(b.Object, "metadata"), "creationTimestamp")
		waits.Next = "wait; " + s.describe(b)
	}
	if waits != nil {
		waits.evidence(s.told(b, nil)...)
	}
	return waits
}

// given is the fault of a pod that its node or a controller gave up.
func (s *scene) given(b *Branch, reason, message string) *fault {
	f := s.newFault(b, Evicted, lost)
	node := object.Text(object.Dict(b.Object, "spec"), "nodeName")
	f.Since = lastEnd(b.Object)
	switch reason {
	case "Evicted":
		f.What = called(b) + " was evicted from node " + node + ": " + message
		f.Next = "give its containers memory and ephemeral-storage requests that they keep to, or free the node; " + s.describe(b)
	case "NodeLost":
		f.Code, f.What = NodeLost, "node "+node+" of "+called(b)+" does not answer"
		f.Next = "look at the node: `kubectl describe node " + Quote(node) + "`"
	case "DeadlineExceeded":
		f.Code, f.What = Deadline, called(b)+" ran longer than its activeDeadlineSeconds and was ended"
		f.Next = "find out what it waits for, or raise activeDeadlineSeconds; " + s.describe(b)
	default:
		f.What = called(b) + " failed on node " + node + ": " + reason
		if message != "" {
			f.What += ": " + message
		}
		f.Next = s.describe(b)
	}
	f.evidence(status(b, "phase %s, reason %s: %s", object.Text(object.Dict(b.Object, "status"), "phase"), reason, message))
	f.evidence(s.told(b, nil)...)
	return f
}

// lastEnd is when the last container of a pod ended; zero where none has.
func lastEnd(pod map[string]any) time.Time {
	var out time.Time
	for _, c := range containersOf(pod) {
		if at := moment(object.Dict(object.Dict(c.status, "state"), "terminated"), "finishedAt"); at.After(out) {
			out = at
		}
	}
	return out
}

// unscheduled says why a pod has no node.
func (s *scene) unscheduled(b *Branch) *fault {
	c := conditionOf(b.Object, "PodScheduled")
	created := moment(object.Dict(b.Object, "metadata"), "creationTimestamp")
	switch {
	case object.Text(object.Dict(b.Object, "spec"), "nodeName") != "" || c.is == "True":
		return nil
	case c.is == "" && s.now.Sub(created) < leaving:
		return nil // the scheduler has not come to it
	case c.is == "":
		f := s.newFault(b, Scheduled, unplaced)
		name := object.Text(object.Dict(b.Object, "spec"), "schedulerName")
		f.What, f.Since = called(b)+" has no node, and no scheduler has looked at it", created
		f.Next = "check that a scheduler called " + name + " runs (spec.schedulerName); " + s.describe(b)
		f.evidence(spec(b, "schedulerName: %s", name))
		return f
	}
	for _, claim := range b.Below {
		if claim.Key.Kind != "PersistentVolumeClaim" {
			continue
		}
		if claim.Object == nil {
			f := s.newFault(claim, Missing, unplaced)
			f.What = called(b) + " needs " + called(claim) + ", which does not exist"
			f.Next = "commit the claim, or correct claimName in the volumes of the pod"
			f.evidence(c.evidence(b))
			return f
		}
		if f := s.claim(claim); f != nil && f.weight > minor {
			f.evidence(c.evidence(b))
			return f
		}
	}
	f := s.newFault(b, Unschedulable, unplaced)
	f.Since = c.since
	f.What = called(b) + " fits on no node: " + schedulerSays(c.message)
	f.Next = advice(c.message) + "; " + s.describe(b)
	if c.reason == "SchedulingGated" {
		f.Code, f.What = Gate, called(b)+" waits for its scheduling gates: "+c.message
		f.Next = "find the controller that removes the gates (spec.schedulingGates); " + s.describe(b)
	}
	f.evidence(c.evidence(b))
	f.evidence(s.told(b, nil)...)
	return f
}

// schedulerSays is the message of a scheduler without what it thinks of preemption.
func schedulerSays(message string) string {
	out, _, _ := strings.Cut(message, " preemption:")
	return strings.TrimSuffix(strings.TrimSpace(out), ".")
}

// advice says what helps a pod that fits on no node.
func advice(message string) string {
	low := strings.ToLower(message)
	for _, a := range []struct{ word, next string }{
		{"insufficient", "lower the requests of its containers in Git, or add nodes"},
		{"too many pods", "add nodes, or raise the limit of pods of a node"},
		{"untolerated taint", "add a toleration for the taint in Git, or take the taint off a node"},
		{"didn't match pod's node affinity", "correct nodeSelector or affinity in Git, or label a node"},
		{"node affinity conflict", "its volume is in another zone than the free nodes: add a node there, or make the volume again"},
		{"didn't have free ports", "another pod has its hostPort on each node: change the port, or run fewer"},
		{"topology spread", "relax topologySpreadConstraints in Git, or add nodes"},
		{"anti-affinity", "relax podAntiAffinity in Git, or add nodes"},
		{"unschedulable", "uncordon a node: `kubectl get nodes` shows which are cordoned"},
	} {
		if strings.Contains(low, a.word) {
			return a.next
		}
	}
	return "correct what the scheduler names"
}

// unprepared says why a node cannot prepare a pod: its volumes, its network.
func (s *scene) unprepared(b *Branch) *fault {
	creating := false
	for _, c := range containersOf(b.Object) {
		waiting := object.Dict(object.Dict(c.status, "state"), "waiting")
		creating = creating || len(c.status) == 0 ||
			waiting != nil && (object.Text(waiting, "reason") == "ContainerCreating" || object.Text(waiting, "reason") == "PodInitializing")
	}
	e := b.last(reasons("FailedMount", "FailedAttachVolume", "FailedMapVolume", "FailedCreatePodSandBox", "NetworkNotReady",
		"FailedCreatePodContainer"))
	if !creating || e == nil {
		return nil
	}
	f := s.newFault(b, Mount, unmounted)
	f.Since = e.First
	subject, says := called(b)+" cannot mount a volume", e.Message
	switch what := absent(e.Message); {
	case strings.HasSuffix(e.Reason, "Volume") || e.Reason == "FailedMount":
		if what != "" {
			says, f.Next = what, "commit it, or correct the volume that names it"
		} else if strings.Contains(e.Message, "Multi-Attach") {
			f.Next = "the volume is attached to another node: wait until the old pod is gone, or use the strategy Recreate"
		}
	case e.Reason == "FailedCreatePodSandBox" || e.Reason == "NetworkNotReady":
		f.Code, subject = Sandbox, "node "+object.Text(object.Dict(b.Object, "spec"), "nodeName")+" cannot make the network of "+called(b)
		f.Next = "look at the network plugin (CNI) of the node"
	default:
		f.Code, subject = Sandbox, "the node cannot prepare "+called(b)
	}
	f.What = subject + ": " + says
	f.Next = strings.TrimPrefix(f.Next+"; "+s.describe(b), "; ")
	f.evidence(e.evidence(b))
	f.evidence(s.told(b, nil)...)
	return f
}

// container is a container of a pod: what is wanted, and how it stands.
type container struct {
	name         string
	spec, status map[string]any
	first        bool // the others wait until it is done
	extra        bool // a user added it to debug (ephemeral)
	restarts     int64
}

// containersOf are the containers of a pod in the order in which they start.
func containersOf(pod map[string]any) []container {
	var out []container
	for _, part := range []struct {
		spec, status string
		first, extra bool
	}{
		{"initContainers", "initContainerStatuses", true, false},
		{"containers", "containerStatuses", false, false},
		{"ephemeralContainers", "ephemeralContainerStatuses", false, true},
	} {
		known := map[string]map[string]any{}
		for _, st := range object.Dicts(object.Dict(pod, "status"), part.status) {
			known[object.Text(st, "name")] = st
		}
		for _, sp := range object.Dicts(object.Dict(pod, "spec"), part.spec) {
			name := object.Text(sp, "name")
			c := container{name: name, spec: sp, status: known[name], extra: part.extra}
			c.first = part.first && object.Text(sp, "restartPolicy") != "Always"
			c.restarts = object.Count(c.status, "restartCount")
			out = append(out, c)
		}
	}
	return out
}

// done reports whether a container ended well.
func (c *container) done() bool {
	ended := object.Dict(object.Dict(c.status, "state"), "terminated")
	return ended != nil && object.Count(ended, "exitCode") == 0
}

// of names a container in a sentence.
func (c *container) of(b *Branch) string {
	kind := "container "
	switch {
	case c.first:
		kind = "init container "
	case c.extra:
		kind = "ephemeral container "
	}
	return kind + c.name + " of " + called(b)
}

// faultOf begins a fault of a container.
func (s *scene) faultOf(b *Branch, c *container, code string, w weight) *fault {
	f := s.newFault(b, code, w)
	f.Container, f.Restarts = c.name, c.restarts
	if c.extra {
		f.weight = min(w, warned) // the pod itself does not need it
	}
	return f
}

// about holds for Events about a container, or about no container in particular.
func (c *container) about(want func(*Event) bool) func(*Event) bool {
	return func(e *Event) bool { return (e.Container == "" || e.Container == c.name) && want(e) }
}

// evidence says how a container stands.
func (c *container) evidence(b *Branch) []api.Evidence {
	var out []api.Evidence
	add := func(state map[string]any, when string) {
		if waiting := object.Dict(state, "waiting"); waiting != nil {
			e := status(b, "%swaiting: %s", when, joined(object.Text(waiting, "reason"), object.Text(waiting, "message")))
			e.Container = c.name
			out = append(out, e)
		}
		if ended := object.Dict(state, "terminated"); ended != nil {
			e := status(b, "%sterminated: %s", when, joined(object.Text(ended, "reason"), endOf(ended)))
			if message := object.Text(ended, "message"); message != "" {
				e.Text += ": " + message
			}
			e.Container, e.Since = c.name, moment(ended, "finishedAt")
			out = append(out, e)
		}
	}
	add(object.Dict(c.status, "state"), "")
	add(object.Dict(c.status, "lastState"), "the run before ")
	if c.restarts > 0 {
		e := status(b, "restarted %s", times(c.restarts))
		e.Container = c.name
		out = append(out, e)
	}
	return out
}

func joined(reason, more string) string {
	if reason == "" || more == "" {
		return reason + more
	}
	return reason + ", " + more
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

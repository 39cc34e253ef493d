// Package cause finds the first thing that fails at or below an unhealthy object: a container, an image, a claim, a quota, a
// webhook. It decides from values that another package has read, and cleans every text that comes from a cluster. Pure.
package cause

import (
	"cmp"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Codes of findings, for programs. api.Finding lists them.
const (
	Admission      = "Admission"
	ClaimPending   = "ClaimPending"
	Condition      = "Condition"
	Config         = "Config"
	ContainerStart = "ContainerStart"
	Crash          = "Crash"
	Deadline       = "Deadline"
	Deleting       = "Deleting"
	Evicted        = "Evicted"
	Exit           = "Exit"
	Gate           = "Gate"
	ImageMissing   = "ImageMissing"
	ImagePull      = "ImagePull"
	ImageRefused   = "ImageRefused"
	IngressBackend = "IngressBackend"
	LimitRange     = "LimitRange"
	LivenessProbe  = "LivenessProbe"
	LoadBalancer   = "LoadBalancer"
	Metrics        = "Metrics"
	Missing        = "Missing"
	Mount          = "Mount"
	NoAnswer       = "NoAnswer"
	NoBackends     = "NoBackends"
	NoPods         = "NoPods"
	NodeLost       = "NodeLost"
	OutOfMemory    = "OutOfMemory"
	Paused         = "Paused"
	Quota          = "Quota"
	ReadinessProbe = "ReadinessProbe"
	Refused        = "Refused"
	Sandbox        = "Sandbox"
	Scheduled      = "Scheduled"
	SecretStore    = "SecretStore"
	Starting       = "Starting"
	StartupProbe   = "StartupProbe"
	Timeout        = "Timeout"
	Unschedulable  = "Unschedulable"
	Warning        = "Warning"
	Webhook        = "Webhook"
)

// Event is an Event of Kubernetes about an object, and the container of the object that it names.
type Event struct {
	api.ResourceEvent
	Container string // "" where it names none
}

// Branch is a live object with what was read of it and below it.
type Branch struct {
	Key    object.Key
	Object map[string]any // nil: it does not exist
	Events []Event        // the oldest first
	// Below are the objects that it owns or needs, the most important first: of a workload the newest ReplicaSet and pods that
	// are not well, of a pod its volume claims.
	Below []*Branch
	// Pods counts the pods below a workload, Troubled those of them that are not well. Below may have fewer.
	Pods, Troubled int
	// Backends are what a Service or an Ingress sends traffic to; nil: not looked at.
	Backends *Backends
}

// Backends are what receives the traffic of a Service or an Ingress.
type Backends struct {
	Ready     int      // endpoints that receive traffic
	Pods      int      // pods that the selector of a Service matches
	PodsReady int      // pods of these that are ready
	Maker     string   // where there are none: the workload whose pods would match, "Deployment shop/web"; "" for none
	Wanted    int64    // how many pods it is to make
	Lacking   []string // of an Ingress: "Service shop/web", or "port http of Service shop/web"
}

// weight orders faults: what stops a container explains more than what waits for it.
type weight int

const (
	minor     weight = 10 + 10*iota // nothing failed so far
	warned                          // a Warning that nothing else explains
	followed                        // a condition that says what follows from something else
	unreached                       // traffic ends nowhere
	unready                         // it runs and does not answer
	lost                            // its node gave it up
	refused                         // the API server takes no pods
	unplaced                        // no node, no volume
	unmounted                       // the node cannot prepare it
	stopped                         // a container cannot start, or ends
)

// fault is a Finding with its weight.
type fault struct {
	api.Finding
	weight weight
}

// scene is what faults are looked for in.
type scene struct {
	app string // name of the Application, for commands
	now time.Time
}

// Find finds what fails at and below objects of an Application of a name: one finding for each of these at most, the worst first,
// all texts cleaned. Objects that are well have none.
func Find(app string, roots []*Branch, now time.Time) []api.Finding {
	s := scene{app: app, now: now}
	var found []*fault
	for _, root := range roots {
		f := s.below(root, 0)
		if f == nil {
			continue
		}
		f.Of, f.Minor = nameOf(root.Key), f.weight == minor
		if f.Object == (api.ObjectName{}) {
			f.Object = f.Of
		}
		if f.Object != f.Of {
			f.evidence(s.standing(root)...)
		}
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b *fault) int { return cmp.Compare(b.weight, a.weight) })
	out := make([]api.Finding, 0, min(len(found), api.MaxFindings))
	for _, f := range found[:min(len(found), api.MaxFindings)] {
		clean(&f.Finding)
		out = append(out, f.Finding)
	}
	return out
}

// maxDepth bounds how far down a tree is looked into.
const maxDepth = 8

// below finds the worst fault at or below an object; nil where nothing is wrong.
func (s *scene) below(b *Branch, depth int) *fault {
	if b.Object == nil || depth > maxDepth {
		return nil
	}
	if f := s.deleting(b); f != nil {
		return f
	}
	switch b.Key.GroupKind() {
	case object.Kind{Kind: "Pod"}:
		return s.pod(b)
	case object.Kind{Kind: "PersistentVolumeClaim"}:
		return s.claim(b)
	case object.Kind{Kind: "Service"}:
		return s.service(b)
	case object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, object.Kind{Group: "extensions", Kind: "Ingress"}:
		return s.ingress(b)
	case object.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		return s.scaler(b)
	case object.Kind{Group: "batch", Kind: "CronJob"}:
		return s.cronJob(b, depth)
	case object.Kind{Group: ExternalSecrets, Kind: "ExternalSecret"}:
		return s.external(b)
	}
	var worst *fault
	for _, child := range b.Below {
		f := s.below(child, depth+1)
		if f != nil && (worst == nil || f.weight > worst.weight) {
			worst = f
		}
		if worst != nil && worst.weight > minor && child.Key.Kind == "ReplicaSet" {
			break // those behind it are older
		}
	}
	if own := s.workload(b); own != nil && (worst == nil || own.weight > worst.weight) {
		worst = own
	}
	if worst != nil && worst.Object.Kind == "Pod" && b.Troubled > 1 && worst.weight > minor {
		worst.evidence(status(b, "%d of %d pods below it are not well", b.Troubled, b.Pods))
	}
	return worst
}

// leaving is how long after its grace an object that is deleted may still be there.
const leaving = time.Minute

// deleting says that an object is deleted and stays. A pod within its grace is no fault, and neither is what owns it.
func (s *scene) deleting(b *Branch) *fault {
	meta := object.Dict(b.Object, "metadata")
	at := moment(meta, "deletionTimestamp") // of a pod: when its grace is over
	if at.IsZero() || s.now.Sub(at) < leaving {
		return nil
	}
	f := s.newFault(b, Deleting, unready)
	f.Since = at
	var waits []string
	for _, one := range object.List(meta, "finalizers") {
		if name, _ := one.(string); name != "" {
			waits = append(waits, name)
		}
	}
	switch node := object.Text(object.Dict(b.Object, "spec"), "nodeName"); {
	case len(waits) > 0:
		f.What = called(b) + " is being deleted and waits for its finalizers: " + some(waits)
		f.Next = "find the controller that removes the finalizer " + waits[0] + " and look at its log; " + s.describe(b)
	case b.Key.Kind == "Pod" && node != "":
		f.Code, f.What = NodeLost, called(b)+" is being deleted, and its node "+node+" does not end it"
		f.Next = "look at the node: `kubectl describe node " + Quote(node) + "`"
	default:
		f.What = called(b) + " is being deleted and is still there"
		f.Next = s.describe(b)
	}
	f.evidence(status(b, "deletionTimestamp: %s", at.UTC().Format(time.RFC3339)))
	f.evidence(s.told(b, nil)...)
	return f
}

// newFault begins a fault of an object.
func (s *scene) newFault(b *Branch, code string, w weight) *fault {
	return &fault{weight: w, Finding: api.Finding{Code: code, Object: nameOf(b.Key), Evidence: []api.Evidence{}}}
}

// evidence adds to what shows a fault, as long as there is room. What is there already is not added twice.
func (f *fault) evidence(more ...api.Evidence) {
	for _, e := range more {
		known := slices.ContainsFunc(f.Evidence, func(o api.Evidence) bool { return o.Text == e.Text && o.Object == e.Object })
		if e.Text != "" && !known && len(f.Evidence) < api.MaxEvidence {
			f.Evidence = append(f.Evidence, e)
		}
	}
}

// standing says how an object of the Application stands whose pods or claims fail.
func (s *scene) standing(root *Branch) []api.Evidence {
	var out []api.Evidence
	for _, c := range conditionsOf(root.Object) {
		if c.bad() {
			out = append(out, c.evidence(root))
		}
	}
	return out[:min(len(out), 2)]
}

package cause

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// workload finds what an object itself reports: pods that the API server refuses, conditions, Warnings.
func (s *scene) workload(b *Branch) *fault {
	switch b.Key.GroupKind() {
	case object.Kind{Group: "apps", Kind: "Deployment"}, object.Kind{Group: "argoproj.io", Kind: "Rollout"}:
		if object.Flag(object.Dict(b.Object, "spec"), "paused") {
			f := s.newFault(b, Paused, minor)
			f.What = called(b) + " is paused: its new pods are not made"
			f.Next = "set spec.paused to false in Git, or resume it"
			f.evidence(spec(b, "paused: true"))
			return f
		}
	case object.Kind{Group: "batch", Kind: "Job"}:
		return s.job(b)
	case object.Kind{Group: "apps", Kind: "DaemonSet"}:
		if st := object.Dict(b.Object, "status"); len(st) > 0 && object.Count(st, "desiredNumberScheduled") == 0 &&
			object.Count(st, "observedGeneration") > 0 {
			f := s.newFault(b, Unschedulable, followed)
			f.What = called(b) + " runs on no node: none matches its nodeSelector, affinity and tolerations"
			f.Next = "correct nodeSelector in Git, or label a node; " + s.describe(b)
			f.evidence(status(b, "desiredNumberScheduled: 0"))
			return f
		}
	}
	if f := s.creates(b); f != nil {
		return f
	}
	return s.generic(b)
}

// creates finds why a controller cannot create what it wants.
func (s *scene) creates(b *Branch) *fault {
	e := b.last(func(e *Event) bool {
		return strings.HasPrefix(e.Reason, "FailedCreate") && e.Reason != "FailedCreatePodSandBox"
	})
	c := conditionOf(b.Object, "ReplicaFailure")
	message, since := c.message, c.since
	switch {
	case c.is == "True":
	case e == nil || s.satisfied(b):
		return nil
	default:
		message, since = e.Message, e.First
	}
	r := Refusal(message)
	f := s.newFault(b, r.Code, refused)
	f.Since = since
	f.What = called(b) + " cannot create " + creates(b.Key.Kind) + ": " + r.What
	f.Next = r.Next + "; " + s.describe(b)
	if c.is == "True" {
		f.evidence(c.evidence(b))
	}
	if e != nil {
		f.evidence(e.evidence(b))
	}
	f.evidence(s.told(b, nil)...)
	return f
}

func creates(kind string) string {
	switch kind {
	case "CronJob":
		return "its Job"
	case "Deployment", "Rollout":
		return "its ReplicaSet"
	}
	return "its pods"
}

// satisfied reports whether a workload has the pods that it wants, so that an earlier Event is ignored.
func (s *scene) satisfied(b *Branch) bool {
	sp, st := object.Dict(b.Object, "spec"), object.Dict(b.Object, "status")
	wanted, said := object.Number(sp, "replicas")
	if !said {
		wanted = 1
	}
	switch b.Key.Kind {
	case "ReplicaSet", "StatefulSet", "ReplicationController", "Deployment", "Rollout":
		return object.Count(st, "replicas") >= wanted
	case "DaemonSet":
		return object.Count(st, "currentNumberScheduled") >= object.Count(st, "desiredNumberScheduled")
	case "Job":
		return object.Count(st, "active")+object.Count(st, "succeeded")+object.Count(st, "failed") > 0
	}
	return false
}

// job says how a Job failed.
func (s *scene) job(b *Branch) *fault {
	for _, kind := range []string{"Failed", "FailureTarget"} {
		c := conditionOf(b.Object, kind)
		if c.is != "True" {
			continue
		}
		f := s.newFault(b, Exit, followed)
		f.Since = c.since
		switch c.reason {
		case "BackoffLimitExceeded":
			f.What = fmt.Sprintf("%s failed: %d of its pods failed, and it does not try again (backoffLimit)", called(b),
				object.Count(object.Dict(b.Object, "status"), "failed"))
		case "DeadlineExceeded":
			f.Code, f.What = Deadline, called(b)+" took longer than its activeDeadlineSeconds and was ended"
		default:
			f.What = called(b) + " failed: " + joined(c.reason, c.message)
		}
		f.Next = "fix what it runs, push, and sync again; " + s.describe(b)
		f.evidence(c.evidence(b))
		f.evidence(s.told(b, nil)...)
		return f
	}
	if object.Flag(object.Dict(b.Object, "spec"), "suspend") {
		f := s.newFault(b, Paused, minor)
		f.What, f.Next = called(b)+" is suspended: it makes no pods", "set spec.suspend to false in Git"
		f.evidence(spec(b, "suspend: true"))
		return f
	}
	if c := conditionOf(b.Object, "Complete"); c.is == "True" {
		return nil
	}
	return s.creates(b)
}

// cronJob finds why the last run of a CronJob failed, or why there was none.
func (s *scene) cronJob(b *Branch, depth int) *fault {
	st := object.Dict(b.Object, "status")
	for _, run := range b.Below[:min(len(b.Below), 1)] {
		if f := s.below(run, depth+1); f != nil && f.weight > minor {
			started, succeeded := object.Text(st, "lastScheduleTime"), object.Text(st, "lastSuccessfulTime")
			e := status(b, "last started %s, last succeeded %s", orNever(started), orNever(succeeded))
			f.evidence(e)
			return f
		}
	}
	if f := s.creates(b); f != nil {
		return f
	}
	e := b.last(reasons("FailedNeedsStart", "TooManyMissedTimes", "UnparseableSchedule", "UnparseableCronJobSchedule",
		"UnknownTimeZone", "InvalidSchedule"))
	if e == nil || object.Flag(object.Dict(b.Object, "spec"), "suspend") {
		return nil
	}
	f := s.newFault(b, Timeout, followed)
	f.What, f.Since = called(b)+" starts no Job: "+e.Message, e.First
	f.Next = "correct schedule, timeZone or startingDeadlineSeconds in Git; " + s.describe(b)
	f.evidence(e.evidence(b))
	return f
}

func orNever(at string) string {
	if at == "" {
		return "never"
	}
	return at
}

// claim says why a volume claim has no volume.
func (s *scene) claim(b *Branch) *fault {
	sp, phase := object.Dict(b.Object, "spec"), object.Text(object.Dict(b.Object, "status"), "phase")
	class := object.Text(sp, "storageClassName")
	created := moment(object.Dict(b.Object, "metadata"), "creationTimestamp")
	switch phase {
	case "Bound":
		return nil
	case "Lost":
		f := s.newFault(b, ClaimPending, unplaced)
		f.What = called(b) + " has lost its volume " + object.Text(sp, "volumeName")
		f.Next = "bring the PersistentVolume back, or delete the claim and restore its data; " + s.describe(b)
		f.evidence(status(b, "phase: Lost"))
		return f
	}
	f := s.newFault(b, ClaimPending, unplaced)
	f.Since = created
	e := b.last(func(e *Event) bool {
		return e.Type == "Warning" || e.Reason == "FailedBinding" || e.Reason == "ExternalProvisioning"
	})
	waits := b.last(reasons("WaitForFirstConsumer", "WaitForPodScheduled"))
	says := ""
	if e != nil {
		says = e.Message
	}
	f.Next = s.describe(b)
	switch {
	case e == nil && waits != nil:
		f.weight = minor
		f.What = called(b) + " waits for a pod that uses it"
	case strings.Contains(says, "storageclass.storage.k8s.io") && strings.Contains(says, "not found"):
		f.What = called(b) + " is pending: StorageClass " + class + " does not exist"
		f.Next = "correct storageClassName in Git (`kubectl get storageclass` shows which there are), or install the class; " + f.Next
	case strings.Contains(says, "no storage class is set"):
		f.What = called(b) + " is pending: no PersistentVolume fits, it names no StorageClass, and the cluster has no default one"
		f.Next = "set storageClassName in Git (`kubectl get storageclass` shows which there are), or mark one as the default; " + f.Next
	case e != nil && e.Reason == "ExternalProvisioning":
		f.What = called(b) + " is pending: its provisioner has made no volume yet"
		f.Next = "look at the log of the provisioner (CSI driver) that the Event names; " + f.Next
	case e != nil:
		f.What = called(b) + " is pending: " + says
	default:
		f.What = called(b) + " is pending: no volume is bound to it"
	}
	f.evidence(s.told(b, nil)...)
	for _, event := range []*Event{e, waits} {
		if event != nil {
			f.evidence(event.evidence(b))
		}
	}
	f.evidence(status(b, "phase: %s", orNever(phase)), spec(b, "storageClassName: %s", or(class, "(none)")))
	return f
}

func or(s, instead string) string {
	if s == "" {
		return instead
	}
	return s
}

// generic finds what a condition or a Warning of any object says.
func (s *scene) generic(b *Branch) *fault {
	var worst *condition
	for _, c := range conditionsOf(b.Object) {
		// A controller that reports no message does not help.
		if c.bad() && (worst == nil || worst.message == "" && c.message != "") {
			worst = &c
		}
	}
	if worst != nil {
		f := s.newFault(b, Condition, followed)
		f.Since = worst.since
		if worst.reason == "ProgressDeadlineExceeded" {
			f.Code = Deadline
		}
		f.What, f.Next = called(b)+": "+worst.text(), s.describe(b)
		f.evidence(worst.evidence(b))
		f.evidence(s.told(b, nil)...)
		return f
	}
	e := b.last(func(e *Event) bool { return e.Type == "Warning" && s.now.Sub(e.Last) < lately })
	if e == nil || quiet(b.Key.GroupKind()) {
		return nil
	}
	f := s.newFault(b, Warning, warned)
	f.What, f.Since, f.Next = called(b)+": "+joined(e.Reason, e.Message), e.First, s.describe(b)
	f.evidence(s.told(b, nil)...)
	return f
}

// quiet reports whether the health of objects of a kind says nothing of whether they do what they are for: they are looked at
// also while they are Healthy, and a Warning of theirs alone is no fault.
func quiet(kind object.Kind) bool {
	switch kind {
	case object.Kind{Kind: "Service"}, object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}, object.Kind{Group: "batch", Kind: "CronJob"},
		object.Kind{Group: "autoscaling", Kind: "HorizontalPodAutoscaler"}:
		return true
	}
	return false
}

// Package health judges how well one live Kubernetes object does. The kinds that Kubernetes itself ships, and Argo
// Workflows, are judged by functions that read the object as it came from the API server, so that judging tens of
// thousands of objects costs next to nothing. Custom kinds are judged by rules, which are data (see rules), or by the
// scripts of a user (Assessor). It is pure. Shapes that are not what the kind prescribes count as absent.
package health

import (
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Status says how well an object does, as an Application's status spells it.
type Status = v1alpha1.HealthStatusCode

// The statuses, best first. That is also their order when the health of several objects is summed up.
const (
	Healthy     = v1alpha1.HealthHealthy
	Suspended   = v1alpha1.HealthSuspended
	Progressing = v1alpha1.HealthProgressing
	Missing     = v1alpha1.HealthMissing
	Degraded    = v1alpha1.HealthDegraded
	Unknown     = v1alpha1.HealthUnknown
)

// Result is the health of one object.
type Result struct {
	Status  Status
	Message string // for people; may be empty
	// CountAs is what a sum of several objects takes this one as, where that is not Status: a suspended Job does not
	// make its Application suspended.
	CountAs Status
}

// Sum is the status that this result adds to a sum of several objects.
func (r Result) Sum() Status {
	if r.CountAs != "" {
		return r.CountAs
	}
	return r.Status
}

// String prints "Degraded: message".
func (r Result) String() string {
	if r.Message == "" {
		return string(r.Status)
	}
	return string(r.Status) + ": " + r.Message
}

// Worse reports whether a is worse than b. An empty status is better than every other one, and a status that is none
// of the constants is as bad as Unknown.
func Worse(a, b Status) bool { return rank(a) > rank(b) }

// Worst returns the worst of the statuses, or "" where there are none.
func Worst(statuses ...Status) Status {
	var worst Status
	for _, s := range statuses {
		if Worse(s, worst) {
			worst = s
		}
	}
	return worst
}

func rank(s Status) int {
	switch s {
	case "":
		return 0
	case Healthy:
		return 1
	case Suspended:
		return 2
	case Progressing:
		return 3
	case Missing:
		return 4
	case Degraded:
		return 5
	}
	return 6
}

// hookFinalizer keeps a finished hook until its result was read; such an object is judged by what it did although it is
// being deleted.
const hookFinalizer = "argocd.argoproj.io/hook-finalizer"

// Assess judges obj, which it does not change or keep: kinds that are built in here, others by the rules that come with
// the program. It reports false for a kind that has neither, and where the rules say nothing about the object.
// An object of any kind that is being deleted is Progressing.
func Assess(obj map[string]any) (Result, bool) {
	group, kind := groupKind(obj)
	if deleting(obj) {
		if k := rulesOf(group, kind); k != nil && k.judgesDeleted() {
			return k.judge(group, kind, obj)
		}
		return leaving(group, kind), true
	}
	return assess(group, kind, obj)
}

// Judge is Assess for an object regardless of its deletion: the rules of a custom kind judge it as
// if it were not.
func Judge(obj map[string]any) (Result, bool) {
	group, kind := groupKind(obj)
	if deleting(obj) && (assessment(group, kind) != nil || rulesOf(group, kind) == nil) {
		return leaving(group, kind), true
	}
	return assess(group, kind, obj)
}

// BuiltIn judges obj as Assess does, without the rules of custom kinds.
func BuiltIn(obj map[string]any) (Result, bool) {
	group, kind := groupKind(obj)
	if deleting(obj) {
		return leaving(group, kind), true
	}
	if judge := assessment(group, kind); judge != nil {
		return judge(obj), true
	}
	return Result{}, false
}

func assess(group, kind string, obj map[string]any) (Result, bool) {
	if judge := assessment(group, kind); judge != nil {
		return judge(obj), true
	}
	if k := rulesOf(group, kind); k != nil {
		return k.judge(group, kind, obj)
	}
	return Result{}, false
}

// leaving judges an object that is being deleted.
func leaving(group, kind string) Result {
	if group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition" {
		return Result{Status: Progressing, Message: "CRD is terminating"}
	}
	return Result{Status: Progressing, Message: "Pending deletion"}
}

func groupKind(obj map[string]any) (group, kind string) {
	group, _ = object.SplitAPIVersion(object.Text(obj, "apiVersion"))
	return group, object.Text(obj, "kind")
}

func assessment(group, kind string) func(map[string]any) Result {
	switch group {
	case "":
		return coreAssessment(kind)
	case "apps":
		return appsAssessment(kind)
	case "batch":
		switch kind {
		case "Job":
			return job
		case "CronJob":
			return cronJob
		}
	case "autoscaling":
		if kind == "HorizontalPodAutoscaler" {
			return autoscaler
		}
	case "networking.k8s.io", "extensions":
		if kind == "Ingress" {
			return ingress
		}
	case "policy":
		if kind == "PodDisruptionBudget" {
			return disruptionBudget
		}
	case "apiregistration.k8s.io":
		if kind == "APIService" {
			return apiService
		}
	case "apiextensions.k8s.io":
		if kind == "CustomResourceDefinition" {
			return resourceDefinition
		}
	case "argoproj.io":
		if kind == "Workflow" {
			return workflow
		}
	}
	return nil
}

func coreAssessment(kind string) func(map[string]any) Result {
	switch kind {
	case "Pod":
		return pod
	case "Service":
		return service
	case "PersistentVolumeClaim":
		return volumeClaim
	}
	return nil
}

func appsAssessment(kind string) func(map[string]any) Result {
	switch kind {
	case "Deployment":
		return deployment
	case "ReplicaSet":
		return replicaSet
	case "StatefulSet":
		return statefulSet
	case "DaemonSet":
		return daemonSet
	}
	return nil
}

func deleting(obj map[string]any) bool {
	meta := object.Dict(obj, "metadata")
	if at, ok := meta["deletionTimestamp"]; !ok || at == nil || at == "" {
		return false
	}
	return !slices.Contains(object.List(meta, "finalizers"), any(hookFinalizer))
}

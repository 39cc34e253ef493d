// Package health judges how well one live Kubernetes object does: the kinds that Kubernetes itself ships, and Argo
// Workflows. It is pure and reads the object as it came from the API server, without converting it, so that judging
// tens of thousands of objects costs next to nothing. Shapes that are not what the kind prescribes count as absent.
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

// Assess judges obj, which it does not change or keep. It reports false for a kind that has no built-in assessment.
// An object of any kind that is being deleted is Progressing.
func Assess(obj map[string]any) (Result, bool) {
	kind := text(obj, "kind")
	group, _ := object.SplitAPIVersion(text(obj, "apiVersion"))
	if deleting(obj) {
		if group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition" {
			return Result{Status: Progressing, Message: "CRD is terminating"}, true
		}
		return Result{Status: Progressing, Message: "Pending deletion"}, true
	}
	judge := assessment(group, kind)
	if judge == nil {
		return Result{}, false
	}
	return judge(obj), true
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
	meta := dict(obj, "metadata")
	if at, ok := meta["deletionTimestamp"]; !ok || at == nil || at == "" {
		return false
	}
	return !slices.Contains(list(meta, "finalizers"), any(hookFinalizer))
}

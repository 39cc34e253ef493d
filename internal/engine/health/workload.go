package health

import (
	"fmt"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// The messages name numbers as `kubectl rollout status` does, because that is what people search for.

func progressing(format string, args ...any) Result {
	return Result{Status: Progressing, Message: fmt.Sprintf(format, args...)}
}

func deployment(obj map[string]any) Result {
	spec, status := object.Dict(obj, "spec"), object.Dict(obj, "status")
	if paused, _ := spec["paused"].(bool); paused {
		return Result{Status: Suspended, Message: "Deployment is paused"}
	}
	if !observed(obj, status) {
		return progressing("Waiting for rollout to finish: observed deployment generation less than desired generation")
	}
	if c := condition(status, "Progressing"); object.Text(c, "reason") == "ProgressDeadlineExceeded" {
		name := object.Text(object.Dict(obj, "metadata"), "name")
		return Result{Status: Degraded, Message: fmt.Sprintf("Deployment %q exceeded its progress deadline", name)}
	}
	wanted, set := object.Number(spec, "replicas")
	updated, total := object.Count(status, "updatedReplicas"), object.Count(status, "replicas")
	available := object.Count(status, "availableReplicas")
	switch {
	case set && updated < wanted:
		return progressing("Waiting for rollout to finish: %d out of %d new replicas have been updated...", updated, wanted)
	case total > updated:
		return progressing("Waiting for rollout to finish: %d old replicas are pending termination...", total-updated)
	case available < updated:
		return progressing("Waiting for rollout to finish: %d of %d updated replicas are available...", available, updated)
	}
	return Result{Status: Healthy}
}

func replicaSet(obj map[string]any) Result {
	spec, status := object.Dict(obj, "spec"), object.Dict(obj, "status")
	if !observed(obj, status) {
		return progressing("Waiting for rollout to finish: observed replica set generation less than desired generation")
	}
	if c := condition(status, "ReplicaFailure"); object.Text(c, "status") == "True" {
		return Result{Status: Degraded, Message: object.Text(c, "message")}
	}
	wanted, set := object.Number(spec, "replicas")
	if available := object.Count(status, "availableReplicas"); set && available < wanted {
		return progressing("Waiting for rollout to finish: %d out of %d new replicas are available...", available, wanted)
	}
	return Result{Status: Healthy}
}

func statefulSet(obj map[string]any) Result {
	spec, status := object.Dict(obj, "spec"), object.Dict(obj, "status")
	if object.Count(status, "observedGeneration") == 0 || !observed(obj, status) {
		return progressing("Waiting for statefulset spec update to be observed...")
	}
	wanted, set := object.Number(spec, "replicas")
	ready, updated := object.Count(status, "readyReplicas"), object.Count(status, "updatedReplicas")
	if set && ready < wanted {
		return progressing("Waiting for %d pods to be ready...", wanted-ready)
	}
	strategy := object.Dict(spec, "updateStrategy")
	rolling := object.Dict(strategy, "rollingUpdate")
	switch {
	case object.Text(strategy, "type") == "RollingUpdate" && rolling != nil:
		if part, ok := object.Number(rolling, "partition"); ok && set && updated < wanted-part {
			return progressing("Waiting for partitioned roll out to finish: %d out of %d new pods have been updated...",
				updated, wanted-part)
		}
		return healthyf("partitioned roll out complete: %d new pods have been updated...", updated)
	case object.Text(strategy, "type") == "OnDelete":
		return healthyf("statefulset has %d ready pods", ready)
	}
	next, current := object.Text(status, "updateRevision"), object.Text(status, "currentRevision")
	if next != current {
		return progressing("waiting for statefulset rolling update to complete %d pods at revision %s...", updated, next)
	}
	return healthyf("statefulset rolling update complete %d pods at revision %s...", object.Count(status, "currentReplicas"), current)
}

func healthyf(format string, args ...any) Result {
	return Result{Status: Healthy, Message: fmt.Sprintf(format, args...)}
}

func daemonSet(obj map[string]any) Result {
	spec, status := object.Dict(obj, "spec"), object.Dict(obj, "status")
	if !observed(obj, status) {
		return progressing("Waiting for rollout to finish: observed daemon set generation less than desired generation")
	}
	name := object.Text(object.Dict(obj, "metadata"), "name")
	wanted, updated := object.Count(status, "desiredNumberScheduled"), object.Count(status, "updatedNumberScheduled")
	available := object.Count(status, "numberAvailable")
	switch {
	case object.Text(object.Dict(spec, "updateStrategy"), "type") == "OnDelete":
		return healthyf("daemon set %d out of %d new pods have been updated", updated, wanted)
	case updated < wanted:
		return progressing("Waiting for daemon set %q rollout to finish: %d out of %d new pods have been updated...",
			name, updated, wanted)
	case available < wanted:
		return progressing("Waiting for daemon set %q rollout to finish: %d of %d updated pods are available...",
			name, available, wanted)
	}
	return Result{Status: Healthy}
}

func job(obj map[string]any) Result {
	status := object.Dict(obj, "status")
	if c := condition(status, "Failed"); object.Text(c, "status") == "True" {
		return Result{Status: Degraded, Message: object.Text(c, "message")}
	}
	if c := condition(status, "Complete"); object.Text(c, "status") == "True" {
		return Result{Status: Healthy, Message: object.Text(c, "message")}
	}
	// A Job that was resumed keeps the condition with status False: it runs, and is not done.
	if c := condition(status, "Suspended"); object.Text(c, "status") == "True" {
		return Result{Status: Suspended, Message: object.Text(c, "message"), CountAs: Healthy}
	}
	return Result{Status: Progressing}
}

// cronJob never looks at the clock: whether a run is overdue cannot be derived from the object.
func cronJob(obj map[string]any) Result {
	if suspended, _ := object.Dict(obj, "spec")["suspend"].(bool); suspended {
		return Result{Status: Healthy, Message: "CronJob is Suspended"}
	}
	status := object.Dict(obj, "status")
	started, succeeded := object.Text(status, "lastScheduleTime"), object.Text(status, "lastSuccessfulTime")
	switch {
	case status == nil:
		return Result{Status: Progressing, Message: "Waiting for CronJob"}
	case started == "":
		return Result{Status: Healthy, Message: "CronJob has not been scheduled yet"}
	case succeeded == "":
		return Result{Status: Healthy, Message: "The CronJob never completed successfully. It may not be healthy"}
	case len(object.List(status, "active")) > 0:
		return Result{Status: Healthy, Message: "The job is running. Its last execution may not have been successful"}
	case succeeded < started: // both are UTC in RFC 3339, which sorts as text
		return Result{Status: Degraded, Message: "CronJob has not completed its last execution successfully"}
	}
	return Result{Status: Healthy, Message: "CronJob has completed its last execution successfully"}
}

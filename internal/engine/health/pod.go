package health

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ignoreRestartPolicy makes a pod that runs to completion be judged like one that runs for ever.
const ignoreRestartPolicy = "argocd.argoproj.io/ignore-restart-policy"

// pod distinguishes two sorts. A pod that restarts for ever is healthy while it is ready. One that runs to completion
// is often a hook: it stays Progressing until it has ended, and a wait that could still resolve must not fail it.
func pod(obj map[string]any) Result {
	status := object.Dict(obj, "status")
	forever := object.Text(object.Dict(obj, "spec"), "restartPolicy") == "Always" ||
		object.Text(object.Dict(object.Dict(obj, "metadata"), "annotations"), ignoreRestartPolicy) == "true"
	if forever {
		if message, stuck := stuckContainers(status); stuck {
			return Result{Status: Degraded, Message: message}
		}
	}
	message := object.Text(status, "message")
	switch object.Text(status, "phase") {
	case "Pending":
		return Result{Status: Progressing, Message: message}
	case "Succeeded":
		return Result{Status: Healthy, Message: message}
	case "Failed":
		if message == "" {
			message = firstFailure(status)
		}
		return Result{Status: Degraded, Message: message}
	case "Running":
		if forever {
			return Result{Status: runningForever(status), Message: message}
		}
		return Result{Status: Progressing, Message: message}
	}
	return Result{Status: Unknown, Message: message}
}

func runningForever(status map[string]any) Status {
	if object.Text(condition(status, "Ready"), "status") == "True" {
		return Healthy
	}
	for _, item := range object.List(status, "containerStatuses") {
		c, _ := item.(map[string]any)
		if object.Dict(object.Dict(c, "lastState"), "terminated") != nil {
			return Degraded
		}
	}
	return Progressing
}

// stuckContainers finds containers that the kubelet waits with because of an error.
func stuckContainers(status map[string]any) (message string, stuck bool) {
	var messages []string
	for _, item := range object.List(status, "containerStatuses") {
		c, _ := item.(map[string]any)
		waiting := object.Dict(object.Dict(c, "state"), "waiting")
		reason := object.Text(waiting, "reason")
		if strings.HasPrefix(reason, "Err") || strings.HasSuffix(reason, "Error") || strings.HasSuffix(reason, "BackOff") {
			messages = append(messages, object.Text(waiting, "message"))
		}
	}
	return strings.Join(messages, ", "), len(messages) > 0
}

// firstFailure says why a failed pod failed, from its first container with a reason.
func firstFailure(status map[string]any) string {
	for _, key := range [2]string{"initContainerStatuses", "containerStatuses"} {
		for _, item := range object.List(status, key) {
			c, _ := item.(map[string]any)
			ended := object.Dict(object.Dict(c, "state"), "terminated")
			if ended == nil {
				continue
			}
			if m := object.Text(ended, "message"); m != "" {
				return m
			}
			if reason := object.Text(ended, "reason"); reason == "OOMKilled" {
				return reason
			}
			if code := object.Count(ended, "exitCode"); code != 0 {
				return fmt.Sprintf("container %q failed with exit code %d", object.Text(c, "name"), code)
			}
		}
	}
	return ""
}

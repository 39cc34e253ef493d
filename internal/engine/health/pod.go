package health

import (
	"fmt"
	"strings"
)

// ignoreRestartPolicy makes a pod that runs to completion be judged like one that runs for ever.
const ignoreRestartPolicy = "argocd.argoproj.io/ignore-restart-policy"

// pod tells two sorts apart. A pod that restarts for ever is healthy while it is ready. One that runs to completion
// is often a hook: it stays Progressing until it has ended, and a wait that could still resolve must not fail it.
func pod(obj map[string]any) Result {
	status := dict(obj, "status")
	forever := text(dict(obj, "spec"), "restartPolicy") == "Always" ||
		text(dict(dict(obj, "metadata"), "annotations"), ignoreRestartPolicy) == "true"
	if forever {
		if message, stuck := stuckContainers(status); stuck {
			return Result{Status: Degraded, Message: message}
		}
	}
	message := text(status, "message")
	switch text(status, "phase") {
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
	if text(condition(status, "Ready"), "status") == "True" {
		return Healthy
	}
	for _, item := range list(status, "containerStatuses") {
		c, _ := item.(map[string]any)
		if dict(dict(c, "lastState"), "terminated") != nil {
			return Degraded
		}
	}
	return Progressing
}

// stuckContainers finds containers that the kubelet waits with because of an error.
func stuckContainers(status map[string]any) (message string, stuck bool) {
	var messages []string
	for _, item := range list(status, "containerStatuses") {
		c, _ := item.(map[string]any)
		waiting := dict(dict(c, "state"), "waiting")
		reason := text(waiting, "reason")
		if strings.HasPrefix(reason, "Err") || strings.HasSuffix(reason, "Error") || strings.HasSuffix(reason, "BackOff") {
			messages = append(messages, text(waiting, "message"))
		}
	}
	return strings.Join(messages, ", "), len(messages) > 0
}

// firstFailure says why a failed pod failed, from its first container that tells.
func firstFailure(status map[string]any) string {
	for _, key := range [2]string{"initContainerStatuses", "containerStatuses"} {
		for _, item := range list(status, key) {
			c, _ := item.(map[string]any)
			ended := dict(dict(c, "state"), "terminated")
			if ended == nil {
				continue
			}
			if m := text(ended, "message"); m != "" {
				return m
			}
			if reason := text(ended, "reason"); reason == "OOMKilled" {
				return reason
			}
			if code := count(ended, "exitCode"); code != 0 {
				return fmt.Sprintf("container %q failed with exit code %d", text(c, "name"), code)
			}
		}
	}
	return ""
}

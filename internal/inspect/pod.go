package inspect

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api"
)

// podOf says how a pod runs. Reason is what holds it up, or how it ended: of the first container that has something to say,
// init containers before others.
func podOf(obj map[string]any) *api.TreePod {
	meta, spec, status := dict(obj, "metadata"), dict(obj, "spec"), dict(obj, "status")
	out := &api.TreePod{
		Node: clip(text(spec, "nodeName"), maxWord), Phase: clip(text(status, "phase"), maxWord), IP: clip(text(status, "podIP"), maxWord), Containers: len(list(spec, "containers")),
	}
	sidecars := map[string]bool{}
	for _, one := range list(spec, "initContainers") {
		if c, _ := one.(map[string]any); text(c, "restartPolicy") == "Always" {
			sidecars[text(c, "name")] = true
		}
	}
	out.Containers += len(sidecars)
	starting := initReason(out, list(status, "initContainerStatuses"), len(list(spec, "initContainers")), sidecars)
	main := mainReason(out, list(status, "containerStatuses"))
	switch over := out.Phase == "Succeeded" || out.Phase == "Failed"; {
	case text(meta, "deletionTimestamp") != "" && !over:
		out.Reason = "Terminating"
	case starting != "" && !over:
		out.Reason = starting
	case main != "":
		out.Reason = main
	default:
		out.Reason = unscheduled(status)
	}
	if said := text(status, "reason"); out.Reason == "" {
		out.Reason = said
	}
	if out.Reason = clip(out.Reason, maxWord); out.Reason == out.Phase {
		out.Reason = ""
	}
	return out
}

// initReason counts init containers that stay, and says where the start of a pod is.
func initReason(pod *api.TreePod, statuses []any, all int, sidecars map[string]bool) string {
	reason := ""
	for i, one := range statuses {
		c, _ := one.(map[string]any)
		restarts, _ := number(c, "restartCount")
		pod.Restarts += restarts
		if started, _ := c["started"].(bool); sidecars[text(c, "name")] && started {
			if ready, _ := c["ready"].(bool); ready {
				pod.Ready++
			}
			continue
		}
		if reason != "" {
			continue // the ones behind it have not begun
		}
		state := dict(c, "state")
		if ended := dict(state, "terminated"); ended != nil {
			if code, _ := number(ended, "exitCode"); code != 0 {
				reason = "Init:" + endOf(ended)
			}
			continue
		}
		if reason = text(dict(state, "waiting"), "reason"); reason == "" || reason == "PodInitializing" {
			reason = fmt.Sprintf("%d/%d", i, all)
		}
		reason = "Init:" + reason
	}
	return reason
}

// mainReason counts the containers of a pod, and says what the first of them waits for, else how the first ended that did.
func mainReason(pod *api.TreePod, statuses []any) string {
	waits, ended := "", ""
	running := false
	for _, one := range statuses {
		c, _ := one.(map[string]any)
		restarts, _ := number(c, "restartCount")
		pod.Restarts += restarts
		if ready, _ := c["ready"].(bool); ready {
			pod.Ready++
		}
		state := dict(c, "state")
		running = running || state["running"] != nil
		if why := text(dict(state, "waiting"), "reason"); waits == "" {
			waits = why
		}
		if end := dict(state, "terminated"); end != nil && (ended == "" || ended == "Completed") {
			ended = endOf(end)
		}
	}
	switch {
	case waits != "" && waits != "PodInitializing":
		return waits
	case ended == "Completed" && running:
		return "" // one of several is done
	case ended != "":
		return ended
	}
	return waits
}

// endOf says how a container ended.
func endOf(terminated map[string]any) string {
	if why := text(terminated, "reason"); why != "" {
		return why
	}
	if signal, _ := number(terminated, "signal"); signal != 0 {
		return fmt.Sprintf("Signal:%d", signal)
	}
	code, _ := number(terminated, "exitCode")
	return fmt.Sprintf("ExitCode:%d", code)
}

// unscheduled says why a pod has no node yet.
func unscheduled(status map[string]any) string {
	for _, one := range list(status, "conditions") {
		if c, _ := one.(map[string]any); text(c, "type") == "PodScheduled" && text(c, "status") == "False" {
			return text(c, "reason")
		}
	}
	return ""
}

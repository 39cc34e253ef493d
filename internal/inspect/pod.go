package inspect

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// podOf says how a pod runs. Reason is what holds it up, or how it ended: of the first container that has something to say,
// init containers before others.
func podOf(obj map[string]any) *api.TreePod {
	meta, spec, status := object.Dict(obj, "metadata"), object.Dict(obj, "spec"), object.Dict(obj, "status")
	out := &api.TreePod{
		Node: legible.Cut(object.Text(spec, "nodeName"), maxWord), Phase: legible.Cut(object.Text(status, "phase"), maxWord),
		IP: legible.Cut(object.Text(status, "podIP"), maxWord), Containers: len(object.List(spec, "containers")),
	}
	sidecars := map[string]bool{}
	for _, one := range object.List(spec, "initContainers") {
		if c, _ := one.(map[string]any); object.Text(c, "restartPolicy") == "Always" {
			sidecars[object.Text(c, "name")] = true
		}
	}
	out.Containers += len(sidecars)
	starting := initReason(out, object.List(status, "initContainerStatuses"), len(object.List(spec, "initContainers")), sidecars)
	main := mainReason(out, object.List(status, "containerStatuses"))
	switch over := out.Phase == "Succeeded" || out.Phase == "Failed"; {
	case object.Text(meta, "deletionTimestamp") != "" && !over:
		out.Reason = "Terminating"
	case starting != "" && !over:
		out.Reason = starting
	case main != "":
		out.Reason = main
	default:
		out.Reason = unscheduled(status)
	}
	if said := object.Text(status, "reason"); out.Reason == "" {
		out.Reason = said
	}
	if out.Reason = legible.Cut(out.Reason, maxWord); out.Reason == out.Phase {
		out.Reason = ""
	}
	return out
}

// initReason counts init containers that stay, and says where the start of a pod is.
func initReason(pod *api.TreePod, statuses []any, all int, sidecars map[string]bool) string {
	reason := ""
	for i, one := range statuses {
		c, _ := one.(map[string]any)
		restarts, _ := object.Number(c, "restartCount")
		pod.Restarts += restarts
		if started, _ := c["started"].(bool); sidecars[object.Text(c, "name")] && started {
			if ready, _ := c["ready"].(bool); ready {
				pod.Ready++
			}
			continue
		}
		if reason != "" {
			continue // the ones behind it have not begun
		}
		state := object.Dict(c, "state")
		if ended := object.Dict(state, "terminated"); ended != nil {
			if code, _ := object.Number(ended, "exitCode"); code != 0 {
				reason = "Init:" + endOf(ended)
			}
			continue
		}
		if reason = object.Text(object.Dict(state, "waiting"), "reason"); reason == "" || reason == "PodInitializing" {
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
		restarts, _ := object.Number(c, "restartCount")
		pod.Restarts += restarts
		if ready, _ := c["ready"].(bool); ready {
			pod.Ready++
		}
		state := object.Dict(c, "state")
		running = running || state["running"] != nil
		if why := object.Text(object.Dict(state, "waiting"), "reason"); waits == "" {
			waits = why
		}
		if end := object.Dict(state, "terminated"); end != nil && (ended == "" || ended == "Completed") {
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
	if why := object.Text(terminated, "reason"); why != "" {
		return why
	}
	if signal, _ := object.Number(terminated, "signal"); signal != 0 {
		return fmt.Sprintf("Signal:%d", signal)
	}
	code, _ := object.Number(terminated, "exitCode")
	return fmt.Sprintf("ExitCode:%d", code)
}

// unscheduled says why a pod has no node yet.
func unscheduled(status map[string]any) string {
	for _, one := range object.List(status, "conditions") {
		if c, _ := one.(map[string]any); object.Text(c, "type") == "PodScheduled" && object.Text(c, "status") == "False" {
			return object.Text(c, "reason")
		}
	}
	return ""
}

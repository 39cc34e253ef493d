package health

import (
	"encoding/json"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func volumeClaim(obj map[string]any) Result {
	switch object.Text(object.Dict(obj, "status"), "phase") {
	case "Bound":
		return Result{Status: Healthy}
	case "Pending":
		return Result{Status: Progressing}
	case "Lost":
		return Result{Status: Degraded}
	}
	return Result{Status: Unknown}
}

// service is Healthy unless it waits for the address of a load balancer.
func service(obj map[string]any) Result {
	if object.Text(object.Dict(obj, "spec"), "type") == "LoadBalancer" {
		return ingress(obj)
	}
	return Result{Status: Healthy}
}

func ingress(obj map[string]any) Result {
	if len(object.List(object.Dict(object.Dict(obj, "status"), "loadBalancer"), "ingress")) > 0 {
		return Result{Status: Healthy}
	}
	return Result{Status: Progressing}
}

func apiService(obj map[string]any) Result {
	c := condition(object.Dict(obj, "status"), "Available")
	if c == nil {
		return Result{Status: Progressing, Message: "Waiting to be processed"}
	}
	r := Result{Status: Progressing, Message: object.Text(c, "reason") + ": " + object.Text(c, "message")}
	if object.Text(c, "status") == "True" {
		r.Status = Healthy
	}
	return r
}

// resourceDefinition asks of a CustomResourceDefinition what a custom resource needs: that its names are served.
func resourceDefinition(obj map[string]any) Result {
	status := object.Dict(obj, "status")
	if len(object.List(status, "conditions")) == 0 {
		return Result{Status: Progressing, Message: "Status conditions not found"}
	}
	established := false
	for _, item := range object.List(status, "conditions") {
		c, _ := item.(map[string]any)
		is := object.Text(c, "status")
		switch name := object.Text(c, "type"); {
		case name == "Terminating" && is == "True":
			return Result{Status: Progressing, Message: "CRD is terminating: " + object.Text(c, "message")}
		case name == "NamesAccepted" && is == "False":
			return Result{Status: Degraded, Message: "CRD names have not been accepted: " + object.Text(c, "message")}
		case name == "NonStructuralSchema" && is == "True":
			return Result{Status: Degraded, Message: "Schema violations found: " + object.Text(c, "message")}
		case name == "Established" && is != "True" && object.Text(c, "reason") == "Installing":
			return Result{Status: Progressing, Message: "CRD is being installed"}
		case name == "Established" && is == "True":
			established = true
		}
	}
	if !established {
		return Result{Status: Degraded, Message: "CRD is not established"}
	}
	return Result{Status: Healthy, Message: "CRD is healthy"}
}

// disruptionBudget takes too few pods for no fault: a budget may be meant to forbid every disruption.
func disruptionBudget(obj map[string]any) Result {
	r := Result{Status: Progressing, Message: "Waiting for status"}
	for _, item := range object.List(object.Dict(obj, "status"), "conditions") {
		c, _ := item.(map[string]any)
		reason := object.Text(c, "reason")
		if object.Text(c, "status") == "False" && reason != "InsufficientPods" {
			return Result{Status: Degraded, Message: "PodDisruptionBudget has " + reason}
		}
		r = Result{Status: Healthy, Message: "PodDisruptionBudget has " + reason}
	}
	return r
}

func workflow(obj map[string]any) Result {
	status := object.Dict(obj, "status")
	r := Result{Status: Unknown, Message: object.Text(status, "message")}
	switch object.Text(status, "phase") {
	case "", "Pending", "Running":
		r.Status = Progressing
	case "Succeeded":
		r.Status = Healthy
	case "Failed", "Error":
		r.Status = Degraded
	}
	return r
}

// scalerConditions is where autoscaling/v1 keeps its conditions: its status has no field for them.
const scalerConditions = "autoscaling.alpha.kubernetes.io/conditions"

// maxConditions bounds the annotation that is decoded, in bytes; a real one is below 2 KiB.
const maxConditions = 64 << 10

type scalerCondition struct{ Type, Status, Reason, Message string }

func autoscaler(obj map[string]any) Result {
	var conditions []scalerCondition
	if object.Text(obj, "apiVersion") == "autoscaling/v1" {
		raw := object.Text(object.Dict(object.Dict(obj, "metadata"), "annotations"), scalerConditions)
		if len(raw) > maxConditions {
			return Result{Status: Unknown, Message: "annotation " + scalerConditions + " is too large to be read"}
		}
		if raw != "" && json.Unmarshal([]byte(raw), &conditions) != nil {
			return Result{Status: Unknown, Message: "annotation " + scalerConditions + " is not a list of conditions"}
		}
	} else {
		for _, item := range object.List(object.Dict(obj, "status"), "conditions") {
			c, _ := item.(map[string]any)
			conditions = append(conditions, scalerCondition{
				Type: object.Text(c, "type"), Status: object.Text(c, "status"), Reason: object.Text(c, "reason"), Message: object.Text(c, "message"),
			})
		}
	}
	// A failure anywhere outweighs a success elsewhere, whatever their order.
	for _, c := range conditions {
		if c.broken() {
			return Result{Status: Degraded, Message: c.Message}
		}
	}
	for _, c := range conditions {
		if c.Status == "True" && (c.Type == "AbleToScale" || c.Type == "ScalingLimited") {
			return Result{Status: Healthy, Message: c.Message}
		}
	}
	return Result{Status: Progressing, Message: "Waiting to Autoscale"}
}

func (c scalerCondition) broken() bool {
	switch c.Type {
	case "AbleToScale":
		return c.Reason == "FailedGetScale" || c.Reason == "FailedUpdateScale"
	case "ScalingActive":
		return c.Reason == "InvalidSelector" || c.Reason == "InvalidMetricSourceType" ||
			strings.HasPrefix(c.Reason, "FailedGet") && strings.HasSuffix(c.Reason, "Metric")
	}
	return false
}

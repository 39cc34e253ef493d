package cause

import (
	"fmt"
	"strings"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// service says why a Service sends its traffic nowhere.
func (s *scene) service(b *Branch) *fault {
	sp := object.Dict(b.Object, "spec")
	selector := object.Dict(sp, "selector")
	at := b.Backends
	if at != nil && at.Ready == 0 && len(selector) > 0 && object.Text(sp, "type") != "ExternalName" {
		f := s.newFault(b, NoPods, unreached)
		f.evidence(status(b, "no endpoint receives traffic"), spec(b, "selector: %s", labels(selector)))
		f.Next = fmt.Sprintf("`kubectl -n %s get pods --show-labels` shows the labels that pods have", Quote(b.Key.Namespace))
		switch {
		case at.Pods == 0 && at.Maker != "" && at.Wanted == 0:
			f.weight, f.What = minor, called(b)+" has no endpoints: "+at.Maker+", which makes its pods, is scaled to 0"
			f.Next = "scale it up in Git, if it is to serve"
		case at.Pods == 0 && at.Maker != "":
			f.weight, f.What = warned, called(b)+" has no endpoints: "+at.Maker+", which makes its pods, has made none"
			f.Next = "see what keeps it from that; " + s.describe(b)
		case at.Pods == 0:
			f.What = called(b) + " has no endpoints: no pod has the labels of its selector (" + labels(selector) + ")"
			f.Next = "correct spec.selector or the labels of the pods in Git; " + f.Next
		case at.PodsReady == 0:
			f.Code, f.What = NoBackends, fmt.Sprintf("%s has no endpoints: none of the %s that it selects is ready", called(b), pods(at.Pods))
		default:
			f.Code = NoBackends
			f.What = fmt.Sprintf("%s has no endpoints, though %s that it selects are ready: its targetPort names no port of theirs",
				called(b), pods(at.PodsReady))
			f.Next = "correct spec.ports[].targetPort in Git: a name must be that of a port of the container; " + s.describe(b)
		}
		return f
	}
	if object.Text(sp, "type") == "LoadBalancer" {
		return s.address(b, "the load balancer", reasons("SyncLoadBalancerFailed", "CreatingLoadBalancerFailed"))
	}
	return nil
}

func pods(n int) string {
	if n == 1 {
		return "1 pod"
	}
	return fmt.Sprintf("%d pods", n)
}

func labels(selector map[string]any) string {
	var out []string
	for _, name := range sorted(selector) {
		out = append(out, name+"="+object.Text(selector, name))
	}
	return some(out)
}

// address says why an object has no address of a load balancer; nil where it has one.
func (s *scene) address(b *Branch, who string, failed func(*Event) bool) *fault {
	if len(object.List(object.Dict(object.Dict(b.Object, "status"), "loadBalancer"), "ingress")) > 0 {
		return nil
	}
	f := s.newFault(b, LoadBalancer, minor)
	f.Since = moment(object.Dict(b.Object, "metadata"), "creationTimestamp")
	f.What = called(b) + " waits for the address of " + who
	f.Next = "check that a controller of this cluster makes load balancers; " + s.describe(b)
	if e := b.last(failed); e != nil {
		f.weight, f.Since, f.What = unreached, e.First, called(b)+" gets no address of "+who+": "+e.Message
		f.evidence(e.evidence(b))
	}
	f.evidence(status(b, "loadBalancer: no address"))
	return f
}

// ingress says which backends of an Ingress are not there, or that it has no address.
func (s *scene) ingress(b *Branch) *fault {
	if at := b.Backends; at != nil && len(at.Lacking) > 0 {
		f := s.newFault(b, IngressBackend, unreached)
		f.What = called(b) + " sends traffic to " + some(at.Lacking) + ", which does not exist"
		f.Next = "correct the backend in Git, or commit the Service; " + s.describe(b)
		for _, lacking := range at.Lacking {
			f.evidence(spec(b, "backend: %s", lacking))
		}
		f.evidence(s.told(b, nil)...)
		return f
	}
	class := object.Text(object.Dict(b.Object, "spec"), "ingressClassName")
	f := s.address(b, "its controller", func(e *Event) bool { return e.Type == "Warning" })
	if f != nil {
		f.evidence(spec(b, "ingressClassName: %s", or(class, "(none)")))
		f.Next = "check that a controller for the class " + or(class, "that is the default") + " runs; " + s.describe(b)
	}
	return f
}

// scaler says why an autoscaler cannot scale.
func (s *scene) scaler(b *Branch) *fault {
	for _, kind := range []string{"AbleToScale", "ScalingActive"} {
		c := conditionOf(b.Object, kind)
		if c.is != "False" || c.reason == "ScalingDisabled" {
			continue
		}
		f := s.newFault(b, Metrics, followed)
		f.Since = c.since
		f.What = called(b) + " cannot scale: " + c.message
		f.Next = "check that a metrics server runs (`kubectl top pods`) and that all containers have requests; " + s.describe(b)
		switch {
		case c.reason == "FailedGetScale":
			target := object.Dict(object.Dict(b.Object, "spec"), "scaleTargetRef")
			f.Code = Missing
			f.What = fmt.Sprintf("%s cannot scale %s %s: %s", called(b), object.Text(target, "kind"), object.Text(target, "name"), c.message)
			f.Next = "correct spec.scaleTargetRef in Git; " + s.describe(b)
		case strings.Contains(c.message, "missing request for"):
			f.Next = "set resources.requests of all containers in Git; " + s.describe(b)
		}
		f.evidence(c.evidence(b))
		f.evidence(s.told(b, nil)...)
		return f
	}
	return nil
}

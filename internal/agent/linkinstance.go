package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/instance"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// addInstances has the server told of the pods of Applications, unless that is off.
func (a *Agent) addInstances() {
	if a.cfg.Link.NoInstances {
		return
	}
	s := a.linked
	s.instances = instance.New(instance.Config{
		Changed:     func(app registry.Name) { s.link.Changed(itemKey(agentapi.ItemInstances, app.Namespace, app.Name)) },
		Instance:    func(app registry.Name) string { return object.InstanceName(app.Namespace, app.Name, a.cfg.Namespace) },
		Application: a.registry.ByInstance,
		Log:         a.log.With("component", "instances"),
	})
	a.clusters.Opened = func(key string, config *rest.Config, state *live.Cluster) {
		s.instances.Open(key, config, a.driver.objects(key, state))
	}
}

// closeInstances ends what addInstances has begun.
func (a *Agent) closeInstances() {
	if a.linked != nil && a.linked.instances != nil {
		a.linked.instances.Close()
	}
}

// liveMoved hears that an object of an Application appeared or is gone.
func (s *linkSource) liveMoved(e live.Event) {
	if s != nil && s.instances != nil && (e.Why == live.Appeared || e.Why == live.Gone) {
		s.instances.Moved(e.App)
	}
}

// useInstances says where an Application may have pods; app is nil for one that is gone.
func (s *linkSource) useInstances(id registry.Name, app *v1alpha1.Application) {
	if s.instances == nil {
		return
	}
	if app == nil {
		s.instances.Use(id, "", nil)
		return
	}
	namespaces := workloads(app)
	cluster, err := s.agent.clusters.KeyOf(app.Spec.Project, app.Spec.Destination)
	if len(namespaces) == 0 || err != nil { // the Application's own status says why there is no cluster
		s.instances.Use(id, "", nil)
		return
	}
	s.instances.Use(id, cluster, namespaces)
}

// workloads returns the namespaces in which an Application has objects that may have pods.
func workloads(app *v1alpha1.Application) []string {
	var out []string
	for _, r := range app.Status.Resources {
		if r.Namespace != "" && mayHavePods(r.Group, r.Kind) && !slices.Contains(out, r.Namespace) {
			out = append(out, r.Namespace)
		}
	}
	return out
}

// mayHavePods reports whether objects of a kind may own pods: workloads do, and what operators make them of may.
func mayHavePods(group, kind string) bool {
	switch group {
	case "":
		return kind == "Pod" || kind == "ReplicationController"
	case "apps", "batch":
		return true
	case v1alpha1.Group:
		return kind == "Rollout"
	case "policy", "autoscaling", "extensions":
		return false
	}
	return !strings.HasSuffix(group, ".k8s.io")
}

// instanceKeys are the items of the Applications that have pods; false while that is not known of all.
func (s *linkSource) instanceKeys() ([]agentapi.Key, bool) {
	if s.instances == nil {
		return nil, true
	}
	apps, ready := s.instances.Apps()
	out := make([]agentapi.Key, 0, len(apps))
	for _, id := range apps {
		out = append(out, itemKey(agentapi.ItemInstances, id.Namespace, id.Name))
	}
	return out, ready
}

// instanceBody is what is told of the pods of an Application; nil for one without.
func (s *linkSource) instanceBody(id registry.Name) ([]byte, error) {
	if s.instances == nil {
		return nil, nil
	}
	have := s.instances.Instances(id)
	if have == nil {
		return nil, nil
	}
	return json.Marshal(have)
}

package report

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

// TellInstances reports the pods of Applications to the server. It is called before any cluster is opened.
func (s *Source) TellInstances() {
	s.instances = instance.New(instance.Config{
		Changed:     func(app registry.Name) { s.link.Changed(itemKey(agentapi.ItemInstances, app.Namespace, app.Name)) },
		Instance:    func(app registry.Name) string { return object.InstanceName(app.Namespace, app.Name, s.Namespace) },
		Application: s.Registry.ByInstance,
		Log:         s.Log.With("component", "instances"),
	})
	s.Clusters.Opened = func(key string, config *rest.Config, state *live.Cluster) {
		s.instances.Open(key, config, s.Objects(key, state))
	}
}

// Reporter reports pods; nil where they are not reported.
func (s *Source) Reporter() *instance.Reporter {
	if s == nil {
		return nil
	}
	return s.instances
}

// Close ends what tellInstances has begun.
func (s *Source) Close() {
	if s != nil && s.instances != nil {
		s.instances.Close()
	}
}

// LiveMoved hears that an object of an Application appeared or is gone.
func (s *Source) LiveMoved(e live.Event) {
	if s != nil && s.instances != nil && (e.Why == live.Appeared || e.Why == live.Gone) {
		s.instances.Moved(e.App)
	}
}

// UseInstances says where an Application may have pods; app is nil for one that is gone.
func (s *Source) UseInstances(id registry.Name, app *v1alpha1.Application) {
	if s.instances == nil {
		return
	}
	if app == nil {
		s.instances.Use(id, "", nil)
		return
	}
	namespaces := workloads(app)
	cluster, err := s.Clusters.KeyOf(app.Spec.Project, app.Spec.Destination)
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
func (s *Source) instanceKeys() ([]agentapi.Key, bool) {
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

// instanceBody is what is reported about the pods of an Application; nil for one without.
func (s *Source) instanceBody(id registry.Name) ([]byte, error) {
	if s.instances == nil {
		return nil, nil
	}
	have := s.instances.Instances(id)
	if have == nil {
		return nil, nil
	}
	return json.Marshal(have)
}

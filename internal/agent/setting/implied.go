package setting

import (
	"cmp"
	"maps"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
)

// isImplied reports whether a change is about the agent's own cluster while no Secret describes it. It is still one of the
// agent's clusters: a change makes its Secret.
func (v *keeper) isImplied(req agentapi.SettingChange) bool {
	return req.Type == agentapi.SettingCluster && req.Name == v1alpha1.InClusterName && v.Clusters.HasImplied()
}

// described is a change of the agent's own cluster that makes its Secret. One that may not exist already is made as it is written.
func described(req agentapi.SettingChange) agentapi.SettingChange {
	if !req.Update {
		return req
	}
	fields := maps.Clone(req.Fields)
	if fields == nil {
		fields = map[string]string{}
	}
	fields["name"] = cmp.Or(fields["name"], v1alpha1.InClusterName)
	fields["server"] = cmp.Or(fields["server"], v1alpha1.InClusterServer)
	req.Fields, req.Update = fields, false
	return req
}

// absent refuses a change of a Secret that is not there.
func (v *keeper) absent(req agentapi.SettingChange) error {
	if v.isImplied(req) {
		return command.Refuse(agentapi.CodeInvalid, "no Secret describes the agent's own cluster, so there is nothing to delete: "+
			"to switch it off as a destination, set %s to \"false\" in ConfigMap %s", place.KeyInCluster, place.ConfigArgoCD)
	}
	return command.Refuse(agentapi.CodeNotFound, "%s %s does not exist", req.Type, req.Name)
}

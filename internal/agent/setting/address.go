package setting

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/webhook"
)

// withdrawLimit bounds how long it may take to take a Secret back.
const withdrawLimit = 30 * time.Second

// addressField is the field of a type of settings that holds the address.
func addressField(t agentapi.SettingType) string {
	if t == agentapi.SettingCluster {
		return "server"
	}
	return "url"
}

// writeAlone writes a Secret if no other one is for its address. Of several that are written at the same moment one stays: this
// process writes one after the other and reads all before it, and where another process writes too, the later writer finds
// the earlier one and takes its own back.
func (v *keeper) writeAlone(ctx context.Context, have keptSecret, next map[string][]byte,
	req agentapi.SettingChange,
) (*unstructured.Unstructured, error) {
	v.addresses.Lock()
	defer v.addresses.Unlock()
	others, err := v.secretsOf(ctx, req.Type, "")
	if err != nil {
		return nil, err
	}
	if err := v.checkAddress(req, have.data, next, others); err != nil {
		return nil, err
	}
	got, err := v.writeSecret(ctx, have, next, req)
	if err != nil {
		// The words of an API server about a Secret can quote it.
		return nil, v.worded(err, "write Secret %s of %s %s", req.Name, req.Type, req.Name)
	}
	if req.DryRun {
		return got, nil
	}
	if others, err = v.secretsOf(ctx, req.Type, got.GetResourceVersion()); err == nil {
		err = v.checkAddress(req, have.data, next, others)
	}
	if err == nil {
		return got, nil
	}
	if wrong := v.withdraw(ctx, have, got); wrong != nil {
		return nil, fmt.Errorf("%w; and Secret %s, which was written, could not be taken back: correct it: %w", err, req.Name, wrong)
	}
	return nil, err
}

// secretsOf reads the Secrets of a type as the API server has them: those that were written before a version of another one, or
// all.
func (v *keeper) secretsOf(ctx context.Context, t agentapi.SettingType, before string) (map[string]place.Secret, error) {
	list, err := v.config("secrets").List(ctx, metav1.ListOptions{LabelSelector: v1alpha1.LabelSecretType + "=" + labelOf(t)})
	if err != nil {
		return nil, v.worded(err, "list Secrets of type %s", t)
	}
	limit, _ := strconv.ParseUint(before, 10, 64) // the API server made it
	out := make(map[string]place.Secret, len(list.Items))
	for i := range list.Items {
		obj := &list.Items[i]
		if version, _ := strconv.ParseUint(obj.GetResourceVersion(), 10, 64); before == "" || version < limit {
			out[obj.GetName()] = place.SecretOf(obj)
		}
	}
	return out, nil
}

// withdraw takes a Secret back that was just written, unless it was changed since.
func (v *keeper) withdraw(ctx context.Context, have keptSecret, got *unstructured.Unstructured) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), withdrawLimit)
	defer cancel()
	version := got.GetResourceVersion()
	if have.obj == nil {
		options := metav1.NewUIDPreconditions(string(got.GetUID()))
		options.ResourceVersion = &version
		if err := v.config("secrets").Delete(ctx, got.GetName(), metav1.DeleteOptions{Preconditions: options}); err != nil {
			return v.worded(err, "delete Secret %s", got.GetName())
		}
		return nil
	}
	before := have.obj.DeepCopy()
	before.SetResourceVersion(version)
	if _, err := v.config("secrets").Update(ctx, before, metav1.UpdateOptions{FieldManager: live.Manager}); err != nil {
		return v.worded(err, "write Secret %s", got.GetName())
	}
	return nil
}

// checkAddress refuses a second Secret for an address: which of them applies is not decided anywhere. Slipway's own engine goes
// by the project too. An Argo CD goes by the address alone, and by the name of a cluster, so the Secret of one project would be
// used for those of another, or keep them from their own.
func (v *keeper) checkAddress(req agentapi.SettingChange, have, next map[string][]byte, others map[string]place.Secret) error {
	field := addressField(req.Type)
	text := func(data map[string][]byte, name string) string { return strings.TrimSpace(string(data[name])) }
	address, title := text(next, field), text(next, "name")
	moved := text(have, field) != address || text(have, "name") != title
	ownCluster := alike(address, v1alpha1.InClusterServer) || title == v1alpha1.InClusterName
	if v.ReadBy == agentapi.EngineArgoCD && req.Type == agentapi.SettingCluster && text(next, "project") != "" && ownCluster {
		return command.Refuse(agentapi.CodeConflict, "the cluster that Argo CD runs in is for all projects, and Argo CD would use this %s for "+
			"all of them: leave project out, or choose another address and name", req.Type)
	}
	for name, other := range others {
		if name == req.Name {
			continue
		}
		if other.Get(field) == address && other.Get("project") == text(next, "project") {
			return command.Refuse(agentapi.CodeConflict, "the Secret %s is about %s and the same project already: change that one", name, address)
		}
		if v.ReadBy.Known() != agentapi.EngineArgoCD || !moved {
			continue
		}
		if alike(other.Get(field), address) {
			return command.Refuse(agentapi.CodeConflict, "another project has a %s for %s already, and Argo CD looks for it by the address alone: "+
				"choose another address, or ask who may change the other one", req.Type, address)
		}
		if req.Type == agentapi.SettingCluster && title != "" && other.Get("name") == title {
			return command.Refuse(agentapi.CodeConflict, "another cluster is called %.80s already, and Argo CD looks for it by the name alone: "+
				"choose another name", title)
		}
	}
	return nil
}

// alike reports whether an Argo CD could take an address for another.
func alike(a, b string) bool {
	plain := func(s string) string {
		return strings.TrimSuffix(strings.TrimRight(strings.ToLower(strings.TrimSpace(s)), "/"), ".git")
	}
	return plain(a) == plain(b) || webhook.SameRemote(a, b)
}

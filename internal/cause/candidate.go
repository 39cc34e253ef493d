package cause

import (
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Bounds of how many objects of an Application are looked at.
const (
	maxUnwell = 12
	maxQuiet  = 10
)

// Candidates are the objects of an Application that may have a finding, the worst first: hooks that run or failed, objects
// that are not well, and those whose health says little. Where health is not in the status, as beside Argo CD 3, they are the
// workloads of an Application that is not well.
func Candidates(app *v1alpha1.Application) []v1alpha1.ResourceStatus {
	var unwell, silent []v1alpha1.ResourceStatus
	seen := map[object.Key]bool{}
	add := func(to *[]v1alpha1.ResourceStatus, r v1alpha1.ResourceStatus, most int) {
		key := object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
		if !seen[key] && len(*to) < most && (r.Group != v1alpha1.Group || r.Kind != v1alpha1.KindApplication) {
			seen[key] = true
			*to = append(*to, r)
		}
	}
	if op := app.Status.OperationState; op != nil && op.SyncResult != nil && op.Phase != v1alpha1.OperationSucceeded {
		for _, r := range op.SyncResult.Resources {
			if r.HookType != "" && r.HookPhase != v1alpha1.OperationSucceeded && r.HookPhase != "" {
				add(&unwell, v1alpha1.ResourceStatus{
					Group: r.Group, Version: r.Version, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name, Hook: true,
				}, maxUnwell)
			}
		}
	}
	for _, health := range []v1alpha1.HealthStatusCode{
		v1alpha1.HealthDegraded, v1alpha1.HealthUnknown, v1alpha1.HealthProgressing, v1alpha1.HealthSuspended, "",
	} {
		for _, r := range app.Status.Resources {
			is := v1alpha1.HealthStatusCode("")
			if r.Health != nil {
				is = r.Health.Status
			}
			kind := object.Kind{Group: r.Group, Kind: r.Kind}
			if r.Hook || is != health || is == "" && (!runs(kind) || app.Status.Health.Status == v1alpha1.HealthHealthy) {
				continue
			}
			add(&unwell, r, maxUnwell)
		}
	}
	for _, r := range app.Status.Resources {
		if !r.Hook && !r.Leftover() && quiet(object.Kind{Group: r.Group, Kind: r.Kind}) &&
			(r.Health == nil || r.Health.Status != v1alpha1.HealthMissing) {
			add(&silent, r, maxQuiet)
		}
	}
	return slices.Concat(unwell, silent)
}

// runs reports whether objects of a kind run something, or are waited for by what runs.
func runs(kind object.Kind) bool {
	switch kind {
	case object.Kind{Kind: "Pod"}, object.Kind{Kind: "ReplicationController"}, object.Kind{Kind: "PersistentVolumeClaim"}:
		return true
	}
	return kind.Group == "apps" && kind.Kind != "ControllerRevision" || kind.Group == "batch" ||
		kind.Group == "argoproj.io" && kind.Kind == "Rollout"
}

package cause

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestWhatAnAPIServerRefusesIsReadFromItsMessage(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		`pods "a" is forbidden: exceeded quota: q, requested: cpu=2, used: cpu=1, limited: cpu=2`:       "Quota: ResourceQuota q is used up: requested cpu=2, used cpu=1, limit cpu=2",
		`pods "a" is forbidden: failed quota: q: must specify limits.cpu for: app`:                      "Quota: ResourceQuota q wants every container to set limits.cpu for: app",
		`admission webhook "w.example.com" denied the request: no`:                                      "Webhook: the admission webhook w.example.com refused it: no",
		`failed calling webhook "w.example.com": failed to call webhook: context deadline exceeded`:     "NoAnswer: the admission webhook w.example.com does not answer: failed to call webhook: context deadline exceeded",
		`pods "a" is forbidden: violates PodSecurity "restricted:latest": runAsNonRoot != true`:         "Admission: the pod security level restricted:latest of its namespace forbids it: runAsNonRoot != true",
		`ValidatingAdmissionPolicy 'p' with binding 'b' denied request: too many replicas`:              "Admission: the ValidatingAdmissionPolicy p refused it: too many replicas",
		`error looking up service account shop/a: serviceaccount "a" not found`:                         "Config: ServiceAccount a does not exist",
		`no PriorityClass with name high was found`:                                                     "Config: PriorityClass high does not exist",
		`pod rejected: RuntimeClass "kata" not found`:                                                   "Config: RuntimeClass kata does not exist",
		`pods "a" is forbidden: minimum cpu usage per Pod is 100m, but request is 10m`:                  "LimitRange: a LimitRange of its namespace forbids it: minimum cpu usage per Pod is 100m, but request is 10m",
		`unable to create new content in namespace shop because it is being terminated`:                 "Refused: namespace shop is being deleted",
		`deployments.apps is forbidden: User "system:anna" cannot create resource "deployments" in API`: "Refused: system:anna may not create deployments",
		`namespaces "shop" not found`:                                                                   "Refused: namespace shop does not exist",
		`spec.selector: Invalid value: {}: field is immutable`:                                          "Refused: it changes a field that cannot be changed",
		`Error creating: something that nobody knows`:                                                   "Refused: something that nobody knows",
	} {
		if d := Refusal(message); d.Code+": "+d.What != want || d.Next == "" {
			t.Errorf("%q is read as %s: %s (next %q)", message, d.Code, d.What, d.Next)
		}
	}
}

func candidate(kind, name string, health v1alpha1.HealthStatusCode) v1alpha1.ResourceStatus {
	group := map[string]string{"Deployment": "apps", "Application": v1alpha1.Group}[kind]
	r := v1alpha1.ResourceStatus{Group: group, Kind: kind, Namespace: "shop", Name: name}
	if health != "" {
		r.Health = &v1alpha1.HealthStatus{Status: health}
	}
	return r
}

func TestWhatMayFailIsLookedAtAndNothingElse(t *testing.T) {
	t.Parallel()
	names := func(app *v1alpha1.Application) string {
		var out []string
		for _, r := range Candidates(app) {
			out = append(out, r.Name)
		}
		return strings.Join(out, " ")
	}
	app := &v1alpha1.Application{}
	app.Status.Health.Status = v1alpha1.HealthDegraded
	app.Status.Resources = []v1alpha1.ResourceStatus{
		candidate("Deployment", "slow", v1alpha1.HealthProgressing), candidate("ConfigMap", "settings", ""), candidate("Deployment", "well", v1alpha1.HealthHealthy),
		candidate("Service", "front", v1alpha1.HealthHealthy), candidate("Deployment", "bad", v1alpha1.HealthDegraded), candidate("Deployment", "unknown", ""),
		candidate("Application", "child", v1alpha1.HealthDegraded), candidate("Deployment", "gone", v1alpha1.HealthMissing),
	}
	app.Status.OperationState = &v1alpha1.OperationState{Phase: v1alpha1.OperationRunning, SyncResult: &v1alpha1.SyncOperationResult{Resources: []v1alpha1.ResourceResult{
		{Group: "batch", Kind: "Job", Namespace: "shop", Name: "hook", HookType: v1alpha1.HookPreSync, HookPhase: v1alpha1.OperationRunning},
		{Group: "batch", Kind: "Job", Namespace: "shop", Name: "over", HookType: v1alpha1.HookPreSync, HookPhase: v1alpha1.OperationSucceeded},
	}}}
	if got := names(app); got != "hook bad slow unknown front" {
		t.Errorf("looked at: %s", got)
	}
	app.Status.Health.Status, app.Status.OperationState.Phase = v1alpha1.HealthHealthy, v1alpha1.OperationSucceeded
	app.Status.Resources = app.Status.Resources[5:6]
	if got := names(app); got != "" {
		t.Errorf("of an Application that is well, looked at: %s", got)
	}
	for i := range 100 {
		app.Status.Resources = append(app.Status.Resources, candidate("Deployment", fmt.Sprint(i), v1alpha1.HealthDegraded), candidate("Service", fmt.Sprint(i), ""))
	}
	if n := len(Candidates(app)); n != maxUnwell+maxQuiet {
		t.Errorf("%d are looked at", n)
	}
}

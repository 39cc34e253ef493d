package health_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func parse(t testing.TB, doc string) map[string]any {
	t.Helper()
	obj, err := object.DecodeJSON([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

const (
	rolledOut = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","generation":3},
		"spec":{"replicas":2},"status":{"observedGeneration":3,"replicas":2,"updatedReplicas":2,"availableReplicas":2}}`
	readyPod = `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web"},"spec":{"restartPolicy":"Always"},
		"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}],
		"containerStatuses":[{"name":"a","state":{"running":{}}}]}}`
	stateful = `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"db","generation":1},"spec":{"replicas":1},
		"status":{"observedGeneration":1,"readyReplicas":1,"currentReplicas":1,"currentRevision":"db-1","updateRevision":"db-1"}}`
	steadyRollout = `{"apiVersion":"argoproj.io/v1alpha1","kind":"Rollout","metadata":{"generation":1},
		"spec":{"replicas":2,"strategy":{"canary":{}}},"status":{"observedGeneration":"1","currentPodHash":"a","stableRS":"a",
		"replicas":2,"updatedReplicas":2,"availableReplicas":2,"conditions":[{"type":"Available","status":"True"}]}}`
	budget = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","status":{"conditions":[{"status":"True","reason":"SufficientPods"}]}}`
)

func TestAssessJudgesWhatTheConformanceDataLeavesOpen(t *testing.T) {
	t.Parallel()
	cases := []struct{ name, object, want string }{
		{"a rolled out Deployment is healthy", rolledOut, "Healthy"},
		{
			"a Deployment whose new spec was not seen yet progresses",
			`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"generation":4},"status":{"observedGeneration":3}}`,
			"Progressing: Waiting for rollout to finish: observed deployment generation less than desired generation",
		},
		{
			"old pods of a Deployment keep it progressing",
			`{"apiVersion":"apps/v1","kind":"Deployment","spec":{"replicas":1},"status":{"replicas":3,"updatedReplicas":1}}`,
			"Progressing: Waiting for rollout to finish: 2 old replicas are pending termination...",
		},
		{
			"a StatefulSet at one revision is healthy", stateful,
			"Healthy: statefulset rolling update complete 1 pods at revision db-1...",
		},
		{
			"a partition that is rolled out is healthy",
			`{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"generation":1},
			"spec":{"replicas":3,"updateStrategy":{"type":"RollingUpdate","rollingUpdate":{"partition":2}}},
			"status":{"observedGeneration":1,"readyReplicas":3,"updatedReplicas":1}}`,
			"Healthy: partitioned roll out complete: 1 new pods have been updated...",
		},
		{
			"a DaemonSet waits for its pods",
			`{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"log"},
			"status":{"desiredNumberScheduled":3,"updatedNumberScheduled":3,"numberAvailable":1}}`,
			`Progressing: Waiting for daemon set "log" rollout to finish: 1 of 3 updated pods are available...`,
		},
		{
			"a ReplicaSet that may not create pods is degraded",
			`{"apiVersion":"apps/v1","kind":"ReplicaSet","spec":{"replicas":1},
			"status":{"conditions":[{"type":"ReplicaFailure","status":"True","message":"quota"}]}}`, "Degraded: quota",
		},
		{
			"a failed pod tells its exit code",
			`{"apiVersion":"v1","kind":"Pod","status":{"phase":"Failed","containerStatuses":[{"name":"a","state":{"terminated":{"exitCode":3}}}]}}`,
			`Degraded: container "a" failed with exit code 3`,
		},
		{
			"a hook pod that cannot pull its image still progresses",
			`{"apiVersion":"v1","kind":"Pod","spec":{"restartPolicy":"Never"},
			"status":{"phase":"Pending","containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull"}}}]}}`, "Progressing",
		},
		{
			"a resumed Job progresses although it has the condition Suspended",
			`{"apiVersion":"batch/v1","kind":"Job","status":{"conditions":[{"type":"Suspended","status":"False"}]}}`, "Progressing",
		},
		{
			"a failed Job is degraded",
			`{"apiVersion":"batch/v1","kind":"Job","status":{"conditions":[{"type":"Failed","status":"True","message":"deadline"}]}}`,
			"Degraded: deadline",
		},
		{"a lost claim is degraded", `{"apiVersion":"v1","kind":"PersistentVolumeClaim","status":{"phase":"Lost"}}`, "Degraded"},
		{
			"a load balancer without address progresses",
			`{"apiVersion":"v1","kind":"Service","spec":{"type":"LoadBalancer"}}`, "Progressing",
		},
		{"a budget that allows disruptions is healthy", budget, "Healthy: PodDisruptionBudget has SufficientPods"},
		{
			"an object of an unknown kind that is being deleted progresses",
			`{"apiVersion":"x.io/v1","kind":"X","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"}}`, "Progressing: Pending deletion",
		},
		{
			"a hook that waits for its result to be read is judged by it",
			`{"apiVersion":"batch/v1","kind":"Job","metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z",
			"finalizers":["argocd.argoproj.io/hook-finalizer"]},"status":{"conditions":[{"type":"Complete","status":"True"}]}}`, "Healthy",
		},
		{"a custom kind is judged by its rules", issuer, "Healthy: ok"},
		{
			"an object of a custom kind that is being deleted progresses, whatever its rules say",
			strings.Replace(issuer, `"status"`, `"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"status"`, 1),
			"Progressing: Pending deletion",
		},
		{
			"all kinds of a domain have the same rules",
			`{"apiVersion":"s3.aws.upbound.io/v1beta1","kind":"Bucket","status":{"conditions":[{"type":"Ready","status":"True"}]}}`,
			"Healthy: Resource is up-to-date.",
		},
		{
			"rules may say nothing", `{"apiVersion":"argoproj.io/v1alpha1","kind":"Experiment","status":{"phase":"New"}}`, "none",
		},
		{"a ConfigMap has no health", `{"apiVersion":"v1","kind":"ConfigMap"}`, "none"},
		{"a Deployment of another group has no health", `{"apiVersion":"x.io/v1","kind":"Deployment"}`, "none"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := "none"
			if r, ok := health.Assess(parse(t, c.object)); ok {
				got = r.String()
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestASuspendedJobDoesNotSuspendTheSum(t *testing.T) {
	t.Parallel()
	r, _ := health.Assess(parse(t, `{"apiVersion":"batch/v1","kind":"Job","status":{"conditions":[{"type":"Suspended","status":"True"}]}}`))
	if r.Status != health.Suspended || r.Sum() != health.Healthy {
		t.Errorf("got %s, in a sum %s", r.Status, r.Sum())
	}
}

func TestWorstPicksTheWorstStatus(t *testing.T) {
	t.Parallel()
	order := []health.Status{"", health.Healthy, health.Suspended, health.Progressing, health.Missing, health.Degraded, health.Unknown}
	for i, better := range order {
		for _, worse := range order[i:] {
			if got := health.Worst(worse, better); got != worse {
				t.Errorf("worst of %q and %q is %q", worse, better, got)
			}
			if better != worse && !health.Worse(worse, better) {
				t.Errorf("%q is not worse than %q", worse, better)
			}
		}
	}
	if got := health.Worst(health.Degraded, "Splendid"); got != "Splendid" {
		t.Errorf("a status nobody knows counts as %q", got)
	}
}

// FuzzAssess gives every kind shapes that no API server would let through.
func FuzzAssess(f *testing.F) {
	for _, kind := range []string{"v1/Pod", "v1/Service", "v1/PersistentVolumeClaim"} {
		f.Add(kind[:2], kind[3:], `{"metadata":[],"spec":"x","status":{"conditions":[null,1,"a",{}],"phase":7}}`)
	}
	for _, kind := range []string{"Deployment", "ReplicaSet", "StatefulSet", "DaemonSet"} {
		f.Add("apps/v1", kind, `{"metadata":{"generation":"x","finalizers":{}},"spec":{"replicas":1e300},"status":{"replicas":-1}}`)
	}
	f.Add("autoscaling/v1", "HorizontalPodAutoscaler", `{"metadata":{"annotations":{"autoscaling.alpha.kubernetes.io/conditions":"[1]"}}}`)
	f.Add("autoscaling/v2", "HorizontalPodAutoscaler", `{"status":{"conditions":{"a":1}}}`)
	f.Add("batch/v1", "Job", `{"status":[]}`)
	f.Add("batch/v1", "CronJob", `{"spec":{"suspend":"yes"},"status":{"active":3,"lastScheduleTime":5}}`)
	f.Add("policy/v1", "PodDisruptionBudget", `{"status":{"conditions":[[]]}}`)
	f.Add("apiextensions.k8s.io/v1", "CustomResourceDefinition", `{"metadata":{"deletionTimestamp":3}}`)
	f.Add("argoproj.io/v1alpha1", "Rollout", `{"spec":{"strategy":1},"status":{"observedGeneration":[],"conditions":{"a":1}}}`)
	f.Add("x.crossplane.io/v1", "X", `{"status":{"conditions":[{"type":1,"status":true}]}}`)
	f.Add("keda.sh/v1", "ScaledObject", `{"status":{"conditions":[{"type":"Ready","status":"True","message":{}}]}}`)
	f.Add("v1", "Pod", `{"status":{"containerStatuses":[{"state":[]},{"state":{"waiting":{"reason":"Error"}}}],"initContainerStatuses":[0]}}`)
	f.Fuzz(func(t *testing.T, version, kind, doc string) {
		var obj map[string]any
		if json.Unmarshal([]byte(doc), &obj) != nil || obj == nil {
			return
		}
		obj["apiVersion"], obj["kind"] = version, kind
		if r, ok := health.Assess(obj); ok == (r.Status == "") {
			t.Errorf("assessed %v, status %q", ok, r.Status)
		}
	})
}

func BenchmarkAssess(b *testing.B) {
	docs := map[string]string{
		"deployment": rolledOut, "pod": readyPod, "statefulset": stateful, // built in
		"issuer": issuer, "rollout": steadyRollout, // by rules
		"configmap": `{"apiVersion":"v1","kind":"ConfigMap"}`, "widget": widget, // not judged
	}
	for name, doc := range docs {
		obj := parse(b, doc)
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				health.Assess(obj)
			}
		})
	}
}

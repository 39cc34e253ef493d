package agent

import (
	"context"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// failing is a workload whose pod has crashed, with a log that holds a secret; nowhere is one that fits on no node.
const failing = `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: crashes}
spec:
  replicas: 1
  selector: {matchLabels: {app: crashes}}
  template:
    metadata:
      labels: {app: crashes, devcluster/outcome: restarted}
      annotations: {devcluster/previous-log: "2020-01-01T00:00:00Z starting\npassword=` + planted + `\n"}
    spec: {containers: [{name: app, image: registry.invalid/app}]}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: nowhere}
spec:
  replicas: 1
  selector: {matchLabels: {app: nowhere}}
  template:
    metadata: {labels: {app: nowhere}}
    spec: {nodeSelector: {no: where}, containers: [{name: app, image: registry.invalid/app}]}
`

// crashed writes the status of the pod as a kubelet would.
func (s *stand) crashed() {
	s.t.Helper()
	now := time.Now().UTC().Format(time.RFC3339)
	patch := []byte(`{"status":{"conditions":[{"type":"Ready","status":"False"}],"containerStatuses":[{"name":"app","image":"a","imageID":"","ready":false,"restartCount":5,
		"state":{"running":{"startedAt":"` + now + `"}},"lastState":{"terminated":{"exitCode":3,"reason":"Error","finishedAt":"` + now + `"}}}]}}`)
	s.until("the pod runs", func(ctx context.Context) bool {
		pod, err := s.in("", "v1", "pods").Get(ctx, "crashes-0", metav1.GetOptions{})
		if err != nil {
			return false
		}
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
		return len(statuses) == 1
	})
	if _, err := s.in("", "v1", "pods").Patch(s.t.Context(), "crashes-0", types.MergePatchType, patch, metav1.PatchOptions{}, "status"); err != nil {
		s.t.Fatal(err)
	}
}

// found asks until there are findings of some codes, in this order.
func (s *stand) found(req api.FindingsRequest, codes ...string) api.FindingsAnswer {
	s.t.Helper()
	var last api.FindingsAnswer
	err := wait.PollUntilContextTimeout(s.t.Context(), 100*time.Millisecond, patience, true, func(context.Context) (bool, error) {
		last = must[api.FindingsAnswer](s, agentapi.KindFindings, s.app(s.name), req)
		var got []string
		for _, f := range last.Items {
			got = append(got, f.Code)
		}
		return strings.Join(got, " ") == strings.Join(codes, " "), nil
	})
	if err != nil {
		s.t.Fatalf("not found: %v; the last answer is %+v", codes, last)
	}
	return last
}

func TestTheAgentSaysWhatFailsWhileAnApplicationIsProgressing(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.repo.Commit(map[string]string{"web/failing.yaml": failing}, "two that fail")
	s.create()
	s.synced(api.SyncRequest{})
	s.crashed()
	got := s.found(api.FindingsRequest{}, "Crash", "Unschedulable")
	first, second := got.Items[0], got.Items[1]
	if first.Of.Kind != "StatefulSet" || first.Object.Name != "crashes-0" || first.Container != "app" || first.Restarts != 5 || first.Log == nil || len(first.Log.Lines) != 0 {
		t.Errorf("the first finding is %+v", first)
	}
	if second.Of.Name != "nowhere" || second.Object.Kind != "Pod" || !strings.Contains(second.What, "fits on no node") || second.Log != nil {
		t.Errorf("the second finding is %+v", second)
	}
	// The log comes on request, without what looks like a secret: do looks for the planted one.
	log := s.found(api.FindingsRequest{Logs: true}, "Crash", "Unschedulable").Items[0].Log
	if all := strings.Join(log.Lines, "\n"); !strings.Contains(all, "starting") || !strings.Contains(all, "password=(hidden)") {
		t.Errorf("the log is %+v", log)
	}
}

func TestWhatTheOwnerOfAClusterForbidsIsInNoFinding(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.repo.Commit(map[string]string{"web/failing.yaml": failing}, "two that fail")
	s.create()
	s.synced(api.SyncRequest{})
	s.crashed()
	s.found(api.FindingsRequest{}, "Crash", "Unschedulable")
	policy := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "slipway-agent-policy", "labels": map[string]any{"app.kubernetes.io/part-of": "argocd"}},
		"data": map[string]any{"deny": "resource.logs, resource.events"},
	}}
	if _, err := s.in("", "v1", "configmaps").Create(t.Context(), policy, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.until("the policy is known", func(context.Context) bool { return len(s.agent.settings.Config("slipway-agent-policy")) > 0 })
	got := must[api.FindingsAnswer](s, agentapi.KindFindings, s.app(s.name), api.FindingsRequest{Logs: true})
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "resource.events is not allowed on this agent") {
		t.Errorf("the warnings are %q", got.Warnings)
	}
	for _, f := range got.Items {
		for _, e := range f.Evidence {
			if e.Source == api.EvidenceEvent {
				t.Errorf("an Event is told: %+v", e)
			}
		}
		if f.Log != nil && (len(f.Log.Lines) > 0 || !strings.Contains(f.Log.Note, "resource.logs is not allowed on this agent")) {
			t.Errorf("the log is %+v", f.Log)
		}
	}
}

func TestNoFindingIsAboutAnObjectOfAnother(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	s.synced(api.SyncRequest{})
	other := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Pod", "metadata": map[string]any{"name": "other", "labels": map[string]any{"devcluster/outcome": "unready"}},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "app", "image": "registry.invalid/other"}}},
	}}
	if _, err := s.in("", "v1", "pods").Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// Whoever can write the status of an Application can name any object in it.
	claimed := map[string]any{"version": "v1", "kind": "Pod", "namespace": s.ns, "name": "other", "health": map[string]any{"status": "Degraded"}}
	s.asks.Apps = within(s.asks.Apps, func(in dynamic.ResourceInterface) dynamic.ResourceInterface { return claims{in, claimed} })
	for _, item := range must[api.FindingsAnswer](s, agentapi.KindFindings, s.app(s.name), api.FindingsRequest{}).Items {
		if item.Object.Name == "other" {
			t.Errorf("%+v is about it", item)
		}
	}
}

// claims has Applications name one more object.
type claims struct {
	dynamic.ResourceInterface
	object map[string]any
}

func (c claims) Get(ctx context.Context, name string, options metav1.GetOptions, sub ...string) (*unstructured.Unstructured, error) {
	app, err := c.ResourceInterface.Get(ctx, name, options, sub...)
	if err != nil {
		return nil, err
	}
	list, _, err := unstructured.NestedSlice(app.Object, "status", "resources")
	if err != nil {
		return nil, err
	}
	return app, unstructured.SetNestedSlice(app.Object, append(list, c.object), "status", "resources")
}

func TestTheTipOfABranchIsWhereItIsAndNotWhatWasCompared(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	first := s.synced(api.SyncRequest{}).Status.Sync.Revision
	tips := func() api.TipsAnswer { return must[api.TipsAnswer](s, agentapi.KindTips, s.app(s.name), nil) }
	got := tips()
	if len(got.Items) != 1 || got.Items[0].Tip != first || time.Since(got.Items[0].TipSeenAt) > 10*time.Minute || got.Same {
		t.Errorf("the tips are %+v, not %s", got, first)
	}
	// A commit that changes nothing for the Application moves the tip, and nothing else.
	second := s.repo.Commit(map[string]string{"elsewhere/file": "x"}, "not about it")
	s.agent.pool.Wake(t.Context(), s.repo.URL())
	got = tips()
	if got.Items[0].Tip != second || !got.Same {
		t.Errorf("after a commit elsewhere the tips are %+v, not %s", got, second)
	}
	if app, err := s.read(t.Context(), s.name); err != nil || app.Status.Sync.Revision != first {
		t.Errorf("what was compared is %s (%v), not %s", app.Status.Sync.Revision, err, first)
	}
}

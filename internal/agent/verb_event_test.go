package agent

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestAnApplicationHasEventsOfItsOwn(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.create()
	tell := func(name, uid, reason string, at time.Time) {
		t.Helper()
		event := map[string]any{
			"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"name": name}, "type": "Warning", "reason": reason, "message": "said so",
			"involvedObject": map[string]any{"apiVersion": v1alpha1.Group + "/" + v1alpha1.Version, "kind": "Application", "namespace": s.ns, "name": s.name, "uid": uid},
			"source":         map[string]any{"component": "argocd"}, "lastTimestamp": at.UTC().Format(time.RFC3339),
		}
		if _, err := s.in("", "v1", "events").Create(t.Context(), &unstructured.Unstructured{Object: event}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	now := time.Now()
	uid := string(s.raw(s.name).GetUID())
	tell("second", uid, "OperationCompleted", now)
	tell("first", uid, "OperationStarted", now.Add(-time.Minute))
	tell("other", "00000000-0000-0000-0000-000000000000", "OfOneThatWasDeleted", now)

	ask := func(namespace, name string) map[string]any {
		return map[string]any{"resource": api.ResourceRef{Group: v1alpha1.Group, Kind: "Application", Namespace: namespace, Name: name}}
	}
	got := must[api.ResourceEvents](s, agentapi.KindResourceEvents, s.app(s.name), ask(s.ns, s.name)).Events
	if len(got) != 2 || got[0].Reason != "OperationStarted" || got[1].Reason != "OperationCompleted" || got[1].Source != "argocd" {
		t.Errorf("its events are %+v", got)
	}
	s.refused(agentapi.KindResourceEvents, s.app("none"), ask(s.ns, "none"), agentapi.CodeNotFound)
	s.refused(agentapi.KindResourceEvents, s.app("none"), ask(s.ns, s.name), agentapi.CodeNotFound)
	// Of another one, only what belongs to this one is told.
	s.refused(agentapi.KindResourceEvents, s.app(s.name), ask("kube-system", s.name), agentapi.CodeForbidden)
}

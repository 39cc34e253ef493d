package verb

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// maxEvents bounds the events of one object that are returned; the newest are.
const maxEvents = 500

func (v *resources) resourceEvents(ctx context.Context, cmd agentapi.Command, req query) (any, error) {
	if ofItself(cmd.Target, req.Resource) {
		app, err := v.application(ctx, cmd)
		if err != nil {
			return nil, err
		}
		key := object.Key{Group: v1alpha1.Group, Kind: v1alpha1.KindApplication, Namespace: app.Namespace, Name: app.Name}
		return listEvents(ctx, v.Apps, key, app.UID)
	}
	p, s, err := v.subject(ctx, cmd, req.Resource)
	if err != nil {
		return nil, err
	}
	u := unstructured.Unstructured{Object: s.obj}
	return listEvents(ctx, p.read, s.key, u.GetUID())
}

// ofItself reports whether an Application is asked about, and no object of it: its Events are in the cluster that it is in,
// not in the one that it deploys to.
func ofItself(t agentapi.Target, ref api.ResourceRef) bool {
	return ref.Group == v1alpha1.Group && ref.Kind == v1alpha1.KindApplication && ref.Namespace == t.Namespace && ref.Name == t.Name
}

func listEvents(ctx context.Context, c dynamic.Interface, key object.Key, uid types.UID) (any, error) {
	// Events about what has no namespace are in this one.
	namespace := cmp.Or(key.Namespace, metav1.NamespaceDefault)
	got, err := c.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace(namespace).List(ctx, metav1.ListOptions{
		FieldSelector: fields.OneTermEqualSelector("involvedObject.uid", string(uid)).String(), Limit: 10 * maxEvents,
	})
	if err != nil {
		return nil, fmt.Errorf("list events of %s: %w", key, err)
	}
	out := api.ResourceEvents{Events: []api.ResourceEvent{}}
	for i := range got.Items {
		var e corev1.Event
		if runtime.DefaultUnstructuredConverter.FromUnstructured(got.Items[i].Object, &e) == nil {
			out.Events = append(out.Events, eventOf(&e))
		}
	}
	slices.SortStableFunc(out.Events, func(a, b api.ResourceEvent) int { return a.Last.Compare(b.Last) })
	out.Events = out.Events[max(0, len(out.Events)-maxEvents):]
	return out, nil
}

func eventOf(e *corev1.Event) api.ResourceEvent {
	out := api.ResourceEvent{
		Type: e.Type, Reason: e.Reason, Message: e.Message, Count: int(e.Count), First: e.FirstTimestamp.Time, Last: e.LastTimestamp.Time,
		Source: cmp.Or(e.Source.Component, e.ReportingController),
	}
	if out.First.IsZero() {
		out.First = firstOf(e.EventTime.Time, e.CreationTimestamp.Time)
	}
	if e.Series != nil {
		out.Count, out.Last = max(out.Count, int(e.Series.Count)), firstOf(e.Series.LastObservedTime.Time, out.Last)
	}
	if out.Last.IsZero() {
		out.Last = out.First
	}
	out.Count = max(out.Count, 1)
	return out
}

func firstOf(times ...time.Time) time.Time {
	for _, t := range times {
		if !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}

package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unique"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// watched is a kind that is watched, and where it is. Of all but pods nothing is read but metadata.
type watched struct {
	kind object.Kind
	path string // up to the namespace
	many string
}

// pods are always watched where an Application has a workload.
func pods() watched { return watched{object.Kind{Kind: "Pod"}, "/api/v1", "pods"} }

// owners are the kinds between a pod and an object of an Application. A kind is watched from when a pod leads to it and
// no further.
func owners(kind object.Kind) (watched, bool) {
	plural := map[object.Kind]string{
		{Group: "apps", Kind: "ReplicaSet"}: "replicasets", {Group: "apps", Kind: "StatefulSet"}: "statefulsets",
		{Group: "apps", Kind: "DaemonSet"}: "daemonsets", {Group: "apps", Kind: "Deployment"}: "deployments",
		{Group: "batch", Kind: "Job"}: "jobs",
	}[kind]
	return watched{kind, "/apis/" + kind.Group + "/v1", plural}, plural != ""
}

// feed watches a kind in one namespace, or in all.
type feed struct {
	watched
	namespace string // "" for all
	of        *cluster
	ctx       context.Context //nolint:containedctx // ends with the watch
	stop      context.CancelFunc
}

func (f *feed) where() string {
	path := f.path
	if f.namespace != "" {
		path += "/namespaces/" + f.namespace
	}
	return path + "/" + f.many
}

func (f *feed) run(client *stream.Client) {
	if f.kind.Kind != "Pod" {
		client = client.Metadata()
	}
	r := cache.NewReflectorWithOptions(client.ListWatch(f.where(), nil, f.note), nil, f, cache.ReflectorOptions{
		Name: "instances " + f.many, TypeDescription: f.many, Clock: live.ClockUntil(f.ctx),
	})
	r.RunWithContext(f.ctx)
}

// note gives up what the agent may not see: it is not asked for again and again.
func (f *feed) note(err error) {
	if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
		f.stop()
		f.of.refused(f, err)
	}
}

// seen is an object reduced to what is kept, as soon as it is decoded.
type seen struct {
	metav1.TypeMeta
	metav1.ObjectMeta
	owner object.Key
	pod   pod
}

// DeepCopyObject is required of every object that a reflector handles.
func (s *seen) DeepCopyObject() runtime.Object { c := *s; return &c }

var _ cache.TransformingStore = (*feed)(nil)

// Transformer reduces objects of a list while it streams in.
func (f *feed) Transformer() cache.TransformFunc {
	return func(v any) (any, error) {
		if o, ok := v.(*stream.Object); ok {
			return f.read(o)
		}
		return v, nil
	}
}

// body is what is read of an object.
type body struct {
	Metadata struct {
		OwnerReferences []struct {
			APIVersion string `json:"apiVersion"`
			Kind       string `json:"kind"`
			Name       string `json:"name"`
			Controller bool   `json:"controller"`
		} `json:"ownerReferences"`
	} `json:"metadata"`
	Spec struct {
		NodeName   string `json:"nodeName"`
		Containers []struct {
			Image string `json:"image"`
		} `json:"containers"`
	} `json:"spec"`
	Status struct {
		Phase      string    `json:"phase"`
		StartTime  time.Time `json:"startTime"`
		Conditions []struct {
			Type   string `json:"type"`
			Status string `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

func (f *feed) read(o *stream.Object) (*seen, error) {
	out := &seen{ObjectMeta: metav1.ObjectMeta{Namespace: o.Namespace, Name: o.Name, ResourceVersion: o.ResourceVersion}}
	var b body
	if err := json.Unmarshal(o.Raw, &b); err != nil {
		return nil, fmt.Errorf("read %s %s/%s: %w", f.kind, o.Namespace, o.Name, err)
	}
	for _, ref := range b.Metadata.OwnerReferences {
		if ref.Controller {
			group, _ := object.SplitAPIVersion(ref.APIVersion)
			out.owner = object.Key{Group: share(group), Kind: share(ref.Kind), Namespace: o.Namespace, Name: ref.Name}
		}
	}
	if f.kind.Kind != "Pod" {
		return out, nil
	}
	out.pod = pod{owner: out.owner, node: unique.Make(b.Spec.NodeName), phase: unique.Make(b.Status.Phase)}
	images := make([]string, 0, len(b.Spec.Containers))
	for _, c := range b.Spec.Containers {
		images = append(images, c.Image)
	}
	out.pod.images = unique.Make(strings.Join(images, imageBreak))
	if !b.Status.StartTime.IsZero() {
		out.pod.started = b.Status.StartTime.Unix()
	}
	for _, c := range b.Status.Conditions {
		out.pod.ready = out.pod.ready || c.Type == "Ready" && c.Status == "True"
	}
	out.pod.over = b.Status.Phase == "Succeeded" || b.Status.Phase == "Failed"
	return out, nil
}

// share keeps words that very many objects have once: names of groups and kinds that this program knows.
func share(word string) string {
	for _, known := range []string{"", "apps", "batch", "ReplicaSet", "StatefulSet", "DaemonSet", "Deployment", "Job", "CronJob"} {
		if word == known {
			return known
		}
	}
	return word
}

func (f *feed) take(v any) (*seen, error) {
	switch o := v.(type) {
	case *seen:
		return o, nil
	case *stream.Object:
		return f.read(o)
	}
	return nil, fmt.Errorf("watch of %s delivered a %T", f.kind, v)
}

func (f *feed) key(namespace, name string) object.Key {
	return object.Key{Group: f.kind.Group, Kind: f.kind.Kind, Namespace: namespace, Name: name}
}

// Add takes a new object.
func (f *feed) Add(v any) error { return f.Update(v) }

// Update takes a changed object.
func (f *feed) Update(v any) error {
	s, err := f.take(v)
	if err == nil {
		f.of.put(f, s)
	}
	return err
}

// Delete takes an object out.
func (f *feed) Delete(v any) error {
	o, ok := v.(*stream.Object)
	if !ok {
		return fmt.Errorf("watch of %s delivered a %T", f.kind, v)
	}
	f.of.drop(f, types.NamespacedName{Namespace: o.Namespace, Name: o.Name})
	return nil
}

// Replace takes a complete list.
func (f *feed) Replace(items []any, _ string) error {
	list := make([]*seen, 0, len(items))
	for _, item := range items {
		s, err := f.take(item)
		if err != nil {
			return err
		}
		list = append(list, s)
	}
	f.of.replace(f, list)
	return nil
}

// Resync has nothing to do: nothing is missed.
func (f *feed) Resync() error { return nil }

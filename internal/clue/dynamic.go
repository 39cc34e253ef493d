package clue

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
)

// Dynamic is a Cluster that asks an API server.
type Dynamic struct {
	Client dynamic.Interface
	Core   typedcorev1.CoreV1Interface // for logs; nil where none are asked for
}

var _ Cluster = Dynamic{}

// maxLog is how much of the end of a log is read, in bytes.
const maxLog = 64 << 10

// Get implements Cluster.
func (d Dynamic) Get(ctx context.Context, what schema.GroupVersionResource, namespace, name string) (map[string]any, error) {
	obj, err := d.Client.Resource(what).Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return obj.Object, nil
}

// List implements Cluster.
func (d Dynamic) List(ctx context.Context, q Query) ([]map[string]any, error) {
	got, err := d.Client.Resource(q.GroupVersionResource).Namespace(q.Namespace).List(ctx, metav1.ListOptions{
		LabelSelector: q.Labels, FieldSelector: q.Fields, Limit: q.Limit,
	})
	if err != nil {
		return nil, err
	}
	out := make([]map[string]any, 0, len(got.Items))
	for i := range got.Items {
		out = append(out, got.Items[i].Object)
	}
	return out, nil
}

// Log implements Cluster.
func (d Dynamic) Log(ctx context.Context, namespace, pod, container string, previous bool) ([]byte, error) {
	lines := int64(api.MaxLogLines)
	limit := int64(maxLog)
	body, err := d.Core.Pods(namespace).GetLogs(pod, &corev1.PodLogOptions{
		Container: container, Previous: previous, TailLines: &lines, LimitBytes: &limit,
	}).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(body, maxLog))
	if err != nil {
		return nil, fmt.Errorf("read log of %s/%s: %w", pod, container, err)
	}
	return raw, nil
}

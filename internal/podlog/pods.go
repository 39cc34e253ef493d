package podlog

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Read returns pods as they are now, without those that are gone. of is what they belong to, for messages.
func Read(ctx context.Context, keys []object.Key, of string, core typedcorev1.CoreV1Interface) ([]corev1.Pod, error) {
	if len(keys) > MaxStreams {
		return nil, TooMany(of, len(keys), "pods")
	}
	var out []corev1.Pod
	for _, k := range keys {
		pod, err := core.Pods(k.Namespace).Get(ctx, k.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", k, err)
		}
		out = append(out, *pod)
	}
	return out, nil
}

package kubelet

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// follow calls see with each state of a pod, the first one immediately. It returns
// when the pod is gone, when see returns true or an error, and when ctx ends.
func (n *node) follow(ctx context.Context, pod *corev1.Pod, see func(*corev1.Pod) (bool, error)) error {
	only := fields.OneTermEqualSelector(metav1.ObjectNameField, pod.Name).String()
	pods := n.client.CoreV1().Pods(pod.Namespace)
	list := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			options.FieldSelector = only
			return pods.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			options.FieldSelector = only
			return pods.Watch(ctx, options)
		},
	}, n.client)
	gone := func(store cache.Store) (bool, error) { return !holds(store, pod.UID), nil }
	_, err := watchtools.UntilWithSync(ctx, list, &corev1.Pod{}, gone, func(event watch.Event) (bool, error) {
		now, ok := event.Object.(*corev1.Pod)
		if event.Type == watch.Deleted || !ok || now.UID != pod.UID {
			return true, nil
		}
		return see(now)
	})
	return err
}

func holds(store cache.Store, uid types.UID) bool {
	for _, item := range store.List() {
		if pod, ok := item.(*corev1.Pod); ok && pod.UID == uid {
			return true
		}
	}
	return false
}

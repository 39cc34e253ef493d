package node

import (
	"context"
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	watchtools "k8s.io/client-go/tools/watch"
)

// simulatedLabel marks the nodes that an Agent plays.
const (
	simulatedLabel = "devcluster/simulated"
	simulatedValue = "true"
)

// Ensure makes count simulated nodes, node-0 to node-(count-1), where they are
// missing, and returns when all of them are ready. Existing simulated nodes
// get the port of the node API if it is another one. Other nodes are left
// alone.
func Ensure(ctx context.Context, client kubernetes.Interface, count, port int) error {
	if err := tellPort(ctx, client, port); err != nil {
		return err
	}
	pending := map[string]bool{}
	for i := range count {
		name := "node-" + strconv.Itoa(i)
		pending[name] = true
		_, err := client.CoreV1().Nodes().Create(ctx, simulated(name), metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("create node %s: %w", name, err)
		}
	}
	if count == 0 {
		return nil
	}
	list := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return client.CoreV1().Nodes().List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return client.CoreV1().Nodes().Watch(ctx, options)
		},
	}, client)
	_, err := watchtools.UntilWithSync(ctx, list, &corev1.Node{}, nil, func(event watch.Event) (bool, error) {
		if node, ok := event.Object.(*corev1.Node); ok && ready(node) {
			delete(pending, node.Name)
		}
		return len(pending) == 0, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %d nodes that are not ready: %w", len(pending), err)
	}
	return nil
}

// tellPort has nodes of before say at which port they are asked now. KWOK sets
// it for new nodes immediately, for these only with their next heartbeat.
func tellPort(ctx context.Context, client kubernetes.Interface, port int) error {
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: simulatedLabel + "=" + simulatedValue})
	if err != nil {
		return fmt.Errorf("list nodes: %w", err)
	}
	patch := fmt.Appendf(nil, `{"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":%d}}}}`, port)
	for i := range nodes.Items {
		node := &nodes.Items[i]
		if node.Status.DaemonEndpoints.KubeletEndpoint.Port == int32(port) {
			continue
		}
		_, err := client.CoreV1().Nodes().Patch(ctx, node.Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		if err != nil {
			return fmt.Errorf("set the port of node %s: %w", node.Name, err)
		}
	}
	return nil
}

func simulated(name string) *corev1.Node {
	return &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name,
		Labels: map[string]string{
			simulatedLabel:                   simulatedValue,
			corev1.LabelHostname:             name,
			corev1.LabelOSStable:             "linux",
			corev1.LabelArchStable:           "amd64",
			"node-role.kubernetes.io/worker": "",
		},
	}}
}

func ready(node *corev1.Node) bool {
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

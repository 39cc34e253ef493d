package testenv

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

func clientFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestNamespacesOfTwoTestsDifferAndPodsRunInThem(t *testing.T) {
	t.Parallel()
	one, two := Namespace(t), Namespace(t)
	if one == two {
		t.Fatalf("both namespaces are %s", one)
	}
	pods := clientFor(t, Cluster(t)).CoreV1().Pods(one)
	_, err := pods.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "pod"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.invalid/app:1"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	err = wait.PollUntilContextTimeout(t.Context(), probeEvery, time.Minute, true, func(ctx context.Context) (bool, error) {
		pod, err := pods.Get(ctx, "pod", metav1.GetOptions{})
		return err == nil && pod.Status.Phase == corev1.PodRunning, err
	})
	if err != nil {
		t.Fatalf("wait until the pod runs: %v", err)
	}
}

func TestTheNamespaceOfATestIsDeletedAtItsEnd(t *testing.T) {
	t.Parallel()
	namespaces := clientFor(t, Cluster(t)).CoreV1().Namespaces()
	var name string
	t.Run("inner", func(t *testing.T) { name = Namespace(t) })
	namespace, err := namespaces.Get(t.Context(), name, metav1.GetOptions{})
	if err == nil && namespace.DeletionTimestamp == nil {
		t.Errorf("namespace %s is still there and nobody deleted it", name)
	}
}

func TestUsersShareOneClusterThatEndsAfterTheLastOfThem(t *testing.T) {
	t.Parallel()
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := findBinary(root)
	if err != nil {
		noCluster(t, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	dir := t.TempDir()
	mark := filepath.Join(dir, "data", "ready")

	join := func() (*os.File, string) {
		t.Helper()
		kubeconfig, hold, err := joinShared(ctx, binary, dir, "500ms")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = hold.Close() })
		data, err := os.ReadFile(mark)
		if err != nil {
			t.Fatal(err)
		}
		clientFor(t, restConfig(t, kubeconfig))
		return hold, string(data)
	}
	ended := func() {
		t.Helper()
		err := wait.PollUntilContextCancel(ctx, probeEvery, true, func(context.Context) (bool, error) {
			running, err := locked(filepath.Join(dir, "data", "lock"))
			return !running, err
		})
		if err != nil {
			t.Fatalf("wait for the end of the cluster: %v", err)
		}
	}

	first, firstMark := join()
	second, secondMark := join()
	if firstMark != secondMark {
		t.Errorf("the second user got another cluster: %s and %s", firstMark, secondMark)
	}
	_ = first.Close()
	if running, err := locked(filepath.Join(dir, "data", "lock")); err != nil || !running {
		t.Errorf("the cluster ended with its first user: running %v, error %v", running, err)
	}
	_ = second.Close()
	ended()

	third, thirdMark := join()
	if thirdMark == firstMark {
		t.Errorf("the third user got the cluster that had ended: %s", thirdMark)
	}
	var ready struct {
		PID int `json:"pid"`
	}
	if err := json.Unmarshal([]byte(thirdMark), &ready); err != nil {
		t.Fatal(err)
	}
	// What it leaves behind looks like a cluster that runs.
	if err := syscall.Kill(ready.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	fourth, fourthMark := join()
	if fourthMark == thirdMark {
		t.Errorf("the fourth user got the cluster that was killed: %s", fourthMark)
	}
	_ = third.Close()
	_ = fourth.Close()
	ended()
}

func TestAPrivateClusterKeepsItsDataOverAKill(t *testing.T) {
	t.Parallel()
	cluster := PrivateCluster(t)
	client := clientFor(t, cluster.Config())
	namespace := NamespaceOn(t, cluster.Config())
	config := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"}}
	if _, err := client.CoreV1().ConfigMaps(namespace).Create(t.Context(), config, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}

	cluster.Kill()
	if _, err := client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{}); err == nil {
		t.Fatal("a killed cluster answers")
	}
	cluster.Restart()
	got, err := client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil || got.Data["a"] != "b" {
		t.Fatalf("after the restart: %v, error %v", got.Data, err)
	}
}

func TestAMissingBinaryIsReportedAsSuch(t *testing.T) {
	t.Setenv("SLIPWAY_DEVCLUSTER", filepath.Join(t.TempDir(), "absent"))
	if _, err := findBinary("/"); !errors.Is(err, errNoBinary) {
		t.Errorf("got %v, want errNoBinary", err)
	}
}

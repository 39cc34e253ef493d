// Package testenv starts the real things that tests need: it is the only place
// that knows how. Shipped code never imports it.
//
// Clusters come from the devcluster binary (see dev/cluster). These variables
// of the environment change where from:
//
//   - SLIPWAY_DEVCLUSTER: path of the binary, instead of bin/devcluster in the
//     repository.
//   - SLIPWAY_TEST_KUBECONFIG: a kubeconfig; Cluster uses what it points at and
//     starts nothing. The user in it must be an administrator.
//   - SLIPWAY_REQUIRE_CLUSTER=1: a test that gets no cluster fails instead of
//     being skipped.
//
// SLIPWAY_REQUIRE_POSTGRES=1 does the same for tests that get no PostgreSQL,
// SLIPWAY_TEST_DELAY slows programs down (see DelayEnv).
package testenv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	// startLimit bounds the wait for a cluster. Usually it takes 3 seconds.
	startLimit = 2 * time.Minute
	// requestLimit bounds one request that this package itself makes.
	requestLimit = time.Minute
	// probeEvery is the time between two looks at a file of another process.
	probeEvery = 20 * time.Millisecond
)

// errNoBinary says that there is no devcluster binary to start.
var errNoBinary = errors.New("no devcluster binary: build it with `make devcluster`, or set SLIPWAY_DEVCLUSTER or SLIPWAY_TEST_KUBECONFIG")

// Cluster returns how to reach the cluster that all tests of a run share, over
// packages and processes, as an administrator without client-side rate limits.
// The first caller starts it; it stops automatically some time after the last test
// process ended. Tests must keep to namespaces of their own (see Namespace) and
// give what has no namespace a unique name. The result is the caller's own.
// Without a cluster the test is skipped, or fails under SLIPWAY_REQUIRE_CLUSTER.
func Cluster(t testing.TB) *rest.Config {
	t.Helper()
	return restConfig(t, Kubeconfig(t))
}

// Kubeconfig returns the path of a kubeconfig for the cluster that Cluster
// describes, under the same conditions. Tests must not change the file.
func Kubeconfig(t testing.TB) string {
	t.Helper()
	path, err := sharedCluster()
	if err != nil {
		noCluster(t, err)
	}
	return path
}

// Namespace makes a namespace with a unique name on the shared cluster and
// returns the name once pods can be created in it. The end of the test deletes
// it, without waiting until it is gone.
func Namespace(t testing.TB) string {
	t.Helper()
	return NamespaceOn(t, Cluster(t))
}

// NamespaceOn does what Namespace does on the cluster of config.
func NamespaceOn(t testing.TB, config *rest.Config) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatalf("make client: %v", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), requestLimit)
	defer cancel()
	made, err := client.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "test-"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create namespace: %v", err)
	}
	name := made.Name
	t.Cleanup(func() {
		// The context of the test is over by now.
		ctx, cancel := context.WithTimeout(context.Background(), requestLimit)
		defer cancel()
		err := client.CoreV1().Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Logf("delete namespace %s: %v", name, err)
		}
	})
	err = wait.PollUntilContextCancel(ctx, probeEvery, true, func(ctx context.Context) (bool, error) {
		_, err := client.CoreV1().ServiceAccounts(name).Get(ctx, "default", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil {
		t.Fatalf("wait for service account of namespace %s: %v", name, err)
	}
	return name
}

// restConfig reads a kubeconfig. At the end of the test unused connections
// are closed, and at the end of its package all others: see Leaked.
func restConfig(t testing.TB, kubeconfig string) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		t.Fatalf("read kubeconfig: %v", err)
	}
	config.QPS = -1
	config.UserAgent = "slipway-test"
	// Clients for equal configurations share one transport: this is theirs.
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatalf("connect with kubeconfig: %v", err)
	}
	closeLater(transport)
	t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(transport) })
	return config
}

// noCluster ends a test that has no cluster.
func noCluster(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errNoBinary) && os.Getenv("SLIPWAY_REQUIRE_CLUSTER") != "1" {
		t.Skipf("this test needs a cluster: %v", err)
	}
	t.Fatalf("this test needs a cluster: %v", err)
}

// findBinary returns the path of devcluster, or errNoBinary.
func findBinary(root string) (string, error) {
	path := os.Getenv("SLIPWAY_DEVCLUSTER")
	if path == "" {
		path = filepath.Join(root, "bin", "devcluster")
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return "", fmt.Errorf("%w (looked at %s)", errNoBinary, path)
	}
	return path, nil
}

// repositoryRoot walks up from the working directory, which for tests is the
// directory of their package, to the one with our go.mod.
func repositoryRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("find repository: %w", err)
	}
	for {
		data, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && strings.HasPrefix(string(data), "module github.com/slipway-gitops/slipway\n") {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("find repository: no go.mod of slipway above the working directory")
		}
		dir = parent
	}
}

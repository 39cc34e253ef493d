package chaos

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// undelayed bounds the wait for a commit in a cluster that answers: it takes a second, and one that does not answer keeps all
// workers for half a minute where nobody keeps it from that.
const undelayed = 30 * time.Second

func TestAClusterThatNeverAnswersDelaysNoApplicationOfAnother(t *testing.T) {
	t.Parallel()
	config, ns := testenv.Cluster(t), testenv.Namespace(t)
	makeHangingCluster(t, ns)
	repo := testenv.Git(t).NewRepo("fleet")
	commit := func(value int) {
		repo.Commit(map[string]string{"cm.yaml": fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\ndata: {value: \"%d\"}\n", value)}, "commit")
	}
	commit(1)
	v := newView(t, config, ns)
	// More Applications go to the cluster that hangs than the agent works on at a time.
	const workers, hanging = 4, 12
	agent := newAgent(t, testenv.Kubeconfig(t), "--namespace", ns, "--installation-id", ns, "--poll", "1s", "--workers", fmt.Sprint(workers))
	agent.Start()
	v.awaitApplicationKind(t)
	v.followApplications(t, ns)
	source := map[string]any{"repoURL": repo.URL(), "path": "."}
	for i := range hanging {
		createApplication(t, config, ns, fmt.Sprintf("hangs-%d", i), source, map[string]any{"name": "hangs", "namespace": ns}, true)
	}
	createApplication(t, config, ns, "works", source, map[string]any{"server": v1alpha1.InClusterServer, "namespace": ns}, true)

	for value := 1; value <= 4; value++ {
		if value > 1 {
			commit(value)
		}
		start := time.Now()
		problem := v.await(t.Context(), undelayed, func(objects map[ref]object) string {
			have, _, _ := unstructured.NestedString(objects[ref{"ConfigMap", "told"}], "data", "value")
			if have != fmt.Sprint(value) {
				return fmt.Sprintf("the healthy cluster is at %q, not at %d", have, value)
			}
			return ""
		})
		if problem != "" {
			t.Fatalf("%s\nthe end of the agent's log:\n%s", problem, agent.Tail())
		}
		t.Logf("commit %d after %s", value, time.Since(start).Round(time.Millisecond))
	}
	problem := v.await(t.Context(), converged, func(objects map[ref]object) string {
		for i := range hanging {
			app := objects[ref{"Application", fmt.Sprintf("hangs-%d", i)}]
			conditions, _, _ := unstructured.NestedSlice(app, "status", "conditions")
			if !strings.Contains(fmt.Sprint(conditions), "ComparisonError") {
				return fmt.Sprintf("hangs-%d does not say that its cluster is away: %v", i, app["status"])
			}
		}
		return ""
	})
	if problem != "" {
		t.Errorf("%s\nthe end of the agent's log:\n%s", problem, agent.Tail())
	}
}

// makeHangingCluster adds a cluster called "hangs" that takes connections and never answers.
func makeHangingCluster(t *testing.T, ns string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	var conns []net.Conn
	wait.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns = append(conns, conn) // held open, never read
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		wait.Wait()
		for _, conn := range conns {
			_ = conn.Close()
		}
	})
	client, err := kubernetes.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	connection, err := json.Marshal(map[string]any{"bearerToken": "none", "tlsClientConfig": map[string]any{"insecure": true}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "hangs", Labels: map[string]string{v1alpha1.LabelSecretType: v1alpha1.SecretTypeCluster}},
		StringData: map[string]string{"name": "hangs", "server": "https://" + listener.Addr().String(), "config": string(connection)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

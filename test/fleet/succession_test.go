package fleet

import (
	"context"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// pair is an agent and its standby in another cluster, which deploy to a third place that both reach.
type pair struct {
	t              *testing.T
	s              *server
	id, ns         string // of both, in their clusters
	target         string // namespace that they deploy to, in the first cluster
	first, standby *testenv.Process
	there          dynamic.Interface // where they deploy to
	elsewhere      *testenv.Private
	repo           *testenv.GitRepo
}

// promote runs `slipway agent promote` against the cluster of the standby.
func (p *pair) promote(kubeconfig string, args ...string) (string, error) {
	p.t.Helper()
	command := exec.CommandContext(p.t.Context(), testenv.Binary(p.t, "slipway"), append([]string{
		"agent", "promote", "--kubeconfig", kubeconfig, "--namespace", p.ns,
	}, args...)...)
	command.Env = testenv.UserEnv(p.t.TempDir() + "/config")
	out, err := command.CombinedOutput()
	return string(out), err
}

// clusterSecret makes the first cluster a destination by a name that both control clusters know.
func clusterSecret(t *testing.T, in *rest.Config, ns string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(in)
	if err != nil {
		t.Fatal(err)
	}
	to := testenv.Cluster(t)
	_, err = client.CoreV1().Secrets(ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"argocd.argoproj.io/secret-type": "cluster"}},
		StringData: map[string]string{"name": "shop", "server": to.Host, "config": clusterConfig(t, to)},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

// clusterConfig is the connection to a cluster as its Secret has it.
func clusterConfig(t *testing.T, to *rest.Config) string {
	t.Helper()
	to = rest.CopyConfig(to)
	if err := rest.LoadTLSFiles(to); err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(map[string]any{"bearerToken": to.BearerToken, "tlsClientConfig": map[string]any{
		"caData": to.CAData, "certData": to.CertData, "keyData": to.KeyData,
	}})
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// createShop makes the Application, which deploys to the cluster called shop.
func createShop(t *testing.T, client dynamic.Interface, ns, repo, target string) {
	t.Helper()
	_, err := client.Resource(applications()).Namespace(ns).Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindApplication, "metadata": map[string]any{"name": "shop"},
		"spec": map[string]any{
			"project":     "default",
			"source":      map[string]any{"repoURL": repo, "path": "shop", "targetRevision": "main"},
			"destination": map[string]any{"name": "shop", "namespace": target},
			"syncPolicy":  map[string]any{"automated": map[string]any{"prune": true}},
		},
	}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create Application: %v", err)
	}
}

// place makes what both clusters must have: the namespace, the destination and the Application.
func (p *pair) place(config *rest.Config, client dynamic.Interface) {
	p.t.Helper()
	clusterSecret(p.t, config, p.ns)
	createShop(p.t, client, p.ns, p.repo.URL(), p.target)
}

func newPair(t *testing.T) *pair {
	t.Helper()
	p := &pair{t: t, ns: testenv.Namespace(t), target: testenv.Namespace(t), there: clientOf(t, testenv.Cluster(t)), repo: repository(t)}
	p.repo.Commit(map[string]string{"shop/one.yaml": configMap("one", "0"), "shop/two.yaml": configMap("two", "0")}, "shop")
	p.s = startServer(t)
	flags := []string{"--succession", "pair-" + p.ns[max(0, len(p.ns)-20):], "--succession-namespace", p.target, "--lease-duration", "6s", "--outbound-allow", "127.0.0.1"}
	p.id, p.first = p.s.newAgent("pair", p.s.url, testenv.Kubeconfig(t), p.ns, flags...)
	p.first.Start()
	await(t, settled, "the first", p.s.connected(p.id), p.first, p.s.Process)
	p.place(testenv.Cluster(t), p.there)
	p.has("one", "0", p.first)

	p.elsewhere = testenv.PrivateCluster(t)
	copyIdentity(t, testenv.Cluster(t), p.ns, p.elsewhere.Config(), p.ns)
	p.standby = p.s.agentProcess("standby", "", p.s.url, p.elsewhere.Kubeconfig(), p.ns, append(flags, "--standby")...)
	p.standby.Start()
	await(t, settled, "the standby", func(context.Context) string {
		if p.standby.Logged("this is a standby") == 0 {
			return "it does not say that it waits"
		}
		return ""
	}, p.standby)
	return p
}

// takesOver promotes the standby. Its resources come to its cluster as Git or a backup brings them.
func (p *pair) takesOver() {
	p.t.Helper()
	if out, err := p.promote(p.elsewhere.Kubeconfig()); err != nil {
		p.t.Fatalf("promote: %v\n%s", err, out)
	}
	await(p.t, settled, "the resources of the standby", func(ctx context.Context) string {
		client := clientOf(p.t, p.elsewhere.Config())
		if _, err := client.Resource(applications()).Namespace(p.ns).List(ctx, metav1.ListOptions{}); err != nil {
			return err.Error()
		}
		return ""
	}, p.standby)
	p.place(p.elsewhere.Config(), clientOf(p.t, p.elsewhere.Config()))
}

// has waits until a ConfigMap that is deployed has a value.
func (p *pair) has(name, value string, who ...*testenv.Process) {
	p.t.Helper()
	await(p.t, settled, name, func(ctx context.Context) string { return valueIn(ctx, p.there, p.target, name, value) }, who...)
}

func TestAStandbyTakesOverFromAnAgentThatIsKilledAndDeletesNothing(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.first.Kill()
	p.takesOver()
	// One file is gone from Git, another one changes.
	p.repo.Delete("shop/two.yaml")
	p.repo.Commit(map[string]string{"shop/one.yaml": configMap("one", "1")}, "one changes")
	p.has("one", "1", p.standby, p.s.Process)
	await(t, settled, "the standby on the server", p.s.connected(p.id), p.standby, p.s.Process)
	if problem := valueIn(t.Context(), p.there, p.target, "two", "0"); problem != "" {
		t.Errorf("it was deleted by the takeover: %s", problem)
	}
	await(t, settled, "the confirmation", func(context.Context) string {
		out, err := p.promote(p.elsewhere.Kubeconfig(), "--confirm")
		if err != nil {
			return out
		}
		return ""
	}, p.standby)

	// The old one comes back: it writes nothing, and says why.
	p.first.Start()
	await(t, settled, "the old one", func(context.Context) string {
		if p.first.Logged("ANOTHER AGENT TOOK OVER") == 0 {
			return "it does not say that another one took over"
		}
		return ""
	}, p.first, p.s.Process)
	p.repo.Commit(map[string]string{"shop/one.yaml": configMap("one", "2")}, "one more")
	p.has("one", "2", p.standby)
	if err := p.there.Resource(configMaps()).Namespace(p.target).Delete(t.Context(), "one", metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	p.s.verifyAudit(t)
}

func TestAnAgentThatIsOnlyCutOffWritesNothingAfterItsStandbyTookOver(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	// The server is away for all, and the old one works on, as it should.
	p.s.Kill()
	p.repo.Commit(map[string]string{"shop/one.yaml": configMap("one", "1")}, "without the server")
	p.has("one", "1", p.first)
	p.takesOver()
	await(t, settled, "the old one", func(context.Context) string {
		p.repo.Commit(map[string]string{"shop/two.yaml": configMap("two", time.Now().String())}, "again")
		if p.first.Logged("ANOTHER AGENT TOOK OVER") == 0 {
			return "it does not say that another one took over"
		}
		return ""
	}, p.first, p.standby)
	if !p.first.EndsWithin(30 * time.Second) {
		t.Error("the old one goes on")
	}
	p.repo.Commit(map[string]string{"shop/one.yaml": configMap("one", "2")}, "for the standby")
	p.has("one", "2", p.standby)
	// Every restart of the old one waits, without server too.
	p.first.Start()
	await(t, settled, "the old one after a restart", func(context.Context) string {
		if p.first.Logged("another agent took over from this one") == 0 {
			return "it does not wait"
		}
		return ""
	}, p.first)
	p.s.Start()
	p.s.awaitReady()
	await(t, settled, "the standby on the server", p.s.connected(p.id), p.standby, p.s.Process)
	if !strings.Contains(string(p.standby.Tail()), "generation") {
		t.Logf("the standby:\n%s", p.standby.Tail())
	}
}

package fleet

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// identity is the Secret that says who an agent is.
const identity = "slipway-agent-identity"

// synced says why an Application does not tell that it is at a commit; any will do where it is "".
func synced(ctx context.Context, client dynamic.Interface, ns, name, commit string) string {
	app, err := client.Resource(applications()).Namespace(ns).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	at := func(path ...string) string {
		text, _, _ := unstructured.NestedString(app.Object, path...)
		return text
	}
	if status, revision := at("status", "sync", "status"), at("status", "sync", "revision"); status != "Synced" || (commit != "" && revision != commit) {
		return fmt.Sprintf("%s is %s at %s, not Synced at %s", name, status, revision, commit)
	}
	if phase := at("status", "operationState", "phase"); phase != "Succeeded" {
		return fmt.Sprintf("the last operation of %s is %q", name, phase)
	}
	return ""
}

// copyIdentity makes an agent of another cluster or namespace say that it is this one.
func copyIdentity(t *testing.T, from *rest.Config, fromNS string, to *rest.Config, toNS string) {
	t.Helper()
	source, err := kubernetes.NewForConfig(from)
	if err != nil {
		t.Fatal(err)
	}
	target, err := kubernetes.NewForConfig(to)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := source.CoreV1().Secrets(fromNS).Get(t.Context(), identity, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: toNS}}
	if _, err := target.CoreV1().Namespaces().Create(t.Context(), ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	_, err = target.CoreV1().Secrets(toNS).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: identity}, Data: secret.Data, Type: secret.Type,
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
}

func TestATwinIsRefusedAndSaysSoAndTheFirstGoesOn(t *testing.T) {
	t.Parallel()
	ns, client := testenv.Namespace(t), clientOf(t, testenv.Cluster(t))
	s := startServer(t)
	id, first := s.newAgent("first", s.url, testenv.Kubeconfig(t), ns)
	first.Start()
	await(t, settled, "the agent", s.connected(id), first, s.Process)
	f := newFollowers(t, client, ns)
	f.await("0", first)
	same := s.mirror(client, id, ns)
	await(t, settled, "the server", same.differs, first, s.Process)

	elsewhere := testenv.PrivateCluster(t)
	copyIdentity(t, testenv.Cluster(t), ns, elsewhere.Config(), ns)
	twin := s.agentProcess("twin", "", s.url, elsewhere.Kubeconfig(), ns)
	twin.Start()
	await(t, settled, "the twin does not say what it is", func(context.Context) string {
		if twin.Logged("TWIN") == 0 {
			return "nothing in its log"
		}
		return ""
	}, twin, s.Process)
	await(t, settled, "the server does not say that there is a twin", func(ctx context.Context) string {
		all, err := s.agents(ctx)
		switch {
		case err != nil:
			return err.Error()
		case all[id].Twin == nil:
			return "nothing in the status of the agent"
		case all[id].Twin.ClusterUID == all[id].ClusterUID:
			return "the twin is said to be in the cluster of the first"
		}
		return ""
	}, s.Process)
	if entries := s.audit(t, "agent.twin"); len(entries) != 1 || entries[0].Outcome != api.OutcomeDenied {
		t.Errorf("the audit says of the twin: %+v", entries)
	}

	f.await(f.commits(time.Second, time.Second), first)
	await(t, settled, "the server after the twin came", same.differs, first, s.Process)
	await(t, settled, "the first", s.connected(id), first, s.Process)
	if first.Logged("TWIN") > 0 || first.Logged("fenced") > 0 {
		t.Errorf("the first was disturbed:\n%s", first.Tail())
	}
	if !soak() {
		return
	}
	// When the first is gone for good, its identity is free. Whoever takes it over in another cluster has none of its
	// Applications, and that deletes nothing.
	first.Stop()
	await(t, 3*time.Minute, "the twin does not take over", s.stale(id, following), twin, s.Process)
}

// stale says why it is not so that the server keeps some Applications of an agent, and marks all of them.
func (s *server) stale(id string, want int) func(context.Context) string {
	return func(ctx context.Context) string {
		kept, err := s.copies(ctx, id)
		if err != nil {
			return err.Error()
		}
		if len(kept) != want {
			return fmt.Sprintf("the server has %d applications, not %d", len(kept), want)
		}
		for name, app := range kept {
			if app.StaleSince.IsZero() {
				return name + " is not marked"
			}
		}
		all, err := s.agents(ctx)
		if err != nil {
			return err.Error()
		}
		if at := all[id]; at.Stale < int64(want) || at.Message == "" {
			return fmt.Sprintf("the agent is said to be %s with %d stale: %q", at.State, at.Stale, at.Message)
		}
		return ""
	}
}

func TestAWipedAgentDeletesNothingInTheServer(t *testing.T) {
	t.Parallel()
	ns, client := testenv.Namespace(t), clientOf(t, testenv.Cluster(t))
	s := startServer(t)
	id, agent := s.newAgent("wiped", s.url, testenv.Kubeconfig(t), ns)
	agent.Start()
	await(t, settled, "the agent", s.connected(id), agent, s.Process)
	f := newFollowers(t, client, ns)
	f.await("0", agent)
	await(t, settled, "the server", s.mirror(client, id, ns).differs, agent, s.Process)

	// All that it had is gone when it comes back.
	agent.Stop()
	if err := client.Resource(applications()).Namespace(ns).DeleteCollection(t.Context(), metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	agent.Start()
	await(t, settled, "after all Applications were deleted", s.stale(id, following), agent, s.Process)

	// It has them again.
	for i := range following {
		createApplication(t, client, ns, f.name(i), f.repo.URL(), f.name(i), true)
	}
	f.await("0", agent)
	await(t, settled, "after all Applications were made again", s.mirror(client, id, ns).differs, agent, s.Process)
	await(t, settled, "the agent that has all of them again", s.connected(id), agent, s.Process)

	// It is started in another namespace.
	agent.Stop()
	other := testenv.Namespace(t)
	copyIdentity(t, testenv.Cluster(t), ns, testenv.Cluster(t), other)
	moved := s.agentProcess("moved", "", s.url, testenv.Kubeconfig(t), other)
	moved.Start()
	await(t, settled, "after a move to another namespace", s.stale(id, following), moved, s.Process)
	s.verifyAudit(t)
}

package fleet

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/statement"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const agentRepository = "registry.example.org/slipway-agent"

func agentImage(c string) string { return agentRepository + "@sha256:" + strings.Repeat(c, 64) }

// releaseKey makes a key for releases, and a file with its public half.
func releaseKey(t *testing.T) (ed25519.PrivateKey, string) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "keys.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return private, file
}

// berth is an agent with its Deployment. What runs is what the Deployment names, as a kubelet would have it.
type berth struct {
	t          *testing.T
	client     kubernetes.Interface
	id, ns     string
	old, fresh *testenv.Process
	runs       string // the image of what runs; "" for nothing
	broken     bool   // the new image does not start
}

// berths makes agents with Deployments, which run the old image.
func berths(t *testing.T, s *server, keys string, names ...string) []*berth {
	t.Helper()
	client, err := kubernetes.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	var all []*berth
	for _, name := range names {
		b := &berth{t: t, client: client, ns: testenv.Namespace(t)}
		none, marks := int32(0), map[string]string{"app": "agent"}
		_, err := client.AppsV1().Deployments(b.ns).Create(t.Context(), &appsv1.Deployment{
			ObjectMeta: metav1.ObjectMeta{Name: "slipway-agent"},
			Spec: appsv1.DeploymentSpec{Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: marks}, Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: marks}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "agent", Image: agentImage("a")}}},
			}},
		}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		flags := []string{"--release-keys", keys, "--lease-duration", "6s"}
		b.id, b.old = s.newAgent(name, s.url, testenv.Kubeconfig(t), b.ns, append(flags, "--image", agentImage("a"))...)
		b.fresh = s.agentProcess(name+"-new", "", s.url, testenv.Kubeconfig(t), b.ns, append(flags, "--image", agentImage("b"))...)
		all = append(all, b)
	}
	return all
}

func (b *berth) image(ctx context.Context) string {
	d, err := b.client.AppsV1().Deployments(b.ns).Get(ctx, "slipway-agent", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	return d.Spec.Template.Spec.Containers[0].Image
}

// tend runs what the Deployment names.
func (b *berth) tend(ctx context.Context) {
	b.t.Helper()
	want := b.image(ctx)
	if want == b.runs {
		return
	}
	switch b.runs {
	case agentImage("a"):
		b.old.Stop()
	case agentImage("b"):
		if !b.broken {
			b.fresh.Stop()
		}
	}
	b.runs = want
	switch {
	case want == agentImage("a"):
		b.old.Start()
	case want == agentImage("b") && !b.broken:
		b.fresh.Start()
	}
}

// release adds a signed release with the new image to the server.
func (s *server) release(key ed25519.PrivateKey, version string) {
	s.t.Helper()
	_, digest, _ := strings.Cut(agentImage("b"), "@")
	raw, err := statement.Sign(statement.Statement{Issued: time.Now(), Releases: []statement.Release{{Version: version, Digest: digest}}}, key)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.admin.AddAgentReleases(s.t.Context(), raw); err != nil {
		s.t.Fatal(err)
	}
}

// upgradable says which agents cannot be upgraded yet.
func (s *server) upgradable(all []*berth) func(context.Context) string {
	return func(ctx context.Context) string {
		status, err := s.agents(ctx)
		if err != nil {
			return err.Error()
		}
		for _, b := range all {
			b.tend(ctx)
			if at := status[b.id]; !at.Upgrades || at.Image != agentImage("a") || at.State != api.AgentConnected {
				return fmt.Sprintf("agent %s is %s, runs %q and says %q", b.id, at.State, at.Image, at.NoUpgrade)
			}
		}
		return ""
	}
}

// over tends the agents until an upgrade is over.
func (s *server) over(id string, all []*berth) api.UpgradePlan {
	s.t.Helper()
	var plan api.UpgradePlan
	await(s.t, settled, "the upgrade", func(ctx context.Context) string {
		for _, b := range all {
			b.tend(ctx)
		}
		var err error
		if plan, err = s.admin.AgentUpgrade(ctx, id); err != nil {
			return err.Error()
		}
		if plan.Upgrade.State == api.UpgradeRunning {
			return fmt.Sprintf("it goes on: %+v", plan.Targets)
		}
		return ""
	}, s.Process, all[0].old, all[0].fresh)
	return plan
}

func TestAgentsAreUpgradedInAWaveWhileTheServerIsKilled(t *testing.T) {
	t.Parallel()
	key, keys := releaseKey(t)
	s := startServer(t, "--release-keys", keys)
	all := berths(t, s, keys, "one", "two", "three")
	await(t, settled, "the agents", s.upgradable(all), s.Process, all[0].old)
	s.release(key, "1.4.0")
	if _, err := s.admin.SetAgentVersions(t.Context(), api.AgentVersions{Rules: []api.AgentVersionRule{{Release: "1.4.0"}}}); err != nil {
		t.Fatal(err)
	}
	request := api.UpgradeRequest{Canary: 1, Steps: []int{50, 100}, MaxUnavailable: 1, Hold: 1, Timeout: 90, Reason: "a test"}
	begun, err := s.admin.UpgradeAgents(t.Context(), request, false)
	if err != nil {
		t.Fatal(err)
	}
	await(t, settled, "the canary", func(ctx context.Context) string {
		for _, b := range all {
			b.tend(ctx)
		}
		plan, err := s.admin.AgentUpgrade(ctx, begun.Upgrade.ID)
		if err != nil {
			return err.Error()
		}
		if plan.Upgrade.Counts.Done == 0 {
			return fmt.Sprintf("%+v", plan.Targets)
		}
		return ""
	}, s.Process, all[0].old)
	s.Kill()
	s.Start()
	s.awaitReady()
	plan := s.over(begun.Upgrade.ID, all)
	if plan.Upgrade.State != api.UpgradeDone || plan.Upgrade.Counts.Done != 3 {
		t.Fatalf("the upgrade is %s: %s: %+v", plan.Upgrade.State, plan.Upgrade.Message, plan.Targets)
	}
	status, err := s.agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range all {
		if status[b.id].Image != agentImage("b") || b.image(t.Context()) != agentImage("b") {
			t.Errorf("agent %s runs %s", b.id, status[b.id].Image)
		}
	}
	if entries := s.audit(t, "agent.upgrade.apply"); len(entries) != 3 {
		t.Errorf("the audit has %d upgrades of agents", len(entries))
	}
	// It is taken back as a whole.
	if _, err := s.admin.ChangeUpgrade(t.Context(), begun.Upgrade.ID, api.UpgradeBack); err != nil {
		t.Fatal(err)
	}
	if plan := s.over(begun.Upgrade.ID, all); plan.Upgrade.State != api.UpgradeReturned || plan.Upgrade.Counts.Returned != 3 {
		t.Errorf("taken back: %s: %+v", plan.Upgrade.State, plan.Targets)
	}
	s.verifyAudit(t)
}

func TestACanaryThatDoesNotStartStopsTheWaveAndComesBack(t *testing.T) {
	t.Parallel()
	key, keys := releaseKey(t)
	s := startServer(t, "--release-keys", keys)
	all := berths(t, s, keys, "one", "two")
	all[0].broken = true
	await(t, settled, "the agents", s.upgradable(all), s.Process, all[0].old)
	s.release(key, "1.4.0")
	begun, err := s.admin.UpgradeAgents(t.Context(), api.UpgradeRequest{
		Release: "1.4.0", Agents: []string{all[0].id, all[1].id}, CanarySelector: nil, Canary: 1, Hold: 1, Timeout: 8,
	}, false)
	if err != nil {
		t.Fatal(err)
	}
	canary := all[0]
	if begun.Targets[0].Agent != canary.id {
		t.Fatalf("the canary is %s", begun.Targets[0].Agent)
	}
	await(t, settled, "the image of the canary", func(ctx context.Context) string {
		if image := canary.image(ctx); image != agentImage("b") {
			return "it is " + image
		}
		canary.tend(ctx)
		return ""
	}, s.Process, canary.old)
	// The Job that the agent made runs this; there is no kubelet here.
	job, err := canary.client.BatchV1().Jobs(canary.ns).Get(t.Context(), "slipway-agent-upgrade", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	args := append(job.Spec.Template.Spec.Containers[0].Args, "--kubeconfig", testenv.Kubeconfig(t))
	guard := testenv.NewProcess(t, "guard", "slipway-agent", t.TempDir(), args...)
	guard.Start()
	plan := s.over(begun.Upgrade.ID, all)
	if plan.Upgrade.State != api.UpgradeFailed || plan.Targets[0].State != api.UpgradeTargetReturned || plan.Targets[1].State != api.UpgradeTargetWaiting {
		t.Errorf("the upgrade is %s: %s: %+v\n%s", plan.Upgrade.State, plan.Upgrade.Message, plan.Targets, guard.Tail())
	}
	if image := all[1].image(t.Context()); image != agentImage("a") {
		t.Errorf("the other agent runs %s", image)
	}
}

package upgrade

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/statement"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const repository = "registry.example.org/mirror/slipway-agent"

func digest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// bench is an agent's Deployment on a cluster, with a key that releases are signed with.
type bench struct {
	t       *testing.T
	ns      string
	config  *rest.Config
	admin   kubernetes.Interface
	keyFile string
	key     ed25519.PrivateKey
}

func newBench(t *testing.T, image string) *bench {
	t.Helper()
	b := &bench{t: t, ns: testenv.Namespace(t), config: testenv.Cluster(t)}
	var err error
	if b.admin, err = kubernetes.NewForConfig(b.config); err != nil {
		t.Fatal(err)
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	b.key, b.keyFile = private, filepath.Join(t.TempDir(), "keys.pem")
	if err := os.WriteFile(b.keyFile, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	none, marks := int32(0), map[string]string{"app": "agent"}
	_, err = b.admin.AppsV1().Deployments(b.ns).Create(t.Context(), &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "slipway-agent"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &none, Selector: &metav1.LabelSelector{MatchLabels: marks},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: marks}, Spec: corev1.PodSpec{Containers: []corev1.Container{
				{Name: "proxy", Image: "registry.example.org/proxy:1"}, {Name: "agent", Image: image, Args: []string{"--standalone"}},
			}}},
		},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// upgrader is one with a client of its own.
func (b *bench) upgrader(client kubernetes.Interface, change func(*Config)) *Upgrader {
	b.t.Helper()
	cfg := Config{
		Client: client, Namespace: b.ns, Deployment: "slipway-agent", Container: "agent", Image: repository + "@" + digest("a"),
		KeyFile: b.keyFile, Log: slog.New(slog.DiscardHandler),
	}
	if change != nil {
		change(&cfg)
	}
	u := New(cfg)
	u.Look(b.t.Context())
	return u
}

// sign is a statement of a release.
func (b *bench) sign(version, digest, minimum string) []byte {
	b.t.Helper()
	return b.signAt(time.Now().Add(time.Hour), statement.Release{Version: version, Digest: digest, Minimum: minimum})
}

// signAt is a statement of a release that was signed at a time.
func (b *bench) signAt(issued time.Time, release statement.Release) []byte {
	b.t.Helper()
	raw, err := statement.Sign(statement.Statement{Issued: issued, Releases: []statement.Release{release}}, b.key)
	if err != nil {
		b.t.Fatal(err)
	}
	return raw
}

func (b *bench) deployment() *appsv1.Deployment {
	b.t.Helper()
	d, err := b.admin.AppsV1().Deployments(b.ns).Get(b.t.Context(), "slipway-agent", metav1.GetOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	return d
}

func (b *bench) image() string { return b.deployment().Spec.Template.Spec.Containers[1].Image }

// as is a client of a user with some rules in the namespace.
func (b *bench) as(name string, rules ...rbacv1.PolicyRule) kubernetes.Interface {
	b.t.Helper()
	meta := metav1.ObjectMeta{Name: name}
	if _, err := b.admin.RbacV1().Roles(b.ns).Create(b.t.Context(), &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{}); err != nil {
		b.t.Fatal(err)
	}
	_, err := b.admin.RbacV1().RoleBindings(b.ns).Create(b.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: meta, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: b.ns + "-" + name}},
	}, metav1.CreateOptions{})
	if err != nil {
		b.t.Fatal(err)
	}
	config := rest.CopyConfig(b.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: b.ns + "-" + name}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		b.t.Fatal(err)
	}
	return client
}

// narrow is what the generated manifest grants for upgrades.
func narrow() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		{APIGroups: []string{"apps"}, Resources: []string{"deployments"}, ResourceNames: []string{"slipway-agent"}, Verbs: []string{"get", "patch"}},
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, Verbs: []string{"create"}},
		{APIGroups: []string{"batch"}, Resources: []string{"jobs"}, ResourceNames: []string{Job}, Verbs: []string{"delete"}},
		{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"get", "create", "update"}},
	}
}

func TestAnAgentRunsWhatASignedReleaseNamesAndGoesBack(t *testing.T) {
	t.Parallel()
	b := newBench(t, repository+":1.3.0")
	u := b.upgrader(b.as("narrow", narrow()...), nil)
	if told := u.Told(agentapi.Versions{Agent: "1.3.0"}); !told.Upgrades || told.NoUpgrade != "" || told.Image != repository+"@"+digest("a") {
		t.Fatalf("it says of itself: %+v", told)
	}
	before := b.deployment()
	in := agentapi.Upgrade{Digest: digest("b"), Statement: b.sign("1.4.0", digest("b"), "")}
	got, err := u.Execute(t.Context(), agentapi.Command{}, in)
	if err != nil {
		t.Fatal(err)
	}
	want := agentapi.Upgraded{Before: repository + ":1.3.0", Image: repository + "@" + digest("b"), Guarded: true}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	after := b.deployment()
	before.Spec.Template.Spec.Containers[1].Image = want.Image
	if d := cmp.Diff(before.Spec, after.Spec); d != "" {
		t.Errorf("more than the image changed:\n%s", d)
	}
	job, err := b.admin.BatchV1().Jobs(b.ns).Get(t.Context(), Job, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The guard runs what is known to work, by its digest: the tag may be another image by then.
	if c := job.Spec.Template.Spec.Containers[0]; c.Image != repository+"@"+digest("a") || c.Args[0] != GuardVerb {
		t.Errorf("the guard runs %s %v", c.Image, c.Args)
	}
	if again, err := u.Execute(t.Context(), agentapi.Command{}, in); err != nil || b.image() != want.Image {
		t.Errorf("once more: %+v, %v", again, err)
	}
	if _, err := u.Execute(t.Context(), agentapi.Command{}, agentapi.Upgrade{Back: true, Digest: digest("c")}); err == nil {
		t.Error("an upgrade to something else was taken back")
	}
	for range 2 { // a command may come twice
		if _, err := u.Execute(t.Context(), agentapi.Command{}, agentapi.Upgrade{Back: true, Digest: digest("b")}); err != nil || b.image() != repository+"@"+digest("a") {
			t.Errorf("going back: %v, it is %s", err, b.image())
		}
	}
}

func TestAnAgentRefusesWhatNoReleaseNamesAndWhatIsTooOld(t *testing.T) {
	t.Parallel()
	image := repository + "@" + digest("a")
	b := newBench(t, image)
	u := b.upgrader(b.admin, func(c *Config) { c.Minimum, c.Version = "1.3.0", "1.3.9" })
	other := newBench(t, image)
	for name, c := range map[string]struct {
		in   agentapi.Upgrade
		code agentapi.Code
		says string
	}{
		"no statement":   {agentapi.Upgrade{Digest: digest("b")}, agentapi.CodePolicy, "statement"},
		"another key":    {agentapi.Upgrade{Digest: digest("b"), Statement: other.sign("1.4.0", digest("b"), "")}, agentapi.CodePolicy, "no trusted key"},
		"another digest": {agentapi.Upgrade{Digest: digest("c"), Statement: b.sign("1.4.0", digest("b"), "")}, agentapi.CodePolicy, "does not name"},
		"a tag":          {agentapi.Upgrade{Digest: "latest", Statement: b.sign("1.4.0", digest("b"), "")}, agentapi.CodePolicy, "does not name"},
		"of another product": {
			agentapi.Upgrade{Digest: digest("b"), Statement: retyped(t, b.sign("1.4.0", digest("b"), ""))}, agentapi.CodePolicy, "no trusted key",
		},
		"for another platform": {agentapi.Upgrade{Digest: digest("b"), Statement: b.signAt(time.Now(), statement.Release{
			Version: "1.4.0", Digest: digest("b"), Platforms: []string{"plan9/mips"},
		})}, agentapi.CodePolicy, "is for plan9/mips"},
		"below its minimum, however it is asked for": {
			agentapi.Upgrade{Digest: digest("b"), Statement: b.sign("1.2.9", digest("b"), ""), AllowDowngrade: true},
			agentapi.CodePolicy,
			"below 1.3.0",
		},
		"older than what it runs": {
			agentapi.Upgrade{Digest: digest("b"), Statement: b.sign("1.3.5", digest("b"), "")}, agentapi.CodePolicy, "older than 1.3.9",
		},
		"older, and signed before it was installed": {agentapi.Upgrade{
			Digest: digest("b"), AllowDowngrade: true,
			Statement: b.signAt(time.Now().Add(-time.Hour), statement.Release{Version: "1.3.5", Digest: digest("b")}),
		}, agentapi.CodePolicy, "and so is its signature"},
		"back without upgrade": {agentapi.Upgrade{Back: true}, agentapi.CodeNotFound, "nothing to go back to"},
	} {
		_, err := u.Execute(t.Context(), agentapi.Command{}, c.in)
		var refused *agentapi.Error
		if !errors.As(err, &refused) || refused.Code != c.code || !strings.Contains(refused.Message, c.says) {
			t.Errorf("%s: %v", name, err)
		}
		if b.image() != image {
			t.Errorf("%s: it is %s", name, b.image())
		}
	}
	down := agentapi.Upgrade{Digest: digest("b"), Statement: b.sign("1.3.5", digest("b"), ""), AllowDowngrade: true}
	if _, err := u.Execute(t.Context(), agentapi.Command{}, down); err != nil || b.image() != repository+"@"+digest("b") {
		t.Errorf("a downgrade that is asked for: %v", err)
	}
}

// retyped is a statement as one of another product: the key signed the type with the rest.
func retyped(t *testing.T, raw []byte) []byte {
	t.Helper()
	out := strings.Replace(string(raw), statement.Type, "application/vnd.other.releases+json", 1)
	if out == string(raw) {
		t.Fatal("the statement does not name its type")
	}
	return []byte(out)
}

// A server that is broken into has all statements that were ever added, and can ask for anything.
func TestAReplayedStatementDoesNotBringAnAgentBackToAnOldVersion(t *testing.T) {
	t.Parallel()
	a, now := repository+"@"+digest("a"), time.Now()
	b := newBench(t, a)
	runs := func(image string) *Upgrader {
		return b.upgrader(b.admin, func(c *Config) { c.Image, c.Version = image, "1.3.0" })
	}
	upgrade := func(from *Upgrader, c string, statement []byte) error {
		_, err := from.Execute(t.Context(), agentapi.Command{}, agentapi.Upgrade{Digest: digest(c), Statement: statement, AllowDowngrade: true})
		return err
	}
	release := func(version, c, minimum string, signed time.Duration) []byte {
		return b.signAt(now.Add(signed), statement.Release{Version: version, Digest: digest(c), Minimum: minimum})
	}
	old, fixed := release("1.3.5", "b", "", 1*time.Hour), release("1.4.0", "c", "1.3.5", 2*time.Hour)
	if err := upgrade(runs(a), "c", fixed); err != nil {
		t.Fatal(err)
	}
	runs(repository + "@" + digest("c")).Confirm(t.Context())
	now140 := runs(repository + "@" + digest("c"))
	if err := upgrade(now140, "b", old); err == nil || !strings.Contains(err.Error(), "sign the statement of 1.3.5 again") {
		t.Errorf("an older statement: %v", err)
	}
	if err := upgrade(now140, "d", release("1.3.4", "d", "", 9*time.Hour)); err == nil || !strings.Contains(err.Error(), "below 1.3.5") {
		t.Errorf("below the minimum of what it runs: %v", err)
	}
	// It was 1.3.0 before, which the release that it runs forbids.
	back := agentapi.Upgrade{Back: true, Digest: digest("c")}
	if _, err := now140.Execute(t.Context(), agentapi.Command{}, back); err == nil || !strings.Contains(err.Error(), "below 1.3.5") {
		t.Errorf("back below the minimum: %v", err)
	}
	if b.image() != repository+"@"+digest("c") {
		t.Fatalf("it runs %s", b.image())
	}
	// The owner of the key wants it back: a statement that is signed later says so. What was the minimum stays it.
	if err := upgrade(now140, "b", release("1.3.5", "b", "", 3*time.Hour)); err != nil {
		t.Fatal(err)
	}
	now135 := runs(repository + "@" + digest("b"))
	now135.Confirm(t.Context())
	if err := upgrade(now135, "d", release("1.3.4", "d", "", 9*time.Hour)); err == nil || !strings.Contains(err.Error(), "below 1.3.5") {
		t.Errorf("below the minimum of what it ran: %v", err)
	}
	if _, err := now135.Execute(t.Context(), agentapi.Command{}, agentapi.Upgrade{Back: true, Digest: digest("b")}); err != nil {
		t.Errorf("back to the newer one: %v", err)
	}
}

func TestAnUpgradeThatIsUnderWayIsNotWhatIsGoneBackTo(t *testing.T) {
	t.Parallel()
	a := repository + "@" + digest("a")
	b := newBench(t, a)
	u := b.upgrader(b.admin, nil)
	for _, c := range []string{"b", "c"} {
		in := agentapi.Upgrade{Digest: digest(c), Statement: b.sign("1.4.0", digest(c), "")}
		if _, err := u.Execute(t.Context(), agentapi.Command{}, in); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := u.Execute(t.Context(), agentapi.Command{}, agentapi.Upgrade{Back: true}); err != nil || b.image() != a {
		t.Errorf("%v: it is %s and not what runs", err, b.image())
	}
}

func TestAnAgentWithoutTheRightSaysSoAndWhatAPersonRuns(t *testing.T) {
	t.Parallel()
	image := repository + "@" + digest("a")
	b := newBench(t, image)
	rules := narrow()
	rules[0].Verbs = []string{"get"}
	reader, stranger := b.upgrader(b.as("reader", rules...), nil), b.upgrader(b.as("stranger"), nil)
	manual := "kubectl -n " + b.ns + " set image deployment/slipway-agent agent="
	for name, u := range map[string]*Upgrader{"may read it": reader, "may do nothing": stranger} {
		if told := u.Told(agentapi.Versions{}); told.Upgrades || !strings.Contains(told.NoUpgrade, manual) {
			t.Errorf("%s: %+v", name, told)
		}
		_, err := u.Execute(t.Context(), agentapi.Command{}, agentapi.Upgrade{Digest: digest("b"), Statement: b.sign("1.4.0", digest("b"), "")})
		var refused *agentapi.Error
		if !errors.As(err, &refused) || refused.Code != agentapi.CodeForbidden || !strings.Contains(refused.Message, manual) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if b.image() != image {
		t.Errorf("it is %s", b.image())
	}
	for name, change := range map[string]func(*Config){
		"no keys":              func(c *Config) { c.KeyFile = "" },
		"a missing file":       func(c *Config) { c.KeyFile = filepath.Join(t.TempDir(), "none") },
		"no Deployment":        func(c *Config) { c.Deployment = "other" },
		"no container":         func(c *Config) { c.Container = "other" },
		"that is never to be":  func(c *Config) { c.Forbidden = "it is hosted" },
		"without what it runs": func(c *Config) { c.Image, c.Pod, c.KeyFile = "", "no-such-pod", "" },
	} {
		if told := b.upgrader(b.admin, change).Told(agentapi.Versions{}); told.Upgrades || told.NoUpgrade == "" {
			t.Errorf("%s: %+v", name, told)
		}
	}
}

func TestTheGuardPutsTheImageBackUnlessTheNewAgentConnects(t *testing.T) {
	t.Parallel()
	for name, connects := range map[string]bool{"connects": true, "crashes": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old, fresh := repository+"@"+digest("a"), repository+"@"+digest("b")
			b := newBench(t, old)
			in := agentapi.Upgrade{Digest: digest("b"), Statement: b.sign("1.4.0", digest("b"), "")}
			if _, err := b.upgrader(b.admin, nil).Execute(t.Context(), agentapi.Command{}, in); err != nil {
				t.Fatal(err)
			}
			b.upgrader(b.admin, nil).Confirm(t.Context()) // the agent before, which is still connected, confirms nothing
			want := old
			if connects {
				want = fresh
				b.upgrader(b.admin, func(c *Config) { c.Image = fresh }).Confirm(t.Context())
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			if err := b.upgrader(b.admin, nil).Guard(ctx, fresh, 10*time.Millisecond); err != nil || b.image() != want {
				t.Errorf("%v: it is %s", err, b.image())
			}
		})
	}
}

package succession

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// site is an agent: its keeper, and a client of the target cluster that its writes go through.
type site struct {
	t      *testing.T
	ns     string // of the agent
	own    kubernetes.Interface
	keeper *Keeper
	target kubernetes.Interface
	there  string // namespace of the target
	ended  chan struct{}
}

// duration is that of the Leases of these tests.
const duration = 2 * time.Second

func newSite(t *testing.T, name, there string) *site {
	t.Helper()
	s := &site{t: t, ns: testenv.Namespace(t), there: there, ended: make(chan struct{})}
	var err error
	if s.own, err = kubernetes.NewForConfig(testenv.Cluster(t)); err != nil {
		t.Fatal(err)
	}
	s.keeper = New(Config{
		Name: name, Namespace: there, Core: s.own.CoreV1().ConfigMaps(s.ns), Superseded: func() { close(s.ended) },
		Log: slog.New(slog.DiscardHandler), Duration: duration,
	})
	config := rest.CopyConfig(testenv.Cluster(t))
	config.Wrap(s.keeper.Guard)
	s.through(config)
	return s
}

// through has the site write with a connection.
func (s *site) through(config *rest.Config) {
	s.t.Helper()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { utilnet.CloseIdleConnectionsFor(client.Transport) })
	if s.target, err = kubernetes.NewForConfigAndClient(config, client); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) await() {
	s.t.Helper()
	if err := s.keeper.Await(s.t.Context(), func(string) {}); err != nil {
		s.t.Fatal(err)
	}
}

// promote writes what `slipway agent promote` does.
func (s *site) promote(generation int64, more map[string]string) {
	s.t.Helper()
	if _, err := Read(s.t.Context(), s.own.CoreV1().ConfigMaps(s.ns), "", false); err != nil {
		s.t.Fatal(err)
	}
	in := s.own.CoreV1().ConfigMaps(s.ns)
	m, err := in.Get(s.t.Context(), ConfigMap, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	m.Data[keyState], m.Data[keyGeneration] = stateActive, strconv.FormatInt(generation, 10)
	for key, value := range more {
		m.Data[key] = value
	}
	if _, err := in.Update(s.t.Context(), m, metav1.UpdateOptions{}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) write(name string) error {
	_, err := s.target.CoreV1().ConfigMaps(s.there).Create(s.t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	return err
}

func (s *site) remove(name string) error {
	return s.target.CoreV1().ConfigMaps(s.there).Delete(s.t.Context(), name, metav1.DeleteOptions{})
}

func TestAPromotedAgentWritesAfterTheOneBeforeCannotAnyMore(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	first, second := newSite(t, "shop", there), newSite(t, "shop", there)
	first.await()
	if err := errors.Join(first.write("a"), first.write("b")); err != nil {
		t.Fatal(err)
	}
	second.promote(7, nil)
	second.await()
	begun := time.Now()
	if err := second.write("c"); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(begun); waited < duration {
		t.Errorf("it waited for %s, and the one before may write for up to %s", waited, duration)
	}
	if err := first.write("d"); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the one before writes: %v", err)
	}
	<-first.ended
	if err := first.remove("a"); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the one before deletes: %v", err)
	}
	// It reads, and finds after a restart that it is to wait.
	if _, err := first.target.CoreV1().ConfigMaps(there).Get(t.Context(), "a", metav1.GetOptions{}); err != nil {
		t.Errorf("it does not read any more: %v", err)
	}
	if p, err := Read(t.Context(), first.own.CoreV1().ConfigMaps(first.ns), "", false); err != nil || p.Active {
		t.Errorf("after a restart: %+v, %v", p, err)
	}
	if err := second.write("e"); err != nil {
		t.Error(err)
	}
	// And back.
	first.promote(8, nil)
	again := newSite(t, "shop", there)
	again.keeper.cfg.Core = first.own.CoreV1().ConfigMaps(first.ns)
	again.await()
	if err := again.write("f"); err != nil {
		t.Error(err)
	}
	if err := second.write("g"); !errors.Is(err, ErrSuperseded) {
		t.Errorf("the second writes: %v", err)
	}
}

func TestAWaitForTheOneBeforeGoesOnAfterARestart(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	first, second := newSite(t, "shop", there), newSite(t, "shop", there)
	first.await()
	if err := first.write("a"); err != nil {
		t.Fatal(err)
	}
	second.promote(7, nil)
	second.await()
	taken := make(chan error, 1)
	begun := time.Now()
	go func() { taken <- second.write("b") }()
	for { // until it holds the Lease, and waits
		lease, err := first.own.CoordinationV1().Leases(there).Get(t.Context(), "slipway-succession-shop", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if lease.Annotations[annotationGeneration] == "7" {
			break
		}
	}
	restarted := newSite(t, "shop", there)
	restarted.keeper.cfg.Core = second.own.CoreV1().ConfigMaps(second.ns)
	restarted.await()
	if err := restarted.write("c"); err != nil {
		t.Fatal(err)
	}
	if waited := time.Since(begun); waited < duration-100*time.Millisecond {
		t.Errorf("a restart wrote after %s", waited)
	}
	if err := <-taken; err != nil {
		t.Error(err)
	}
}

func TestNothingIsDeletedBeforeATakeoverIsConfirmed(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	first, second := newSite(t, "shop", there), newSite(t, "shop", there)
	first.await()
	if err := first.write("a"); err != nil {
		t.Fatal(err)
	}
	second.promote(7, map[string]string{keyDeletions: deletionsHeld})
	second.await()
	if err := second.write("b"); err != nil {
		t.Fatal(err)
	}
	if err := second.remove("a"); !errors.Is(err, ErrHeld) {
		t.Errorf("it deletes: %v", err)
	}
	observed := func() string {
		m, err := second.own.CoreV1().ConfigMaps(second.ns).Get(t.Context(), ConfigMap, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return m.Data[keyObserved]
	}
	second.keeper.Turned(t.Context(), "gone", true, 3)
	second.keeper.Forget("gone")
	second.keeper.Turned(t.Context(), "web", true, 2)
	second.keeper.Turned(t.Context(), "api", false, 2)
	if got := observed(); got != "" {
		t.Errorf("one of two was compared, and it says %q", got)
	}
	second.keeper.Turned(t.Context(), "api", true, 2)
	if got := observed(); got != "7" {
		t.Errorf("all were compared, and it says %q", got)
	}
	second.promote(7, map[string]string{keyDeletions: ""})
	second.keeper.mu.Lock()
	second.keeper.read = time.Time{} // it looks again now and then
	second.keeper.mu.Unlock()
	if err := second.remove("a"); err != nil {
		t.Errorf("confirmed, and still: %v", err)
	}
}

func TestAClusterWithoutALeaseOfTheOneBeforeIsLeftAlone(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	s := newSite(t, "shop", there)
	s.promote(7, nil)
	s.await()
	if err := s.write("a"); err == nil || !strings.Contains(err.Error(), "--unfenced") {
		t.Errorf("it writes where the one before may: %v", err)
	}
	s.promote(7, map[string]string{keyUnfenced: "true"})
	s.await()
	if err := s.write("a"); err != nil {
		t.Error(err)
	}
}

func TestAnAgentThatMayNotHoldTheLeaseWritesNothingAndSaysWhatItNeeds(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	s := newSite(t, "shop", there)
	// The Lease is the agent's matter, whatever account a sync acts as; here the agent itself has few rights.
	config := rest.CopyConfig(testenv.Cluster(t))
	user := s.ns + "-writer"
	_, err := s.own.RbacV1().Roles(there).Create(t.Context(), &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "writer"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"*"}}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	account, err := s.own.CoreV1().ServiceAccounts(there).Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: user}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.own.RbacV1().RoleBindings(there).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "writer"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "writer"},
		Subjects: []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: account.Name, Namespace: there}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := tokenOf(t, s.own, there, account.Name)
	if err != nil {
		t.Fatal(err)
	}
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = token
	config.Wrap(s.keeper.Guard)
	s.through(config)
	s.await()
	if err := s.write("a"); err == nil || !strings.Contains(err.Error(), "get, create and update on Leases") {
		t.Errorf("without the right: %v", err)
	}
}

func tokenOf(t *testing.T, client kubernetes.Interface, ns, account string) (string, error) {
	t.Helper()
	made, err := client.CoreV1().ServiceAccounts(ns).CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return made.Status.Token, nil
}

func TestWhatABackupCopiedFromTheOtherClusterDoesNotMakeAnAgentActive(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	first := newSite(t, "shop", there)
	first.keeper.cfg.Cluster = func(context.Context) (string, error) { return "first", nil }
	first.promote(7, nil)
	first.await()
	m, err := first.own.CoreV1().ConfigMaps(first.ns).Get(t.Context(), ConfigMap, metav1.GetOptions{})
	if err != nil || m.Data[keyCluster] != "first" {
		t.Fatalf("%v: %v", err, m.Data)
	}
	ns := testenv.Namespace(t)
	in := first.own.CoreV1().ConfigMaps(ns)
	copied := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigMap}, Data: m.Data}
	if _, err := in.Create(t.Context(), copied, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for range 2 { // also when it starts again
		p, err := Read(t.Context(), in, "second", true)
		if err != nil || p.Active || p.Generation != 0 || p.Site == m.Data[keySite] {
			t.Errorf("the standby is %+v: %v", p, err)
		}
	}
}

func TestTheNextPromotionIsLaterThanTheOneThatWasSeen(t *testing.T) {
	t.Parallel()
	there := testenv.Namespace(t)
	first, second := newSite(t, "shop", there), newSite(t, "shop", there)
	first.await()
	if err := first.write("a"); err != nil {
		t.Fatal(err)
	}
	second.promote(1<<60, nil) // by a clock that is wrong
	second.await()
	if err := second.write("b"); err != nil {
		t.Fatal(err)
	}
	if err := first.write("c"); !errors.Is(err, ErrSuperseded) {
		t.Fatal(err)
	}
	m, err := first.own.CoreV1().ConfigMaps(first.ns).Get(t.Context(), ConfigMap, metav1.GetOptions{})
	if err != nil || m.Data[keySeen] != strconv.Itoa(1<<60) {
		t.Errorf("%v: %v", err, m.Data)
	}
}

func TestWhatIsStoredIsAWriteAndAQuestionIsNot(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]bool{
		"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews":             false,
		"POST /clusters/c-1/apis/authentication.k8s.io/v1/tokenreviews":           false,
		"POST /apis/shop.example.org/v1/namespaces/shop/reviews":                  true,
		"PUT /apis/shop.example.org/v1/namespaces/apis/bookreviews/one":           true,
		"POST /apis/shop.example.org/v1/namespaces/authorization.k8s.io/reviews":  true,
		"PATCH /api/v1/namespaces/shop/configmaps/one":                            true,
		"PATCH /api/v1/namespaces/shop/configmaps/one?dryRun=All":                 false,
		"DELETE /api/v1/namespaces/shop/configmaps/one":                           true,
		"POST /api/v1/namespaces/shop/pods/one/eviction":                          true,
		"GET /api/v1/namespaces/shop/configmaps/one":                              false,
		"POST /apis/coordination.k8s.io/v1/namespaces/kube-system/leases?dryRun=": true,
	} {
		method, path, _ := strings.Cut(address, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, "https://cluster.example.org"+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		if got := writes(req); got != want {
			t.Errorf("%s is a write: %t", address, got)
		}
	}
}

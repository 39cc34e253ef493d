package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// accountPrefix is how the API server names the accounts that the agent has in sites.
const accountPrefix = "system:serviceaccount:"

// site is a cluster that the agent deploys to, with an account of the agent's there.
type site struct {
	name       string
	cluster    *testenv.Private
	client     kubernetes.Interface
	config     *rest.Config
	namespaces []string // the first has the account
	view       *view    // of the first
	limited    bool     // the account has Roles in the namespaces only
	way        *way     // between agent and API server; nil where there is none
	audit      string   // the API server's audit log
	account    string
	accounts   int
}

func newSite(t *testing.T, name string, namespaces ...string) *site {
	t.Helper()
	s := &site{name: name, namespaces: namespaces, audit: filepath.Join(t.TempDir(), "audit.log")}
	s.cluster = testenv.PrivateCluster(t, "--bare", "--audit-log", s.audit)
	s.config = s.cluster.Config()
	if err := rest.LoadTLSFiles(s.config); err != nil {
		t.Fatal(err)
	}
	var err error
	if s.client, err = kubernetes.NewForConfig(s.config); err != nil {
		t.Fatal(err)
	}
	for _, namespace := range namespaces {
		if _, err := s.client.CoreV1().Namespaces().Create(t.Context(),
			&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	s.view = newView(t, s.config, namespaces[0])
	return s
}

// admit makes an account for the agent and describes the site with it in a Secret, as it was or for the first time. The account of
// before is gone then.
func (s *site) admit(ctx context.Context, home kubernetes.Interface, in string) error {
	before := s.account
	s.accounts++
	s.account = fmt.Sprintf("deploy-%d", s.accounts)
	core := s.client.CoreV1().ServiceAccounts(s.namespaces[0])
	if _, err := core.Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: s.account}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	if err := s.grant(ctx); err != nil {
		return err
	}
	token, err := core.CreateToken(ctx, s.account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	connection, err := json.Marshal(map[string]any{
		"bearerToken": token.Status.Token, "tlsClientConfig": map[string]any{"caData": s.config.CAData},
	})
	if err != nil {
		return err
	}
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: s.name, Labels: map[string]string{v1alpha1.LabelSecretType: v1alpha1.SecretTypeCluster}},
		StringData: map[string]string{"name": s.name, "server": s.config.Host, "config": string(connection)},
	}
	if s.way != nil {
		secret.StringData["server"] = "https://" + s.way.listener.Addr().String()
	}
	if s.limited {
		secret.StringData["namespaces"] = strings.Join(s.namespaces, ",")
	}
	if before == "" {
		_, err = home.CoreV1().Secrets(in).Create(ctx, secret, metav1.CreateOptions{})
		return err
	}
	if _, err = home.CoreV1().Secrets(in).Update(ctx, secret, metav1.UpdateOptions{}); err != nil {
		return err
	}
	return core.Delete(ctx, before, metav1.DeleteOptions{})
}

// grant gives the account its rights: Roles in the namespaces, or all.
func (s *site) grant(ctx context.Context) error {
	subjects := []rbacv1.Subject{{Kind: "ServiceAccount", Name: s.account, Namespace: s.namespaces[0]}}
	named := metav1.ObjectMeta{Name: s.account}
	if !s.limited {
		_, err := s.client.RbacV1().ClusterRoleBindings().Create(ctx, &rbacv1.ClusterRoleBinding{
			ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"}, Subjects: subjects,
		}, metav1.CreateOptions{})
		return err
	}
	for _, namespace := range s.namespaces {
		if _, err := s.client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{ObjectMeta: named, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		}}}, metav1.CreateOptions{}); err != nil {
			return err
		}
		if _, err := s.client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
			ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: s.account}, Subjects: subjects,
		}, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// request is one line of an audit log.
type request struct {
	Verb string
	User struct{ Username string }
	Of   struct{ Resource, Namespace, Name, APIGroup string } `json:"objectRef"`
	URI  string                                               `json:"requestURI"`
}

// writes reports whether it changes something.
func (r *request) writes() bool {
	switch r.Verb {
	case "create", "update", "patch", "delete", "deletecollection":
		return !strings.HasPrefix(r.Of.Resource, "selfsubject") // it asks only
	}
	return false
}

// asked are the agent's requests to the site so far.
func (s *site) asked(t *testing.T) []request {
	t.Helper()
	file, err := os.Open(s.audit)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var out []request
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r request
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("read audit log: %v", err)
		}
		if strings.HasPrefix(r.User.Username, accountPrefix+s.namespaces[0]+":deploy-") {
			out = append(out, r)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// way is a TCP connection to an API server that can stop to carry anything, without closing.
type way struct {
	listener net.Listener
	to       string
	wait     sync.WaitGroup

	mu    sync.Mutex
	held  chan struct{} // closed when bytes go on; nil while they do
	conns []net.Conn
}

// newWay leads to the API server of a configuration until the end of the test.
func newWay(t *testing.T, config *rest.Config) *way {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &way{listener: listener, to: strings.TrimPrefix(config.Host, "https://")}
	w.wait.Go(w.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		w.repair()
		w.mu.Lock()
		for _, conn := range w.conns {
			_ = conn.Close()
		}
		w.mu.Unlock()
		w.wait.Wait()
	})
	return w
}

func (w *way) accept() {
	for {
		from, err := w.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", w.to)
		if err != nil {
			_ = from.Close()
			continue
		}
		w.mu.Lock()
		w.conns = append(w.conns, from, to)
		w.mu.Unlock()
		w.wait.Go(func() { w.carry(to, from) })
		w.wait.Go(func() { w.carry(from, to) })
	}
}

// carry passes bytes on, unless they are held.
func (w *way) carry(to, from net.Conn) {
	defer func() { _, _ = to.Close(), from.Close() }()
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		if held != nil {
			<-held
		}
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil || n == 0 {
			return
		}
	}
}

func (w *way) hang() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = make(chan struct{})
}

func (w *way) repair() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.held != nil {
		close(w.held)
		w.held = nil
	}
}

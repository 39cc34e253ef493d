package e2e

import (
	"context"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// site is the story's cluster as a further one: at an address of its own, with accounts that have Roles in some namespaces only. What
// arrives there is noted.
type site struct {
	name       string
	namespaces []string
	server     *httptest.Server
	client     kubernetes.Interface
	accounts   int

	mu    sync.Mutex
	asked map[string]bool
	held  chan struct{} // closed when requests go on; nil while they do
}

// cmdCluster makes further clusters: cluster namespace VARIABLE makes a namespace; cluster add NAME NAMESPACES makes a cluster, and its
// Secret; cluster rotate NAME gives the Secret a new account, and takes the old one away; cluster hang NAME and cluster mend NAME hold
// requests up; cluster inside NAME checks that no request was about anything else than the namespaces. ! cluster NAME deletes the Secret.
func cmdCluster(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, neg && len(args) == 1 || !neg && len(args) >= 2, "cluster namespace|add|rotate|hang|mend|inside NAME, or ! cluster NAME")
	if neg {
		cmdSecret(ts, true, args)
		return
	}
	if args[0] == "namespace" {
		ts.Setenv(args[1], testenv.Namespace(s.t))
		return
	}
	if args[0] == "add" {
		need(ts, len(args) == 3, "cluster add NAME NAMESPACES")
		s.sites = append(s.sites, newSite(s, args[1], strings.Split(args[2], ",")))
	}
	at := slices.IndexFunc(s.sites, func(c *site) bool { return c.name == args[1] })
	need(ts, at >= 0, "there is no such cluster")
	c := s.sites[at]
	switch args[0] {
	case "add", "rotate":
		ts.Check(c.account(s))
	case "hang":
		c.mu.Lock()
		c.held = make(chan struct{})
		c.mu.Unlock()
	case "mend":
		c.mend()
	case "inside":
		ts.Check(c.inside())
	default:
		ts.Fatalf("cluster %s is nothing", args[0])
	}
}

func newSite(s *story, name string, namespaces []string) *site {
	config := testenv.Cluster(s.t)
	c := &site{name: name, namespaces: namespaces, client: kubernetes.NewForConfigOrDie(config), asked: map[string]bool{}}
	to, err := url.Parse(config.Host)
	if err != nil {
		s.t.Fatal(err)
	}
	transport, err := rest.TransportFor(rest.AnonymousClientConfig(config))
	if err != nil {
		s.t.Fatal(err)
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(to) }, Transport: transport, FlushInterval: -1,
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
	}
	c.server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked[r.Method+" "+r.URL.Path] = true
		held := c.held
		c.mu.Unlock()
		if held != nil {
			select {
			case <-held:
			case <-r.Context().Done():
				return
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	s.t.Cleanup(func() {
		c.mend()
		c.server.CloseClientConnections()
		c.server.Close()
		utilnet.CloseIdleConnectionsFor(transport)
	})
	return c
}

func (c *site) mend() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held != nil {
		close(c.held)
		c.held = nil
	}
}

// account makes a new account with Roles in the namespaces, puts its token into the Secret, and takes the account of before away.
func (c *site) account(s *story) error {
	ctx, cancel := s.requestContext()
	defer cancel()
	before := fmt.Sprintf("%s-%d", c.name, c.accounts)
	c.accounts++
	account := fmt.Sprintf("%s-%d", c.name, c.accounts)
	home := c.namespaces[0]
	if _, err := c.client.CoreV1().ServiceAccounts(home).Create(ctx,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	for _, namespace := range c.namespaces {
		if err := c.grant(ctx, account, home, namespace); err != nil {
			return err
		}
	}
	token, err := c.client.CoreV1().ServiceAccounts(home).CreateToken(ctx, account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.server.Certificate().Raw})
	connection, err := json.Marshal(map[string]any{"bearerToken": token.Status.Token, "tlsClientConfig": map[string]any{"caData": ca}})
	if err != nil {
		return err
	}
	if err := s.apply(&unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Secret", "stringData": map[string]any{
			"name": s.app + "-" + c.name, "server": c.server.URL, "namespaces": strings.Join(c.namespaces, ","), "config": string(connection),
		},
		"metadata": map[string]any{
			"name": s.app + "-" + c.name, "namespace": s.agent.namespace, "labels": map[string]any{v1alpha1.LabelSecretType: v1alpha1.SecretTypeCluster},
		},
	}}); err != nil || c.accounts == 1 {
		return err
	}
	return c.client.CoreV1().ServiceAccounts(home).Delete(ctx, before, metav1.DeleteOptions{})
}

func (c *site) grant(ctx context.Context, account, home, namespace string) error {
	if _, err := c.client.RbacV1().Roles(namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: account}, Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete"},
		}},
	}, metav1.CreateOptions{}); err != nil {
		return err
	}
	_, err := c.client.RbacV1().RoleBindings(namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: account}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: home}},
	}, metav1.CreateOptions{})
	return err
}

// inside checks what arrived.
func (c *site) inside() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	about := regexp.MustCompile(`^(GET (/version|/api|/apis|/api/[^/]+|/apis/[^/]+|/apis/[^/]+/[^/]+|/openapi/.*)|[A-Z]+ /(api|apis/[^/]+)/[^/]+/namespaces/(` +
		strings.Join(c.namespaces, "|") + `)/[^/]+.*)$`)
	watched := 0
	for what := range c.asked {
		if !about.MatchString(what) {
			return fmt.Errorf("the agent asked for %s, which is outside of %v", what, c.namespaces)
		}
		if strings.Contains(what, "/namespaces/") {
			watched++
		}
	}
	if watched == 0 {
		return fmt.Errorf("the agent asked for nothing in %v", c.namespaces)
	}
	return nil
}

package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1/crd"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// narrowProject permits two namespaces, one of them by a pattern, and four kinds.
const narrowProject = `apiVersion: argoproj.io/v1alpha1
kind: AppProject
metadata: {name: team, namespace: shop}
spec:
  sourceRepos: ["*"]
  destinations: [{server: "https://kubernetes.default.svc", namespace: shop-a}, {name: in-cluster, namespace: "*-b"}]
  namespaceResourceWhitelist: [{group: "", kind: ConfigMap}, {group: "", kind: Service}, {group: apps, kind: Deployment}, {group: batch, kind: Job}]
`

// narrowManifests are a hook, and an object of each of the other kinds.
func narrowManifests(value string) map[string]string {
	return map[string]string{
		"a.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told}\ndata: {value: \"" + value + "\"}\n",
		"b.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: told, namespace: shop-b}\ndata: {value: \"" + value + "\"}\n",
		"c.yaml": "apiVersion: v1\nkind: Service\nmetadata: {name: told}\nspec: {selector: {app: told}, ports: [{port: 80}]}\n",
		"d.yaml": "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: told}\nspec:\n  replicas: 0\n  selector: {matchLabels: {app: told}}\n" +
			"  template: {metadata: {labels: {app: told}}, spec: {containers: [{name: main, image: registry.example.org/told}]}}\n",
	}
}

// applied puts a manifest into the site's cluster, as an administrator would.
func (s *site) applied(t *testing.T, manifests ...[]byte) {
	t.Helper()
	client, err := dynamic.NewForConfig(s.config)
	if err != nil {
		t.Fatal(err)
	}
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(s.client.Discovery()))
	for _, text := range manifests {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &obj.Object); err != nil {
			t.Fatal(err)
		}
		mapping, err := mapper.RESTMapping(obj.GroupVersionKind().GroupKind(), obj.GroupVersionKind().Version)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Resource(mapping.Resource).Namespace(obj.GetNamespace()).Apply(t.Context(), obj.GetName(), obj,
			metav1.ApplyOptions{FieldManager: "test", Force: true}); err != nil {
			t.Fatalf("apply %s %s: %v", obj.GetKind(), obj.GetName(), err)
		}
	}
}

// awaitKind waits until the API server serves a kind of ours.
func (s *site) awaitKind(t *testing.T, plural string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), probe, converged, true, func(ctx context.Context) (bool, error) {
		list, err := s.client.Discovery().ServerResourcesForGroupVersion(v1alpha1.GroupVersion().String())
		if err != nil {
			return false, nil //nolint:nilerr // not yet
		}
		return slices.ContainsFunc(list.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }), nil
	})
	if err != nil {
		t.Fatalf("%s are not served: %v", plural, err)
	}
}

// probe is the time between two looks at what no watch reports.
const probe = 50 * time.Millisecond

// kubeconfigOf is a kubeconfig of an account in the first namespace.
func (s *site) kubeconfigOf(t *testing.T, account string) string {
	t.Helper()
	core := s.client.CoreV1().ServiceAccounts(s.namespaces[0])
	if _, err := core.Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	token, err := core.CreateToken(t.Context(), account, &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kubeconfig")
	err = clientcmd.WriteToFile(clientcmdapi.Config{
		Clusters:  map[string]*clientcmdapi.Cluster{"own": {Server: s.config.Host, CertificateAuthorityData: s.config.CAData}},
		AuthInfos: map[string]*clientcmdapi.AuthInfo{account: {Token: token.Status.Token}},
		Contexts:  map[string]*clientcmdapi.Context{"own": {Cluster: "own", AuthInfo: account}}, CurrentContext: "own",
	}, path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// ownRole gives the agent what it uses for its own resources and settings, as its manifest does.
func (s *site) ownRole(t *testing.T, account string) {
	t.Helper()
	work := []string{"get", "list", "watch", "create", "update", "patch", "delete"}
	named := metav1.ObjectMeta{Name: account, Namespace: s.namespaces[0]}
	role := &rbacv1.Role{ObjectMeta: named, Rules: []rbacv1.PolicyRule{
		{APIGroups: []string{v1alpha1.Group}, Resources: []string{"applications", "applications/status", "applicationsets", "appprojects"}, Verbs: work},
		{APIGroups: []string{""}, Resources: []string{"configmaps", "secrets"}, Verbs: work},
		{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"get", "list"}},
		{APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: work},
		{APIGroups: []string{"apps"}, Resources: []string{"deployments", "statefulsets"}, Verbs: []string{"get", "list"}},
	}}
	if _, err := s.client.RbacV1().Roles(s.namespaces[0]).Create(t.Context(), role, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.RbacV1().RoleBindings(s.namespaces[0]).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: named, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: account},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: account, Namespace: s.namespaces[0]}},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestTheRolesMadeOfAProjectAreEnoughForItsApplications(t *testing.T) {
	const account = "deploy-agent"
	s := newSite(t, "own", "shop", "shop-a", "shop-b", "elsewhere")
	definitions, err := crd.Manifests()
	if err != nil {
		t.Fatal(err)
	}
	s.applied(t, definitions...)
	s.view.awaitApplicationKind(t)
	s.view.followApplications(t, "shop")
	s.awaitKind(t, "appprojects")
	s.applied(t, []byte(narrowProject))
	s.ownRole(t, account)
	kubeconfig := s.kubeconfigOf(t, account)

	roles := exec.CommandContext(t.Context(), testenv.Binary(t, "slipway"), "agent", "roles", "-n", "shop", "--namespaces", "shop-b,elsewhere",
		"--service-account", account, "--kubeconfig", s.cluster.Kubeconfig())
	roles.Env = []string{"HOME=" + t.TempDir()}
	var complaints bytes.Buffer
	roles.Stderr = &complaints
	text, err := roles.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, &complaints)
	}
	if strings.Contains(string(text), "elsewhere") || strings.Contains(string(text), "*") {
		t.Fatalf("more than the project permits:\n%s", text)
	}
	documents := bytes.Split(bytes.TrimPrefix(text, []byte("---\n")), []byte("---\n"))
	s.applied(t, documents...)

	repo := testenv.Git(t).NewRepo("shop")
	repo.Commit(narrowManifests("1"), "begin")
	agent := newAgent(t, kubeconfig, "--namespaced", "--install-crds=false", "--namespace", "shop", "--poll", "1s")
	agent.Start()
	createApplication(t, s.config, "shop", "web", map[string]any{"repoURL": repo.URL(), "path": "."},
		map[string]any{"name": "in-cluster", "namespace": "shop-a"}, true, "team")
	synced := func(when string) {
		t.Helper()
		head := repo.Head("main")
		problem := s.view.await(t.Context(), converged, func(objects map[ref]object) string {
			app := objects[ref{"Application", "web"}]
			status, _, _ := unstructured.NestedString(app, "status", "sync", "status")
			revision, _, _ := unstructured.NestedString(app, "status", "sync", "revision")
			if status != "Synced" || revision != head {
				return fmt.Sprintf("%s: the Application is not synced at %s: %v", when, head, app["status"])
			}
			return ""
		})
		if problem != "" {
			t.Fatalf("%s\nthe end of the agent's log:\n%s", problem, agent.Tail())
		}
	}
	synced("begin")
	repo.Commit(narrowManifests("2"), "change")
	synced("change")
	repo.Delete("b.yaml", "d.yaml")
	synced("delete")

	for _, refused := range s.refusals(t, accountPrefix+"shop:"+account) {
		t.Errorf("the Roles are not enough for %s", refused)
	}
}

// refusals are the requests of an account that the API server did not allow.
func (s *site) refusals(t *testing.T, user string) []string {
	t.Helper()
	file, err := os.Open(s.audit)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	var out []string
	seen := 0
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r struct {
			request
			Status struct{ Code int } `json:"responseStatus"`
		}
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatalf("read audit log: %v", err)
		}
		if r.User.Username != user {
			continue
		}
		seen++
		if what := r.Verb + " " + r.URI; r.Status.Code == 403 && !slices.Contains(out, what) {
			out = append(out, what)
		}
	}
	if err := lines.Err(); err != nil || seen == 0 {
		t.Fatalf("the audit log has %d requests of %s: %v", seen, user, err)
	}
	return out
}

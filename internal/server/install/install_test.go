package install_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/install"
)

const certificate = "-----BEGIN CERTIFICATE-----\nTUlJ\n-----END CERTIFICATE-----\n"

const releaseKey = "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n-----END PUBLIC KEY-----\n"

// objects reads a manifest strictly: a field that Kubernetes does not know is an error.
func objects(t *testing.T, text []byte) map[string]runtime.Object {
	t.Helper()
	out := map[string]runtime.Object{}
	reader := utilyaml.NewYAMLReader(bufioReader(text))
	for {
		doc, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		var kind struct {
			Kind     string `json:"kind"`
			Metadata struct {
				Name string `json:"name"`
			} `json:"metadata"`
		}
		if err := yaml.Unmarshal(doc, &kind); err != nil {
			t.Fatal(err)
		}
		if kind.Kind == "" {
			continue // the comment at the beginning
		}
		into, ok := map[string]runtime.Object{
			"Namespace": &corev1.Namespace{}, "ServiceAccount": &corev1.ServiceAccount{}, "ConfigMap": &corev1.ConfigMap{}, "Service": &corev1.Service{},
			"Deployment": &appsv1.Deployment{}, "Role": &rbacv1.Role{}, "RoleBinding": &rbacv1.RoleBinding{},
			"ClusterRole": &rbacv1.ClusterRole{}, "ClusterRoleBinding": &rbacv1.ClusterRoleBinding{},
			"Secret": &corev1.Secret{},
		}[kind.Kind]
		if !ok {
			t.Fatalf("a %s is not expected", kind.Kind)
		}
		if err := yaml.UnmarshalStrict(doc, into); err != nil {
			t.Fatalf("%s: %v", kind.Kind, err)
		}
		key := kind.Kind
		if out[key] != nil { // the second of a kind
			key += "/" + kind.Metadata.Name
		}
		out[key] = into
	}
}

func bufioReader(text []byte) *bufio.Reader { return bufio.NewReader(bytes.NewReader(text)) }

func deployment(t *testing.T, o install.Options) *appsv1.Deployment {
	t.Helper()
	text, err := install.Manifest(o)
	if err != nil {
		t.Fatal(err)
	}
	d, ok := objects(t, text)["Deployment"].(*appsv1.Deployment)
	if !ok {
		t.Fatal("there is no Deployment")
	}
	return d
}

func options(o api.InstallOptions) install.Options {
	return install.Options{InstallOptions: o, Server: "https://slipway.example.org", Agent: "account.prod", Version: "1.2.3"}
}

func TestAnAgentHasWhatItNeedsAndNoSecret(t *testing.T) {
	t.Parallel()
	text, err := install.Manifest(options(api.InstallOptions{}))
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, text)
	for _, kind := range []string{"Namespace", "ServiceAccount", "ClusterRole", "ClusterRoleBinding", "Deployment", "Service"} {
		if all[kind] == nil {
			t.Errorf("there is no %s", kind)
		}
	}
	if all["Role"] != nil || all["ConfigMap"] != nil || bytes.Contains(text, []byte("kind: Secret")) {
		t.Error("there is more than it needs")
	}
	d := deployment(t, options(api.InstallOptions{}))
	c := d.Spec.Template.Spec.Containers[0]
	for _, want := range []string{"--server=https://slipway.example.org", "--namespace=argocd", "--registration-token-file=/etc/slipway/registration/token"} {
		if !strings.Contains(strings.Join(c.Args, " "), want) {
			t.Errorf("%s is not among %q", want, c.Args)
		}
	}
	if c.Image != "ghcr.io/slipway-gitops/slipway-agent:1.2.3" {
		t.Errorf("image %s", c.Image)
	}
	registration := d.Spec.Template.Spec.Volumes[2].Secret
	if registration.SecretName != install.SecretName || registration.Optional == nil || !*registration.Optional {
		t.Errorf("the registration: %+v", registration)
	}
}

func TestANamespacedAgentHasNothingOfTheCluster(t *testing.T) {
	t.Parallel()
	text, err := install.Manifest(options(api.InstallOptions{Namespaced: true, Namespace: "team"}))
	if err != nil {
		t.Fatal(err)
	}
	all := objects(t, text)
	for _, kind := range []string{"Namespace", "ClusterRole", "ClusterRoleBinding"} {
		if all[kind] != nil {
			t.Errorf("there is a %s", kind)
		}
	}
	for kind, object := range all {
		if n, ok := object.(interface{ GetNamespace() string }); !ok || n.GetNamespace() != "team" {
			t.Errorf("%s is not in the namespace", kind)
		}
	}
	if args := deployment(t, options(api.InstallOptions{Namespaced: true})).Spec.Template.Spec.Containers[0].Args; !strings.Contains(strings.Join(args, " "), "--install-crds=false") {
		t.Errorf("it would make definitions: %q", args)
	}
}

func TestANamespacedAgentDeploysToItsNamespacesWithItsOwnAccount(t *testing.T) {
	t.Parallel()
	text, err := install.Manifest(options(api.InstallOptions{Namespaced: true, Namespace: "team", Namespaces: []string{"shop-b", "shop-a"}}))
	if err != nil {
		t.Fatal(err)
	}
	secret, ok := objects(t, text)["Secret"].(*corev1.Secret)
	if !ok || secret.Namespace != "team" || secret.Labels["argocd.argoproj.io/secret-type"] != "cluster" {
		t.Fatalf("%v", secret)
	}
	if secret.StringData["namespaces"] != "shop-a,shop-b" || secret.StringData["server"] != "https://kubernetes.default.svc" || len(secret.StringData) != 3 {
		t.Errorf("it has %v", secret.StringData)
	}
	for _, namespace := range []string{"shop-a", "shop-b"} {
		if !strings.Contains(string(text), "name: slipway-agent-deploy\n  namespace: "+namespace) {
			t.Errorf("there is no Role in %s", namespace)
		}
	}
	for _, wrong := range []api.InstallOptions{
		{Namespaces: []string{"a"}}, {Namespaced: true, Namespaces: []string{"a,b"}}, {Namespaced: true, Namespaces: []string{"*"}},
	} {
		if _, err := install.Manifest(options(wrong)); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}

func TestAManifestFitsTheNetworkItIsFor(t *testing.T) {
	t.Parallel()
	d := deployment(t, options(api.InstallOptions{
		Registry: "registry.example.org/mirror", PullSecret: "pull", Proxy: "http://proxy.example.org:3128", NoProxy: "10.0.0.0/8",
		CA: certificate, ExistingSecret: "mine",
	}))
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	if c.Image != "registry.example.org/mirror/slipway-agent:1.2.3" || pod.ImagePullSecrets[0].Name != "pull" {
		t.Errorf("image %s, %v", c.Image, pod.ImagePullSecrets)
	}
	env := map[string]string{}
	for _, e := range c.Env {
		env[e.Name] = e.Value
	}
	if env["HTTPS_PROXY"] != "http://proxy.example.org:3128" || !strings.Contains(env["NO_PROXY"], "$(KUBERNETES_SERVICE_HOST),10.0.0.0/8") {
		t.Errorf("environment %v", env)
	}
	if !strings.Contains(strings.Join(c.Args, " "), "--server-ca=/etc/slipway/ca/ca.crt") || pod.Volumes[2].Secret.SecretName != "mine" {
		t.Errorf("arguments %q, volumes %v", c.Args, pod.Volumes)
	}
}

func TestValuesSayTheSameForHelm(t *testing.T) {
	t.Parallel()
	text, err := install.Values(options(api.InstallOptions{Registry: "r.example.org", Proxy: "http://p:1", CA: certificate, Namespaced: true}))
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	if values["image"] != "r.example.org/slipway-agent:1.2.3" || values["namespaced"] != true || values["installCRDs"] != false || values["ca"] != certificate {
		t.Errorf("%s", text)
	}
}

func TestWhatNobodyMeantIsRefused(t *testing.T) {
	t.Parallel()
	for _, o := range []api.InstallOptions{
		{Namespace: "a\nkind: Secret"},
		{ExistingSecret: "A b"},
		{Registry: "https://registry.example.org"},
		{Registry: "a b"},
		{Proxy: "proxy:3128"},
		{Proxy: "http://me:secret@proxy:3128"},
		{NoProxy: "a\nb"},
		{CA: "not a certificate"},
		{Succession: "a\n--shadow"},
		{Standby: true},
		{CA: "-----BEGIN PRIVATE KEY-----\nTUlJ\n-----END PRIVATE KEY-----\n"},
	} {
		if text, err := install.Manifest(options(o)); err == nil {
			t.Errorf("%+v gives\n%s", o, text)
		} else if strings.Contains(err.Error(), "secret@") {
			t.Errorf("the error tells the password: %v", err)
		}
	}
}

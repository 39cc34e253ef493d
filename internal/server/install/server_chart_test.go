package install_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// serverChart renders the chart of the server.
func serverChart(t *testing.T, namespace, values string) (string, error) {
	t.Helper()
	chart, err := loader.Load(filepath.Join("..", "..", "..", "deploy", "helm", "slipway-server"))
	if err != nil {
		t.Fatal(err)
	}
	var parsed map[string]any
	if err := yaml.Unmarshal([]byte(values), &parsed); err != nil {
		t.Fatal(err)
	}
	top, err := util.ToRenderValues(chart, parsed, common.ReleaseOptions{Name: "slipway", Namespace: namespace}, nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := engine.Engine{}.RenderWithContext(t.Context(), chart, top)
	return files["slipway-server/templates/server.yaml"], err
}

// Values of an installation on one volume, and of one with several servers.
const (
	oneServer      = "publicURL: https://slipway.example.org\ntls: {existingSecret: cert}\n"
	severalServers = `publicURL: https://slipway.example.org
replicas: 3
database: {existingSecret: database}
signingKey: {existingSecret: key}
admin: {existingSecret: admin}
oidc: {existingSecret: oidc}
tls: {insecureHTTP: true}
trustedProxies: [10.0.0.0/8, 192.168.1.1]
ingress: {enabled: true, className: nginx, tlsSecret: cert, annotations: {a: b}}
networkPolicy:
  from: [{namespaceSelector: {matchLabels: {name: ingress}}}]
  metricsFrom: [{namespaceSelector: {matchLabels: {name: monitoring}}}]
extraEnv: [{name: OTEL_EXPORTER_OTLP_ENDPOINT, value: "http://collector:4318"}]
extraArgs: [--log-level=debug]
nodeSelector: {kubernetes.io/os: linux}
imagePullSecrets: [{name: pull}]
`
)

func TestAClusterTakesEveryObjectOfTheServersChart(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, values string
		kinds, args  []string
	}{
		{
			"one on a volume", oneServer,
			[]string{"ServiceAccount", "PersistentVolumeClaim", "Deployment", "Service", "NetworkPolicy"},
			[]string{"--tls-cert=/etc/slipway/tls/tls.crt", "--public-url=https://slipway.example.org"},
		},
		{
			"several on PostgreSQL behind an ingress", severalServers,
			[]string{"ServiceAccount", "Deployment", "Service", "NetworkPolicy", "Ingress", "PodDisruptionBudget"},
			[]string{"--insecure-http", "--cluster-listen=0.0.0.0:6222", "--trusted-proxies=10.0.0.0/8,192.168.1.1", "--oidc-config=/etc/slipway/oidc/oidc.json", "--log-level=debug"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			text, err := serverChart(t, testenv.Namespace(t), c.values)
			if err != nil {
				t.Fatal(err)
			}
			made := apply(t, []byte(text))
			for _, kind := range c.kinds {
				if made[kind] == nil || made[kind].GetUID() == "" {
					t.Errorf("there is no %s", kind)
				}
			}
			if len(made) != len(c.kinds) {
				t.Errorf("there are %d kinds, not %v", len(made), c.kinds)
			}
			confined(t, made["Deployment"], c.args)
		})
	}
}

// confined checks that the server runs with as few rights as it can, and with some arguments.
func confined(t *testing.T, object *unstructured.Unstructured, args []string) {
	t.Helper()
	var d appsv1.Deployment
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &d); err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template.Spec
	c := pod.Containers[0]
	switch {
	case pod.SecurityContext.RunAsNonRoot == nil || !*pod.SecurityContext.RunAsNonRoot, pod.SecurityContext.SeccompProfile == nil:
		t.Error("the pod may run as root, or without seccomp")
	case c.SecurityContext.ReadOnlyRootFilesystem == nil || !*c.SecurityContext.ReadOnlyRootFilesystem,
		c.SecurityContext.AllowPrivilegeEscalation == nil || *c.SecurityContext.AllowPrivilegeEscalation, len(c.SecurityContext.Capabilities.Drop) != 1:
		t.Error("the container may more than it needs")
	case pod.AutomountServiceAccountToken == nil || *pod.AutomountServiceAccountToken:
		t.Error("the server gets a token of the cluster")
	case c.StartupProbe == nil || c.LivenessProbe == nil || c.ReadinessProbe == nil:
		t.Error("a probe is missing")
	}
	for _, want := range args {
		if !strings.Contains(strings.Join(c.Args, " "), want) {
			t.Errorf("%s is not among %q", want, c.Args)
		}
	}
	for _, e := range c.Env {
		if (e.Name == "SLIPWAY_DATABASE" || e.Name == "SLIPWAY_ADMIN_PASSWORD") && e.ValueFrom == nil {
			t.Errorf("%s is in clear", e.Name)
		}
	}
}

func TestTheServersChartRefusesWhatCannotWork(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ values, want string }{
		"no address":       {"tls: {existingSecret: cert}", "publicURL is missing"},
		"no TLS":           {"publicURL: https://slipway.example.org", "there is no TLS"},
		"several, no keys": {oneServer + "replicas: 2", "several servers share"},
		"a CA without TLS": {"publicURL: https://a.example.org\ntls: {insecureHTTP: true, clientCASecret: ca}", "needs TLS at the server"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := serverChart(t, "slipway", c.values); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error does not say %q: %v", c.want, err)
			}
		})
	}
}

func TestTheMetricsOfTheServersChartAreFoundByThePrometheusOperator(t *testing.T) {
	t.Parallel()
	text, err := serverChart(t, "slipway", oneServer+"serviceMonitor: {enabled: true, labels: {release: prometheus}}\n")
	if err != nil {
		t.Fatal(err)
	}
	_, monitor, found := strings.Cut(text, "apiVersion: monitoring.coreos.com/v1\n")
	var parsed struct {
		Kind     string
		Metadata struct{ Labels map[string]string }
		Spec     struct {
			JobLabel  string
			Endpoints []map[string]string
		}
	}
	if err := yaml.Unmarshal([]byte(monitor), &parsed); !found || err != nil {
		t.Fatalf("there is none: %v", err)
	}
	if parsed.Kind != "ServiceMonitor" || parsed.Metadata.Labels["release"] != "prometheus" || parsed.Spec.Endpoints[0]["port"] != "metrics" {
		t.Errorf("it is %+v", parsed)
	}
	if !bytes.Contains([]byte(text), []byte(parsed.Spec.JobLabel+": slipway-server")) {
		t.Errorf("no service has the label %q, which gives the job of the alerts", parsed.Spec.JobLabel)
	}
}

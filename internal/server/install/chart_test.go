package install_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/install"
)

func TestTheChartWithItsValuesMakesWhatTheManifestHas(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		engine string
		o      api.InstallOptions
	}{
		{"nothing said", "", api.InstallOptions{}},
		{"of a namespace", "", api.InstallOptions{Namespaced: true, Namespace: "team"}},
		{"of some namespaces", "", api.InstallOptions{Namespaced: true, Namespace: "team", Namespaces: []string{"shop-b", "shop-a"}}},
		{"beside Argo CD", api.EngineArgoCD, api.InstallOptions{}},
		{"beside Argo CD, of a namespace", api.EngineArgoCD, api.InstallOptions{Namespaced: true, Namespace: "team"}},
		{"with all that a network may need", api.EngineSlipway, api.InstallOptions{
			Registry: "registry.example.org/mirror", PullSecret: "pull", Proxy: "http://proxy.example.org:3128", NoProxy: "10.0.0.0/8",
			CA: certificate, ExistingSecret: "mine", SkipCRDs: true,
		}},
		{"that upgrades itself", "", api.InstallOptions{ReleaseKeys: releaseKey, Namespaced: true, Namespace: "team"}},
		{"that upgrades itself, beside Argo CD", api.EngineArgoCD, api.InstallOptions{ReleaseKeys: releaseKey, ClientCertSecret: "agent-client"}},
		{"with a standby", "", api.InstallOptions{Succession: "shop"}},
		{"a standby", "", api.InstallOptions{Succession: "shop", Standby: true, ReleaseKeys: releaseKey}},
		{"a standby of a namespace", "", api.InstallOptions{Succession: "shop", Standby: true, Namespaced: true, Namespace: "team"}},
		{"with a certificate of its own", "", api.InstallOptions{ClientCertSecret: "agent-client", CAConfigMap: "company-ca"}},
		{"with a certificate, beside Argo CD", api.EngineArgoCD, api.InstallOptions{ClientCertSecret: "agent-client"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			o := options(c.o)
			o.Engine = c.engine
			text, err := install.Values(o)
			if err != nil {
				t.Fatal(err)
			}
			var values map[string]any
			if err := yaml.Unmarshal(text, &values); err != nil {
				t.Fatal(err)
			}
			chart, err := loader.Load(filepath.Join("..", "..", "..", "deploy", "helm", "slipway-agent"))
			if err != nil {
				t.Fatal(err)
			}
			namespace := c.o.Namespace
			if namespace == "" {
				namespace = install.DefaultNamespace
			}
			top, err := util.ToRenderValues(chart, values, common.ReleaseOptions{Name: "slipway-agent", Namespace: namespace}, nil)
			if err != nil {
				t.Fatal(err)
			}
			files, err := engine.Engine{}.RenderWithContext(t.Context(), chart, top)
			if err != nil {
				t.Fatal(err)
			}
			manifest, err := install.Manifest(o)
			if err != nil {
				t.Fatal(err)
			}
			want := objects(t, manifest)
			delete(want, "Namespace") // Helm makes it with --create-namespace
			if diff := cmp.Diff(want, objects(t, []byte(files["slipway-agent/templates/agent.yaml"]))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

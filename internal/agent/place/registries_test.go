package place

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/registrylogin"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// registered are sources with registries, for settings.
func registered(t *testing.T, s *Settings) *Sources {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.1", "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	policy := &outward.Policy{Allow: allow}
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	sources := NewSources(nil, s)
	registries := &Registries{Settings: s, Store: store, Outbound: policy, Pod: registrylogin.NewPod(registrylogin.PodOptions{Outbound: policy})}
	sources.Artifacts = &Artifacts{Pool: artifact.NewPool(artifact.PoolOptions{}), Store: store, Policy: policy, Registry: registries.Open}
	return sources
}

func TestARegistryIsReadAsItsSettingDescribesIt(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCIBasicAuth("ann", "s3cret"))
	secure := testenv.OCI(t, testenv.OCITLS(), testenv.OCITokens("ann", "s3cret"))
	for _, server := range []*testenv.OCIServer{s, secure} {
		server.PushFiles("team/web", "1.2.0", map[string]string{"a.yaml": "web"})
		server.Push("charts/shop", "2.0.0", nil, testenv.OCILayer{
			MediaType: testenv.OCIChart, Content: testenv.TarGzip(t, map[string]string{"shop/Chart.yaml": "name: shop", "shop/a.yaml": "shop"}),
		})
	}
	docker, err := json.Marshal(map[string]any{"auths": map[string]any{
		secure.Host(): map[string]string{"username": "ann", "password": "wrong"}, secure.Host() + "/team": map[string]string{"username": "ann", "password": "s3cret"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	repo, creds := v1alpha1.SecretTypeRepository, v1alpha1.SecretTypeRepoCreds
	plain := []string{"username", "ann", "password", "s3cret", "insecureOCIForceHttp", "true"}
	base := "oci://" + s.Host()
	for name, c := range map[string]struct {
		kind   string
		fields []string
		source v1alpha1.ApplicationSource
		want   string // content, or what the error says
	}{
		"an artifact":                 {repo, append([]string{"url", base + "/team/web", "type", "oci"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/team/web", TargetRevision: "1.x"}, "web"},
		"a tag in the address":        {repo, append([]string{"url", base + "/team/web"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/team/web:1.2.0"}, "web"},
		"two tags":                    {repo, append([]string{"url", base + "/team/web"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/team/web:1.2.0", TargetRevision: "2"}, "leave one of them out"},
		"a chart with enableOCI":      {repo, append([]string{"url", s.Host() + "/charts", "type", "helm", "enableOCI", "true"}, plain...), v1alpha1.ApplicationSource{RepoURL: s.Host() + "/charts", Chart: "shop", TargetRevision: "2.0.0"}, "shop"},
		"a chart with the scheme":     {repo, append([]string{"url", base + "/charts"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/charts", Chart: "shop", TargetRevision: "*"}, "shop"},
		"a setting without scheme":    {repo, append([]string{"url", s.Host() + "/charts", "enableOCI", "true"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/charts", Chart: "shop", TargetRevision: "2.0.0"}, "shop"},
		"a template":                  {creds, append([]string{"url", base + "/team"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/team/web", TargetRevision: "1.2.0"}, "web"},
		"a template for another path": {creds, append([]string{"url", base + "/te"}, plain...), v1alpha1.ApplicationSource{RepoURL: base + "/team/web", TargetRevision: "1.2.0"}, "TLS"},
		"no credential":               {repo, []string{"url", base + "/team/web", "insecureOCIForceHttp", "true"}, v1alpha1.ApplicationSource{RepoURL: base + "/team/web", TargetRevision: "1.2.0"}, "add a credential"},
		"a configuration of Docker":   {creds, []string{"url", "oci://" + secure.Host(), "insecure", "true", ".dockerconfigjson", string(docker)}, v1alpha1.ApplicationSource{RepoURL: "oci://" + secure.Host() + "/team/web", TargetRevision: "1.2.0"}, "web"},
		"another path of it":          {creds, []string{"url", "oci://" + secure.Host(), "insecure", "true", ".dockerconfigjson", string(docker)}, v1alpha1.ApplicationSource{RepoURL: "oci://" + secure.Host() + "/charts/shop", TargetRevision: "2.0.0"}, "does not accept the credential"},
		"a broken configuration":      {creds, []string{"url", base, ".dockerconfigjson", "s3cret"}, v1alpha1.ApplicationSource{RepoURL: base + "/team/web"}, "kubectl create secret docker-registry"},
		"the pod's identity":          {repo, []string{"url", base + "/team/web", "workloadIdentity", "aws"}, v1alpha1.ApplicationSource{RepoURL: base + "/team/web", TargetRevision: "1.2.0"}, "TLS"},
		"for one project":             {repo, []string{"url", base + "/team/web", "workloadIdentity", "aws", "project", "shop"}, v1alpha1.ApplicationSource{RepoURL: base + "/team/web"}, "of one project cannot use"},
		"of a cloud that is unknown":  {repo, []string{"url", base + "/team/web", "workloadIdentity", "moon"}, v1alpha1.ApplicationSource{RepoURL: base + "/team/web"}, "aws, gcp or azure"},
		"for the Azure of Argo CD":    {repo, []string{"url", base + "/team/web", "useAzureWorkloadIdentity", "true", "insecureOCIForceHttp", "true"}, v1alpha1.ApplicationSource{RepoURL: base + "/team/web", TargetRevision: "1.2.0"}, "no registry of the cloud azure"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sources := registered(t, keep(append([]string{"one", string(c.kind)}, c.fields...)))
			fetched, err := sources.Fetch(t.Context(), "shop", c.source, time.Time{})
			got := fmt.Sprint(err)
			if err == nil {
				raw, err := fetched.Tree.ReadFile("a.yaml")
				if got = string(raw); err != nil {
					t.Fatal(err)
				}
			}
			if !strings.Contains(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			if strings.Contains(got, "s3cret") || strings.Contains(fetched.Scope, "s3cret") {
				t.Errorf("a secret is shown: %s %s", got, fetched.Scope)
			}
		})
	}
}

func TestParametersOfArgoCDLimitArtifacts(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	s.Push("web", "1", nil, testenv.OCILayer{MediaType: "application/vnd.example.tar+gzip", Content: testenv.TarGzip(t, map[string]string{"a.yaml": "x"})})
	fields := []string{"one", string(v1alpha1.SecretTypeRepository), "url", "oci://" + s.Host() + "/web", "insecureOCIForceHttp", "true"}
	settings := keep(fields)
	src := v1alpha1.ApplicationSource{RepoURL: "oci://" + s.Host() + "/web", TargetRevision: "1"}
	if _, err := registered(t, settings).Fetch(t.Context(), "shop", src, time.Time{}); err == nil || !strings.Contains(err.Error(), parameterMediaTypes) {
		t.Errorf("a type that is not allowed: %v", err)
	}
	settings.configs[ConfigParameters] = map[string]string{parameterMediaTypes: "application/x, application/vnd.example.tar+gzip", parameterOCISize: "1Gi"}
	if _, err := registered(t, settings).Fetch(t.Context(), "shop", src, time.Time{}); err != nil {
		t.Errorf("a type that is allowed: %v", err)
	}
	big := map[string]string{"a.yaml": strings.Repeat("abcdefghij\n", 2000)}
	s.Push("web", "2", nil, testenv.OCILayer{MediaType: "application/vnd.example.tar+gzip", Content: testenv.TarGzip(t, big)})
	settings.configs[ConfigParameters][parameterOCISize] = "1Ki"
	src.TargetRevision = "2"
	if _, err := registered(t, settings).Fetch(t.Context(), "shop", src, time.Time{}); err == nil || !strings.Contains(err.Error(), "unpacks to more") {
		t.Errorf("more than is allowed: %v", err)
	}
}

func TestAChartIsNotBehindATag(t *testing.T) {
	t.Parallel()
	r := &Registries{Settings: keep()}
	for _, address := range []string{"oci://r.example/app:1.0", "r.example/app:1.0", "oci://r.example/app@sha256:" + strings.Repeat("0", 64)} {
		if _, err := r.Open(Registered{Address: address, Chart: "x"}); err == nil || !strings.Contains(err.Error(), "write the address without") {
			t.Errorf("%s: %v", address, err)
		}
	}
}

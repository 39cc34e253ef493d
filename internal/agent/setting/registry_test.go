package setting

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/archive"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// withRegistries is a Config for tests that read registries on loopback.
func withRegistries(t *testing.T, secrets ...map[string]any) Config {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.1"})
	if err != nil {
		t.Fatal(err)
	}
	store, err := archive.Open(t.TempDir(), 0)
	if err != nil {
		t.Fatal(err)
	}
	settings := place.NewSettings(func() {})
	for i, data := range secrets {
		settings.Put("secrets", &unstructured.Unstructured{Object: map[string]any{
			"metadata": map[string]any{"name": fmt.Sprint("one", i), "labels": map[string]any{"argocd.argoproj.io/secret-type": "repository"}}, "data": data,
		}})
	}
	policy := &outward.Policy{Allow: allow}
	return Config{Settings: settings, Outbound: policy, Registries: &place.Registries{Settings: settings, Store: store, Outbound: policy}}
}

func TestARegistryIsTried(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t, testenv.OCITokens("ann", "s3cret"))
	s.PushFiles("team/web", "1.0.0", map[string]string{"a": "b"})
	s.PushFiles("team/web", "1.1.0", map[string]string{"a": "b"})
	other := "http://" + testenv.Says(t, "HTTP/1.1 200 Zaubernuss\r\n\r\nZaubernuss")
	s.PushFiles("above/web", "1.0.0", map[string]string{"a": "b"})
	k := &keeper{Config: withRegistries(t, data64("url", s.Host()+"/above", "enableOCI", "true", "username", "ann", "password", "s3cret"))}
	for name, c := range map[string]struct {
		data map[string]string
		want string
	}{
		"an artifact":               {map[string]string{"url": "oci://" + s.Host() + "/team/web", "username": "ann", "password": "s3cret"}, "2 tags"},
		"a registry of charts":      {map[string]string{"url": s.Host() + "/charts", "type": "helm", "enableOCI": "true", "username": "ann", "password": "s3cret"}, "accepts the credential"},
		"a wrong password":          {map[string]string{"url": "oci://" + s.Host() + "/team/web", "username": "ann", "password": "wr0ng"}, "does not accept the credential"},
		"a wrong password, limited": {map[string]string{"url": "oci://" + s.Host() + "/team/web", "username": "ann", "password": "wr0ng", "project": "shop"}, "does not accept the credential"},
		"no repository":             {map[string]string{"url": "oci://" + s.Host() + "/team/none", "username": "ann", "password": "s3cret"}, "no repository team/none"},
		"no repository, limited":    {map[string]string{"url": "oci://" + s.Host() + "/team/none", "username": "ann", "password": "s3cret", "project": "shop"}, "nothing that can be used answers there"},
		"no registry, limited":      {map[string]string{"url": strings.Replace(other, "http", "oci", 1) + "/a", "project": "shop"}, "nothing that can be used answers there"},
		"the key of Google":         {map[string]string{"url": "oci://" + s.Host() + "/team/web", "gcpServiceAccountKey": "s3cret"}, "gcpServiceAccountKey of the repository cannot be used"},
		"a login above":             {map[string]string{"url": "oci://" + s.Host() + "/above/web"}, "1 tag"},
		"this machine":              {map[string]string{"url": "oci://169.254.169.254/a"}, "metadata service"},
		"an address that is none":   {map[string]string{"url": "oci://" + s.Host() + "/Team"}, "lower case"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			data := map[string][]byte{"insecureOCIForceHttp": []byte("true")}
			for field, value := range c.data {
				data[field] = []byte(value)
			}
			found, err := k.try(t.Context(), "repository", data, "")
			if got := found.Message + fmt.Sprint(err); !strings.Contains(got, c.want) || strings.Contains(got, "s3cret") || strings.Contains(got, "wr0ng") || strings.Contains(got, "Zaubernuss") {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}

func TestTagsOfARegistryAreListed(t *testing.T) {
	t.Parallel()
	s := testenv.OCI(t)
	for _, tag := range []string{"1.0.0", "1.10.0", "1.9.0_2", "latest"} {
		s.PushFiles("team/web", tag, map[string]string{"a": "b"})
	}
	b := &browser{withRegistries(t, data64("url", "oci://"+s.Host()+"/team/web", "insecureOCIForceHttp", "true"),
		data64("url", s.Host()+"/team", "enableOCI", "true", "insecureOCIForceHttp", "true"))}
	got, err := b.registryRefs(t.Context(), api.RepositoryRefsRequest{RepoURL: "oci://" + s.Host() + "/team/web", Search: "1."})
	refs, ok := got.(api.RepositoryRefs)
	if err != nil || !ok || len(refs.Tags) != 3 || refs.Tags[0].Name != "1.10.0" || refs.Tags[1].Name != "1.9.0_2" {
		t.Errorf("%+v, %v", got, err)
	}
	got, err = b.registryRefs(t.Context(), api.RepositoryRefsRequest{RepoURL: s.Host() + "/team", Search: "web"})
	refs, ok = got.(api.RepositoryRefs)
	if err != nil || !ok || len(refs.Charts) != 1 || refs.Charts[0].Name != "web" || len(refs.Charts[0].Versions) != 4 || refs.Charts[0].Versions[1] != "1.9.0+2" {
		t.Errorf("%+v, %v", got, err)
	}
	if _, err = b.registryRefs(t.Context(), api.RepositoryRefsRequest{RepoURL: s.Host() + "/team"}); err == nil || !strings.Contains(err.Error(), "enter the name of the chart") {
		t.Errorf("%v", err)
	}
}

// data64 are the fields of a Secret as an API server has them.
func data64(texts ...string) map[string]any {
	out := map[string]any{}
	for i := 0; i+1 < len(texts); i += 2 {
		out[texts[i]] = base64.StdEncoding.EncodeToString([]byte(texts[i+1]))
	}
	return out
}

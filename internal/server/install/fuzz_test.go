package install

import (
	"bytes"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
)

// What a person chooses ends in values of the manifest, and never makes an object of its own.
func FuzzInstallOptions(f *testing.F) {
	f.Add("argocd", "secret", "pull", "registry.example/x", "10.0.0.0/8", "http://proxy:3128", "", true)
	f.Add("a\n---\nkind: Pod", "s\n", "", "r\n---", "a\n", "http://p/\n---\nkind: ClusterRole", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n---\nkind: Pod", false)
	f.Fuzz(func(t *testing.T, namespace, secret, pull, registry, noProxy, proxy, ca string, namespaced bool) {
		o := Options{Server: "https://slipway.example", Agent: "account.prod", Version: "1.2.3", InstallOptions: api.InstallOptions{
			Namespace: namespace, ExistingSecret: secret, PullSecret: pull, Registry: registry, NoProxy: noProxy, Proxy: proxy, CA: ca, Namespaced: namespaced,
		}}
		text, err := Manifest(o)
		if err != nil {
			return
		}
		plain := o
		plain.Proxy, plain.NoProxy, plain.Registry, plain.PullSecret = "", "", "", ""
		usual, err := Manifest(plain)
		if err != nil {
			t.Fatal(err)
		}
		kinds := func(text []byte) (out []string) {
			for _, part := range bytes.Split(text, []byte("\n---\n")) {
				var obj struct {
					Kind     string `json:"kind"`
					Metadata struct {
						Name      string `json:"name"`
						Namespace string `json:"namespace"`
					} `json:"metadata"`
				}
				if err := yaml.Unmarshal(part, &obj); err != nil {
					t.Fatalf("%v: %s", err, part)
				}
				if obj.Kind == "" && len(out) == 0 {
					continue // the comment in front
				}
				out = append(out, obj.Kind+" "+obj.Metadata.Namespace+"/"+obj.Metadata.Name)
			}
			return out
		}
		have, want := kinds(text), kinds(usual)
		if len(have) != len(want) {
			t.Fatalf("the manifest has %v instead of %v", have, want)
		}
		for i := range have {
			if have[i] != want[i] {
				t.Errorf("the manifest has %s instead of %s", have[i], want[i])
			}
		}
	})
}

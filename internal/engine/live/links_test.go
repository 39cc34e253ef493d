package live

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

func TestTheAddressesOfAnObjectAreThoseOfArgoCD(t *testing.T) {
	t.Parallel()
	const (
		ingress = "networking.k8s.io/v1"
		gateway = "gateway.networking.k8s.io/v1"
		rules   = `{rules: [{host: a.example, http: {paths: [{path: /x*}, {path: /}]}}, {host: b.example, http: {paths: [{}]}}]`
	)
	for _, c := range []struct {
		name, apiVersion, kind, rest string
		want                         []string
	}{
		{"nothing", "v1", "ConfigMap", `{}`, nil},
		{"links of annotations", "v1", "Service", `{metadata: {annotations: {link.argocd.argoproj.io/b: "Docs|https://docs.example/a", ` +
			`link.argocd.argoproj.io/a: "http://a.example", other: "http://other.example"}}}`, []string{"Docs|https://docs.example/a", "http://a.example"}},
		{"what a browser would run", "v1", "Service", `{metadata: {annotations: {link.argocd.argoproj.io/a: "javascript:alert(1)", ` +
			`link.argocd.argoproj.io/b: "http://a.example|data:text/html,x", link.argocd.argoproj.io/c: ""}}}`, nil},
		{"paths of hosts", ingress, "Ingress", `{spec: ` + rules + `}}`, []string{"http://a.example/", "http://a.example/x", "http://b.example"}},
		{
			"with a certificate", "extensions/v1beta1", "Ingress", `{spec: ` + rules + `, tls: [{secretName: s}]}}`,
			[]string{"https://a.example/", "https://a.example/x", "https://b.example"},
		},
		{
			"of a load balancer", ingress, "Ingress", `{spec: {rules: [{http: {paths: [{path: /}]}}]}, status: {loadBalancer: {ingress: [{}, {ip: 1.2.3.4}, {hostname: h}]}}}`,
			[]string{"http://1.2.3.4/"},
		},
		{"without any host", ingress, "Ingress", `{spec: {rules: [{http: {paths: [{path: /}]}}]}}`, nil},
		{"without default links", ingress, "Ingress", `{metadata: {annotations: {argocd.argoproj.io/ignore-default-links: "true", ` +
			`link.argocd.argoproj.io/a: "http://mine.example"}}, spec: ` + rules + `}}`, []string{"http://mine.example"}},
		{"of another group", "example.com/v1", "Ingress", `{spec: ` + rules + `}}`, nil},
		{"of the wrong types", ingress, "Ingress", `{metadata: {annotations: 1}, spec: {rules: [1, {host: 2, http: {paths: [3]}}], tls: 4}, status: {loadBalancer: 5}}`, nil},
		{
			"listeners", gateway, "Gateway", `{spec: {listeners: [{hostname: a.example, port: 80, protocol: HTTP}, {hostname: b.example, port: 8443, protocol: HTTPS}, ` +
				`{port: 443, protocol: TLS}]}, status: {addresses: [{type: IPAddress, value: 1.2.3.4}, {type: Hostname, value: h.example}, {type: Other, value: x}]}}`,
			[]string{"http://a.example", "https://1.2.3.4", "https://b.example:8443", "https://h.example"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			raw, err := yaml.YAMLToJSON([]byte(c.rest))
			if err != nil {
				t.Fatal(err)
			}
			obj, err := object.DecodeJSON(raw)
			if err != nil {
				t.Fatal(err)
			}
			group, _ := object.SplitAPIVersion(c.apiVersion)
			if got := links(group, c.kind, obj); !slices.Equal(got, c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func TestTheAddressesOfAnObjectAreFewAndShort(t *testing.T) {
	t.Parallel()
	paths := []any{map[string]any{"path": "/" + strings.Repeat("x", 2*maxLinkLen)}}
	for i := range 3 * maxLinks {
		paths = append(paths, map[string]any{"path": "/" + strings.Repeat("y", i)})
	}
	obj := map[string]any{"spec": map[string]any{"rules": []any{map[string]any{"host": "a.example", "http": map[string]any{"paths": paths}}}}}
	got := links("networking.k8s.io", "Ingress", obj)
	if len(got) != maxLinks || slices.ContainsFunc(got, func(l string) bool { return len(l) > maxLinkLen }) {
		t.Errorf("%d addresses", len(got))
	}
}

func TestAnApplicationHearsOfAnotherAddress(t *testing.T) {
	t.Parallel()
	var events []Event
	x := newIndex(func(e Event) { events = append(events, e) })
	kind := object.Kind{Group: "networking.k8s.io", Kind: "Ingress"}
	see := func(version, status string) {
		obj, err := object.DecodeJSON([]byte(`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"i","namespace":"a","uid":"1","resourceVersion":"` + version + `",` +
			`"annotations":{"argocd.argoproj.io/tracking-id":"one:networking.k8s.io/Ingress:a/i"}},` +
			`"spec":{"rules":[{"host":"a.example","http":{"paths":[{}]}},{"http":{"paths":[{}]}}]},"status":` + status + `}`))
		if err != nil {
			t.Fatal(err)
		}
		events = nil
		x.observe(x.digest(kind, obj))
	}
	const balanced = `{"loadBalancer":{"ingress":[{"ip":"1.2.3.4"}]}}`
	see("1", balanced)
	see("2", balanced)
	if len(events) != 0 {
		t.Errorf("nothing changed, and %+v", events)
	}
	see("3", `{"loadBalancer":{"ingress":[{"ip":"5.6.7.8"}]}}`)
	if len(events) != 1 || events[0].App != "one" || events[0].Why != Health {
		t.Errorf("%+v", events)
	}
}

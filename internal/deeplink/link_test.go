package deeplink_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/deeplink"
	"github.com/slipway-gitops/slipway/internal/legible"
)

func shop() deeplink.Objects {
	return deeplink.Objects{
		Application: map[string]any{
			"metadata": map[string]any{"name": "shop", "namespace": "argocd", "labels": map[string]any{"team": "Checkout & Pay"}},
			"spec":     map[string]any{"project": "default", "destination": map[string]any{"namespace": "shop"}},
		},
		Resource: map[string]any{
			"kind": "Pod", "metadata": map[string]any{"name": "web-0", "namespace": "shop"}, "spec": map[string]any{"priority": int64(7), "names": []any{"a", "b"}},
		},
		Cluster: map[string]any{"name": "edge", "server": "https://edge.example.org:6443"},
	}
}

// linked gives the addresses of links, and problems after a "!".
func linked(text string) []string {
	var out []string
	found := deeplink.Find(map[string]string{deeplink.OfResources: text}, deeplink.OfResources, shop())
	for _, l := range found.Links {
		out = append(out, l.URL)
	}
	for _, p := range found.Problems {
		out = append(out, "! "+p)
	}
	return out
}

func TestALinkHasWhatTheSettingSays(t *testing.T) {
	t.Parallel()
	settings := map[string]string{deeplink.OfApplications: `
- url: https://grafana.example.org/d/{{.app.metadata.name}}?cluster={{.cluster.name}}
  title: Grafana
  description: Dashboards of the application
  icon.class: fa-chart-line
- url: mailto:{{.application.metadata.name}}@example.org
  title: Owner
`}
	want := api.Links{Links: []api.Link{
		{Title: "Grafana", URL: "https://grafana.example.org/d/shop?cluster=edge", Description: "Dashboards of the application", IconClass: "fa-chart-line"},
		{Title: "Owner", URL: "mailto:shop@example.org"},
	}}
	if diff := cmp.Diff(want, deeplink.Find(settings, deeplink.OfApplications, shop())); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(api.Links{Links: []api.Link{}}, deeplink.Find(settings, deeplink.OfProjects, shop())); diff != "" {
		t.Errorf("another key (-want +got):\n%s", diff)
	}
}

func TestALinkIsShownWhereItsConditionHolds(t *testing.T) {
	t.Parallel()
	for condition, want := range map[string]bool{
		`resource.kind == "Pod" || resource.kind == "Deployment"`:     true,
		`resource.kind == "Deployment"`:                               false,
		`application.spec.project == "default"`:                       true,
		`app.metadata.labels["team"].startsWith("Checkout")`:          true,
		`"team" in app.metadata.labels`:                               true,
		`app.metadata.annotations["missing"] == "x"`:                  false,
		`resource.metadata.labels.missing.deeper == null`:             true,
		`project.metadata.name == null`:                               true,
		`project != null`:                                             false,
		`resource.kind in ["Pod", "Job"] && cluster.name != "laptop"`: true,
	} {
		got := linked("- {title: x, url: 'https://example.org/', if: '" + strings.ReplaceAll(condition, "'", "''") + "'}")
		if shown := len(got) == 1 && got[0] == "https://example.org/"; shown != want || len(got) > 1 {
			t.Errorf("%s: %q", condition, got)
		}
	}
}

func TestFunctionsOfATemplateAreThoseOfArgoCD(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{{.app.metadata.labels.team | lower | replace " " "-" | urlquery}}`:      "checkout-%26-pay",
		`{{.app.metadata.labels.none | default "nobody"}}`:                        "nobody",
		`{{trimPrefix "web-" .resource.metadata.name}}`:                           "0",
		`{{.resource.metadata.name | trimSuffix "-0" | upper}}`:                   "WEB",
		`{{trunc 3 .resource.metadata.name}}{{trunc -1 "web-0"}}`:                 "web0",
		`{{if hasPrefix "web" .resource.metadata.name}}yes{{else}}no{{end}}`:      "yes",
		`{{ternary "a" "b" (contains "x" .app.metadata.name)}}`:                   "b",
		`{{index (splitList "-" .resource.metadata.name) 1}}`:                     "0",
		`{{join "," .resource.spec.names}}`:                                       "a,b",
		`{{.resource.spec.priority}}{{.resource.spec.priority | toString}}`:       "77",
		`{{coalesce .app.metadata.none "" .app.metadata.name}}`:                   "shop",
		`{{with .app.spec}}{{.project}}{{end}}`:                                   "default",
		`{{b64enc "a"}}{{sha256sum "a" | trunc 4}}`:                               "YQ==ca97",
		`{{index .app.metadata.labels "team" | urlpath}}`:                         "Checkout%20&%20Pay",
		`{{if empty .app.metadata.none}}{{trim " x "}}{{trimAll "y" "y"}}{{end}}`: "x",
	} {
		got := linked("- {title: x, url: 'https://example.org/" + strings.ReplaceAll(text, "'", "''") + "'}")
		if diff := cmp.Diff([]string{"https://example.org/" + want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestALinkThatCannotBeShownIsNamed(t *testing.T) {
	t.Parallel()
	for link, want := range map[string]string{
		`{title: x, url: 'javascript:alert(1)'}`:                                             "is no address that begins with",
		`{title: x, url: 'https://u:p@example.org/'}`:                                        "is no address that begins with",
		`{title: x, url: '{{.resource.metadata.name}}'}`:                                     "is no address that begins with",
		`{title: x, url: 'https://example.org/{{.app.none}}'}`:                               "names a field that is not there",
		`{title: x, url: 'https://example.org/{{.app.a.b.c}}'}`:                              "names a field that is not there",
		`{title: x, url: 'https://example.org/{{'}`:                                          "unclosed action",
		`{title: x, url: 'https://example.org/', if: 'nobody == 1'}`:                         "undeclared reference",
		`{title: x, url: 'https://example.org/', if: 'app.metadata.name'}`:                   "not true or false",
		`{title: x, url: 'https://example.org/{{env "HOME"}}'}`:                              `function "env" not defined`,
		`{title: x, url: 'https://example.org/{{.app.metadata}}x{{join "" .app.metadata}}'}`: "is no list",
		`{url: 'https://example.org/'}`:                                                      "needs a title and a url",
	} {
		got := linked("- " + link + "\n- {title: after, url: 'https://example.org/after'}")
		if len(got) != 2 || got[0] != "https://example.org/after" || !strings.Contains(got[1], want) {
			t.Errorf("%s: %q", link, got)
		}
	}
	for _, text := range []string{"{a: b}", "- [", "just text"} {
		if got := linked(text); len(got) != 1 || !strings.Contains(got[0], "it is no list of links") {
			t.Errorf("%s: %q", text, got)
		}
	}
}

func TestATemplateOfALinkThatCouldTakeLongIsRefused(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 4<<10)
	for text, want := range map[string]string{
		`{{range 1000000000}}{{end}}`:                           "has a range",
		`{{if true}}{{range .app}}{{end}}{{end}}`:               "has a range",
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`: "defines another template",
		`{{template "url" .}}`:                                  "calls a template",
		`{{printf "%999999d" 1}}`:                               "no such function",
		`{{print .app}}`:                                        "no such function",
		`{{js "x"}}`:                                            "no such function",
		`{{$x := "xxxxxxxx"}}` + strings.Repeat(`{{$x = replace "x" $x $x}}`, 9):                                  "longer than",
		`{{$x := "%"}}` + strings.Repeat(`{{$x = b64enc $x}}`, 60):                                                "longer than",
		`{{$x := splitList "" "xxxxxxxx"}}` + strings.Repeat(`{{$y := join "xx" $x}}{{$x = splitList "" $y}}`, 9): "longer than",
		long: "its url has",
	} {
		got := linked("- {title: x, url: 'https://example.org/" + text + "'}")
		if len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("%.60s: %.300q", text, got)
		}
	}
	many := strings.Repeat("- {title: x, url: 'https://example.org/'}\n", 101)
	if got := linked(many); len(got) != 101 || !strings.HasPrefix(got[100], "! resource.links: it has 101 links") {
		t.Errorf("many links: %d", len(got))
	}
	steps := "[1,2,3,4,5,6,7,8,9,10]"
	loops := steps + ".all(a, " + steps + ".all(b, " + steps + ".all(c, " + steps + ".all(d, " + steps + ".all(e, " + steps + ".all(f, a+b+c+d+e+f > 0))))))"
	if got := linked("- {title: x, url: 'https://example.org/', if: '" + loops + "'}"); len(got) != 1 || !strings.Contains(got[0], "cost limit") {
		t.Errorf("a condition that goes over much: %q", got)
	}
}

func FuzzLinks(f *testing.F) {
	f.Add("- {title: x, url: 'https://example.org/{{.app.metadata.name}}', if: 'resource.kind == \"Pod\"', icon.class: a, description: b}")
	f.Add("- {title: x, url: '{{.resource.metadata.name | lower | replace \"a\" \"b\" | trunc 3}}'}")
	f.Add("- {title: \"\\u202e\", url: 'mailto:x'}\n- 1")
	f.Fuzz(func(t *testing.T, text string) {
		for _, l := range deeplink.Find(map[string]string{deeplink.OfResources: text}, deeplink.OfResources, shop()).Links {
			if !legible.Link(l.URL) || len(l.URL) > 4<<10 || len(l.Title) > 200 || len(l.Description) > 500 {
				t.Errorf("%+v", l)
			}
		}
	})
}

package helm_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/source"
)

// shownData returns the data of the ConfigMap "shown" that a chart renders with a version of Helm.
func shownData(t *testing.T, tr source.Tree, h v1alpha1.HelmSource) map[string]string {
	t.Helper()
	for _, m := range mustRender(t, request(tr, h)).Objects {
		if m.Key.Name != "shown" {
			continue
		}
		var obj struct{ Data map[string]string }
		if err := json.Unmarshal(m.JSON, &obj); err != nil {
			t.Fatal(err)
		}
		return obj.Data
	}
	t.Fatal("the chart gave no object shown")
	return nil
}

func TestNullsOfAChartAreThoseOfItsHelm(t *testing.T) {
	t.Parallel()
	child := map[string]string{
		"chart/charts/child/Chart.yaml":  "apiVersion: v2\nname: child\nversion: 1.0.0\n",
		"chart/charts/child/values.yaml": "own: null\nset: 1\ndeep: {null1: null, one: 1}\n",
		"chart/charts/child/templates/cm.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: child}
data: {values: {{ omit .Values "global" | toJson | quote }}}
`,
	}
	tests := []struct {
		name           string
		defaults, user string
		files          map[string]string
		v3, v4         string
	}{
		{name: "a null default", defaults: "a: null\nb: 1\n", v3: `{"a":null,"b":1}`, v4: `{"b":1}`},
		{name: "a null default in a map", defaults: "m: {a: null, b: 1}\n", v3: `{"m":{"a":null,"b":1}}`, v4: `{"m":{"b":1}}`},
		{name: "a null default in a map that the user adds to", defaults: "m: {a: null, b: 1}\n", user: "m: {c: 2}\n", v3: `{"m":{"a":null,"b":1,"c":2}}`, v4: `{"m":{"b":1,"c":2}}`},
		{name: "a null of the user removes a default", defaults: "a: 1\nm: {a: 1, b: 1}\n", user: "a: null\nm: {a: null}\n", v3: `{"m":{"b":1}}`, v4: `{"m":{"b":1}}`},
		{name: "a null of the user where the default is null", defaults: "a: null\nm: {a: null, b: 1}\n", user: "a: null\nm: {a: null}\n", v3: `{"m":{"b":1}}`, v4: `{"m":{"a":null,"b":1}}`},
		{name: "a null of the user that has no default", defaults: "b: 1\n", user: "a: null\n", v3: `{"a":null,"b":1}`, v4: `{"a":null,"b":1}`},
		{name: "a value of the user over a null default", defaults: "a: null\n", user: "a: {x: 1}\n", v3: `{"a":{"x":1}}`, v4: `{"a":{"x":1}}`},
		{name: "null defaults of a subchart", defaults: "b: 1\n", files: child, v3: `{"b":1,"child":{"deep":{"null1":null,"one":1},"own":null,"set":1}}`, v4: `{"b":1,"child":{"deep":{"one":1},"set":1}}`},
		{name: "a null for a subchart", defaults: "child: {set: null}\n", files: child, v3: `{"child":{"deep":{"null1":null,"one":1},"own":null}}`, v4: `{"child":{"deep":{"one":1},"set":1}}`},
	}
	for _, tc := range tests {
		for version, want := range map[string]string{"v3": tc.v3, "v4": tc.v4} {
			t.Run(tc.name+" in "+version, func(t *testing.T) {
				t.Parallel()
				files := chartFiles(map[string]string{"chart/values.yaml": tc.defaults})
				maps.Copy(files, tc.files)
				files["chart/templates/cm.yaml"] = `apiVersion: v1
kind: ConfigMap
metadata: {name: shown}
data:
{{- $v := omit .Values "global" }}
{{- if hasKey $v "child" }}{{ $v = set $v "child" (omit $v.child "global") }}{{ end }}
  values: {{ $v | toJson | quote }}
`
				got := shownData(t, tree(t, files), v1alpha1.HelmSource{Version: version, Values: tc.user})
				if d := gocmp.Diff(want, got["values"]); d != "" {
					t.Errorf("values (-want +got):\n%s", d)
				}
			})
		}
	}
}

func TestChartSeesTheHelmThatRendersIt(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(map[string]string{"chart/templates/cm.yaml": `apiVersion: v1
kind: ConfigMap
metadata: {name: shown}
data:
  version: {{ .Capabilities.HelmVersion.Version }}
  four: {{ semverCompare ">=4" .Capabilities.HelmVersion.Version | quote }}
`}))
	for version, want := range map[string]map[string]string{
		"":   {"version": "v3.19.4", "four": "false"},
		"v3": {"version": "v3.19.4", "four": "false"},
		"v4": {"version": "v4.2.1", "four": "true"},
	} {
		if d := gocmp.Diff(want, shownData(t, tr, v1alpha1.HelmSource{Version: version})); d != "" {
			t.Errorf("version %q (-want +got):\n%s", version, d)
		}
	}
}

func TestValueFilesAreReadAsTheirHelmReadsThem(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(map[string]string{
		"chart/values.yaml": "a: chart\ntext: |\n  chart",
		"chart/block.yaml":  "text: |\n  file",
		"chart/two.yaml":    "a: first\n---\na: second\n",
	}))
	for _, tc := range []struct{ file, v3, v4 string }{
		{"", `{"a":"chart","text":"chart"}`, `{"a":"chart","text":"chart\n"}`},
		{"block.yaml", `{"a":"chart","text":"file"}`, `{"a":"chart","text":"file\n"}`},
		{"two.yaml", `{"a":"first","text":"chart"}`, `{"a":"second","text":"chart\n"}`},
	} {
		for version, want := range map[string]string{"v3": tc.v3, "v4": tc.v4} {
			h := v1alpha1.HelmSource{Version: version}
			if tc.file != "" {
				h.ValueFiles = []string{tc.file}
			}
			if d := gocmp.Diff(want, shownData(t, tr, h)["values"]); d != "" {
				t.Errorf("%q with %s (-want +got):\n%s", tc.file, version, d)
			}
		}
	}
}

// Helm prints a line break behind each document; kubectl and Argo CD read it so. Helm 4 keeps what the last document of a template has
// of its own as well, unless it is the last of all that are no hooks.
func TestBlockOfTextAtTheEndOfATemplateKeepsItsLineBreak(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shown}\ndata:\n"
	other := "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: other}\n"
	for template, want := range map[string]struct{ v3, v4 string }{
		head + "  k: |\n    hello":                            {v3: "hello\n"},
		head + "  k: |\n    hello\n":                          {v3: "hello\n"},
		head + "  k: |\n    hello\n\n\n":                      {v3: "hello\n"},
		head + "  k: |\n    hello\n" + other:                  {v3: "hello\n"},
		head + "  k: |\n    hello\n\n" + other:                {v3: "hello\n"},
		head + "  k: |-\n    hello":                           {v3: "hello"},
		head + "  k: |-\n    hello\n      \n    \n":           {v3: "hello", v4: "hello\n  "},
		head + "  k: |+\n    hello\n\n":                       {v3: "hello\n", v4: "hello\n\n\n"},
		head + "  k: |+\n    hello\n\n" + other:               {v3: "hello\n"},
		head + "  k: |\n{{ \"hello\" | indent 4 }}":           {v3: "hello\n"},
		other + "---\n" + head + "  k: >\n    hello\n    you": {v3: "hello you\n"},
	} {
		for _, version := range []string{"v3", "v4"} {
			t.Run(fmt.Sprintf("%s %q", version, strings.TrimPrefix(template, head)), func(t *testing.T) {
				t.Parallel()
				files, helm := map[string]string{"chart/templates/cm.yaml": template}, v1alpha1.HelmSource{Version: version}
				if got := shownData(t, tree(t, chartFiles(files)), helm)["k"]; got != want.v3 {
					t.Errorf("as the last object: %q, want %q", got, want.v3)
				}
				files["chart/templates/service.yaml"] = "apiVersion: v1\nkind: Service\nmetadata: {name: last}\n"
				want := cmp.Or(map[string]string{"v4": want.v4}[version], want.v3)
				if got := shownData(t, tree(t, chartFiles(files)), helm)["k"]; got != want {
					t.Errorf("before another object: %q, want %q", got, want)
				}
			})
		}
	}
}

func TestObjectsComeInTheOrderOfTheirHelm(t *testing.T) {
	t.Parallel()
	tr := tree(t, chartFiles(map[string]string{"chart/templates/cm.yaml": `{{- range list "ValidatingWebhookConfiguration" "Other" "ConfigMap" }}
---
apiVersion: example.com/v1
kind: {{ . }}
metadata: {name: shown}
{{- end }}
`}))
	for version, want := range map[string][]string{
		"v3": {"ConfigMap", "Other", "ValidatingWebhookConfiguration"},
		"v4": {"ConfigMap", "ValidatingWebhookConfiguration", "Other"},
	} {
		var got []string
		for _, m := range mustRender(t, request(tr, v1alpha1.HelmSource{Version: version})).Objects {
			got = append(got, m.Key.Kind)
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s gives %v, want %v", version, got, want)
		}
	}
}

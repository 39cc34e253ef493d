package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestTheKeysThatAnArtifactMustBeSignedWith(t *testing.T) {
	t.Parallel()
	const one = `{oci: {policies: [{repos: [{url: "oci://registry.example/team/*"}, {url: "!oci://registry.example/team/open"}], cosign: {keys: [ours]}}]}}`
	const charts = `{oci: {policies: [{repos: [{url: "oci://registry.example/charts"}], cosign: {keys: [ours]}}]}}`
	const tagged = `{oci: {policies: [{repos: [{url: "oci://registry.example/team/web:1.0"}, {url: "!oci://registry.example/team/web:2.0"}], cosign: {keys: [ours]}}]}}`
	const two = `{oci: {policies: [{repos: [{url: "*"}], cosign: {keys: [a]}}, {repos: [{url: "oci://*"}], cosign: {keys: [b]}}]}}`
	for name, c := range map[string]struct {
		annotation, url, chart string
		asks                   bool
		wrong                  string
	}{
		"nothing asks":                  {"", "oci://registry.example/team/web", "", false, ""},
		"an artifact":                   {one, "oci://registry.example/team/web", "", true, ""},
		"with a tag":                    {one, "oci://registry.example/team/web:1.0", "", true, ""},
		"with a port":                   {one, "oci://registry.example:443/team/web", "", true, ""},
		"other letters":                 {one, "oci://Registry.Example/team/web", "", true, ""},
		"left out":                      {one, "oci://registry.example/team/open", "", false, ""},
		"another team":                  {one, "oci://registry.example/other/web", "", false, ""},
		"a chart":                       {one, "oci://registry.example/team", "web", true, ""},
		"a chart without the scheme":    {one, "registry.example/team", "web", true, ""},
		"a chart that is left out":      {one, "registry.example/team", "open", false, ""},
		"all charts of an address":      {charts, "oci://registry.example/charts", "web", true, ""},
		"a chart of a Helm repository":  {two, "https://charts.example", "web", true, ""},
		"a detour":                      {one, "oci://registry.example/other/../team/web", "", false, "write the address without"},
		"a chart with a detour":         {one, "oci://registry.example/other", "../team/web", false, "write the address without"},
		"a chart with a tag between":    {one, "oci://registry.example/team:1.0", "web", false, "write the address without"},
		"a chart with a digest between": {one, "registry.example/team@sha256:" + strings.Repeat("0", 64), "web", false, "write the address without"},
		"a dot behind the host":         {one, "oci://registry.example./team/web", "", true, ""},
		"an empty port":                 {one, "oci://registry.example:/team/web", "", true, ""},
		"a port with zeros":             {one, "oci://registry.example:0443/team", "web", true, ""},
		"a policy that names a tag":     {tagged, "oci://registry.example/team/web", "", true, ""},
		"with a digest":                 {one, "oci://registry.example/team/web:2.0@sha256:" + strings.Repeat("0", 64), "", true, ""},
		"no address":                    {one, "oci://registry.example/Team/web", "", false, "capital letters"},
		"two policies":                  {two, "oci://registry.example/team/web", "", false, "multiple (2) oci source integrity policies"},
		"Git":                           {one, "https://registry.example/team/web", "", false, ""},
	} {
		p := &v1alpha1.AppProject{}
		p.Annotations = map[string]string{v1alpha1.AnnotationSourceIntegrity: c.annotation}
		rules, err := New(p)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rules.Integrity(v1alpha1.ApplicationSource{RepoURL: c.url, Chart: c.chart})
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || got.Asks() != c.asks ||
			c.annotation == one && c.asks && !slices.Equal(got.Cosign, []string{"ours"}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	for _, annotation := range []string{
		`{oci: {policies: [{repos: [{url: "*"}]}]}}`, `{oci: {policies: [{repos: [{url: "*"}], cosign: {keys: []}}]}}`,
		`{oci: {policies: [{repos: [{url: "*"}], notation: {keys: [a]}}]}}`, `{oci: {policy: []}}`,
	} {
		p := &v1alpha1.AppProject{}
		p.Annotations = map[string]string{v1alpha1.AnnotationSourceIntegrity: annotation}
		if _, err := New(p); err == nil {
			t.Errorf("%s is accepted", annotation)
		}
	}
}

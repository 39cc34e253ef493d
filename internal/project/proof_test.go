package project

import (
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// annotation is the rules of a project with policies in its annotation.
func annotation(text string) (*Rules, error) {
	p := &v1alpha1.AppProject{}
	p.Annotations = map[string]string{v1alpha1.AnnotationSourceIntegrity: text}
	return New(p)
}

func TestTheKeysThatAChartMustBeSignedWith(t *testing.T) {
	t.Parallel()
	const charts = `{helm: {policies: [{repos: [{url: "https://charts.example/team/*"}, {url: "oci://registry.example/charts/*"}, ` +
		`{url: "!https://charts.example/team/open"}, {url: "!*/playground"}], gpg: {keys: [D56C4FCA57A46444]}}]}}`
	const root = `{helm: {policies: [{repos: [{url: "https://charts.example"}], gpg: {keys: [D56C4FCA57A46444]}}]}}`
	const both = `{helm: {policies: [{repos: [{url: "*"}], gpg: {keys: [D56C4FCA57A46444]}}]}, ` +
		`oci: {policies: [{repos: [{url: "oci://*"}], cosign: {keys: [ours]}}]}}`
	const two = `{helm: {policies: [{repos: [{url: "*"}], gpg: {keys: [D56C4FCA57A46444]}}, {repos: [{url: "https://*"}], gpg: {keys: [D56C4FCA57A46444]}}]}}`
	for name, c := range map[string]struct {
		annotation, url, chart string
		helm, cosign           bool
		wrong                  string
	}{
		"a chart":                     {charts, "https://charts.example/team/a", "web", true, false, ""},
		"other letters and a port":    {charts, "https://Charts.Example:443/team/a/", "web", true, false, ""},
		"left out":                    {charts, "https://charts.example/team/open", "web", false, false, ""},
		"a chart that is left out":    {charts, "https://charts.example/team/a", "playground", false, false, ""},
		"another team":                {charts, "https://charts.example/other", "web", false, false, ""},
		"a chart of a registry":       {charts, "oci://registry.example/charts", "web", true, false, ""},
		"without the scheme":          {charts, "registry.example/charts", "web", true, false, ""},
		"by its own address":          {charts, "oci://registry.example/charts/web", "", true, false, ""},
		"the address of a repository": {root, "https://charts.example/", "web", true, false, ""},
		"a detour":                    {charts, "https://charts.example/other/../team/a", "web", false, false, "write the address without"},
		"by two lists":                {both, "oci://registry.example/charts", "web", true, true, ""},
		"by one of two lists":         {both, "https://charts.example", "web", true, false, ""},
		"two policies":                {two, "https://charts.example", "web", false, false, "multiple (2) helm source integrity policies"},
		"Git":                         {both, "https://git.example/a", "", false, false, ""},
	} {
		rules, err := annotation(c.annotation)
		if err != nil {
			t.Fatal(err)
		}
		got, err := rules.Integrity(v1alpha1.ApplicationSource{RepoURL: c.url, Chart: c.chart})
		if (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) || slices.Equal(got.Helm, []string{key}) != c.helm ||
			slices.Equal(got.Cosign, []string{"ours"}) != c.cosign || got.Asks() != (c.helm || c.cosign) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

func TestAPolicyForChartsThatCannotBeReadPermitsNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{helm: {policies: [{repos: [{url: "*"}]}]}}`:                                                        "helm.policies[0] has no gpg with keys",
		`{helm: {policies: [{repos: [{url: "*"}], gpg: {keys: []}}]}}`:                                       "helm.policies[0] has no gpg with keys",
		`{helm: {policies: [{repos: [{url: "*"}], gpg: {keys: [ann@example.org]}}]}}`:                        `"ann@example.org" names no key`,
		`{helm: {policies: [{repos: [{url: "*"}], gpg: {keys: [D56C4FCA57A46444], mode: head}}]}}`:           "there is no field mode",
		`{helm: {policies: [{repos: [{url: "*"}], cosign: {keys: [a]}}]}}`:                                   "there is no field cosign",
		`{helm: {policies: [{repos: [{url: "["}], gpg: {keys: [D56C4FCA57A46444]}}]}}`:                       "helm.policies[0].repos",
		`{oci: {policies: [{repos: [{url: "*"}], gpg: {keys: [D56C4FCA57A46444]}}]}}`:                        "there is no field gpg",
		`{helm: {policies: [{repos: [{url: "*"}], gpg: {keys: [` + strings.Repeat(key+", ", 1001) + `]}}]}}`: "more than 1000 keys",
	} {
		if _, err := annotation(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %s", text, err, want)
		}
	}
}

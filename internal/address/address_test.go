package address_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/address"
)

func TestSpellingsOfAHostAreOneAddress(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"https://Git.Example.:0443/a/": "https://git.example/a", "https://git.example:/a?": "https://git.example/a", "http://git.example:0080/a": "http://git.example/a",
		"https://git.example:08443/a": "https://git.example:8443/a", "git.example.:a": "ssh://git@git.example/a", "ssh://git.example:022/a": "ssh://git@git.example/a",
		"ssh://git:word@[::1]:22/a": "ssh://git@[::1]/a", "https://me:word@git.example/a#b": "https://git.example/a", "/srv//a/": "file:///srv/a",
	} {
		if got, err := address.ParseGit(text); err != nil || got.URL != want {
			t.Errorf("%s: %s, %v", text, got.URL, err)
		}
	}
	for text, want := range map[string]string{
		"oci://R.Example.:0443/a": "oci://r.example/a", "r.example:/a": "oci://r.example/a", "oci://r.example:05000/a": "oci://r.example:5000/a",
	} {
		if got, _, err := address.ParseRegistry(text); err != nil || got.String() != want {
			t.Errorf("%s: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"https://./a", "https://git\u3002example/a", "https://g\u0131t.example/a", "https://\uff47it.example/a"} {
		if got, err := address.ParseGit(text); err == nil {
			t.Errorf("%s is read as %s", text, got.URL)
		}
		if got, _, err := address.ParseRegistry("oci" + strings.TrimPrefix(text, "https")); err == nil {
			t.Errorf("%s is read as %s", text, got)
		}
	}
}

func TestAChartIsBelowAnAddressWithoutAVersion(t *testing.T) {
	t.Parallel()
	digest := "sha256:" + strings.Repeat("0", 64)
	for _, c := range []struct{ text, chart, want, version string }{
		{"oci://r.example/app", "x", "oci://r.example/app/x", ""},
		{"r.example", "x", "oci://r.example/x", ""},
		{"oci://r.example/app:1.0", "", "oci://r.example/app", "1.0"},
		{"oci://r.example/app:1.0", "x", "", ""},
		{"oci://r.example/app@" + digest, "x", "", ""},
		{"oci://r.example/app:1.0@" + digest, "x", "", ""},
		{"oci://r.example/app", "x:1.0", "", ""},
		{"oci://r.example/app", "../x", "", ""},
	} {
		got, version, err := address.ParseArtifact(c.text, c.chart)
		if (err == nil) != (c.want != "") || err == nil && (got.String() != c.want || version != c.version) {
			t.Errorf("chart %q of %s: %s %s, %v", c.chart, c.text, got, version, err)
		}
	}
}

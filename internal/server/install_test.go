package server

import (
	"bytes"
	"encoding/json"
	"encoding/pem"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
)

// bundle is PEM with so many certificates, each of them as long as those of the world are.
func bundle(certificates int) string {
	one := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: bytes.Repeat([]byte("certificate"), 120)})
	return strings.Repeat(string(one), certificates)
}

func TestAManifestIsTheSameWhereverItsOptionsAre(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/agents/account.prod/manifest"
	for _, format := range []string{"yaml", "helm"} {
		o := api.InstallOptions{
			Namespace: "edge", Namespaced: true, Registry: "registry.example.org/mirror/", PullSecret: "pull", Proxy: "http://proxy.example.org:3128",
			NoProxy: "10.0.0.0/8", CA: bundle(1), ExistingSecret: "mine", SkipCRDs: true,
		}
		query := url.Values{
			"format": {format}, "namespace": {o.Namespace}, "namespaced": {"true"}, "registry": {o.Registry}, "pullSecret": {o.PullSecret},
			"proxy": {o.Proxy}, "noProxy": {o.NoProxy}, "ca": {o.CA}, "existingSecret": {o.ExistingSecret}, "skipCRDs": {"true"},
		}
		code, want := w.do(w.admin, http.MethodGet, path+"?"+query.Encode(), "")
		if code != http.StatusOK || !strings.Contains(want, "registry.example.org/mirror") {
			t.Fatalf("%s with options in the query: %d %s", format, code, want)
		}
		if code, answer := w.do(w.admin, http.MethodPost, path+"?format="+format, encode(t, o)); code != http.StatusOK || answer != want {
			t.Errorf("%s with options in the body: %d %s\nwant %s", format, code, answer, want)
		}
		_, want = w.do(w.admin, http.MethodGet, path+"?format="+format, "")
		if code, answer := w.do(w.admin, http.MethodPost, path+"?format="+format, `{}`); code != http.StatusOK || answer != want {
			t.Errorf("%s without options: %d %s\nwant %s", format, code, answer, want)
		}
	}
}

func TestAManifestTakesMoreCertificatesThanAnAddressHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	const path = "/api/v1/agents/account.prod/manifest"
	many := bundle(16)
	if len(many) < 3*8<<10 {
		t.Fatalf("%d bytes are not many", len(many))
	}
	code, answer := w.do(w.admin, http.MethodPost, path+"?format=yaml", encode(t, api.InstallOptions{CA: many}))
	if code != http.StatusOK || strings.Count(answer, "BEGIN CERTIFICATE") != 16 {
		t.Errorf("%d bytes of certificates: %d, %d of them", len(many), code, strings.Count(answer, "BEGIN CERTIFICATE"))
	}
	key := string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: []byte("secret")}))
	for name, c := range map[string]struct{ body, says string }{
		"more than anybody has":  {encode(t, api.InstallOptions{CA: bundle(40)}), "60000"},
		"a key":                  {encode(t, api.InstallOptions{CA: many + key}), "PRIVATE KEY"},
		"an option that is none": {`{"certificates":"none"}`, "certificates"},
	} {
		if code, answer := w.do(w.admin, http.MethodPost, path, c.body); code != http.StatusUnprocessableEntity || !strings.Contains(answer, c.says) {
			t.Errorf("%s: %d %s", name, code, answer)
		}
	}
}

func encode(t *testing.T, value any) string {
	t.Helper()
	raw, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

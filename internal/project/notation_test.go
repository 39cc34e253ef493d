package project

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

func TestTheCertificatesThatAnArtifactMustBeSignedWith(t *testing.T) {
	t.Parallel()
	rules, err := annotation(`{oci: {policies: [` +
		`{repos: [{url: "oci://registry.example/team/*"}, {url: "!oci://registry.example/team/open"}], notation: {trustStores: ["ca:acme", "tsa:clock"], ` +
		`trustedIdentities: ["x509.subject: C=US, ST=WA, O=Acme"]}}, ` +
		`{repos: [{url: "oci://registry.example/keys/*"}, {url: "oci://registry.example/team/both"}], cosign: {keys: [ours]}}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	want := Notation{Stores: []string{"ca:acme", "tsa:clock"}, Identities: []string{"x509.subject: C=US, ST=WA, O=Acme"}}
	for url, c := range map[string]struct {
		want  Notation
		asks  bool
		wrong string
	}{
		"oci://registry.example/team/web":     {want, true, ""},
		"oci://registry.example/team/web:1.0": {want, true, ""},
		"oci://registry.example/team/open":    {Notation{}, false, ""},
		"oci://registry.example/keys/web":     {Notation{}, true, ""},
		"oci://registry.example/team/both":    {Notation{}, false, "multiple (2) oci source integrity policies"},
	} {
		got, err := rules.Integrity(v1alpha1.ApplicationSource{RepoURL: url})
		if d := cmp.Diff(c.want, got.Notation); d != "" || got.Asks() != c.asks || (err == nil) != (c.wrong == "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
			t.Errorf("%s: %v, %v %s", url, got, err, d)
		}
	}
}

func TestAPolicyForCertificatesThatCannotBeReadPermitsNothing(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{}`:                      "no trust store for signers",
		`{trustStores: ["ca:a"]}`: "no trustedIdentities",
		`{trustStores: [a], trustedIdentities: ["*"]}`:                                                                   `"a" names no trust store`,
		`{trustStores: ["ca:"], trustedIdentities: ["*"]}`:                                                               "names no trust store",
		`{trustStores: ["tsa:a"], trustedIdentities: ["*"]}`:                                                             "no trust store for signers",
		`{trustStores: ["ca:a"], trustedIdentities: ["*", "x509.subject: C=US, ST=WA, O=Acme"]}`:                         `"*" is no identity`,
		`{trustStores: ["ca:a"], trustedIdentities: ["C=US, ST=WA, O=Acme"]}`:                                            "is no identity",
		`{trustStores: ["ca:a"], trustedIdentities: ["x509.subject: O=Acme"]}`:                                           "it has no C",
		`{trustStores: ["ca:a"], trustedIdentities: ["x509.subject:"]}`:                                                  "is no identity",
		`{trustStores: ["ca:a"], trustedIdentities: ["*"], verificationLevel: skip}`:                                     "there is no field verificationLevel",
		`{trustStores: ["ca:a"], trustedIdentities: ["*"]}, cosign: {keys: [a]}`:                                         "has cosign and notation",
		`{trustStores: [` + strings.Repeat(`"ca:a", `, 1001) + `], trustedIdentities: ["*"]}`:                            "more than 1000 keys",
		`{trustStores: ["ca:a"], trustedIdentities: ["x509.subject: C=US, ST=WA, O=` + strings.Repeat("a", 2000) + `"]}`: "no distinguished name",
	} {
		if _, err := annotation(`{oci: {policies: [{repos: [{url: "*"}], notation: ` + text + `}]}}`); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %s", text, err, want)
		}
	}
}

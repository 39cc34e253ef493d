package redact

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAKnownSecretGoesAndMessagesStay(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, secret, in, want string }{
		{
			"a word is in names", "kube", `template: kube-prometheus-stack/templates/prometheus/rules.yaml:12:3: executing "kube-prometheus-stack/templates" at <kube>: nil pointer`,
			`template: kube-prometheus-stack/templates/prometheus/rules.yaml:12:3: executing "kube-prometheus-stack/templates" at <kube>: nil pointer`,
		},
		{"a word that is a sentence's", "prometheus", "source: prometheus is not found in prometheus.example.org", "source: prometheus is not found in prometheus.example.org"},
		{"a word that is quoted", "prometheus", `the password "prometheus" is too weak`, `the password "(hidden)" is too weak`},
		{"a word with a number", "postgres14", "charts/postgres14/values.yaml: postgres14 is no port", "charts/postgres14/values.yaml: (hidden) is no port"},
		{"a weak password", "hunter2", "the password hunter2.", "the password (hidden)."},
		{"a part of a name", "web1", "web1-0 is not web10 nor /web1", "web1-0 is not web10 nor /web1"},
		{"a version", "v1.2.3", "chart shop-v1.2.3 in oci://x/shop/v1.2.3", "chart shop-v1.2.3 in oci://x/shop/v1.2.3"},
		{"too short", "abc", "abc", "abc"},
		{"what nobody writes by chance", "kX9vQ2-tr0ub", "a/kX9vQ2-tr0ub/b", "a/(hidden)/b"},
		{"a phrase", "correct horse battery staple", "use correct horse battery staple now", "use (hidden) now"},
		{"in base64", "kX9vQ2-tr0ub", base64.StdEncoding.EncodeToString([]byte("kX9vQ2-tr0ub")), "(hidden)"},
		{"in an address", "kX9vQ2/tr0ub@", "x?y=" + url.QueryEscape("kX9vQ2/tr0ub@"), "x?y=(hidden)"},
		{"as JSON writes it", `kX9"vQ2\tr0ub`, `{"a":"kX9\"vQ2\\tr0ub"}`, `{"a":"(hidden)"}`},
		{"a line of a key", "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END X-----", "bad: MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "bad: (hidden)"},
	} {
		if got := NewKnown(tt.secret).Text(tt.in); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	if NewKnown("", "abc") != nil {
		t.Error("nothing can be looked for, and something is")
	}
	if got := (*Known)(nil).Text("x"); got != "x" {
		t.Error(got)
	}
}

func TestADocumentKeepsItsNames(t *testing.T) {
	t.Parallel()
	k := NewKnown("prometheus", "web1", "postgres14", "kX9vQ2-tr0ub")
	in := `{"name":"prometheus","metadata":{"name":"web1"},"chart":"postgres14","token":"kX9vQ2-tr0ub"}`
	want := `{"name":"prometheus","metadata":{"name":"web1"},"chart":"postgres14","token":"(hidden)"}`
	if got := string(k.Document([]byte(in))); got != want {
		t.Errorf("got %s", got)
	}
}

// TestAKnownTokenIsNowhere looks for tokens as programs make them, in every spelling.
func TestAKnownTokenIsNowhere(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		token := rapid.StringMatching(`[A-Z][a-z0-9]{3}[0-9][A-Z][a-z0-9+/=_!"\\ ]{6,40}[A-Z]`).Draw(t, "token")
		quoted, err := json.Marshal(token)
		if err != nil {
			t.Fatal(err)
		}
		spelled := rapid.SampledFrom([]string{
			token, url.QueryEscape(token), url.PathEscape(token), base64.StdEncoding.EncodeToString([]byte(token)), string(quoted[1 : len(quoted)-1]),
		}).Draw(t, "spelled")
		text := rapid.String().Draw(t, "before") + spelled + rapid.String().Draw(t, "after")
		k := NewKnown("prometheus", token)
		if got := k.Text(text); strings.Contains(got, spelled) {
			t.Fatalf("%q became %q", text, got)
		}
		if got := string(k.Document([]byte(text))); strings.Contains(got, spelled) {
			t.Fatalf("%q became %q", text, got)
		}
	})
}

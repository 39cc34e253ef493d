package redact

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestURLsLoseUserAndQuery(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"fetch https://ada:pw@git.example.org/shop.git: denied":         "fetch https://git.example.org/shop.git: denied",
		"https://token@git.example.org/shop?access=1#x":                 "https://git.example.org/shop",
		"ssh://git@git.example.org:22/shop":                             "ssh://git.example.org:22/shop",
		"https://ada:p/w@git.example.org/shop":                          "https://git.example.org/shop",
		"https://ada:p?w#x@git.example.org/shop":                        "https://git.example.org/shop",
		"https://ada:p@w@git.example.org/shop":                          "https://git.example.org/shop",
		"'https://a:b@x.example/?q=1' and \"https://y.example/a@v1.2\"": "'https://x.example/' and \"https://y.example/a@v1.2\"",
		"https://[::1]:8443/a@b":                                        "https://[::1]:8443/a@b",
		"https://y.example:8443/a@b":                                    "https://y.example:8443/a@b",
		"no address: a@b":                                               "no address: a@b",
	} {
		if got := URLs(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if again := URLs(want); again != want {
			t.Errorf("%q became %q the second time", want, again)
		}
	}
}

func TestAnAddressLosesWhatIsSecretInItAndNothingElse(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"https://u:pa/ss@git.example.org/shop":                 "https://git.example.org/shop",
		"https://u:pa?ss@git.example.org/shop":                 "https://git.example.org/shop",
		"https://u:pa#ss@git.example.org":                      "https://git.example.org",
		"https://u:12/ss@git.example.org:8443/shop":            "https://git.example.org:8443/shop",
		"https://u:p@ss/w@rd@git.example.org/shop":             "https://git.example.org/shop",
		"https://u:pa'ss@git.example.org/x is gone":            "https://git.example.org/x is gone",
		"https://u:pa\"ss@git.example.org/x is gone":           "https://git.example.org/x is gone",
		"https://u:pa\\ss@git.example.org/x":                   "https://git.example.org/x",
		"https://u:pa ss@git.example.org/x: bad":               "https://git.example.org/x: bad",
		"https://u:p%40ss@git.example.org/x":                   "https://git.example.org/x",
		"https://u:p[a]ss@[::1]:8443/x":                        "https://[::1]:8443/x",
		"https://ü:pä€ß@bücher.example/x":                      "https://bücher.example/x",
		"https://ghp_token@github.com/a/b":                     "https://github.com/a/b",
		"https://tok/en@github.com/a/b":                        "https://github.com/a/b",
		"HTTPS://U:P@GIT.EXAMPLE.ORG/x":                        "HTTPS://GIT.EXAMPLE.ORG/x",
		"ssh://git:pw@git.example.org/x":                       "ssh://git.example.org/x",
		"ssh://git@git.example.org:22/x":                       "ssh://git@git.example.org:22/x",
		"git@git.example.org:x.git":                            "git@git.example.org:x.git",
		"bob:pw@git.example.org:x.git":                         "git.example.org:x.git",
		"proxy bob:pw@proxy.example.org:3128 refuses":          "proxy proxy.example.org:3128 refuses",
		"socks5://u:p@127.0.0.1:1080":                          "socks5://127.0.0.1:1080",
		"oci://u:p@registry.example.org/charts":                "oci://registry.example.org/charts",
		"postgres://u:p@db:5432/x?sslmode=disable":             "postgres://db:5432/x?sslmode=disable",
		"https://x.org/?access_token=abc&page=2":               "https://x.org/?access_token=(hidden)&page=2",
		"https://x.org/cb#access_token=abc&state=1":            "https://x.org/cb#access_token=(hidden)&state=1",
		"https://b.example/c?sv=1&sig=abc%3D&se=2":             "https://b.example/c?sv=1&sig=(hidden)&se=2",
		"https://x.org/?next=https%3A%2F%2Fu%3Ap%40y.org%2Fz":  "https://x.org/?next=https%3A%2F%2Fy.org%2Fz",
		"https://a:b@c.org,https://d:e@f.org and https://g.io": "https://c.org,https://f.org and https://g.io",
		`{"a":"https://u:p@c.org"}`:                            `{"a":"https://c.org"}`,
		`"https:\/\/u:p@c.org\/x"`:                             `"https:\/\/c.org\/x"`,
		"https://u:pass-that-was-cut":                          "https://(hidden)",
	} {
		if got := Addresses(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
		if again := Addresses(want); again != want {
			t.Errorf("%q became %q the second time", want, again)
		}
	}
	for _, text := range []string{
		"https://host:8443/a@b", "https://github.com/@scope/pkg", "https://github.com/users/ada@example.org", "https://registry.example.org/app@sha256:abc123",
		"http://registry:5000/app@v1.2.3", "nginx:1.25@sha256:0f1e2d", "mailto:ada@example.org", "Signed-off-by:ada@example.org", "kube-prometheus-stack/templates/all.yaml:12:3: bad",
		"write https://HOST[:PORT]", "write http://HOST:PORT/", "https://{{ .Values.host }}/x", "fetch https://git.example.org: denied", "(https://git.example.org)", "https://[::1]:8443.",
		"git::https://github.com/a/b//c?ref=v1", "oci://ghcr.io/a/b:1.2", "file:///tmp/x", "ask ada@example.org", "https://example.org/?page=2#top", "a://", "%40",
	} {
		if got := Addresses(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
}

func TestTextsAreToldWithoutCredentials(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"nothing", "see https://example.org/a@b?c=d", "see https://example.org/a@b?c=d"},
		{"user and password", "clone https://ann:pw@git.example/x failed", "clone https://git.example/x failed"},
		{"a token as the user", "https://ghp_abc@github.com/x", "https://github.com/x"},
		{"a password with an at sign", "https://a:b@c@host/x", "https://host/x"},
		{"several", "http://a:b@c https://d:e@f", "http://c https://f"},
		{"a user of SSH", "ssh://git@host/x", "ssh://git@host/x"},
		{"a password of SSH", "ssh://git:pw@host/x", "ssh://host/x"},
		{"scp", "git@github.com:a/b", "git@github.com:a/b"},
		{"a version in a path", "https://github.com/a/b//c@v1?ref=v2", "https://github.com/a/b//c@v1?ref=v2"},
		{"a token in a query", "https://h/x?a=1&private_token=abc&b=2", "https://h/x?a=1&private_token=(hidden)&b=2"},
		{"in quotes", `"https://a:b@h"`, `"https://h"`},
		{"the end", "https://", "https://"},
		{"nothing but a user", "https://a@", "https://"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := Addresses(tt.in); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestNoPasswordOfAnAddressIsLeft puts passwords of all kinds into addresses, and these into texts and documents.
func TestNoPasswordOfAnAddressIsLeft(t *testing.T) {
	t.Parallel()
	const secret = "kX9vQ2"
	rapid.Check(t, func(t *rapid.T) {
		around := rapid.Custom(func(t *rapid.T) string {
			return strings.Join(rapid.SliceOf(rapid.SampledFrom(strings.Split("a Z 7 / ? # @ % : [ ] ! $ & ' ( ) * + , ; = . _ ~ ^ | { } \\ ä € \"x `x 'x /a@b", " "))).Draw(t, "signs"), "")
		})
		address := func() string {
			user := rapid.StringMatching(`[a-z][a-z0-9._-]{0,5}`).Draw(t, "user")
			password := around.Draw(t, "before") + secret + around.Draw(t, "after")
			host := rapid.SampledFrom([]string{"git.example.org", "localhost:8443", "10.0.0.1", "[fd00::1]:3128", "bücher.example"}).Draw(t, "host")
			scheme := rapid.SampledFrom([]string{"https", "http", "ssh", "git+ssh", "socks5", "socks5h", "oci", "postgres", "nats", "HTTPS", "git::https"}).Draw(t, "scheme")
			if rapid.Bool().Draw(t, "escaped") {
				password = url.PathEscape(password)
			}
			if sureStart(user + ":" + password) {
				password = "x" + password
			}
			return scheme + "://" + user + ":" + password + "@" + host + rapid.SampledFrom([]string{"", "/", "/a/b.git", "/x?page=2"}).Draw(t, "path")
		}
		text := address()
		for range rapid.IntRange(0, 3).Draw(t, "more") {
			text += rapid.SampledFrom([]string{" ", "\n", " and ", "\t", "\" \""}).Draw(t, "between") + address()
		}
		text = rapid.SampledFrom([]string{"", "clone ", "'", `"`, "(", "url=", "fatal: unable to access '"}).Draw(t, "first") + text
		for name, clean := range map[string]func(string) string{"Addresses": Addresses, "URLs": URLs, "Text": Text} {
			got := clean(text)
			if strings.Contains(got, secret) {
				t.Fatalf("%s: %q became %q", name, text, got)
			}
			if again := clean(got); strings.Contains(again, secret) {
				t.Fatalf("%s: %q became %q", name, got, again)
			}
		}
		doc := map[string]any{"a": text, "b": []any{text, 1.5, nil, true}, "c": map[string]any{"d": "plain <&>"}}
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		inner, err := json.Marshal(map[string]any{"text": string(raw)})
		if err != nil {
			t.Fatal(err)
		}
		for _, in := range [][]byte{raw, inner} {
			got := JSONAddresses(in)
			if strings.Contains(string(got), secret) {
				t.Fatalf("%s became %s", in, got)
			}
			var was, is map[string]any
			if json.Unmarshal(in, &was) != nil || json.Unmarshal(got, &is) != nil {
				t.Fatalf("%s became %s, which is no JSON", in, got)
			}
			if len(was) != len(is) {
				t.Fatalf("%s became %s", in, got)
			}
		}
	})
}

// sureStart reports whether user and password begin like an address that has none: nobody can tell such a password.
func sureStart(s string) bool {
	head, _, _ := strings.Cut(s, "@")
	return shapeOf(hostOf(head)) == sureHost
}

func TestADocumentWithoutSecretsStaysAsItIs(t *testing.T) {
	t.Parallel()
	in := `{"a" : "https://x.org/a?b=1", "b":["ssh://git@h.org/x", 1e3, "<a@b.org>", "caf\u00e9 @ 5 %"], "c":{"@":"?"}}`
	if diff := cmp.Diff(in, string(JSONAddresses([]byte(in)))); diff != "" {
		t.Error(diff)
	}
	if got := string(JSONAddresses([]byte(`{"a":"https://u:p@x.org/<a>","b":"unfinished`))); got != `{"a":"https://x.org/<a>","b":"unfinished` {
		t.Error(got)
	}
}

func FuzzAddresses(f *testing.F) {
	for _, seed := range []string{"https://u:p@h.org/x", "a:b@c.org/", "%3A%2F%2Fu%40", "https://u:p", `"https:\/\/a@b"`, "://@://@", "ssh://a:b@c?token=d"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const secret = "hunter2hunter2"
		if strings.Contains(s, secret) {
			return
		}
		in := s + " https://u:" + secret + "@git.example.org/ " + s
		if got := Addresses(in); strings.Contains(got, secret) {
			t.Fatalf("%q became %q", in, got)
		}
		raw, err := json.Marshal(map[string]string{s: in})
		if err != nil {
			t.Fatal(err)
		}
		if got := JSONAddresses(raw); !json.Valid(got) || strings.Contains(string(got), secret) {
			t.Fatalf("%s became %s", raw, got)
		}
	})
}

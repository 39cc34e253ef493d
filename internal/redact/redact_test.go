package redact

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/internal/chain"
)

func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{
			"a Secret", `{"kind":"Secret","apiVersion":"v1","metadata":{"name":"db"},"data":{"user":"YWRh","n":1},"stringData":{"x":"y"},"type":"Opaque"}`,
			`{"apiVersion":"v1","data":{"n":"(hidden)","user":"(hidden)"},"kind":"Secret","metadata":{"name":"db"},"stringData":{"x":"(hidden)"},"type":"Opaque"}`,
		},
		{
			"Secrets in a list", `{"kind":"List","items":[{"kind":"Secret","data":{"a":"b"}},{"kind":"ConfigMap","data":{"a":"b"}}]}`,
			`{"items":[{"data":{"a":"(hidden)"},"kind":"Secret"},{"data":{"a":"b"},"kind":"ConfigMap"}],"kind":"List"}`,
		},
		{
			"fields by their names", `{"password":"a","clientSecret":"b","ssh_private_key":"c","bearerToken":"d","tlsClientConfig":{"keyData":"e","caData":"f"},"secretName":"g","tokenId":"h","automountServiceAccountToken":true,"sealed":"i","username":"j","imagePullSecrets":[{"name":"k"}]}`,
			`{"automountServiceAccountToken":true,"bearerToken":"(hidden)","clientSecret":"(hidden)","imagePullSecrets":[{"name":"k"}],"password":"(hidden)","sealed":"(hidden)","secretName":"g","ssh_private_key":"(hidden)","tlsClientConfig":{"caData":"f","keyData":"(hidden)"},"tokenId":"h","username":"j"}`,
		},
		{
			"short names", `{"MYSQL_PWD":"a","db_pass":"b","dbPass":"c","bypass":"d","auths":{"r.example.org":{"auth":"e"}},"auth":{"enabled":"f"}}`,
			`{"MYSQL_PWD":"(hidden)","auth":{"enabled":"f"},"auths":{"r.example.org":{"auth":"(hidden)"}},"bypass":"d","dbPass":"(hidden)","db_pass":"(hidden)"}`,
		},
		{
			"addresses that are secret", `{"a":"https://hooks.slack.com/services/T0/B0/xyz","b":"https://x.blob.example/c?sv=1&sig=abc%3D&se=2"}`,
			`{"a":"https://(hidden)","b":"https://x.blob.example/c?sv=1&sig=(hidden)&se=2"}`,
		},
		{"what is empty stays", `{"password":"","token":null}`, `{"password":"","token":null}`},
		{"numbers and lists", `{"password":123456,"tokens":["a",{"b":"c"}]}`, `{"password":"(hidden)","tokens":["(hidden)",{"b":"(hidden)"}]}`},
		{
			"variables", `{"env":[{"name":"DB_PASSWORD","value":"x"},{"name":"LOG_LEVEL","value":"info"}],"parameters":[{"name":"auth.adminPassword","value":"y"}]}`,
			`{"env":[{"name":"DB_PASSWORD","value":"(hidden)"},{"name":"LOG_LEVEL","value":"info"}],"parameters":[{"name":"auth.adminPassword","value":"(hidden)"}]}`,
		},
		{"flags", `{"args":["--db-password=x1","--token","x2","--verbose","-v"]}`, `{"args":["--db-password=(hidden)","--token","(hidden)","--verbose","-v"]}`},
		{
			"credentials in URLs", `{"a":"https://ada:x@git.example.org/r.git","b":"https://ghtoken@git.example.org/r","c":"ssh://git@git.example.org/r","d":"git@git.example.org:r","e":"https://x.org/?access_token=abc&page=2"}`,
			`{"a":"https://git.example.org/r.git","b":"https://git.example.org/r","c":"ssh://git@git.example.org/r","d":"git@git.example.org:r","e":"https://x.org/?access_token=(hidden)&page=2"}`,
		},
		{
			"YAML of values", `{"values":"replicas: 2\nauth:\n  adminPassword: |\n    line one\n    line two\nhost: x\n"}`,
			`{"values":"auth:\n  adminPassword: (hidden)\nhost: x\nreplicas: 2\n"}`,
		},
		{"YAML without secrets stays as it is", `{"values":"# a comment\nreplicas:   2\n"}`, `{"values":"# a comment\nreplicas:   2\n"}`},
		{
			"manifests in YAML", `{"m":"kind: ConfigMap\ndata: {a: b}\n---\nkind: Secret\ndata: {a: b}\n"}`,
			`{"m":"kind: ConfigMap\ndata: {a: b}\n---\ndata:\n  a: (hidden)\nkind: Secret\n"}`,
		},
		{"JSON in a text", `{"config":"{\"bearerToken\":\"x\",\"tls\":{\"insecure\":true}}"}`, `{"config":"bearerToken: (hidden)\ntls:\n  insecure: true\n"}`},
		{"lines that are no YAML", `{"x":"password: abc\n\t{{ bad\nname: n\n"}`, `{"x":"password: (hidden)\n\t{{ bad\nname: n\n"}`},
		{
			"what was applied last", `{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"a\":\"b\"}}","x":"y"}}}`,
			`{"metadata":{"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"(hidden)","x":"y"}}}`,
		},
		{
			"texts of known forms", `{"a":"a slp_abc234_def567 b","b":"Authorization: Bearer abc.DEF-123","c":"-----BEGIN OPENSSH PRIVATE KEY-----\nMIIx\n-----END OPENSSH PRIVATE KEY-----\n","d":"$argon2id$v=19$m=1,t=1,p=1$c2FsdA$a2V5","e":"uses basic authentication"}`,
			`{"a":"a (hidden) b","b":"Authorization: Bearer (hidden)","c":"(hidden)\n","d":"(hidden)","e":"uses basic authentication"}`,
		},
		{"no JSON", `{"password":"x"`, `{"omitted":"it was no JSON"}`},
		{"too deep", strings.Repeat(`{"a":`, 100) + `{"password":"x"}` + strings.Repeat("}", 100), strings.Repeat(`{"a":`, 61) + `"(too deep)"` + strings.Repeat("}", 61)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := string(JSON([]byte(tt.in)))
			if got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if again := string(JSON([]byte(got))); again != got {
				t.Errorf("redacted once more it is %s", again)
			}
		})
	}
}

func TestASecretThatChangedIsToldAsChanged(t *testing.T) {
	t.Parallel()
	before, after := Pair(
		[]byte(`{"password":"a","token":"same","kind":"Secret","data":{"x":"1","y":"2"}}`),
		[]byte(`{"password":"b","token":"same","kind":"Secret","data":{"x":"1","y":"3","z":"4"}}`))
	if want := `{"data":{"x":"(hidden)","y":"(hidden)"},"kind":"Secret","password":"(hidden)","token":"(hidden)"}`; string(before) != want {
		t.Errorf("before %s", before)
	}
	if want := `{"data":{"x":"(hidden)","y":"(hidden, changed)","z":"(hidden)"},"kind":"Secret","password":"(hidden, changed)","token":"(hidden)"}`; string(after) != want {
		t.Errorf("after %s", after)
	}
	if before, after := Pair(nil, nil); before != nil || after != nil {
		t.Errorf("of nothing became %s and %s", before, after)
	}
}

func TestTextsForPeopleStayReadable(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"secret db not found in namespace shop", "the token expired: make a new one", "cannot reach https://git.example.org/a@b",
		"mail ada@example.org", "sync of account.prod/argocd/shop at 5b2f0c9e", "password: too short",
	} {
		if got := Text(text); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for in, want := range map[string]string{
		`fetch https://u:p@x/r: denied`:             `fetch https://x/r: denied`,
		`helm --set auth.password=hunter2 failed`:   `helm --set auth.password=(hidden) failed`,
		`answer was {"access_token":"abc","a":"b"}`: `answer was {"access_token":"(hidden)","a":"b"}`,
	} {
		if got := Text(in); got != want {
			t.Errorf("%q became %q, want %q", in, got, want)
		}
	}
}

// TestAPlantedSecretIsNowhere puts a secret at a place of any document where it belongs, and looks for it.
func TestAPlantedSecretIsNowhere(t *testing.T) {
	t.Parallel()
	const secret = "hunter2-kX9vQ"
	rapid.Check(t, func(t *rapid.T) {
		planted := rapid.SampledFrom([]any{
			map[string]any{"password": secret},
			map[string]any{"kind": "Secret", "data": map[string]any{"a": secret}},
			map[string]any{"kind": "Secret", "stringData": map[string]any{"a": map[string]any{"b": secret}}},
			map[string]any{"name": "API_TOKEN", "value": secret},
			"https://ada:" + secret + "@git.example.org",
			"https://" + secret + "@git.example.org/x",
			"a: b\nclientSecret: " + secret + "\n",
			`{"token":"` + secret + `"}`,
			"x=1 password=" + secret + " y=2",
			[]any{"--password", secret},
			"slp_abcdef_" + "hunter2",
			"-----BEGIN RSA PRIVATE KEY-----\n" + secret,
		}).Draw(t, "planted")
		doc := planted
		for range rapid.IntRange(0, 8).Draw(t, "depth") {
			switch rapid.IntRange(0, 3).Draw(t, "around") {
			case 0:
				doc = map[string]any{rapid.SampledFrom([]string{"spec", "items", "values", "kind"}).Draw(t, "key"): doc, "other": 1}
			case 1:
				doc = []any{doc, "x"}
			case 2:
				raw, err := json.Marshal(map[string]any{"in": doc})
				if err != nil {
					t.Fatal(err)
				}
				doc = string(raw)
			default:
				doc = map[string]any{"list": []any{doc}}
			}
		}
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		before, after := Pair(raw, raw)
		for _, got := range []string{string(before), string(after)} {
			if strings.Contains(got, "hunter2") {
				t.Fatalf("%s became %s", raw, got)
			}
		}
	})
}

func FuzzJSON(f *testing.F) {
	for _, seed := range []string{
		`{"password":"x"}`, `{"kind":"Secret","data":{"a":"b"}}`, `"https://u:p@h"`, `"a: b\npassword: c\n"`, `["--token","x"]`, `{"a":"---\n---\nx: [1,"}`, `1e999`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got := JSON(raw)
		if len(raw) > 0 && !json.Valid(got) {
			t.Fatalf("%q became %q, which is no JSON", raw, got)
		}
		if again := chain.CanonicalJSON(got); len(raw) > 0 && string(again) != string(got) {
			t.Fatalf("%q is not canonical: %q", got, again)
		}
		const secret = "hunter2hunter2"
		if len(raw) > 0 && json.Valid(raw) && len(raw) < 1000 {
			wrapped := `{"x":` + string(raw) + `,"password":"` + secret + `"}`
			if strings.Contains(string(JSON([]byte(wrapped))), secret) && !strings.Contains(string(raw), secret) {
				t.Fatalf("%s is not redacted", wrapped)
			}
		}
	})
}

func FuzzText(f *testing.F) {
	for _, seed := range []string{"https://u:p@h", "password=x", "Bearer abcdefgh1", "slp_a_b", "-----BEGIN PRIVATE KEY-----"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		const secret = "hunter2hunter2"
		if strings.Contains(s, secret) {
			return
		}
		for _, planted := range []string{" https://u:" + secret + "@h/ ", " password=" + secret + " "} {
			// What comes before may itself begin a URL or a value, which ends at a space.
			if got := Text(s + " " + planted); strings.Contains(got, secret) {
				t.Fatalf("%q became %q", s+" "+planted, got)
			}
		}
	})
}

package link

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// What is sent of a resource is JSON, and no larger than an item may be. The limit is small here, so that a try costs little;
// the real one is tested beside.
func FuzzFit(f *testing.F) {
	const limit, longest = 256, 4096
	f.Add([]byte(`{"metadata":{"name":"web"},"status":{"resources":[1]}}`), "x")
	f.Add([]byte(`{"status":null,"spec":[]}`), "spec")
	f.Add([]byte(`[]`), "status")
	f.Fuzz(func(t *testing.T, body []byte, field string) {
		if len(body) > longest || len(field) > longest || !json.Valid(body) {
			return
		}
		long, err := json.Marshal(map[string]any{
			field: strings.Repeat("x", limit), "inside": json.RawMessage(body), "status": json.RawMessage(body), "metadata": json.RawMessage(body),
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, raw := range [][]byte{body, long} {
			if out, cut := fitTo(raw, limit); len(out) > limit || !json.Valid(out) || cut != (len(raw) > limit) {
				t.Errorf("%d bytes became %d: %.100s", len(raw), len(out), out)
			}
		}
	})
}

func FuzzServerURL(f *testing.F) {
	for _, text := range []string{"https://slipway.example", "http://127.0.0.1:8080", "http://127.0.0.1.evil.example", "https://u:p@h", "https://h?x", "http://[::1%25lo]/", "http://localhost:80/", "HTTP://10.0.0.1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseServer(text, false)
		if err != nil {
			return
		}
		again, err := url.Parse(u.String())
		if err != nil || again.User != nil || again.Hostname() == "" || again.Scheme == "http" && !loopback(again.Hostname()) {
			t.Errorf("%q is taken as %s", text, u)
		}
	})
}

func FuzzRegistered(f *testing.F) {
	f.Add(200, []byte(`{"agent":"account.prod","uid":"aaaaaaaaaaaaaaaaaaaaaaaaaa","serverKey":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="}`))
	f.Add(409, []byte(`{"detail":"taken"}`))
	f.Add(401, []byte(``))
	f.Add(200, []byte(`null`))
	f.Fuzz(func(t *testing.T, status int, raw []byte) {
		out, err := readRegistered(&http.Response{StatusCode: status, Status: http.StatusText(status)}, raw)
		if err == nil && (status != http.StatusOK || !agentapi.ValidUID(out.UID) || len(out.ServerKey) != keySize || out.Agent == "") {
			t.Errorf("%d %s is taken: %+v", status, raw, out)
		}
	})
}

package gateway_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// Without a token of ours and a signature nothing is registered, and the answer is a problem that says why.
func FuzzRegistration(f *testing.F) {
	f.Add([]byte(`{"token":"sla_x","publicKey":"U","sealKey":"AAAA","clusterUID":"c","namespace":"n"}`))
	f.Add([]byte(`{"token":"a","Token":"b","signature":null}`))
	f.Add([]byte(`{} {}`))
	g := bare(f, gatewaytest.NewMemory(), func(c *gateway.Config) { c.ClientIP = func(r *http.Request) string { return r.RemoteAddr } })
	f.Cleanup(g.Forget)
	n := 0
	f.Fuzz(func(t *testing.T, body []byte) {
		n++
		w, r := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodPost, agentapi.PathRegister, strings.NewReader(string(body)))
		r.RemoteAddr = "10.0." + strconv.Itoa(n>>8&255) + "." + strconv.Itoa(n&255) + "#" + strconv.Itoa(n)
		g.ServeRegister(w, r)
		var problem struct{ Detail string }
		if w.Code < 400 || w.Code > 499 || json.Unmarshal(w.Body.Bytes(), &problem) != nil || problem.Detail == "" {
			t.Errorf("%q: %d %s", body, w.Code, w.Body)
		}
	})
}

// Another server that says nonsense takes nothing down.
func FuzzPeerNote(f *testing.F) {
	store := gatewaytest.NewMemory()
	uid := registered(f, store)
	g := bare(f, store)
	f.Cleanup(g.Forget)
	for _, note := range []string{`{"type":"begun","uid":"UID","epoch":9223372036854775807}`, `{"type":"alive","uid":"UID","epoch":1,"health":{}}`, `{"type":"result","uid":"UID","result":{"id":""}}`, `{"type":"cut"}`, `{"uids":[""]}`} {
		f.Add([]byte(strings.ReplaceAll(note, "UID", uid)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g.Hear(t.Context(), data)
	})
}

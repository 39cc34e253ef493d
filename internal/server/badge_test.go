package server

import (
	"encoding/xml"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

const badgePath = "/api/v1/agents/account.prod/applications/argocd/"

func (w *world) settings(body string) {
	w.t.Helper()
	w.ok(w.admin, http.MethodPut, "/api/v1/settings", `{"auditRetentionDays":365,"commandRetentionDays":30`+body+`}`)
}

func TestThereIsNoBadgeUnlessTheSettingsTurnThemOn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, token := range []string{"", w.admin} {
		there, missing := w.send(w.request(token, http.MethodGet, badgePath+"thing/badge", "")), w.send(w.request(token, http.MethodGet, badgePath+"none/badge", ""))
		for _, out := range []string{there.Body.String(), missing.Body.String()} {
			if p := problemOf(t, out); p.Status != http.StatusNotFound || !strings.Contains(p.Detail, "badges are off") {
				t.Errorf("while they are off: %s", out)
			}
		}
	}
	if info := w.ok(w.admin, http.MethodGet, "/api/v1/info", ""); strings.Contains(info, `"badges"`) {
		t.Errorf("while they are off: %s", info)
	}
	w.settings(`,"badges":true`)
	if info := w.ok(w.admin, http.MethodGet, "/api/v1/info", ""); !strings.Contains(info, `"badges":true`) {
		t.Errorf("once they are on: %s", info)
	}
}

func TestABadgeShowsHealthAndSync(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings(`,"badges":true`)
	w.turn(agentapi.StateConnected, time.Now())
	w.tell(appOf("", `{"sync":{"status":"OutOfSync","revision":"`+someCommit+`"},"health":{"status":"Degraded"}}`), "")
	out := w.send(w.request("", http.MethodGet, badgePath+"thing/badge?showAppName=true&revision=true", ""))
	text := out.Body.String()
	if err := xml.Unmarshal([]byte(text), &struct{}{}); err != nil || !strings.Contains(text, "<title>thing, Degraded, OutOfSync, 0123456</title>") {
		t.Errorf("%v: %s", err, text)
	}
	etag := out.Header().Get("ETag")
	want := map[string]string{
		"Content-Type": "image/svg+xml; charset=utf-8", "Cache-Control": "no-cache", "Cross-Origin-Resource-Policy": "cross-origin", "X-Content-Type-Options": "nosniff",
	}
	for name, value := range want {
		if got := out.Header().Get(name); got != value {
			t.Errorf("%s is %q, not %q", name, got, value)
		}
	}
	again := w.request("", http.MethodGet, badgePath+"thing/badge?showAppName=true&revision=true", "")
	again.Header.Set("If-None-Match", etag)
	if out := w.send(again); etag == "" || out.Code != http.StatusNotModified || out.Body.Len() > 0 || out.Header().Get("ETag") != etag {
		t.Errorf("the same badge once more: %d %s", out.Code, out.Body)
	}
	if _, bare := w.do("", http.MethodGet, badgePath+"thing/badge", ""); !strings.Contains(bare, "<title>Degraded, OutOfSync</title>") {
		t.Errorf("without name and revision: %s", bare)
	}

	// Of one that does not exist and one whose agent is away the same is said.
	missing := w.ok("", http.MethodGet, badgePath+"none/badge", "")
	w.turn(agentapi.StateDisconnected, time.Now().Add(-time.Hour))
	away := w.ok("", http.MethodGet, badgePath+"thing/badge", "")
	if missing != away || !strings.Contains(away, "<title>Unknown, Unknown</title>") {
		t.Errorf("missing %s, away %s", missing, away)
	}
}

func TestTheNameInABadgeIsNoMarkup(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.settings(`,"badges":true`)
	text := w.ok("", http.MethodGet, badgePath+"%3Cscript%3Ex%3C%2Fscript%3E%22%26/badge?showAppName=true", "")
	if err := xml.Unmarshal([]byte(text), &struct{}{}); err != nil || strings.Contains(text, "<script") {
		t.Errorf("%v: %s", err, text)
	}
}

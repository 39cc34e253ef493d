package server

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
)

func TestABannerIsForEveryoneWhoIsSignedIn(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := w.user("nobody", "", "")
	banner := func() *api.Banner {
		var info api.ServerInfo
		if err := json.Unmarshal([]byte(w.ok(nobody, http.MethodGet, "/api/v1/info", "")), &info); err != nil {
			t.Fatal(err)
		}
		return info.Banner
	}
	if got := banner(); got != nil {
		t.Errorf("before there is one: %+v", got)
	}
	w.settings(`,"banner":{"text":" Back <b>soon</b> ","url":"https://status.example.org","severity":"warning","permanent":true}`)
	want := &api.Banner{Text: "Back <b>soon</b>", URL: "https://status.example.org", Severity: api.BannerWarning, Permanent: true}
	if diff := cmp.Diff(want, banner()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if code, _ := w.do("", http.MethodGet, "/api/v1/info", ""); code != http.StatusUnauthorized {
		t.Errorf("without a session: %d", code)
	}
	w.settings("")
	if got := banner(); got != nil {
		t.Errorf("once it is gone: %+v", got)
	}
}

func TestABannerThatLeadsElsewhereIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for banner, field := range map[string]string{
		`{"text":"x","url":"javascript:alert(1)"}`:        "body.banner.url",
		`{"text":"x","url":"status.example.org"}`:         "body.banner.url",
		`{"text":"x","severity":"loud"}`:                  "body.banner.severity",
		`{"url":"https://status.example.org"}`:            "body.banner.text",
		`{"text":"` + strings.Repeat("x", 501) + `"}`:     "body.banner.text",
		`{"text":"   ","permanent":true}`:                 "body.banner.text",
		`{"text":"x","url":"https://u:p@example.org/#a"}`: "body.banner.url",
	} {
		for _, query := range []string{"", "?dryRun=true"} {
			code, answer := w.do(w.admin, http.MethodPut, "/api/v1/settings"+query, `{"auditRetentionDays":365,"commandRetentionDays":30,"banner":`+banner+`}`)
			if code != http.StatusUnprocessableEntity || !strings.Contains(answer, field) {
				t.Errorf("%.60s%s: %d %s", banner, query, code, answer)
			}
		}
	}
}

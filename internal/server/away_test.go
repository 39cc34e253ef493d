package server

import (
	"net/http"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestWhileTheDatabaseIsAwayTheAPISaysWhenToTryAgain(t *testing.T) {
	database := testenv.PrivatePostgres(t)
	w := &world{t: t, server: newServer(t, func(c *Config) { c.Database = database.URL() })}
	w.admin = w.signIn("admin")
	database.Stop()
	for _, r := range []*http.Request{
		w.request(w.admin, http.MethodGet, "/api/v1/applications", ""),
		w.request(w.admin, http.MethodPost, "/api/v1/organizations", `{"name":"acme"}`),
		w.request("", http.MethodPost, "/api/v1/session", `{"username":"admin","password":"`+password+`"}`),
	} {
		out := w.send(r)
		p := problemOf(t, out.Body.String())
		if out.Code != http.StatusServiceUnavailable || out.Header().Get("Retry-After") != "5" || p.Code != api.CodeUnavailable || !strings.Contains(p.Detail, "try again in 5 seconds") {
			t.Errorf("%s %s: %d, Retry-After %q: %s", r.Method, r.URL.Path, out.Code, out.Header().Get("Retry-After"), out.Body)
		}
		if strings.Contains(p.Detail, "127.0.0.1") || strings.Contains(p.Detail, "slipway database=") {
			t.Errorf("it tells where the database is: %s", p.Detail)
		}
	}
	database.Start()
	if code, answer := w.do(w.admin, http.MethodPost, "/api/v1/organizations", `{"name":"acme"}`); code != http.StatusOK {
		t.Errorf("once it is there again: %d %s", code, answer)
	}
}

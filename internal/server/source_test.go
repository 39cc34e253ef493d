package server

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestARepositoryIsLookedIntoByWhoMayDeployItAndSeeIt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPut, "/api/v1/agents/account.prod/mappings/shop", `{"argoProject":"shop","project":"acme.shop"}`)
	for _, role := range []string{
		`{"name":"writer","scope":"org.acme","permissions":["application_edit"]}`,
		`{"name":"reader","scope":"org.acme","permissions":["application_view","repository_view"]}`,
		`{"name":"both","scope":"org.acme","permissions":["application_edit","repository_view"]}`,
	} {
		w.ok(w.admin, http.MethodPost, "/api/v1/roles", role)
	}
	writer, reader := w.user("writer", "org.acme.writer", "org.acme"), w.user("reader", "org.acme.reader", "org.acme")
	both, elsewhere := w.user("both", "org.acme.both", "org.acme"), w.user("elsewhere", "account.admin", "org.other")
	for _, c := range []struct {
		name, token, project, application string
		want                              int
		word                              string
	}{
		{"who may edit only", writer, "shop", "", http.StatusForbidden, "repository_view"},
		{"who may see only", reader, "shop", "", http.StatusForbidden, "application_edit"},
		{"all rights elsewhere", elsewhere, "shop", "", http.StatusForbidden, "application_edit"},
		{"another project", both, "default", "", http.StatusForbidden, "application_edit"},
		{"an application of somebody else", both, "shop", "thing", http.StatusNotFound, "there is no application"},
		{"who may do both", both, "shop", "", http.StatusServiceUnavailable, "connect"}, // the agent is asked: nothing else is in the way
		{"for a name that is free", both, "shop", "new", http.StatusServiceUnavailable, "connect"},
	} {
		for _, path := range []string{"repository-refs", "repository-paths"} {
			query := url.Values{"repoURL": {"https://git.example.org/shop.git"}, "argoProject": {c.project}}
			if c.application != "" {
				query.Set("application", c.application)
			}
			code, answer := w.do(c.token, http.MethodGet, "/api/v1/agents/account.prod/"+path+"?"+query.Encode(), "")
			if code != c.want || !strings.Contains(answer, c.word) {
				t.Errorf("%s as %s: %d %s, want %d and %q", path, c.name, code, answer, c.want, c.word)
			}
		}
	}
	if code, answer := w.do(both, http.MethodGet, "/api/v1/agents/account.prod/repository-refs", ""); code != http.StatusUnprocessableEntity {
		t.Errorf("without a repository: %d %s", code, answer)
	}
}

func TestAPreviewTakesWhatTheApplicationWouldTake(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ok(w.admin, http.MethodPut, "/api/v1/agents/account.prod/mappings/shop", `{"argoProject":"shop","project":"acme.shop"}`)
	for _, role := range []string{
		`{"name":"writer","scope":"org.acme","permissions":["application_edit"]}`,
		`{"name":"reader","scope":"org.acme","permissions":["application_view"]}`,
		`{"name":"both","scope":"org.acme","permissions":["application_edit","application_view"]}`,
	} {
		w.ok(w.admin, http.MethodPost, "/api/v1/roles", role)
	}
	writer, reader := w.user("writer", "org.acme.writer", "org.acme"), w.user("reader", "org.acme.reader", "org.acme")
	both := w.user("both", "org.acme.both", "org.acme")
	draft := func(project, metadata, more string) string {
		return `{"resource":{"apiVersion":"argoproj.io/v1alpha1","kind":"Application","metadata":{"namespace":"argocd",` + metadata + `},"spec":{"project":"` + project + `"}}` + more + `}`
	}
	for _, c := range []struct {
		name, token, body string
		want              int
		word              string
	}{
		{"edit only", writer, draft("shop", `"name":"fresh"`, ""), http.StatusForbidden, "application_view"},
		{"view only", reader, draft("shop", `"name":"fresh"`, ""), http.StatusForbidden, "application_edit"},
		{"another project", both, draft("default", `"name":"fresh"`, ""), http.StatusForbidden, "application_edit"},
		{"both", both, draft("shop", `"name":"fresh"`, ""), http.StatusServiceUnavailable, "connect"},
		{"a name that somebody else has", both, draft("shop", `"name":"thing"`, ""), http.StatusServiceUnavailable, "connect"}, // the agent says that it is taken
		{"an edit of what somebody else has", both, draft("shop", `"name":"thing"`, `,"update":true`), http.StatusNotFound, "there is no application"},
		{"such an edit, told by its version", both, draft("shop", `"name":"thing","resourceVersion":"7"`, ""), http.StatusNotFound, "there is no application"},
		{"such an edit, told by its uid", both, draft("shop", `"name":"thing","uid":"u"`, ""), http.StatusNotFound, "there is no application"},
		{"an edit of what is not there", both, draft("shop", `"name":"none"`, `,"update":true`), http.StatusNotFound, "there is no application"},
		{"an edit by who may", w.admin, draft("shop", `"name":"thing"`, `,"update":true`), http.StatusServiceUnavailable, "connect"},
		{"no application", w.admin, `{"resource":{"kind":"Secret"}}`, http.StatusUnprocessableEntity, "no Application"},
	} {
		code, answer := w.do(c.token, http.MethodPost, "/api/v1/agents/account.prod/applications/preview?quick=true", c.body)
		if code != c.want || !strings.Contains(answer, c.word) {
			t.Errorf("%s: %d %s, want %d and %q", c.name, code, answer, c.want, c.word)
		}
	}
}

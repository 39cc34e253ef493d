package security

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
)

// noted is an entry of the audit, as the database has it.
type noted struct {
	id                                            int64
	actor, request, action, kind, object, outcome string
	scope                                         api.Scope
}

func (n noted) String() string {
	return fmt.Sprintf("entry %d: %s by %s of %s %s at %s: %s", n.id, n.action, n.actor, n.kind, n.object, n.scope, n.outcome)
}

// journal reads what is new in the audit.
type journal struct {
	next *sql.Stmt
	last int64
}

// newJournal begins behind what is there.
func (g *stage) newJournal() *journal {
	g.t.Helper()
	j := &journal{}
	var err error
	if j.next, err = g.db.PrepareContext(g.t.Context(), "SELECT id, actor_type || ':' || actor_id, request_id, action, object_type, object_id, outcome, scope FROM audit WHERE id > ? ORDER BY id"); err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { _ = j.next.Close() })
	g.entries(j)
	return j
}

// entries are those that came since it was asked last.
func (g *stage) entries(j *journal) (out []noted) {
	g.t.Helper()
	rows, err := j.next.QueryContext(context.WithoutCancel(g.t.Context()), j.last)
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var n noted
		if err := rows.Scan(&n.id, &n.actor, &n.request, &n.action, &n.kind, &n.object, &n.outcome, &n.scope); err != nil {
			g.t.Fatal(err)
		}
		out, j.last = append(out, n), n.id
	}
	if err := rows.Err(); err != nil {
		g.t.Fatal(err)
	}
	return out
}

// judgeAudit compares what the audit has of a request with what docs/guide/access.md promises: an attempt to change something
// is one entry, with who tried, what, and what came of it. What reads, and what is no request at all, leaves none.
func (k *walk) judgeAudit(q *request, out *httptest.ResponseRecorder, fail func(string, ...any)) {
	k.t.Helper()
	request := id(out)
	var own []noted
	for _, n := range k.entries(k.journal) {
		switch {
		case strings.HasPrefix(n.action, "command.") && slices.Contains(k.ordered, n.request):
			// The end of a command, which comes when the agent says so.
		case strings.HasPrefix(n.actor, api.PrincipalAgent+":") || strings.HasPrefix(n.actor, api.PrincipalSystem+":"):
			// Neither asks here.
		case k.jobs && n.request == strings.ToLower(n.request) && strings.HasPrefix(n.action, "application."):
			// A job does what was asked for by somebody who may. Its requests are its own, those of people are in upper case.
		case n.request != request:
			fail("the audit has another entry, of request %q: %s", n.request, n)
		default:
			own = append(own, n)
		}
	}
	least, most := due(q, out)
	switch {
	case len(own) < least || len(own) > most:
		fail("the audit has %d entries of it, and has to have %d to %d: %v", len(own), least, most, own)
	case len(own) == 1:
		if wrong := k.misnoted(q, out, own[0]); wrong != "" {
			fail("the audit %s: %s", wrong, own[0])
		}
	}
}

// due is how many entries an answer has to have at the least and at the most.
func due(q *request, out *httptest.ResponseRecorder) (least, most int) {
	r, code := q.route, problemOf(out)
	switch {
	case r.audit == "" || out.Header().Get("Idempotency-Replayed") != "":
		return 0, 0
	case r.access != "public" && (q.actor.code != 0 || out.Code == http.StatusUnauthorized || q.actor.unsettled && !r.unsettled), q.actor.foreign && (r.method != http.MethodGet || ofOthers(out)):
		return 0, 0 // nobody is there to name, or a page of others asked in their name
	case elsewhere(out) || id(out) == "":
		return 0, 0
	case q.moved():
		return 0, 1
	case out.Code < 400 && (strings.Contains(q.query, "dryRun=true") || tried(q.body)):
		return 0, 1 // a dry run of an agent is a command; one that nothing refused leaves no entry, except that of a sync
	case q.what == asMeant || code == api.CodeForbidden || code == api.CodeUnauthenticated || code == api.CodeNotFound:
		return 1, 1
	case out.Code >= 400:
		return 0, 1 // what cannot be read is no attempt; what the route itself refuses is one
	}
	return 1, 1
}

// tried reports whether a body asks for a dry run.
func tried(body string) bool {
	var b struct {
		DryRun bool `json:"dryRun"`
	}
	return json.Unmarshal([]byte(body), &b) == nil && b.DryRun
}

// ofOthers is true for an answer to a page of another origin, which asked with a method that changes things: one that no route has,
// where the route is one that reads.
func ofOthers(out *httptest.ResponseRecorder) bool {
	return problemOf(out) == api.CodeForbidden && strings.Contains(out.Body.String(), "a page of another origin asked for this")
}

func id(out *httptest.ResponseRecorder) string { return out.Header().Get("X-Request-Id") }

// elsewhere is true for an answer that no route gave.
func elsewhere(out *httptest.ResponseRecorder) bool {
	return out.Code == http.StatusMethodNotAllowed || redirected(out) || out.Code == http.StatusNotFound && strings.Contains(out.Body.String(), "nothing at this path")
}

func problemOf(out *httptest.ResponseRecorder) api.Code {
	var p api.Problem
	if out.Code < 400 || json.Unmarshal(out.Body.Bytes(), &p) != nil {
		return ""
	}
	return p.Code
}

// misnoted says what of an entry is not as it was; "" for nothing.
func (k *walk) misnoted(q *request, out *httptest.ResponseRecorder, n noted) string {
	outcome := api.OutcomeFailed
	switch code := problemOf(out); {
	case out.Code < 400:
		outcome = api.OutcomeSucceeded
	case code == api.CodeForbidden || code == api.CodeUnauthenticated || code == api.CodeNotFound:
		outcome = api.OutcomeDenied
	}
	switch {
	case !q.moved() && n.action != q.route.audit:
		return "has another action than " + q.route.audit
	case n.outcome != outcome:
		return "has another outcome than " + outcome
	case q.route.access != "public" && n.actor != q.actor.principal:
		return "names somebody else than " + q.actor.principal
	case q.route.access == "public" && n.actor != api.PrincipalAnonymous+":" && !strings.HasPrefix(n.actor, api.PrincipalUser+":"):
		return "names somebody who signs in nowhere"
	}
	if q.route.access != "addressed" || q.what == "path" || q.moved() {
		return ""
	}
	if q.what == asMeant {
		if scope := k.scope(q.route, into[map[string]any](k.t, orNothing(q.body))); scope != anywhere && n.scope != scope && (n.scope != "" || problemOf(out) != api.CodeNotFound) {
			return "has another scope than " + string(scope)
		}
	}
	switch id := k.about(q.route); {
	case id != "" && n.object != id:
		return "is about something else than " + id
	case n.kind == "" || n.object == "" && out.Code < 400:
		return "says not what it is about"
	}
	return ""
}

// moved is true for a request that may lead to another route, or to another object, than it was made for.
func (q *request) moved() bool { return q.wire != nil && q.wire.moved }

func orNothing(body string) string {
	if body == "" {
		return "{}"
	}
	return body
}

// about is the id of the object of a route whose path names one; "" where the body does, or where it is another's.
func (k *walk) about(r *route) string {
	switch {
	case strings.Contains(r.path, "/{namespace}/{name}"):
		return "account.prod/argocd/" + k.name(r)
	case below(r.path) == "" && strings.Contains(r.path, "/{id}") && k.ids[noun(r.path)] != "":
		return k.ids[noun(r.path)]
	}
	return ""
}

// principals asks who everybody is.
func (k *walk) principals(all []*actor) {
	k.t.Helper()
	for _, a := range all {
		r := k.request(a.token, http.MethodGet, "/api/v1/session", "")
		if a.cookie != nil {
			r.AddCookie(&http.Cookie{Name: a.cookie.Name, Value: a.cookie.Value})
		}
		if out := k.send(r); out.StatusCode == http.StatusOK {
			p := into[api.Whoami](k.t, out.text).Principal
			a.principal = p.Type + ":" + p.ID
		} else if a.code == 0 {
			k.t.Fatalf("%s is nobody: %s", a.name, out)
		}
	}
}

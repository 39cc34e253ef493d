package security

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// walk asks, and judges what comes of it.
type walk struct {
	*stage
	routes []*route
	// share is how many of the variants are asked: one of so many.
	share int
	seed  uint64
	asked int
	turns *turns
	// named is true once a request named the other tenant.
	named bool
	// before is what no request may change, at the last look; since are the requests after it.
	before map[string]bool
	since  []string
	// between is how many requests are between two looks.
	between int

	journal *journal
	// ordered are the last requests that an agent got a command for; jobs is true once a job was begun.
	ordered []string
	jobs    bool
}

// request is what is asked, and what is known of it before it is answered.
type request struct {
	route   *route
	actor   *actor
	what    string // is done to it
	method  string
	path    string
	query   string
	body    string
	prepare func(*http.Request, string) string
	// wire is how it is written on a connection; nil for one that is asked in this process.
	wire *wire
	// refused is true for what may not be done, whatever it is.
	refused bool
}

// mentions is true for a request that names the other tenant: what it named may come back.
func (q *request) mentions() bool {
	all := q.path + q.query + q.body
	return strings.Contains(all, theirOrg) || strings.Contains(all, theirProject)
}

// curl is the request as a person would repeat it.
func (q *request) curl() string {
	body := q.body
	if len(body) > 600 {
		body = body[:600] + "…"
	}
	out := fmt.Sprintf("curl -X %s '$SERVER%s", q.method, q.path)
	if q.query != "" {
		out += "?" + q.query
	}
	if out += "'"; q.body != "" {
		out += " -H 'Content-Type: application/json' -d " + strconv.Quote(body)
	}
	return fmt.Sprintf("%s (%s): %.1500s", q.actor.name, q.what, out)
}

// look compares what no request may have changed. It is done after some requests, since it takes longer than they do.
func (k *walk) look() {
	k.t.Helper()
	now := k.others()
	for row := range now {
		if !k.before[row] {
			k.t.Errorf("this is new or changed: %.600s\nafter one of\n  %s", row, strings.Join(k.since, "\n  "))
		}
	}
	for row := range k.before {
		if !now[row] {
			k.t.Errorf("this is gone or changed: %.600s\nafter one of\n  %s", row, strings.Join(k.since, "\n  "))
		}
	}
	k.before, k.since = now, nil
}

func (k *walk) ask(q *request) {
	k.t.Helper()
	target := q.path
	if q.query != "" {
		target += "?" + q.query
	}
	r, err := http.NewRequestWithContext(k.t.Context(), q.method, k.url+target, nil)
	if err != nil {
		return // nobody can send it
	}
	r.RemoteAddr, r.RequestURI = "192.0.2.1:1234", target
	body := q.body
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for name, values := range q.actor.headers {
		r.Header[name] = values
	}
	if q.actor.token != "" {
		r.Header.Set("Authorization", "Bearer "+q.actor.token)
	}
	if q.actor.cookie != nil {
		r.AddCookie(&http.Cookie{Name: q.actor.cookie.Name, Value: q.actor.cookie.Value})
	}
	if q.prepare != nil {
		body = q.prepare(r, body)
	}
	if body != "" {
		r.Body, r.ContentLength = http.NoBody, int64(len(body))
		r.Body = readCloser{strings.NewReader(body)}
	}
	k.asked++
	q.body = body
	if q.wire == nil {
		k.judge(q, k.serve(r))
	} else if out, err := k.mail(r, body, *q.wire); err != nil {
		k.t.Errorf("no answer: %v\n  %s", err, q.curl())
	} else {
		k.judge(q, out)
	}
	if len(k.since) >= k.between {
		k.look()
	}
}

type readCloser struct{ *strings.Reader }

// Close does nothing.
func (readCloser) Close() error { return nil }

const asMeant = "as it is meant"

// base is a request about our tenant, as it is meant, and whether the actor must be refused it.
func (k *walk) base(r *route, a *actor) *request {
	path, query := k.target(r)
	q := &request{route: r, actor: a, what: asMeant, method: r.method, path: path}
	var body map[string]any
	if r.example != nil {
		body = k.body(r, "new-"+strconv.Itoa(k.asked))
		q.body = plain(body)
	}
	scope := k.scope(r, body)
	switch {
	case r.access == "public" || r.access == "signed-in":
		q.refused = r.access == "signed-in" && (a.code != 0 || a.unsettled && !r.unsettled)
	default:
		q.refused = !a.may(r.permission, scope) || a.foreign && r.method != http.MethodGet
	}
	if !q.refused && r.method == http.MethodDelete && r.takes("dryRun") {
		query.Set("dryRun", "true") // what is gone is not there for the next request
	}
	q.query = query.Encode()
	return q
}

func (r *route) takes(name string) bool {
	return slices.ContainsFunc(r.query, func(p parameter) bool { return p.name == name })
}

// own are the routes about somebody's own session: they would end it.
func own(r *route) bool { return noun(r.path) == "session" && r.method != http.MethodGet }

// TestNobodyGetsMoreThanTheyMayOnAnyRoute asks everything of the description as everybody, with everything that is hostile.
// The description is all that it knows of routes: a new one, and a new field, is asked for without a word here.
// SLIPWAY_SOAK_WALK=1 asks for all variants, SLIPWAY_WALK_SEED for others than usual.
func TestNobodyGetsMoreThanTheyMayOnAnyRoute(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a minute: make test asks every route")
	}
	k := &walk{stage: newStage(t), routes: described(t), share: 250, seed: 1, between: 250}
	if os.Getenv("SLIPWAY_SOAK_WALK") != "" {
		k.share, k.between = 1, 1000
	}
	if text := os.Getenv("SLIPWAY_WALK_SEED"); text != "" {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		k.seed = n
	}
	t.Logf("SLIPWAY_WALK_SEED=%d, one of %d variants", k.seed, k.share)
	all := k.actors()
	k.principals(all)
	k.journal = k.newJournal()
	k.before = k.others()
	k.everyone(all, func(r *route, a *actor) { k.ask(k.base(r, a)) })
	k.named = true
	k.turns = k.newTurns(all)
	k.everyone(all, k.variants)
	k.turns.judge(t)
	t.Logf("%d requests of %d routes as %d", k.asked, len(k.routes), len(all))
}

// spares says whether somebody does nothing with a route: see everyone.
func (k *walk) spares(r *route, a *actor) bool {
	return own(r) && a.code == 0 || (r.streams || r.changes() && a.everywhere()) && !k.base(r, a).refused
}

// everyone has each actor do something with each route, but what ends their session, streams without an end, or changes with
// every right what is the other tenant's.
func (k *walk) everyone(all []*actor, do func(*route, *actor)) {
	k.t.Helper()
	for _, r := range k.routes {
		for _, a := range all {
			if k.spares(r, a) {
				continue
			}
			do(r, a)
		}
		if k.share == 1 {
			k.t.Logf("%d requests up to %s", k.asked, r)
		}
	}
	k.look()
}

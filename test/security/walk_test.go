package security

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"mime"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// walk asks, and judges what comes of it.
type walk struct {
	*stage
	routes []*route
	// share is how many of the variants are asked: one of so many.
	share int
	seed  uint64
	asked int
	// named is true once a request named the other tenant.
	named bool
	// before is what no request may change, at the last look; since are the requests after it.
	before map[string]bool
	since  []string

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

const between = 60 // requests, between two looks

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
	k.judge(q, k.serve(r))
	if len(k.since) >= between {
		k.look()
	}
}

type readCloser struct{ *strings.Reader }

// Close does nothing.
func (readCloser) Close() error { return nil }

func (k *walk) judge(q *request, out *httptest.ResponseRecorder) {
	k.t.Helper()
	fail := func(format string, args ...any) {
		k.t.Helper()
		k.t.Errorf("%s\n  of %s: %d %.700s\n  %s", fmt.Sprintf(format, args...), q.route, out.Code, out.Body, q.curl())
	}
	if !q.actor.everywhere() || q.refused {
		k.since = append(k.since, fmt.Sprintf("%d %.300s", out.Code, q.curl()))
	}
	refused := out.Code >= 400 && out.Code < 500
	switch {
	case out.Code >= 500 && out.Code != http.StatusServiceUnavailable:
		fail("the server broke down")
	case q.actor.code != 0 && q.route.access != "public" && out.Code != q.actor.code && !refused && !redirected(out):
		fail("whoever proves nothing is answered %d", q.actor.code)
	case q.refused && !refused && !redirected(out):
		fail("this has to be refused")
	}
	if out.Code >= 400 {
		media, _, _ := mime.ParseMediaType(out.Header().Get("Content-Type"))
		var p api.Problem
		if media != "application/problem+json" || json.Unmarshal(out.Body.Bytes(), &p) != nil || p.Detail == "" || p.Code == "" && out.Code != http.StatusMethodNotAllowed {
			fail("the answer is no problem: %s", media)
		}
	}
	for name, want := range map[string]string{"X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer"} {
		if out.Header().Get(name) != want {
			fail("the answer has no %s: %s", name, want)
		}
	}
	if out.Header().Get("X-Request-Id") == "" {
		fail("the answer has no X-Request-Id")
	}
	k.judgeText(q, out, fail)
	for _, c := range k.arrived() {
		k.ordered = append(k.ordered, c.Origin)
		if said := k.judgeCommand(q, c); said != "" {
			fail("%s: the agent got %s of %v: %s", said, c.Kind, c.Target, c.Body)
		}
	}
	k.ordered = k.ordered[max(0, len(k.ordered)-200):]
	k.jobs = k.jobs || q.route.id == "create-job" && out.Code < 300
	k.judgeAudit(q, out, fail)
}

// redirected is true for an answer that says where the same is, in one spelling: what is asked there is judged there.
func redirected(out *httptest.ResponseRecorder) bool { return out.Code >= 300 && out.Code < 400 }

// judgeText looks for what the other tenant has.
func (k *walk) judgeText(q *request, out *httptest.ResponseRecorder, fail func(string, ...any)) {
	k.t.Helper()
	if q.actor.everywhere() {
		return
	}
	text := out.Body.String() + fmt.Sprint(out.Header())
	if strings.Contains(text, planted) {
		fail("the answer holds what only the other tenant may read")
	}
	// What was sent may come back where it was kept: once it was sent, it is no sign.
	if !k.named && !q.mentions() && (strings.Contains(text, theirOrg) || strings.Contains(text, theirProject)) {
		fail("the answer names the other tenant")
	}
}

// judgeCommand says what is wrong with a command that came to the agent, as the agent reads it; "" where nothing is.
func (k *walk) judgeCommand(q *request, c agentapi.Command) string {
	if q.actor.everywhere() {
		return ""
	}
	if q.refused || !slices.ContainsFunc(q.actor.grants, func(api.Permission) bool { return true }) {
		return "this may not be asked of an agent"
	}
	var body any
	if len(c.Body) > 0 && json.Unmarshal(c.Body, &body) != nil {
		return "the body cannot be read"
	}
	if name := nameIn(body); name != "" && name != c.Target.Name {
		return fmt.Sprintf("it is about %q, and the object is %q", c.Target.Name, name)
	}
	projects := projectsIn(body)
	for _, p := range projects {
		if p != ourProject {
			return fmt.Sprintf("it says project %q", p)
		}
	}
	switch {
	case strings.HasPrefix(c.Target.Name, theirProject) && !fresh(c.Kind, body):
		return "it is about what the other tenant has"
	case c.Target.Name != ourProject && c.Target.Name != ourProject+"s" && len(projects) == 0:
		return "it is about nothing of ours, and says no project"
	}
	return ""
}

// fresh is true for what the agent refuses where something of this name is there already.
func fresh(kind agentapi.Kind, body any) bool {
	says, _ := body.(map[string]any)
	create, _ := says["create"].(bool)
	update, _ := says["update"].(bool)
	return create || kind == agentapi.KindPreview && !update
}

// nameIn is the name of the object in the body of a command; "" where there is none.
func nameIn(body any) string { return textAt(body, "object", "metadata", "name") }

func kindIn(body any) string { return textAt(body, "object", "kind") }

// textAt is the text at a path; "" where there is none.
func textAt(v any, path ...string) string {
	for _, name := range path {
		inside, _ := v.(map[string]any)
		v = inside[name]
	}
	text, _ := v.(string)
	return text
}

// projectsIn are the projects that an agent reads in the body of a command, by the exact names of the fields.
func projectsIn(body any) []string {
	var out []string
	if kindIn(body) == "AppProject" {
		return nil // it is one, by its name
	}
	for _, path := range [][]string{
		{"project"}, {"argoProject"}, {"fields", "project"}, {"object", "spec", "project"}, {"object", "spec", "template", "spec", "project"},
	} {
		if text := textAt(body, path...); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// picked says whether a variant is asked: the same ones for the same seed.
func (k *walk) picked(parts ...string) bool {
	if k.share <= 1 {
		return true
	}
	h := fnv.New64a()
	fmt.Fprint(h, k.seed, parts)
	return h.Sum64()%uint64(k.share) == 0
}

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
	k := &walk{stage: newStage(t), routes: described(t), share: 250, seed: 1}
	if os.Getenv("SLIPWAY_SOAK_WALK") != "" {
		k.share = 1
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
	k.everyone(all, k.variants)
	t.Logf("%d requests of %d routes as %d", k.asked, len(k.routes), len(all))
}

// everyone has each actor do something with each route, but what ends their session, streams without an end, or changes with
// every right what is the other tenant's.
func (k *walk) everyone(all []*actor, do func(*route, *actor)) {
	k.t.Helper()
	for _, r := range k.routes {
		for _, a := range all {
			if refused := k.base(r, a).refused; !refused && (r.streams || r.changes() && a.everywhere()) || own(r) && a.code == 0 {
				continue
			}
			do(r, a)
		}
	}
	k.look()
}

// variants asks a route in every hostile way.
func (k *walk) variants(r *route, a *actor) {
	k.t.Helper()
	if own(r) {
		return
	}
	for i, path := range ofPaths(k.base(r, a).path) {
		if !k.picked(r.String(), a.name, "path", strconv.Itoa(i)) {
			continue
		}
		q := k.base(r, a)
		q.what, q.path = "path", path
		q.refused = q.refused || !a.everywhere() && path == theirs(path) && strings.Contains(path, theirProject) && r.access == "addressed"
		k.ask(q)
	}
	for i, query := range ofQueries(r, k.base(r, a).query) {
		if k.picked(r.String(), a.name, "query", strconv.Itoa(i)) {
			q := k.base(r, a)
			q.what, q.query = "query", query
			k.ask(q)
		}
	}
	bodies, whole := ofRequests()
	if r.example != nil {
		whole = append(whole, bodies...)
		k.fields(r, a)
	}
	for _, e := range whole {
		if k.picked(r.String(), a.name, e.name) {
			q := k.base(r, a)
			q.what, q.prepare = e.name, e.change
			q.refused = q.refused || e.refused
			k.ask(q)
		}
	}
}

// fields asks a route with every variant of every field of its body.
func (k *walk) fields(r *route, a *actor) {
	k.t.Helper()
	body := k.body(r, "x")
	known := map[string]bool{}
	for _, at := range r.fields {
		known[strings.Join(at, ".")] = true
	}
	judged := func(at []string) bool {
		return a.thorough && slices.Contains([]string{"project", "argoProject", "organization", "scope", "namespace", "name", "role", "metadata", "spec"}, at[len(at)-1])
	}
	all := slices.Clone(r.fields)
	for _, at := range leaves(body, nil) {
		if !known[strings.Join(at, ".")] {
			all = append(all, at)
		}
	}
	for _, at := range all {
		name := strings.Join(at, ".")
		for _, h := range ofFields() {
			if !judged(at) && !k.picked(r.String(), a.name, name, h.name) {
				continue
			}
			q := k.base(r, a)
			q.what = name + " " + h.name
			q.body = written(k.body(r, "new-"+strconv.Itoa(k.asked)), at, h.member)
			// In a table of texts, such as labels, names in another case are other names.
			exact := known[name] || strings.HasPrefix(h.name, "twice") || h.name == "no UTF-8" || h.name == "deep"
			q.refused = q.refused || h.refused && exact && folded(at[len(at)-1]) != at[len(at)-1] || h.refused && exact && h.name != "folded"
			k.ask(q)
		}
	}
}

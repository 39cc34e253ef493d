package server

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// within are the routes of people's own things that ask themselves what a limited token may, each for a reason.
var within = map[string]string{
	"sign-out": "ends the token", "whoami": "says what the token may", "access-can": "says what the token may", "list-permissions": "the same for all",
	"list-tokens": "those within it", "get-token": "those within it", "create-token": "those within it", "delete-token": "those within it",
	"get-command": "takes sight of its object", "list-jobs": "its own", "get-job": "its own", "list-job-targets": "its own", "stop-job": "its own",
	"events": "filtered by rights", "overview": "filtered by rights", "server-info": "no secret",
}

func TestALimitedTokenIsAskedForAtEveryRouteOfPeoplesOwnThings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := func(body string) string {
		code, answer := w.do(w.admin, http.MethodPost, "/api/v1/tokens", body)
		var out api.TokenCreated
		if err := json.Unmarshal([]byte(answer), &out); err != nil || code != http.StatusOK {
			t.Fatalf("%d %s", code, answer)
		}
		return out.Secret
	}
	// Whatever it is for, it is not for the account.
	inside := made(`{"name":"inside","permissions":["*"],"scope":"org.acme"}`)
	w.walk(func(r core.Route) {
		_, listed := within[r.ID]
		switch {
		case r.Access != core.SignedIn && (r.Within || r.Own != ""):
			t.Errorf("%s takes a permission, or nobody, and says what a limited token may", r.ID)
		case r.Access == core.SignedIn && r.Within != listed:
			t.Errorf("%s asks itself what a limited token may: %v; say in this test why", r.ID, r.Within)
		case r.Access != core.SignedIn || r.Within:
			return
		case r.Own != "" && !r.Own.Known():
			t.Errorf("%s needs %q of a token, which there is none of", r.ID, r.Own)
		}
		if r.Access == core.SignedIn {
			if code, answer := w.ask(inside, r); code != http.StatusForbidden {
				t.Errorf("%s with a token for another scope: %d %s", r.ID, code, answer)
			}
		}
	})
}

// free are the routes that take no permission, each for a reason: they are about the caller.
var free = []string{
	"sign-in-methods", "sign-in", "begin-oidc", "finish-oidc", "exchange-oidc", // nobody is signed in yet
	"application-badge",                     // says nothing unless the settings turn it on
	"sign-out", "whoami", "change-password", // about oneself
	"list-tokens", "get-token", "create-token", "delete-token", // one's own; others' with a permission, see TestTokensOfOthersTakeAPermission
	"access-can", "list-permissions", // one's own rights; others' with binding_view
	"get-command",                                        // takes sight of its object
	"list-views", "get-view", "save-view", "delete-view", // one's own; everyone's are changed with savedview_edit
	"list-jobs", "get-job", "list-job-targets", "stop-job", // one's own; others' with job_view and job_edit
	"events", "overview", "server-info", // filtered by rights, or no secret
}

func TestEveryRouteHasAPermissionAndEveryChangeAnAuditVerb(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, r := range newServer(t, nil).handler.Routes() {
		name := r.Method + " " + r.Path
		if seen[r.ID] || r.ID == "" || r.Summary == "" || r.Tag == "" {
			t.Errorf("%s: the id %q is missing or there twice, or summary or tag are missing", name, r.ID)
		}
		seen[r.ID] = true
		takes := r.Access == core.Addressed || r.Access == core.Listed
		if takes && !r.Permission.Known() {
			t.Errorf("%s takes permission %q, which there is none of", name, r.Permission)
		}
		if !takes && !slices.Contains(free, r.ID) {
			t.Errorf("%s takes no permission: give it one, or say in this test why not", name)
		}
		if r.Method != http.MethodGet && r.Audit == "" && !r.Reads && r.ID != "access-can" {
			t.Errorf("%s changes something and tells the audit nothing", name)
		}
		if (r.Method == http.MethodPost || r.Method == http.MethodPut) && r.Audit != "" && r.Audit != strings.ToLower(r.Audit) {
			t.Errorf("%s: the audit verb %q is not in lower case", name, r.Audit)
		}
	}
	for _, id := range free {
		if !seen[id] {
			t.Errorf("route %s is gone: take it off the list", id)
		}
	}
}

// someCommit is one that nobody has.
const someCommit = "0123456789abcdef0123456789abcdef01234567"

// ledgerEntry stands for the entry of the ledger that a world has.
const ledgerEntry = "ledgerentry"

// ids are what {id} stands for, by the noun of the path.
var ids = map[string]string{
	"users": "grace", "groups": "org.acme.developers", "service-accounts": "org.acme.ci", "organizations": "other", "projects": "acme.shop",
	"roles": "org.acme.deployer", "resource-groups": "org.acme.shop-apps", "bindings": "org.acme.developers", "agents": "account.prod",
	"services": "org.acme.checkout", "environments": "org.acme.production", "tokens": "nosuchtoken", "commands": "nosuchcommand", "jobs": "nosuchjob", "ledger": ledgerEntry, "audit": "1",
	"notification-channels": "org.acme.ops", "notification-rules": "org.acme.failures", "notification-deliveries": "SOMEDELIVERY",
	"agent-upgrades": "someupgrade",
}

// Target is a path of a route with something that is there.
func targetOf(r core.Route) string {
	noun := strings.Split(r.Path, "/")[3]
	path := strings.NewReplacer("{id}", ids[noun], "{other}", ids[noun], "{agent}", "account.prod", "{namespace}", "argocd", "{name}", "thing", "{argoProject}", "shop", "{revision}", someCommit).Replace(r.Path)
	query := url.Values{}
	for name, value := range map[string]string{
		"dryRun": "true", "wait": "0", "resourceName": "web", "objectName": "web", "podNamespace": "shop", "pod": "web-0", "revision": someCommit,
		"repoURL": "https://git.example.org/shop.git",
	} {
		if r.Takes(name) {
			query.Set(name, value)
		}
	}
	if strings.HasSuffix(r.Path, "/fleet/matrix") {
		query.Set("by", "agent")
	}
	if query.Has("resourceName") || query.Has("objectName") {
		query.Set("kind", "Deployment")
	}
	return path + "?" + query.Encode()
}

// bodyOf is the example of a route, about what the path is about.
func bodyOf(t *testing.T, r core.Route) string {
	t.Helper()
	if r.Method != http.MethodPut || !strings.HasSuffix(r.Path, "}") || strings.Contains(r.Path, "mappings") {
		return r.Example
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(r.Example), &body); err != nil {
		t.Fatalf("%s %s: the example is no JSON: %v", r.Method, r.Path, err)
	}
	id := ids[strings.Split(r.Path, "/")[3]]
	if resource, ok := body["resource"].(map[string]any); ok {
		metadata, _ := resource["metadata"].(map[string]any)
		metadata["name"] = "thing"
	} else {
		body["name"] = "thing"
		if strings.HasSuffix(r.Path, "{id}") {
			body["name"] = id[strings.LastIndexByte(id, '.')+1:]
			delete(body, "scope")
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// ask sends a request of a route.
func (w *world) ask(token string, r core.Route) (int, string) {
	body := ""
	if r.Method != http.MethodGet && r.Method != http.MethodDelete {
		body = bodyOf(w.t, r)
	}
	return w.do(token, r.Method, strings.NewReplacer(ledgerEntry, w.entry, "SOMEDELIVERY", w.delivery).Replace(targetOf(r)), body)
}

// walkers is how many routes are asked at a time: a command is waited for a moment, since no agent is there.
const walkers = 24

func TestARouteAnswersOnlyThoseItMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	roles := map[string]string{"admin": w.admin}
	for _, role := range rbac.BuiltinRoles() {
		if role.Name != "admin" {
			roles[role.Name] = w.user("the-"+role.Name, role.ID, "account")
		}
	}
	nobody := w.user("nobody", "", "")
	elsewhere := w.user("elsewhere", api.RoleAdmin, "org.other")
	granted := map[string][]api.Permission{}
	for _, role := range rbac.BuiltinRoles() {
		var err error
		if granted[role.Name], err = rbac.Expand(role.Permissions); err != nil {
			t.Fatal(err)
		}
	}
	w.walk(func(r core.Route) {
		if r.Access == core.Public || r.ID == "sign-out" || r.ID == "change-password" {
			return
		}
		name := r.Method + " " + r.Path
		if code, answer := w.ask("", r); code != http.StatusUnauthorized || !strings.Contains(answer, `"unauthenticated"`) {
			t.Errorf("%s without a session: %d %s", name, code, answer)
		}
		if code, answer := w.ask("slp_wrong", r); code != http.StatusUnauthorized {
			t.Errorf("%s with a wrong token: %d %s", name, code, answer)
		}
		if r.Access == core.SignedIn {
			return
		}
		if code, answer := w.ask(nobody, r); code != http.StatusForbidden && code != http.StatusNotFound {
			t.Errorf("%s without permission: %d %s", name, code, answer)
		}
		if r.Access == core.Addressed && !strings.Contains(targetOf(r), "/other") {
			if code, answer := w.ask(elsewhere, r); code != http.StatusForbidden && code != http.StatusNotFound {
				t.Errorf("%s with all rights elsewhere: %d %s", name, code, answer)
			}
		}
		for role, token := range roles {
			code, answer := w.ask(token, r)
			may := slices.Contains(granted[role], r.Permission)
			if refused := code == http.StatusForbidden; may == refused {
				t.Errorf("%s as %s: %d %s", name, role, code, answer)
			}
			works := code < 500 || code == http.StatusServiceUnavailable
			if code == http.StatusNotFound && !strings.Contains(r.Path, "mappings") || code == http.StatusUnprocessableEntity && r.Access == core.Listed {
				works = false
			}
			if may && !works {
				t.Errorf("%s as %s does not work: %d %s", name, role, code, answer)
			}
		}
	})
}

func TestWhatMayNotBeSeenLooksAsIfItWereNotThere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody := w.user("nobody", "", "")
	w.walk(func(r core.Route) {
		if r.Method != http.MethodGet || r.Access != core.Addressed {
			return
		}
		there := strings.NewReplacer(ledgerEntry, w.entry, "SOMEDELIVERY", w.delivery).Replace(targetOf(r))
		path, query, _ := strings.Cut(there, "?")
		at := slices.IndexFunc(strings.Split(r.Path, "/"), func(part string) bool { return part == "{id}" || part == "{name}" })
		if at < 0 {
			return // the permission is not for a thing of its own
		}
		last := strings.Split(path, "/")[at]
		answers := map[string]string{}
		for what, name := range map[string]string{"hidden": last, "missing": last[:strings.LastIndexByte(last, '.')+1] + "nosuch"} {
			code, answer := w.do(nobody, r.Method, strings.Replace(path, "/"+last, "/"+name, 1)+"?"+query, "")
			if code == http.StatusNotFound {
				answers[what] = strings.ReplaceAll(problemOf(t, answer).Detail, name, "IT")
			} else {
				answers[what] = answer
			}
		}
		if answers["hidden"] != answers["missing"] {
			t.Errorf("%s tells what is hidden from what is missing:\n%s\n%s", r.Path, answers["hidden"], answers["missing"])
		}
	})
}

// walk visits all routes, several at a time.
func (w *world) walk(visit func(core.Route)) {
	var group sync.WaitGroup
	slots := make(chan struct{}, walkers)
	for _, r := range w.server.handler.Routes() {
		slots <- struct{}{}
		group.Go(func() {
			defer func() { <-slots }()
			visit(r)
		})
	}
	group.Wait()
}

func TestTheExamplesOfTheDescriptionWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.walk(func(r core.Route) {
		if r.Example == "" || r.ID == "exchange-oidc" || r.ID == "change-password" {
			return
		}
		code, answer := w.ask(w.admin, r)
		// Without an agent that is connected a command waits (202), and a question cannot be answered (503).
		if code >= 300 && code != http.StatusServiceUnavailable && (code != http.StatusConflict || !strings.HasPrefix(r.ID, "create-")) {
			t.Errorf("%s %s with %s: %d %s", r.Method, r.Path, bodyOf(t, r), code, answer)
		}
	})
}

func TestAQueryHasOnlyParametersThatTheRouteTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.walk(func(r core.Route) {
		target := strings.NewReplacer(ledgerEntry, w.entry, "SOMEDELIVERY", w.delivery).Replace(targetOf(r)) + "&helth=x"
		code, answer := w.do(w.admin, r.Method, target, bodyOf(t, r))
		named := strings.Contains(answer, `"query.helth"`)
		if sent := r.ID == "finish-oidc"; named == sent || !sent && code != http.StatusUnprocessableEntity {
			t.Errorf("%s %s: %d %s", r.Method, target, code, answer)
		}
	})
	for target, want := range map[string]string{
		"applications?helth=Degraded":              `there is no parameter \"helth\" here: use agent, argoProject,`,
		"applications?Health=Degraded":             `there is no parameter \"Health\" here`,
		"applications?health=Degraded;helth=x":     "the query cannot be read",
		"applications?%zz":                         "the query cannot be read",
		"ledger/diff?page=2":                       `there is no parameter \"page\" here`,
		"ledger/diff?sort=application":             `there is no parameter \"sort\" here`,
		"ledger/diff?cursor=x":                     "the cursor is none of this list",
		"ledger/export?sort=-finishedAt":           `there is no parameter \"sort\" here`,
		"ledger/at?sort=phase":                     "it can be application, id",
		"session?x":                                `there is no parameter \"x\" here: this path takes none`,
		"users?" + strings.Repeat("x", 5000) + "=": "there is no parameter",
	} {
		code, answer := w.do(w.admin, http.MethodGet, "/api/v1/"+target, "")
		if code != http.StatusUnprocessableEntity || !strings.Contains(answer, want) || len(answer) > 2000 {
			t.Errorf("GET %.60s: %d %.2000s", target, code, answer)
		}
	}
	if code, answer := w.do("", http.MethodGet, "/api/v1/applications?helth=x", ""); code != http.StatusUnauthorized {
		t.Errorf("without a session: %d %s", code, answer)
	}
}

package security

import (
	"database/sql"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// actors are everybody who can ask: each built-in role at each level, and every way to prove who one is.
func (g *stage) actors() []*actor {
	g.t.Helper()
	expand := func(patterns []api.Permission) (out []api.Permission) {
		for _, p := range api.Permissions() {
			for _, pattern := range patterns {
				kind, verb, _ := strings.Cut(string(pattern), "_")
				if pattern == "*" || pattern == p || kind == "*" && strings.HasSuffix(string(p), "_"+verb) || verb == "*" && strings.HasPrefix(string(p), kind+"_") {
					out = append(out, p)
					break
				}
			}
		}
		return out
	}
	out := []*actor{
		{name: "nobody", token: g.user(walker + "nobody"), scope: nowhere},
		{name: "without a session", code: http.StatusUnauthorized},
		{name: "with a token of nobody", token: "slp_wrong", code: http.StatusUnauthorized},
	}
	roles := into[api.Page[api.Role]](g.t, g.must(g.admin, "GET", "/roles?scope=account", "")).Items
	for _, role := range roles {
		if !role.BuiltIn {
			continue
		}
		for _, scope := range []api.Scope{api.ScopeAccount, api.Scope("org." + ourOrg), api.ProjectScope(ourOrg, ourProject)} {
			level, _, _ := strings.Cut(string(scope), ".")
			name := walker + role.Name + "-" + level
			out = append(out, &actor{name: role.Name + " of " + string(scope), token: g.user(name, role.ID+"@"+string(scope)), grants: expand(role.Permissions), scope: scope, thorough: role.Name == "operator" && level == "project"})
		}
	}
	admin := expand([]api.Permission{"*"})
	project := api.ProjectScope(ourOrg, ourProject)

	owner := g.user(walker+"owner", api.RoleAdmin+"@account")
	limited := into[api.TokenCreated](g.t, g.must(owner, "POST", "/tokens", fmt.Sprintf(`{"name":"limited","scope":%q}`, project)))
	out = append(out, &actor{name: "a token of an administrator, limited to a project", token: limited.Secret, grants: admin, scope: project})
	for _, which := range []string{"expired", "revoked"} {
		made := into[api.TokenCreated](g.t, g.must(owner, "POST", "/tokens", fmt.Sprintf(`{"name":%q,"expiresAt":%q}`, which, time.Now().Add(time.Hour).UTC().Format(time.RFC3339))))
		if which == "expired" {
			g.expire(made.ID)
		} else {
			g.must(owner, "DELETE", "/tokens/"+made.ID, "")
		}
		out = append(out, &actor{name: "with a token that is " + which, token: made.Secret, code: http.StatusUnauthorized})
	}

	g.must(g.admin, "POST", "/service-accounts", `{"name":"`+walker+`robot","scope":"org.acme"}`)
	g.must(g.admin, "POST", "/bindings", fmt.Sprintf(`{"name":"%srobot","scope":%q,"principal":{"type":"serviceaccount","id":"org.acme.%srobot"},"role":"account.operator"}`, walker, project, walker))
	robot := into[api.TokenCreated](g.t, g.must(g.admin, "POST", "/tokens", `{"name":"robot","owner":{"type":"serviceaccount","id":"org.acme.`+walker+`robot"}}`))
	var operator []api.Permission
	for _, role := range roles {
		if role.ID == "account.operator" {
			operator = expand(role.Permissions)
		}
	}
	out = append(out, &actor{name: "a service account of a project", token: robot.Secret, grants: operator, scope: project})

	g.user(walker+"browser", api.RoleAdmin+"@"+string(project))
	out = append(out,
		&actor{name: "a browser", cookie: g.session(walker+"browser", password), grants: admin, scope: project, headers: http.Header{"Sec-Fetch-Site": {"same-origin"}}},
		&actor{name: "a page of another origin in a browser", cookie: g.session(walker+"browser", password), grants: admin, scope: project, foreign: true, headers: http.Header{"Origin": {"https://evil.example"}, "Sec-Fetch-Site": {"cross-site"}}},
	)
	g.must(g.admin, "POST", "/users", fmt.Sprintf(`{"name":"%sfresh","password":%q}`, walker, password+" one"))
	g.must(g.admin, "POST", "/bindings", fmt.Sprintf(`{"name":"%sfresh","scope":"account","principal":{"type":"user","id":"%sfresh"},"role":"account.admin"}`, walker, walker))
	out = append(out, &actor{name: "who has to choose a password first", cookie: g.session(walker+"fresh", password+" one"), unsettled: true, scope: nowhere})
	return out
}

// expire has a token end before now.
func (g *stage) expire(token string) {
	g.t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(g.data, "slipway.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		g.t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	if _, err := db.ExecContext(g.t.Context(), "UPDATE token SET expires_at = 1 WHERE id = ?", token); err != nil {
		g.t.Fatal(err)
	}
}

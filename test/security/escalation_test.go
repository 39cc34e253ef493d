package security

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

func TestWhoManagesUsersHasNoPowerOverAdministrators(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	helpdesk := w.user("helpdesk", w.role("helpdesk", "user_view", "user_edit", "user_delete", "group_view", "group_edit", "group_delete", "serviceaccount_view", "serviceaccount_edit", "serviceaccount_delete", "token_edit", "token_view")+"@account")
	w.user("root", api.RoleAdmin+"@account")
	w.user("nobody")
	w.must(w.admin, "POST", "/groups", `{"name":"admins","members":["root"]}`)
	w.must(w.admin, "POST", "/bindings", `{"name":"admins","principal":{"type":"group","id":"account.admins"},"role":"account.admin"}`)
	w.must(w.admin, "POST", "/service-accounts", `{"name":"deployer"}`)
	w.must(w.admin, "POST", "/service-accounts", `{"name":"retired","disabled":true}`)
	for _, name := range []string{"deployer", "retired"} {
		w.must(w.admin, "POST", "/bindings", fmt.Sprintf(`{"name":%q,"principal":{"type":"serviceaccount","id":"account.%s"},"role":"account.admin"}`, name, name))
	}
	for _, attack := range []struct{ method, path, body string }{
		{"PUT", "/users/root", `{"name":"root","disabled":true}`},
		{"DELETE", "/users/root?force=true", ""},
		{"POST", "/users/root/password", ""},
		{"PUT", "/users/admin", `{"name":"admin","disabled":true}`},
		{"PUT", "/groups/account.admins", `{"name":"admins","members":["root","helpdesk"]}`},
		{"PUT", "/groups/account.admins", `{"name":"admins","members":[]}`},
		{"PUT", "/groups/account.admins", `{"name":"admins","members":["root"],"claim":"everybody"}`},
		{"DELETE", "/groups/account.admins?force=true", ""},
		{"PUT", "/service-accounts/account.retired", `{"name":"retired"}`},
		{"PUT", "/service-accounts/account.deployer", `{"name":"deployer","disabled":true}`},
		{"DELETE", "/service-accounts/account.deployer?force=true", ""},
		{"POST", "/tokens", `{"name":"mine","owner":{"type":"serviceaccount","id":"account.deployer"}}`},
		{"POST", "/tokens", `{"name":"mine","owner":{"type":"user","id":"root"}}`},
	} {
		w.refused(helpdesk, attack.method, attack.path, attack.body, api.CodeForbidden)
	}
	w.must(helpdesk, "PUT", "/users/root", `{"name":"root","displayName":"The root","mustChangePassword":true}`)
	if u := into[api.User](t, w.must(w.admin, "GET", "/users/root", "")); u.MustChangePassword || u.DisplayName != "The root" {
		t.Errorf("somebody else made root change the password: %+v", u)
	}
	// Over those who may no more than they, they have all power.
	w.must(helpdesk, "PUT", "/users/nobody", `{"name":"nobody","disabled":true}`)
	w.must(helpdesk, "PUT", "/users/nobody", `{"name":"nobody"}`)
	w.must(helpdesk, "POST", "/users/nobody/password", "")
	w.must(helpdesk, "DELETE", "/users/nobody", "")
}

func TestTheLastAdministratorStays(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.refused(w.admin, "DELETE", "/bindings/account.admin", "", api.CodeConflict)
	w.refused(w.admin, "PUT", "/bindings/account.admin", `{"name":"admin","principal":{"type":"user","id":"admin"},"role":"account.viewer"}`, api.CodeConflict)
	w.refused(w.admin, "PUT", "/users/admin", `{"name":"admin","disabled":true}`, api.CodeConflict)
	w.refused(w.admin, "DELETE", "/users/admin?force=true", "", api.CodeConflict)
	// A program with all rights is nobody who could sign in.
	w.must(w.admin, "POST", "/service-accounts", `{"name":"robot"}`)
	w.must(w.admin, "POST", "/bindings", `{"name":"robot","principal":{"type":"serviceaccount","id":"account.robot"},"role":"account.admin"}`)
	robot := into[api.TokenCreated](t, w.must(w.admin, "POST", "/tokens", `{"name":"robot","owner":{"type":"serviceaccount","id":"account.robot"}}`)).Secret
	w.refused(robot, "PUT", "/users/admin", `{"name":"admin","disabled":true}`, api.CodeConflict)
	w.refused(robot, "DELETE", "/users/admin?force=true", "", api.CodeConflict)
	// A second administrator, by a group, is one; until the group is empty.
	w.user("second")
	w.must(w.admin, "POST", "/groups", `{"name":"admins","members":["second"]}`)
	w.must(w.admin, "POST", "/bindings", `{"name":"admins","principal":{"type":"group","id":"account.admins"},"role":"account.admin"}`)
	w.must(robot, "PUT", "/users/admin", `{"name":"admin","disabled":true}`)
	w.refused(robot, "PUT", "/groups/account.admins", `{"name":"admins","members":[]}`, api.CodeConflict)
	w.refused(robot, "PUT", "/users/second", `{"name":"second","disabled":true}`, api.CodeConflict)
	w.refused(robot, "DELETE", "/groups/account.admins?force=true", "", api.CodeConflict)
	w.must(robot, "PUT", "/users/admin", `{"name":"admin"}`)
	w.must(robot, "DELETE", "/groups/account.admins?force=true", "")
}

func TestNobodyGivesOrTakesWhatTheyDoNotHave(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	w.must(w.admin, "POST", "/organizations", `{"name":"other"}`)
	manager := w.user("manager",
		w.role("manager", "role_*", "binding_*", "resourcegroup_*", "group_*", "serviceaccount_*", "user_view", "token_*", "application_view")+"@org.acme")
	w.user("friend")
	w.must(w.admin, "POST", "/resource-groups", `{"name":"some","scope":"org.acme","ids":["account.prod/argocd/shop"]}`)
	w.must(w.admin, "POST", "/roles", `{"name":"strong","scope":"org.acme","permissions":["application_sync"]}`)
	w.must(w.admin, "POST", "/bindings", `{"name":"strong","scope":"org.acme","principal":{"type":"user","id":"manager"},"role":"org.acme.strong","resourceGroup":"org.acme.some"}`)
	for _, attack := range []struct{ method, path, body string }{
		// More permissions, a wider scope, all objects instead of some.
		{"POST", "/bindings", `{"name":"up","scope":"org.acme","principal":{"type":"user","id":"manager"},"role":"account.admin"}`},
		{"POST", "/bindings", `{"name":"up","scope":"account","principal":{"type":"user","id":"manager"},"role":"account.manager"}`},
		{"POST", "/bindings", `{"name":"up","scope":"org.other","principal":{"type":"user","id":"manager"},"role":"account.manager"}`},
		{"POST", "/bindings", `{"name":"up","scope":"org.acme","principal":{"type":"user","id":"friend"},"role":"org.acme.strong"}`},
		{"PUT", "/bindings/org.acme.strong", `{"name":"strong","principal":{"type":"user","id":"manager"},"role":"org.acme.strong"}`},
		{"PUT", "/bindings/org.acme.strong", `{"name":"strong","principal":{"type":"user","id":"manager"},"role":"account.admin"}`},
		{"POST", "/roles", `{"name":"up","scope":"org.acme","permissions":["application_exec"]}`},
		{"POST", "/roles", `{"name":"up","scope":"org.acme","permissions":["*"]}`},
		{"PUT", "/roles/org.acme.strong", `{"name":"strong","permissions":["application_*"]}`},
		{"PUT", "/roles/account.manager", `{"name":"manager","permissions":["*"]}`},
		{"PUT", "/roles/account.viewer", `{"name":"viewer","permissions":["*"]}`},
		{"PUT", "/roles/org.acme.viewer?upsert=true", `{"name":"viewer","scope":"org.acme","permissions":["*"]}`},
		{"PUT", "/resource-groups/org.acme.some", `{"name":"some","all":true}`},
		{"PUT", "/resource-groups/account.all", `{"name":"all","all":true,"types":["application"]}`},
		{"DELETE", "/bindings/account.admin", ""},
	} {
		w.refused(manager, attack.method, attack.path, attack.body, api.CodeForbidden, api.CodeNotFound)
	}
	// What the manager has can be given, at the same place.
	w.must(manager, "POST", "/bindings", `{"name":"fine","scope":"org.acme","principal":{"type":"user","id":"friend"},"role":"account.manager"}`)
	w.must(manager, "DELETE", "/bindings/org.acme.fine", "")
}

func TestATokenMakesNoTokenThatMayOrLastsMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	soon := time.Now().Add(time.Hour).UTC().Format(time.RFC3339)
	make := func(token, body string) string {
		t.Helper()
		return into[api.TokenCreated](t, w.must(token, "POST", "/tokens", body)).Secret
	}
	limited := make(w.admin, `{"name":"limited","permissions":["application_view","token_view"],"scope":"org.acme","expiresAt":"`+soon+`"}`)
	wide := into[api.TokenCreated](t, w.must(w.admin, "POST", "/tokens", `{"name":"wide"}`))
	for _, body := range []string{
		`{"name":"up"}`,
		`{"name":"up","permissions":["*"],"scope":"org.acme"}`,
		`{"name":"up","permissions":["application_sync"],"scope":"org.acme"}`,
		`{"name":"up","permissions":["application_view"]}`,
		`{"name":"up","permissions":["application_view"],"scope":"account"}`,
		`{"name":"up","permissions":["application_view"],"scope":"org.acme","expiresAt":"` + time.Now().Add(48*time.Hour).UTC().Format(time.RFC3339) + `"}`,
	} {
		w.refused(limited, "POST", "/tokens", body, api.CodeForbidden)
	}
	child := into[api.TokenCreated](t, w.must(limited, "POST", "/tokens", `{"name":"child","permissions":["application_view"],"scope":"org.acme"}`))
	if child.ExpiresAt.UTC().Format(time.RFC3339) > soon {
		t.Errorf("a token of an hour made one until %s", child.ExpiresAt)
	}
	w.refused(limited, "DELETE", "/tokens/"+wide.ID, "", api.CodeForbidden, api.CodeNotFound)
	w.refused(limited, "POST", "/users", `{"name":"eve"}`, api.CodeForbidden)
	w.refused(limited, "GET", "/users/admin", "", api.CodeForbidden, api.CodeNotFound)
	w.must(limited, "DELETE", "/tokens/"+child.ID, "")
	w.refused(child.Secret, "GET", "/session", "", api.CodeUnauthenticated)
	// A token is known by all of it.
	id, _, _ := strings.Cut(strings.TrimPrefix(wide.Secret, "slp_"), "_")
	for _, wrong := range []string{"slp_" + id, "slp_" + id + "_", wide.Secret + "x", wide.Secret[:len(wide.Secret)-1], "slp_" + id + "_" + strings.Repeat("a", 52), "SLP_" + wide.Secret[4:]} {
		w.refused(wrong, "GET", "/session", "", api.CodeUnauthenticated)
	}
}

func TestAFirstPasswordOpensNothingButTheChoiceOfAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/users", `{"name":"ada","password":"`+password+` one"}`)
	w.must(w.admin, "POST", "/bindings", `{"name":"ada","principal":{"type":"user","id":"ada"},"role":"account.admin"}`)
	cookie := w.session("ada", password+" one")
	for _, path := range []string{"/tokens", "/events", "/overview", "/info", "/users", "/access/permissions"} {
		if out := w.browse(cookie, "GET", path, ""); out.problem() != api.CodeForbidden {
			t.Errorf("GET %s with a first password: %s", path, out)
		}
	}
	if out := w.browse(cookie, "POST", "/tokens", `{"name":"mine"}`); out.problem() != api.CodeForbidden {
		t.Errorf("a token with a first password: %s", out)
	}
	if out := w.browse(cookie, "GET", "/session", ""); out.StatusCode != http.StatusOK {
		t.Errorf("who am I: %s", out)
	}
}

func TestAMappingTakesNothingFromAnotherProject(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	w.must(w.admin, "POST", "/projects", `{"name":"mine","organization":"acme"}`)
	w.must(w.admin, "POST", "/projects", `{"name":"theirs","organization":"acme"}`)
	w.must(w.admin, "POST", "/agents", `{"name":"prod"}`)
	w.must(w.admin, "PUT", "/agents/account.prod/mappings/shop", `{"argoProject":"shop","project":"acme.theirs"}`)
	mallory := w.user("mallory", w.role("fleet", "agent_view", "agent_edit")+"@account", w.role("owner", "project_view", "project_edit", "application_*")+"@project.acme.mine")
	w.refused(mallory, "PUT", "/agents/account.prod/mappings/shop", `{"argoProject":"shop","project":"acme.mine"}`, api.CodeForbidden, api.CodeNotFound)
	w.refused(mallory, "PUT", "/agents/account.prod/mappings/other", `{"argoProject":"other","project":"acme.theirs"}`, api.CodeForbidden, api.CodeNotFound)
	w.refused(mallory, "DELETE", "/agents/account.prod/mappings/shop", "", api.CodeForbidden, api.CodeNotFound)
	w.must(mallory, "PUT", "/agents/account.prod/mappings/other", `{"argoProject":"other","project":"acme.mine"}`)
}

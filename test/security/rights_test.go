package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// thing is an item of any kind.
func thing(kind agentapi.ItemKind, name, body string) agentapi.Item {
	return agentapi.Item{Key: agentapi.Key{Kind: kind, Namespace: "argocd", Name: name}, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body)}
}

// tenants is a world with an agent account.prod, whose AppProjects team-a and team-b are the projects acme.a and acme.b.
func tenants(t *testing.T) (*world, *liar) {
	t.Helper()
	w := newWorld(t)
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	l := w.liar("account.prod")
	for _, name := range []string{"a", "b"} {
		w.must(w.admin, "POST", "/projects", fmt.Sprintf(`{"name":%q,"organization":"acme"}`, name))
		w.must(w.admin, "PUT", "/agents/account.prod/mappings/team-"+name, fmt.Sprintf(`{"argoProject":"team-%s","project":"acme.%s"}`, name, name))
	}
	return w, l
}

// tell has the agent report items.
func (l *liar) tell(items ...agentapi.Item) {
	l.t.Helper()
	if ack := l.batch(items, nil); ack.Error != nil || len(ack.Rejected) > 0 {
		l.t.Fatalf("%+v", ack)
	}
}

// none checks that nothing was asked of the agent.
func (l *liar) none(what string) {
	l.t.Helper()
	select {
	case c := <-l.commands:
		l.t.Errorf("%s: the agent was asked for %s: %s", what, c.Kind, c.Body)
	default:
	}
}

// spared does what has to be refused before the agent is asked for anything. Where it is asked, that fails the test, and the
// agent refuses, so that nobody waits.
func (l *liar) spared(what string, do func()) {
	l.t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
		l.none(what)
	case c := <-l.commands:
		l.t.Errorf("%s: the agent was asked for %s: %s", what, c.Kind, c.Body)
		ask[agentapi.ResultAck](l, agentapi.UpResult(l.uid), agentapi.ResultReport{
			Epoch: l.epoch, Result: agentapi.Result{ID: c.ID, Status: agentapi.StatusFailed, Message: "it should not have been asked"},
		})
		<-done
	}
}

// appProject is one as a request has it, or an agent reports it.
func appProject(name, metadata, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":%q,"namespace":"argocd"%s},"spec":%s}`, name, metadata, spec)
}

func TestAProjectsOperatorDoesNotWidenItsAppProject(t *testing.T) {
	t.Parallel()
	w, l := tenants(t)
	const version, spec = `,"resourceVersion":"7","labels":{"tier":"low"}`, `{"sourceRepos":["https://git.example.org/a/**"],"destinations":[{"server":"https://c","namespace":"a-*"}],"clusterResourceWhitelist":[],"namespaceResourceBlacklist":[{"group":"","kind":"Secret"}]}`
	l.tell(thing(agentapi.ItemArgoProject, "team-a", appProject("team-a", version, spec)))
	operator := w.user("operator", api.RoleOperator+"@project.acme.a")
	path := "/agents/account.prod/argo-projects"
	change := func(old, next string) string {
		return appProject("team-a", version, strings.Replace(spec, old, next, 1))
	}
	for what, resource := range map[string]string{
		"all destinations":            change(`"https://c","namespace":"a-*"`, `"*","namespace":"*"`),
		"kinds of the cluster":        change(`"clusterResourceWhitelist":[]`, `"clusterResourceWhitelist":[{"group":"*","kind":"*"}]`),
		"all repositories":            change(`https://git.example.org/a/**`, `*`),
		"what was forbidden":          change(`{"group":"","kind":"Secret"}`, ``),
		"a field in other case":       change(`"destinations":[`, `"Destinations":[{"server":"*","namespace":"*"}],"destinations":[`),
		"a field nobody knows":        change(`"destinations":[`, `"later":true,"destinations":[`),
		"what others are selected by": appProject("team-a", strings.Replace(version, "low", "root", 1), spec),
		"no labels":                   appProject("team-a", `,"resourceVersion":"7"`, spec),
		"a larger budget":             appProject("team-a", version+`,"annotations":{"slipway.io/deletion-budget":"100%"}`, spec),
	} {
		for _, query := range []string{"", "?dryRun=true"} {
			l.spared(what, func() {
				w.refused(operator, "PUT", path+"/argocd/team-a"+query, `{"resource":`+resource+`}`, api.CodeForbidden, api.CodeInvalid)
			})
			l.spared(what, func() {
				w.refused(operator, "POST", path+query, `{"upsert":true,"resource":`+resource+`}`, api.CodeForbidden, api.CodeInvalid)
			})
		}
	}
	// Nor by making it again, as another one, or out of what somebody else just took away.
	w.must(w.admin, "PUT", "/agents/account.prod/mappings/team-a2", `{"argoProject":"team-a2","project":"acme.a"}`)
	for _, again := range []struct {
		method, path, body string
		code               api.Code
	}{
		{"DELETE", "/argocd/team-a", "", api.CodeForbidden},
		{"DELETE", "/argocd/team-a?forget=true", "", api.CodeForbidden},
		{"POST", "", `{"resource":` + appProject("team-a2", "", `{"sourceRepos":["*"]}`) + `}`, api.CodeForbidden},
		{"PUT", "/argocd/team-a", `{"resource":` + appProject("team-a", strings.Replace(version, "7", "6", 1), spec) + `}`, api.CodeConflict},
	} {
		l.spared("what is made again", func() { w.refused(operator, again.method, path+again.path, again.body, again.code) })
	}
	// What permits less is theirs to write, and nothing else than what was judged: the base of the request counts for nothing.
	narrower := change(`a-*`, `a-web`)
	w.must(operator, "PUT", path+"/argocd/team-a?wait=0", `{"resource":`+narrower+`,"base":`+change(`"clusterResourceWhitelist":[]`, `"clusterResourceWhitelist":[],"clusterResourceBlacklist":[{"group":"*","kind":"*"}]`)+`}`)
	command := <-l.commands
	apply := into[agentapi.ObjectApply](t, string(command.Body))
	if apply.Version != "7" || strings.Contains(string(apply.Base), "clusterResourceBlacklist") || !strings.Contains(string(apply.Object), "a-web") {
		t.Errorf("the agent was asked for %s", command.Body)
	}
	// Above the project it may be widened.
	for name, role := range map[string]string{"above": api.RoleOperator + "@account"} {
		w.must(w.user(name, role), "PUT", path+"/argocd/team-a?wait=0", `{"resource":`+change(`a-*`, `*`)+`}`)
		<-l.commands
	}
	answer := into[api.AccessAnswer](t, w.must(operator, "POST", "/access/can", `{"permission":"argoproject_edit","object":"account.prod/argocd/team-a"}`))
	if !answer.Allowed || !strings.Contains(answer.Why, "to permit it more takes argoproject_edit above it, at account") {
		t.Errorf("may it be edited? %+v", answer)
	}
	if answer := into[api.AccessAnswer](t, w.must(operator, "POST", "/access/can", `{"permission":"argoproject_delete","object":"account.prod/argocd/team-a"}`)); answer.Allowed {
		t.Errorf("may it be deleted? %+v", answer)
	}
}

func TestALabelInARequestGivesNoRights(t *testing.T) {
	t.Parallel()
	w, l := tenants(t)
	l.tell(
		item("ours", application("ours", "team-a", `,"labels":{"team":"shop"}`)),
		item("other", application("other", "team-a", `,"labels":{"team":"other"}`)),
	)
	w.must(w.admin, "POST", "/resource-groups", `{"name":"shop","types":["application","repository","cluster","argoproject"],"selectors":["team=shop","!team"]}`)
	w.must(w.admin, "POST", "/resource-groups", `{"name":"mine","types":["application"],"selectors":["owner=mallory"]}`)
	mallory := w.user("mallory")
	for i, grant := range []struct{ role, group string }{{api.RoleOperator, "account.shop"}, {api.RoleAdmin, "account.mine"}} {
		w.must(w.admin, "POST", "/bindings", fmt.Sprintf(`{"name":"by-label-%d","principal":{"type":"user","id":"mallory"},"role":%q,"resourceGroup":%q}`, i, grant.role, grant.group))
	}
	// An application of hers she may edit; one that is new, in a project that she chooses, she may not make.
	w.must(mallory, "PUT", "/agents/account.prod/applications/argocd/ours?wait=0", `{"resource":`+application("ours", "team-a", `,"labels":{"team":"shop"}`)+`}`)
	<-l.commands
	for _, attack := range []struct{ method, path, body string }{
		{"POST", "/agents/account.prod/applications", `{"resource":` + application("new", "default", `,"labels":{"team":"shop"}`) + `}`},
		{"POST", "/agents/account.prod/applications", `{"resource":` + application("new", "default", "") + `}`},
		{"POST", "/agents/account.prod/applications/preview", `{"resource":` + application("new", "default", `,"labels":{"team":"shop"}`) + `}`},
		// Nor take one of hers into another project.
		{"PUT", "/agents/account.prod/applications/argocd/ours", `{"resource":` + application("ours", "default", `,"labels":{"team":"shop"}`) + `}`},
		{"PUT", "/agents/account.prod/applications/argocd/ours", `{"resource":` + application("ours", "team-b", `,"labels":{"team":"shop"}`) + `}`},
		{"POST", "/agents/account.prod/applications", `{"upsert":true,"resource":` + application("ours", "default", `,"labels":{"team":"shop"}`) + `}`},
		{"POST", "/agents/account.prod/applications/preview", `{"update":true,"resource":` + application("ours", "default", `,"labels":{"team":"shop"}`) + `}`},
		// Nor make it one with which she may do more.
		{"PUT", "/agents/account.prod/applications/argocd/ours", `{"resource":` + application("ours", "team-a", `,"labels":{"team":"other"}`) + `}`},
		{"POST", "/agents/account.prod/repositories", `{"name":"new","fields":{"url":"https://git.example.org/x"},"labels":{"team":"shop"}}`},
		{"POST", "/agents/account.prod/clusters", `{"name":"new","fields":{"server":"https://c"},"labels":{"team":"shop"}}`},
		{"POST", "/agents/account.prod/argo-projects", `{"resource":` + appProject("new", `,"labels":{"team":"shop"}`, `{"sourceRepos":["*"]}`) + `}`},
		{"PUT", "/agents/account.prod/applications/argocd/other", `{"resource":` + application("other", "team-a", `,"labels":{"team":"shop"}`) + `}`},
	} {
		w.refused(mallory, attack.method, attack.path, attack.body, api.CodeForbidden, api.CodeNotFound)
		l.none(attack.path + " " + attack.body)
	}
	// To be an operator is not to be an administrator.
	out := w.do(mallory, "PUT", "/agents/account.prod/applications/argocd/ours?wait=0", `{"resource":`+application("ours", "team-a", `,"labels":{"team":"shop","owner":"mallory"}`)+`}`)
	if out.StatusCode < 300 {
		<-l.commands // operators may do the same with applications
	}
}

func TestWhatCountsForAllProjectsIsNoProjectsToSet(t *testing.T) {
	t.Parallel()
	w, l := tenants(t)
	const host = "git.example.org ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
	l.tell(
		thing(agentapi.ItemCertificate, "git.example.org", `{"fields":{"serverName":"git.example.org","project":"team-a"}}`),
		thing(agentapi.ItemCertificate, "other.example.org", `{"fields":{"serverName":"other.example.org","project":"team-a"}}`),
		thing(agentapi.ItemCertificate, "ssh:git.example.org", `{"fields":{"serverName":"git.example.org","certType":"ssh","project":"team-a"}}`),
		thing(agentapi.ItemGPGKey, "4AEE18F83AFDEB23", `{"fields":{"keyID":"4AEE18F83AFDEB23","project":"team-a"}}`),
		thing(agentapi.ItemRepoCreds, "example", `{"fields":{"url":"https://git.example.org/a/","project":"team-a"}}`),
		thing(agentapi.ItemRepository, "ours", `{"fields":{"url":"https://git.example.org/a/x","project":"team-a"}}`),
		thing(agentapi.ItemRepository, "theirs", `{"fields":{"url":"https://git.example.org/b/x","project":"team-b"},"secrets":["password"]}`),
		thing(agentapi.ItemCluster, "theirs", `{"fields":{"server":"https://b","project":"team-b"},"secrets":["config.bearerToken"]}`),
	)
	w.must(w.admin, "POST", "/resource-groups", `{"name":"some","ids":["account.prod/argocd/git.example.org","account.prod/argocd/known-host"]}`)
	operator := w.user("operator", api.RoleOperator+"@project.acme.a")
	w.must(w.admin, "POST", "/bindings", `{"name":"some","principal":{"type":"user","id":"operator"},"role":"account.admin","resourceGroup":"account.some"}`)
	at := "/agents/account.prod"
	setting := func(name string, fields ...string) string {
		all := map[string]string{}
		for i := 0; i < len(fields); i += 2 {
			all[fields[i]] = fields[i+1]
		}
		raw, err := json.Marshal(map[string]any{"name": name, "fields": all})
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for _, project := range [][]string{nil, {"project", "team-a"}} {
		for _, attack := range []struct{ method, path, body string }{
			{"POST", "/certificates", setting("evil.example.org", append(project, "serverName", "evil.example.org", "certData", "-----BEGIN CERTIFICATE-----")...)},
			{"POST", "/certificates", setting("*", append(project, "serverName", "*", "certData", "-----BEGIN CERTIFICATE-----")...)},
			{"PUT", "/certificates/argocd/other.example.org", setting("", append(project, "serverName", "other.example.org", "certData", "-----BEGIN CERTIFICATE-----")...)},
			{"POST", "/certificates", strings.Replace(setting("other.example.org", append(project, "serverName", "other.example.org", "certData", "-----BEGIN CERTIFICATE-----")...), "{", `{"upsert":true,`, 1)},
			{"DELETE", "/certificates/argocd/other.example.org", ""},
			{"POST", "/known-hosts", strings.Replace(setting("git.example.org", append(project, "data", host)...), "{", `{"upsert":true,`, 1)},
			{"PUT", "/known-hosts/argocd/ssh:git.example.org", setting("", append(project, "data", host)...)},
			{"DELETE", "/known-hosts/argocd/ssh:git.example.org", ""},
			{"DELETE", "/certificates/argocd/ssh:git.example.org", ""},
			{"POST", "/known-hosts", setting("known-host", append(project, "data", host)...)},
			{"POST", "/known-hosts", setting("git.example.org", append(project, "data", strings.Replace(host, "git.example.org", "*", 1))...)},
			{"POST", "/gpg-keys", setting("4AEE18F83AFDEB23", append(project, "keyData", "-----BEGIN PGP PUBLIC KEY BLOCK-----")...)},
			{"PUT", "/gpg-keys/argocd/4AEE18F83AFDEB23", setting("", append(project, "keyData", "-----BEGIN PGP PUBLIC KEY BLOCK-----")...)},
			{"DELETE", "/gpg-keys/argocd/4AEE18F83AFDEB23", ""},
			{"POST", "/credential-templates", setting("all", append(project, "url", "https://git.example.org/")...)},
			{"PUT", "/credential-templates/argocd/example", setting("", append(project, "url", "https://git.example.org/")...)},
			{"DELETE", "/credential-templates/argocd/example", ""},
			// What is there of another project, by its name. (A try under such a name answers as if nothing was there; see borrow_test.go.)
			{"POST", "/repositories", setting("theirs", append(project, "url", "https://evil.example.org/x")...)},
			{"POST", "/repositories", strings.Replace(setting("theirs", append(project, "url", "https://evil.example.org/x")...), "{", `{"upsert":true,`, 1)},
			{"PUT", "/repositories/argocd/ours", setting("", "project", "team-b")},
			{"PUT", "/repositories/argocd/ours", setting("", "project", "")},
			{"POST", "/repositories", setting("new", "Project", "team-a", "url", "https://git.example.org/a/y")},
			{"POST", "/repositories", setting("new", "project", "team-a", "url", "https://git.example.org/a/y", "later", "x")},
			{"POST", "/repositories", setting("new", "project", "team-a ", "url", "https://git.example.org/a/y")},
		} {
			w.refused(operator, attack.method, at+attack.path+"?wait=0", attack.body, api.CodeForbidden, api.CodeNotFound, api.CodeInvalid, api.CodeConflict)
			l.none(attack.path + " " + attack.body)
		}
	}
	for path, field := range map[string]string{"/repositories/test": "url", "/clusters/test": "server"} {
		w.refused(operator, "POST", at+path, setting("theirs", field, "https://evil.example.org/x"), api.CodeForbidden, api.CodeNotFound)
		l.none(path)
	}
	// Nor is it of a project for those who may.
	for _, path := range []string{"/certificates", "/known-hosts", "/gpg-keys"} {
		w.refused(w.admin, "POST", at+path, setting("git2.example.org", "project", "team-a"), api.CodeInvalid)
		w.refused(w.admin, "POST", at+path, `{"name":"git2.example.org","fields":{},"labels":{"team":"shop"}}`, api.CodeInvalid)
	}
	// What is the project's own is theirs, and the agent hears which project was judged.
	w.must(operator, "PUT", at+"/repositories/argocd/ours?wait=0", setting("", "enableLfs", "true"))
	change := into[agentapi.SettingChange](t, string((<-l.commands).Body))
	if change.Judged == nil || change.Judged.From == nil || *change.Judged.From != "team-a" || change.Judged.To != "team-a" {
		t.Errorf("the agent was asked for %+v", change)
	}
	w.must(operator, "POST", at+"/repositories?wait=0", setting("new", "project", "team-a", "url", "https://git.example.org/a/y"))
	if change := into[agentapi.SettingChange](t, string((<-l.commands).Body)); change.Judged == nil || change.Judged.From != nil || change.Judged.To != "team-a" {
		t.Errorf("the agent was asked for %+v", change)
	}
}

// limited makes a token of a user's own.
func (w *world) limited(token, body string) string {
	w.t.Helper()
	return into[api.TokenCreated](w.t, w.must(token, "POST", "/tokens", body)).Secret
}

func TestALimitedTokenReachesNothingOfItsOwnersOwnBeyondIt(t *testing.T) {
	t.Parallel()
	w, l := tenants(t)
	l.tell(item("a", application("a", "team-a", "")), item("b", application("b", "team-b", "")))
	operator := w.user("operator", api.RoleOperator+"@account")
	sync := func(name string) api.Command {
		out := into[api.Command](t, w.must(operator, "POST", "/agents/account.prod/applications/argocd/"+name+"/sync?wait=0", `{"reason":"release"}`))
		<-l.commands
		ask[agentapi.ResultAck](l, agentapi.UpResult(l.uid), agentapi.ResultReport{Epoch: l.epoch, Result: agentapi.Result{ID: out.ID, Status: agentapi.StatusDone, Body: json.RawMessage(`{"whole":"resource of ` + name + `"}`)}})
		return out
	}
	ofA, ofB := sync("a"), sync("b")
	job := into[api.JobPlan](t, w.must(operator, "POST", "/jobs", `{"action":"refresh","filter":{}}`)).Job
	w.must(operator, "PUT", "/fleet/views/mine", `{"name":"mine","filter":{"health":["Degraded"],"search":"planted"}}`)
	all := w.limited(operator, `{"name":"all"}`)
	scoped := w.limited(operator, `{"name":"scoped","permissions":["application_*","job_view","job_edit","savedview_edit"],"scope":"project.acme.a"}`)
	views := w.limited(operator, `{"name":"views","permissions":["agent_view"]}`)
	for what, c := range map[string]struct{ method, path, body string }{
		"another project's command": {"GET", "/commands/" + ofB.ID, ""}, "a job": {"GET", "/jobs/" + job.ID, ""}, "its targets": {"GET", "/jobs/" + job.ID + "/targets", ""},
		"its end": {"POST", "/jobs/" + job.ID + "/stop", "{}"}, "a view": {"GET", "/fleet/views/mine", ""}, "the views": {"GET", "/fleet/views", ""},
		"a filter by it": {"GET", "/fleet/applications?view=mine", ""}, "another view": {"PUT", "/fleet/views/mine", `{"name":"mine","filter":{}}`},
		"no view": {"DELETE", "/fleet/views/mine", ""}, "another password": {"POST", "/session/password", `{"current":"` + password + `","new":"` + password + ` two"}`},
	} {
		for name, token := range map[string]string{"one of a project": scoped, "one for something else": views} {
			out := w.do(token, c.method, c.path, c.body)
			if code := out.problem(); code != api.CodeForbidden && code != api.CodeNotFound {
				t.Errorf("%s with a token, %s: %s", what, name, out)
			}
		}
	}
	if jobs := w.must(scoped, "GET", "/jobs", ""); strings.Contains(jobs, job.ID) {
		t.Errorf("jobs of others: %s", jobs)
	}
	if tokens := w.must(scoped, "GET", "/tokens", ""); strings.Contains(tokens, `"all"`) || !strings.Contains(tokens, `"scoped"`) {
		t.Errorf("tokens beyond it: %s", tokens)
	}
	// What is within it works as before, and all of it without limits.
	if got := into[api.Command](t, w.must(scoped, "GET", "/commands/"+ofA.ID, "")); !strings.Contains(string(got.Result), "resource of a") {
		t.Errorf("the command of its project: %+v", got)
	}
	own := into[api.JobPlan](t, w.must(scoped, "POST", "/jobs", `{"action":"refresh","filter":{}}`)).Job
	for _, path := range []string{"/jobs/" + own.ID, "/jobs/" + own.ID + "/targets"} {
		w.must(scoped, "GET", path, "")
	}
	if jobs := w.must(scoped, "GET", "/jobs", ""); !strings.Contains(jobs, own.ID) {
		t.Errorf("its own job is not listed: %s", jobs)
	}
	for _, path := range []string{"/commands/" + ofB.ID, "/jobs/" + job.ID, "/jobs/" + job.ID + "/targets", "/fleet/views/mine"} {
		w.must(all, "GET", path, "")
		w.must(operator, "GET", path, "")
	}
	// One with agent_view sees that the agent was asked, and not for what of objects that it may not see.
	if list := w.must(views, "GET", "/agents/account.prod/commands", ""); strings.Contains(list, "resource of") || strings.Contains(list, "argocd/b") {
		t.Errorf("the commands of an agent: %s", list)
	}
}

func TestWhoMayNoMoreSeesNoAnswerFromBefore(t *testing.T) {
	t.Parallel()
	w, l := tenants(t)
	l.tell(item("a", application("a", "team-a", "")))
	operator := w.user("operator", api.RoleOperator+"@project.acme.a")
	send := func() answer {
		r := w.request(operator, "POST", "/api/v1/agents/account.prod/applications/argocd/a/sync?wait=0", `{"reason":"planted"}`)
		r.Header.Set("Idempotency-Key", "once")
		return w.send(r)
	}
	first := send()
	command := into[api.Command](t, first.text)
	<-l.commands
	if again := send(); again.text != first.text || again.Header.Get("Idempotency-Replayed") != "true" {
		t.Errorf("the same request again: %s", again)
	}
	w.must(operator, "GET", "/commands/"+command.ID, "")
	w.must(w.admin, "DELETE", "/bindings/project.acme.a.operator-0", "")
	if again := send(); again.problem() != api.CodeNotFound && again.problem() != api.CodeForbidden || strings.Contains(again.text, "planted") {
		t.Errorf("the same request without the right: %s", again)
	}
	w.refused(operator, "GET", "/commands/"+command.ID, "", api.CodeNotFound)
	l.none("what was kept")
}

package security

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// unasked are the kinds that everyKind does not have an agent do, each for a reason.
func unasked() map[agentapi.Kind]string {
	return map[agentapi.Kind]string{
		agentapi.KindObjectPatch:      "no route asks for it",
		agentapi.KindResourceTerminal: "it takes a container; see TestATerminalIsOpenedByNobodyElsesPage and its right",
		agentapi.KindUpgrade:          "it takes a signed release, and an agent whose Deployment is in a cluster",
		agentapi.KindTreeWatch:        "it goes on until its reader leaves, and says what the tree says",
	}
}

// everyKind has the agent do a command of every kind, with what could carry a value of a Secret along.
func (d *derived) everyKind() {
	t, w := d.t, d.w
	const agent = "/agents/account.prod"
	repo := "?repoURL=" + url.QueryEscape(d.repo.URL())
	resource := manifest("Application", d.ns, "derived", "", fmt.Sprintf(`{"project":"default","source":{"repoURL":%q,"path":"all","targetRevision":"main"},"destination":{"server":"https://kubernetes.default.svc","namespace":%q}}`, d.repo.URL(), d.ns))
	project := manifest("AppProject", d.ns, "spare", "", `{"sourceRepos":["*"]}`)
	for _, r := range []struct{ method, path, body string }{
		{http.MethodPost, d.app + "/refresh", `{"hard":true}`},
		{http.MethodPost, d.app + "/rollback", `{"id":0,"reason":"x"}`},
		{http.MethodPost, d.app + "/unpin", `{}`},
		{http.MethodPost, d.app + "/terminate", `{}`},
		{http.MethodPost, d.app + "/confirm", `{"plan":"5f2b7c0d9a1e4f36"}`},
		{http.MethodPost, d.app + "/restore", `{"dryRun":true}`},
		{http.MethodPost, d.app + "/revert", `{"dryRun":true}`},
		{http.MethodPost, d.app + "/allow", `{"object":{"kind":"Secret","name":"db"},"until":"` + time.Now().Add(time.Hour).UTC().Format(time.RFC3339) + `"}`},
		{http.MethodGet, d.app + "/operation", ""},
		{http.MethodGet, d.app + "/links?kind=Secret&version=v1&resourceName=db", ""},
		{http.MethodGet, d.app + "/why?logs=true", ""},
		{http.MethodGet, d.app + "/revision-status", ""},
		{http.MethodGet, d.app + "/revisions?revision=main", ""},
		{http.MethodGet, d.app + "/logs?kind=Pod&version=v1&resourceName=none", ""},
		{http.MethodGet, agent + "/repository-refs" + repo, ""},
		{http.MethodGet, agent + "/repository-paths" + repo + "&revision=main", ""},
		{http.MethodPost, agent + "/applications/preview", `{"resource":` + resource + `,"update":true}`},
		{http.MethodPut, d.app, `{"resource":` + resource + `}`},
		{http.MethodPatch, d.app + "/resource", `{"resource":{"version":"v1","kind":"ConfigMap","name":"web"},"type":"merge","patch":{"data":{"a":"c"}}}`},
		{http.MethodPost, d.app + "/resource/actions", `{"resource":{"version":"v1","kind":"ConfigMap","name":"web"},"action":"copy"}`},
		{http.MethodPost, agent + "/argo-projects", `{"resource":` + project + `}`},
		{http.MethodDelete, agent + "/argo-projects/" + d.ns + "/spare", ""},
		{http.MethodPost, d.app + "/sync", `{"retry":{"limit":1},"reason":"retry"}`},
		{http.MethodDelete, d.app + "/resource?kind=Secret&version=v1&resourceName=db", ""},
	} {
		if out := w.do(w.admin, r.method, r.path, r.body); out.StatusCode >= 500 {
			t.Errorf("%s %s: %s", r.method, r.path, out)
		}
	}
	d.cluster.seal()
	w.do(w.admin, http.MethodPost, agent+"/rotate", "")
	w.do(w.admin, http.MethodDelete, d.app+"?cascade=false", "")
	traffic := d.through.messages()
	for kind := range howSecretsStay() {
		asked := false
		for _, needle := range forms(string(kind)) {
			asked = asked || strings.Contains(traffic, needle)
		}
		if asked == (unasked()[kind] != "") {
			t.Errorf("%s: the agent was asked for it: %v; a reason why not: %q", kind, asked, unasked()[kind])
		}
	}
}

// nowhere looks for what was planted wherever a command leaves something.
func (d *derived) nowhere() {
	d.t.Helper()
	w := d.w
	for _, path := range []string{"/audit?limit=1000", "/agents/account.prod/commands"} {
		w.must(w.admin, http.MethodGet, path, "")
	}
	w.send(w.request(w.admin, http.MethodGet, "/metrics", ""))
	for place, text := range map[string]string{
		"an answer": w.answers.String(), "the server's log": w.log.String(), "the agent's log": d.log.String(), "the agent's metrics": d.metrics(), "the agent's spans": d.spans.String(),
	} {
		d.p.look(d.t, place, text)
	}
	// A guess of the annotation goes to the agent, which refuses it.
	d.p.look(d.t, "the traffic of the link", d.through.messages(), "a hidden annotation")
}

// howSecretsStay says of every kind of command why its answer holds no value of a Secret.
func howSecretsStay() map[agentapi.Kind]string {
	const nothing, guarded, masked = "answers with nothing that is read", "the patch is guarded, and the answer masked", "what is read is masked"
	return map[agentapi.Kind]string{
		agentapi.KindSync: nothing, agentapi.KindRefresh: nothing, agentapi.KindTerminate: nothing, agentapi.KindRollback: nothing, agentapi.KindUnpin: nothing,
		agentapi.KindConfirm: nothing, agentapi.KindRestore: nothing, agentapi.KindRevert: nothing, agentapi.KindAllow: nothing, agentapi.KindAppDelete: nothing,
		agentapi.KindObjectDelete: nothing, agentapi.KindResourceDelete: nothing, agentapi.KindRotate: nothing,
		agentapi.KindDiff: masked, agentapi.KindManifests: masked, agentapi.KindPlan: masked, agentapi.KindPreview: masked, agentapi.KindResourceGet: masked,
		agentapi.KindTree: "scripts see no value", agentapi.KindTreeWatch: "scripts see no value", agentapi.KindOperation: "messages about Secrets have none of the API server's words",
		agentapi.KindFindings: "data of Secrets is never read, texts of controllers go through one door, and logs are for those who may read them", agentapi.KindTips: "commits alone",
		agentapi.KindRevisions: "commits alone", agentapi.KindRepositoryRefs: "names alone", agentapi.KindRepositoryPaths: "names and charts alone",
		agentapi.KindLinks:       "templates see no value",
		agentapi.KindObjectApply: guarded, agentapi.KindObjectPatch: guarded, agentapi.KindResourcePatch: guarded,
		agentapi.KindResourceActions: "scripts see no value", agentapi.KindResourceAction: "scripts see no value, and copies are refused",
		agentapi.KindResourceEvents: "texts of controllers, which have a name", agentapi.KindResourceLogs: "what a container says is for those who may read logs",
		agentapi.KindResourceTerminal: "a permission of its own: who has a shell reads what the container reads",
		agentapi.KindUpgrade:          "names of images alone",
		agentapi.KindSettingsApply:    "fields that are public alone", agentapi.KindSettingsDelete: "fields that are public alone", agentapi.KindSettingsTest: "messages lose the setting's own secrets",
	}
}

// kindsOfCommands reads the kinds where they are declared.
func kindsOfCommands(t *testing.T) []agentapi.Kind {
	t.Helper()
	names, err := filepath.Glob("../../api/agentapi/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []agentapi.Kind
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, _ := spec.Type.(*ast.Ident)
			value, _ := spec.Values[0].(*ast.BasicLit)
			if of != nil && of.Name == "Kind" && value != nil {
				text, err := strconv.Unquote(value.Value)
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, agentapi.Kind(text))
			}
			return true
		})
	}
	return out
}

func TestEveryKindOfCommandSaysHowSecretsStay(t *testing.T) {
	t.Parallel()
	known := howSecretsStay()
	kinds := kindsOfCommands(t)
	for _, kind := range kinds {
		if known[kind] == "" {
			t.Errorf("%s is a new kind of command: say in howSecretsStay how the values of Secrets stay out of its answer, and ask for it in everyRead", kind)
		}
	}
	if len(kinds) != len(known) {
		t.Errorf("%d kinds are known, and there are %d", len(known), len(kinds))
	}
}

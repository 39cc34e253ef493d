package security

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// derived is an Application with Secrets, and everything that reads them for somebody who may edit it and no more.
type derived struct {
	*cluster
	editor  string
	app     string // its path
	through *tap
	log     *record // of the agent
	metrics func() string
}

// newDerived starts an agent with an Application that has a Secret of Git, and one that an operator made for it.
func newDerived(t *testing.T) *derived {
	t.Helper()
	config := testenv.Cluster(t)
	c := &cluster{t: t, w: newWorld(t), ns: testenv.Namespace(t), p: plants{}, core: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	d := &derived{cluster: c}
	c.repo = testenv.Git(t).NewRepo("derived")
	secret := func(value string) string {
		return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  token: " + base64.StdEncoding.EncodeToString([]byte(value)) + "\n"
	}
	c.repo.Commit(map[string]string{
		"all/db.yaml":  secret(c.p.plant("the Secret in Git")),
		"all/to.yaml":  "apiVersion: v1\nkind: Service\nmetadata:\n  name: to\nspec:\n  selector: {app: nobody}\n  ports: [{port: 80}]\n",
		"all/web.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  annotations:\n    hide.me/x: " + c.p.plant("a hidden annotation") + "\ndata:\n  a: b\n",
	}, "begin")
	script := map[string]string{
		"resource.sensitive.mask.annotations":       "hide.me/x",
		"resource.customizations.health.Secret":     "hs = {}\nhs.status = 'Healthy'\nfor k, v in pairs(obj.data or {}) do hs.message = v end\nreturn hs\n",
		"resource.customizations.actions.Secret":    "discovery.lua: |\n  actions = {}\n  actions['copy'] = {}\n  for k, v in pairs(obj.data or {}) do actions[v] = {} end\n  return actions\ndefinitions:\n- name: copy\n  action.lua: |\n    obj.metadata.annotations = obj.metadata.annotations or {}\n    for k, v in pairs(obj.data or {}) do obj.metadata.annotations['copied'] = v end\n    return obj\n- name: say\n  action.lua: |\n    for k, v in pairs(obj.data or {}) do error(v) end\n    return obj\n",
		"resource.customizations.actions.ConfigMap": "discovery.lua: |\n  return {copy = {}}\ndefinitions:\n- name: copy\n  action.lua: |\n    obj.data['copied'] = obj.metadata.annotations['hide.me/x']\n    return obj\n",
	}
	if _, err := c.core.CoreV1().ConfigMaps(c.ns).Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "argocd-cm", Labels: map[string]string{"app.kubernetes.io/part-of": "argocd"}}, Data: script,
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	d.through = newTap(t, strings.TrimPrefix(c.w.url, "http://"))
	made := into[api.AgentRegistration](t, c.w.must(c.w.admin, "POST", "/agents", `{"name":"prod"}`))
	d.log, d.metrics = c.startAgent(d.through, made.Token, "--verbose")
	c.application("derived", "all", nil)
	d.app = "/agents/account.prod/applications/" + c.ns + "/derived"
	c.settled(d.app, `"OutOfSync"`)
	c.w.must(c.w.admin, "POST", d.app+"/sync", `{}`)
	c.settled(d.app, `"Synced"`)
	d.operator()
	role := c.w.role("derived-editor", "application_view", "application_edit", "application_resourceaction", "application_sync")
	d.editor = c.w.user("mallory", role+"@account")
	return d
}

// operator makes what an operator would make of an object of the Application.
func (d *derived) operator() {
	t := d.t
	web, err := d.core.CoreV1().ConfigMaps(d.ns).Get(t.Context(), "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	if _, err := d.core.CoreV1().Secrets(d.ns).Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "made", Annotations: map[string]string{"reflected": d.p.plant("the operator's Secret") + "!"},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: "web", UID: web.UID, Controller: &yes}},
		},
		StringData: map[string]string{"token": d.p["the operator's Secret"]},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func (d *derived) patch(name, kind, patch string, dry bool) answer {
	d.t.Helper()
	return d.w.do(d.editor, http.MethodPatch, d.app+"/resource", fmt.Sprintf(`{"resource":{"version":"v1","kind":%q,"name":%q},"type":%q,"patch":%s,"dryRun":%v}`,
		map[bool]string{true: "ConfigMap", false: "Secret"}[name == "web"], name, kind, patch, dry))
}

// TestAnEditorReadsNoSecretByAPatch sends the patches that copied a Secret to where it was shown, and that told whether a
// guess was right.
func TestAnEditorReadsNoSecretByAPatch(t *testing.T) {
	t.Parallel()
	d := newDerived(t)
	for _, name := range []string{"db", "made"} {
		right := base64.StdEncoding.EncodeToString([]byte(d.p[map[string]string{"db": "the Secret in Git", "made": "the operator's Secret"}[name]]))
		for _, dry := range []bool{true, false} {
			first := ""
			for _, guess := range []string{right, base64.StdEncoding.EncodeToString([]byte("wrong"))} {
				test := d.patch(name, "json", fmt.Sprintf(`[{"op":"test","path":"/data/token","value":%q}]`, guess), dry)
				if test.StatusCode < 400 {
					t.Errorf("a test of %s is answered: %s", name, test)
				}
				if first == "" {
					first = string(test.problem())
				} else if first != string(test.problem()) {
					t.Errorf("a right guess of %s is %s, and a wrong one %s", name, first, test)
				}
			}
			for _, patch := range []struct{ kind, patch string }{
				{"json", `[{"op":"add","path":"/metadata/annotations","value":{}},{"op":"copy","from":"/data/token","path":"/metadata/annotations/x"}]`},
				{"json", `[{"op":"copy","from":"/data","path":"/metadata/annotations"}]`},
				{"json", `[{"op":"move","from":"/data/token","path":"/metadata/labels/x"}]`},
				{"json", `[{"op":"copy","from":"x/data/token","path":"x/metadata/annotations/x"}]`},
				{"merge", `{"metadata":{"labels":{"a":"b"}}}`},
				{"strategic", `{"data":{"$patch":"replace"}}`},
			} {
				if out := d.patch(name, patch.kind, patch.patch, dry); out.problem() != api.CodeForbidden {
					t.Errorf("%s %s: %s", patch.kind, patch.patch, out)
				}
			}
		}
	}
	for _, patch := range []string{
		`[{"op":"copy","from":"/metadata/annotations/hide.me~1x","path":"/data/x"}]`, `[{"op":"copy","from":"/metadata/annotations","path":"/data"}]`,
		fmt.Sprintf(`[{"op":"test","path":"/metadata/annotations/hide.me~1x","value":%q}]`, d.p["a hidden annotation"]),
	} {
		if out := d.patch("web", "json", patch, true); out.problem() != api.CodeForbidden {
			t.Errorf("%s: %s", patch, out)
		}
	}
	// A patch that reads nothing hidden is taken.
	if out := d.patch("web", "json", `[{"op":"test","path":"/data/a","value":"b"},{"op":"copy","from":"/data/a","path":"/data/c"}]`, true); out.StatusCode >= 300 {
		t.Errorf("a patch of data: %s", out)
	}
	d.everyRead()
	d.everyKind()
	d.nowhere()
}

// everyRead asks for all that an Application offers, with what could carry a value along.
func (d *derived) everyRead() {
	w := d.w
	for _, name := range []string{"db", "made"} {
		object := "kind=Secret&version=v1&resourceName=" + name
		for _, path := range []string{"/resource?", "/resource/actions?", "/resource/events?"} {
			w.must(d.editor, http.MethodGet, d.app+path+object, "")
		}
		for _, action := range []string{"copy", "say"} {
			for _, dry := range []bool{true, false} {
				out := w.do(d.editor, http.MethodPost, d.app+"/resource/actions", fmt.Sprintf(`{"resource":{"version":"v1","kind":"Secret","name":%q},"action":%q,"dryRun":%v}`, name, action, dry))
				if out.StatusCode < 400 {
					d.t.Errorf("an action that shows a value is run: %s", out)
				}
			}
		}
	}
	if out := w.do(d.editor, http.MethodPost, d.app+"/resource/actions", `{"resource":{"version":"v1","kind":"ConfigMap","name":"web"},"action":"copy"}`); out.StatusCode < 400 {
		d.t.Errorf("an action copies a hidden annotation: %s", out)
	}
	for _, path := range []string{"", "/diff", "/diff?drift=true", "/diff?ignored=true", "/manifests", "/manifests?live=true", "/tree", "/operation"} {
		w.must(d.editor, http.MethodGet, d.app+path, "")
	}
	w.must(d.editor, http.MethodPost, d.app+"/plan", `{}`)
}

// TestAGuessOfASecretIsNotConfirmed commits guesses to a branch and asks for differences with it. A right one and a wrong one
// must look the same.
func TestAGuessOfASecretIsNotConfirmed(t *testing.T) {
	t.Parallel()
	d := newDerived(t)
	guesses := 0
	ask := func(value string) string {
		d.t.Helper()
		guesses++
		branch := fmt.Sprint("guess-", guesses)
		d.repo.CommitTo(branch, map[string]string{"all/db.yaml": "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  token: " + base64.StdEncoding.EncodeToString([]byte(value)) + "\n"}, "guess")
		out := d.w.must(d.editor, http.MethodGet, d.app+"/diff?revision="+branch, "")
		var answer api.DiffAnswer
		if err := json.Unmarshal([]byte(out), &answer); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out, "values of Secrets are not compared") {
			t.Errorf("nobody is told that values are not compared: %s", out)
		}
		return fmt.Sprint(answer.Items)
	}
	right, wrong := ask(d.p["the Secret in Git"]), ask("another one")
	if right != wrong {
		t.Errorf("a right guess gives\n%s\nand a wrong one\n%s", right, wrong)
	}
}

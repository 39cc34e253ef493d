package security

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	kjson "sigs.k8s.io/json"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// developer makes somebody who may do everything with Applications of the Argo project team-a of an agent, and nothing else.
func (w *world) developer(agent string) string {
	w.t.Helper()
	w.must(w.admin, "POST", "/organizations", `{"name":"acme"}`)
	w.must(w.admin, "POST", "/projects", `{"name":"team","organization":"acme"}`)
	w.must(w.admin, "PUT", "/agents/"+agent+"/mappings/team-a", `{"argoProject":"team-a","project":"acme.team"}`)
	return w.user("dev", w.role("team-developer", "application_*", "applicationset_*")+"@project.acme.team")
}

// manifest is a resource as JSON, with this for its specification.
func manifest(kind, namespace, name, metadata, spec string) string {
	return fmt.Sprintf(`{"apiVersion":"argoproj.io/v1alpha1","kind":%q,"metadata":{"name":%q,"namespace":%q%s},"spec":%s}`, kind, name, namespace, metadata, spec)
}

// destined is a specification of an Application in a project, which may be written in any way.
func destined(project string) string {
	return `{` + project + `"source":{"repoURL":"https://127.0.0.1:1/x.git","path":"."},"destination":{"server":"https://kubernetes.default.svc","namespace":"x"}}`
}

// doubtful are specifications that are of team-a for one reader, and of default for another.
func doubtful() map[string]string {
	return map[string]string{
		"case":              destined(`"project":"default","Project":"team-a",`),
		"case, turned":      destined(`"Project":"team-a","project":"default",`),
		"upper case":        destined(`"project":"default","PROJECT":"team-a",`),
		"case alone":        destined(`"Project":"team-a",`),
		"twice":             destined(`"project":"team-a","project":"default",`),
		"twice, turned":     destined(`"project":"default","project":"team-a",`),
		"an escape":         destined(`"project":"default","\u0050roject":"team-a",`),
		"twice by escape":   destined(`"project":"default","pro\u006aect":"team-a",`),
		"NUL":               destined(`"project":"team-a\u0000",`),
		"half a character":  destined(`"project":"team-a\ud800",`),
		"too large number":  destined(`"project":"team-a","revisionHistoryLimit":1e400,`),
		"deep":              destined(`"project":"team-a","x":` + strings.Repeat("[", 5000) + strings.Repeat("]", 5000) + `,`),
		"case of source":    destined(`"project":"team-a","Source":{"repoURL":"https://127.0.0.1:2/y.git"},`),
		"case deeper":       `{"project":"team-a","source":{"repoURL":"https://127.0.0.1:1/x.git","RepoURL":"https://127.0.0.1:2/y.git"}}`,
		"case of namespace": `{"project":"team-a","destination":{"namespace":"x","Namespace":"kube-system"}}`,
	}
}

func TestADocumentThatTwoReadersMayUnderstandDifferentlyReachesNoAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.liar("account.demo")
	dev := w.developer("account.demo")
	there := application("web", "team-a", "")
	if ack := l.batch([]agentapi.Item{item("web", there)}, nil); ack.Error != nil || len(ack.Rejected) > 0 {
		t.Fatalf("%+v", ack)
	}
	const many, one = "/agents/account.demo/applications", "/agents/account.demo/applications/argocd/web"
	invalid := []api.Code{api.CodeInvalid}
	for what, spec := range doubtful() {
		t.Log(what)
		fresh, old := manifest("Application", "argocd", "fresh", "", spec), manifest("Application", "argocd", "web", "", spec)
		w.refused(dev, "POST", many+"?wait=0", `{"resource":`+fresh+`}`, invalid...)
		w.refused(dev, "POST", many+"?wait=0", `{"resource":`+old+`,"upsert":true}`, invalid...)
		w.refused(dev, "PUT", one+"?wait=0", `{"resource":`+old+`}`, invalid...)
		w.refused(dev, "POST", many+"/preview?quick=true", `{"resource":`+fresh+`}`, invalid...)
		w.refused(dev, "POST", many+"/preview?quick=true", `{"resource":`+old+`,"update":true}`, invalid...)
		w.refused(dev, "PUT", one+"?wait=0", `{"resource":`+there+`,"base":`+old+`}`, invalid...)
	}
	for what, resource := range map[string]string{
		"name":      manifest("Application", "argocd", "web", `,"Name":"other"`, destined(`"project":"team-a",`)),
		"namespace": manifest("Application", "argocd", "web", `,"Namespace":"kube-system"`, destined(`"project":"team-a",`)),
		"labels":    manifest("Application", "argocd", "web", `,"Labels":{"a":"b"}`, destined(`"project":"team-a",`)),
		"kind":      strings.Replace(there, `"kind"`, `"Kind":"AppProject","kind"`, 1),
		"Kelvin":    strings.Replace(there, `"kind"`, `"\u212aind":"AppProject","kind"`, 1),
		"long s":    strings.Replace(there, `"spec"`, `"ſpec":{"project":"default"},"spec"`, 1),
		"spec":      strings.Replace(there, `"spec"`, `"Spec":{"project":"default"},"spec"`, 1),
		"metadata":  strings.Replace(there, `"spec"`, `"metadata":{"name":"other","namespace":"argocd"},"spec"`, 1),
	} {
		t.Log(what)
		w.refused(dev, "PUT", one+"?wait=0", `{"resource":`+resource+`}`, invalid...)
	}
	// The envelope is no way in either.
	w.refused(dev, "PUT", one+"?wait=0", `{"resource":`+there+`,"Resource":`+application("web", "default", "")+`}`, invalid...)
	w.refused(dev, "PUT", one+"?wait=0", `{"resource":`+there+`,"resource":`+application("web", "default", "")+`}`, invalid...)
	w.refused(dev, "POST", many+"?wait=0", `{"resource":`+application("fresh", "default", "")+`}`, api.CodeForbidden)
	if n := len(l.commands); n > 0 {
		t.Fatalf("%d commands reached the agent, the first: %+v", n, <-l.commands)
	}

	// What is taken is the same for every reader, and was judged in the form in which it comes.
	w.must(dev, "PUT", one+"?wait=0", `{"resource":`+manifest("Application", "argocd", "web", `,"labels":{"App":"1","app":"2"}`, destined(`"later":{"Project":"x","project":"y"},"project":"team-a",`))+`}`)
	select {
	case c := <-l.commands:
		var body struct {
			Object json.RawMessage `json:"object"`
		}
		if err := json.Unmarshal(c.Body, &body); err != nil {
			t.Fatal(err)
		}
		var loose struct{ Spec struct{ Project string } }
		if err := json.Unmarshal(body.Object, &loose); err != nil {
			t.Fatal(err)
		}
		var exact map[string]any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(body.Object, &exact); err != nil {
			t.Fatal(err)
		}
		if project, _, _ := unstructured.NestedString(exact, "spec", "project"); project != "team-a" || loose.Spec.Project != "team-a" || !strings.Contains(string(c.Body), `"later":{"Project":"x","project":"y"}`) {
			t.Errorf("the agent is sent %s", c.Body)
		}
	case <-time.After(limit):
		t.Fatal("the agent is not asked")
	}
}

func TestASetThatCanHideAProjectTakesTheRightForAllOfThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	l := w.liar("account.demo")
	dev := w.developer("account.demo")
	const plain = `"generators":[{"list":{"elements":[{"a":"b"}]}}],"template":{"metadata":{"name":"x"},"spec":{"project":"team-a"}}`
	set := func(name, spec string) string { return manifest("ApplicationSet", "argocd", name, "", `{`+spec+`}`) }
	body := set("sets", plain)
	if ack := l.batch([]agentapi.Item{{
		Key: agentapi.Key{Kind: agentapi.ItemApplicationSet, Namespace: "argocd", Name: "sets"}, Hash: agentapi.Hash([]byte(body)), Body: json.RawMessage(body),
	}}, nil); ack.Error != nil || len(ack.Rejected) > 0 {
		t.Fatalf("%+v", ack)
	}
	const many, one = "/agents/account.demo/applicationsets", "/agents/account.demo/applicationsets/argocd/sets"
	for _, spec := range []string{
		plain + `,"templatePatch":"{\"spec\":{\"pro\\x6aect\":\"default\"}}"`,
		plain + `,"goTemplate":true,"templatePatch":"{{ printf \"spec: {pro%sect: default}\" \"j\" }}"`,
		plain + `,"templatePatch":"metadata: {}"`,
		plain + `,"somethingLater":{"x":"default"}`,
		strings.Replace(plain, `"team-a"`, `"{{a}}"`, 1),
		strings.Replace(plain, `"team-a"`, `"team-{{ \"a\" }}"`, 1),
		strings.Replace(plain, `"elements":`, `"template":{"spec":{"project":"default"}},"elements":`, 1),
		`"generators":[{"matrix":{"generators":[{"list":{"elements":[]}},{"merge":{"generators":[{"list":{"template":{"spec":{"project":"default"}}}}]}}]}}],"template":{"spec":{"project":"team-a"}}`,
		`"generators":[{"matrix":{"generators":[{"matrix":{"Generators":[{"list":{"template":{"spec":{"project":"default"}}}}]}}]}}],"template":{"spec":{"project":"team-a"}}`,
	} {
		w.refused(dev, "POST", many+"?wait=0", `{"resource":`+set("fresh", spec)+`}`, api.CodeForbidden)
		w.refused(dev, "POST", many+"?wait=0", `{"resource":`+set("sets", spec)+`,"upsert":true}`, api.CodeForbidden)
		w.refused(dev, "PUT", one+"?wait=0", `{"resource":`+set("sets", spec)+`}`, api.CodeForbidden)
		w.must(w.admin, "PUT", one+"?wait=0", `{"resource":`+set("sets", spec)+`}`)
	}
	w.must(dev, "PUT", one+"?wait=0", `{"resource":`+body+`}`)
}

// TestWhatIsWrittenIsOfTheProjectThatWasJudged lets somebody in the cluster move an Application, so that the server's copy may
// be late: whichever of the two sees it, nothing is done with it for a developer of the project that it was in.
func TestWhatIsWrittenIsOfTheProjectThatWasJudged(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	config := testenv.Cluster(t)
	c := &cluster{t: t, w: w, ns: testenv.Namespace(t), p: plants{}, core: kubernetes.NewForConfigOrDie(config), dynamic: dynamic.NewForConfigOrDie(config)}
	c.repo = testenv.Git(t).NewRepo("shop")
	c.repo.Commit(map[string]string{"plain/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\n"}, "first")
	made := into[api.AgentRegistration](t, w.must(w.admin, "POST", "/agents", `{"name":"demo"}`))
	c.startAgent(newTap(t, strings.TrimPrefix(w.url, "http://")), made.Token)
	dev := w.developer("account.demo")
	w.must(w.admin, "POST", "/agents/account.demo/argo-projects", `{"resource":`+manifest("AppProject", c.ns, "team-a", "", `{"sourceRepos":["*"],"destinations":[{"server":"*","namespace":"*"}]}`)+`}`)
	name := "judged-" + c.ns
	app := func(project string) string {
		return manifest("Application", c.ns, name, "", fmt.Sprintf(`{"project":%q,"source":{"repoURL":%q,"path":"plain","targetRevision":"main"},"destination":{"server":"https://kubernetes.default.svc","namespace":%q}}`, project, c.repo.URL(), c.ns))
	}
	many := "/agents/account.demo/applications"
	one := many + "/" + c.ns + "/" + name
	w.refused(dev, "POST", many, `{"resource":`+app("default")+`}`, api.CodeForbidden)
	w.must(dev, "POST", many, `{"resource":`+app("team-a")+`}`)
	w.must(dev, "POST", one+"/refresh", `{}`)
	in := c.dynamic.Resource(v1alpha1.GroupVersion().WithResource("applications")).Namespace(c.ns)
	if _, err := in.Patch(t.Context(), name, types.MergePatchType, []byte(`{"spec":{"project":"default"}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, attack := range []struct{ method, path, body string }{
		{"PUT", one, `{"resource":` + app("team-a") + `}`},
		{"POST", many, `{"upsert":true,"resource":` + app("team-a") + `}`},
		{"POST", one + "/sync", `{}`},
		{"GET", one + "/manifests", ""},
		{"DELETE", one + "?cascade=true", ""},
	} {
		w.refused(dev, attack.method, attack.path, attack.body, api.CodeConflict, api.CodeForbidden, api.CodeNotFound)
	}
	got, err := in.Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if project, _, _ := unstructured.NestedString(got.Object, "spec", "project"); project != "default" || got.GetDeletionTimestamp() != nil {
		t.Errorf("the application that was moved away is %v", got.Object)
	}
}

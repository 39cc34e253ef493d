package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/declared"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestASettingIsOfTheProjectThatRightsWereAskedFor(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	const kind = agentapi.SettingRepository
	at := s.setting(kind, "theirs")
	theirs := agentapi.SettingChange{Type: kind, Name: "theirs", Create: true, Fields: map[string]string{"url": "https://git.example.org/theirs.git", "project": "team-b"}}
	s.seal(agentapi.KindSettingsApply, &theirs, map[string]string{"username": "bot", "password": planted})
	must[any](s, agentapi.KindSettingsApply, at, theirs)
	before, _ := s.secretOf("theirs")
	teamA, teamB := "team-a", "team-b"
	attack := func(what string, verb agentapi.Kind, change agentapi.SettingChange, code agentapi.Code) {
		t.Helper()
		change.Type, change.Name = kind, "theirs"
		s.refused(verb, at, change, code)
		if after, _ := s.secretOf("theirs"); !maps.Equal(before, after) {
			t.Errorf("%s changed the Secret", what)
		}
	}
	url := map[string]string{"url": "https://git.example.org/mine.git", "project": "team-a"}
	for _, verb := range []agentapi.Kind{agentapi.KindSettingsApply, agentapi.KindSettingsTest} {
		// The server knew no setting of that name, or one of another project.
		attack("an upsert", verb, agentapi.SettingChange{Fields: url, Judged: &agentapi.Judged{To: teamA}}, agentapi.CodeConflict)
		attack("an update", verb, agentapi.SettingChange{Fields: url, Judged: &agentapi.Judged{From: &teamA, To: teamA}}, agentapi.CodeConflict)
		// What was judged is not what would be written.
		attack("another project", verb, agentapi.SettingChange{Fields: url, Judged: &agentapi.Judged{From: &teamB, To: teamB}}, agentapi.CodeForbidden)
		attack("no project", verb, agentapi.SettingChange{Fields: map[string]string{"project": ""}, Judged: &agentapi.Judged{From: &teamB, To: teamB}}, agentapi.CodeForbidden)
		attack("an older server", verb, agentapi.SettingChange{}, agentapi.CodeUnsupported)
		// Secrets that are there are sent nowhere else.
		for field, value := range map[string]string{"url": "https://evil.example.org/x.git", "proxy": "http://evil.example.org", "githubAppEnterpriseBaseUrl": "https://evil.example.org"} {
			attack("another "+field, verb, agentapi.SettingChange{Fields: map[string]string{field: value}, Judged: &agentapi.Judged{From: &teamB, To: teamB}}, agentapi.CodeInvalid)
		}
		half := agentapi.SettingChange{Type: kind, Name: "theirs", Fields: map[string]string{"url": "https://evil.example.org/x.git", "project": "team-b"}}
		s.seal(verb, &half, map[string]string{"username": "mine"})
		attack("a half", verb, half, agentapi.CodeInvalid)
	}
	// A seal is for one request.
	used := agentapi.SettingChange{Type: kind, Name: "theirs", Fields: map[string]string{"project": "team-b"}}
	s.seal(agentapi.KindSettingsTest, &used, map[string]string{"password": "other"})
	attack("a seal for a test", agentapi.KindSettingsApply, used, agentapi.CodeInvalid)
	s.seal(agentapi.KindSettingsApply, &used, map[string]string{"password": "other"})
	used.Fields = map[string]string{"project": "team-b", "insecure": "true"}
	attack("a seal beside other fields", agentapi.KindSettingsApply, used, agentapi.CodeInvalid)
	// Who knows the secrets sends them where they like.
	moved := agentapi.SettingChange{Type: kind, Name: "theirs", Fields: map[string]string{"url": "https://git.example.org/moved.git", "project": "team-b"}}
	s.seal(agentapi.KindSettingsApply, &moved, map[string]string{"username": "bot", "password": "other"})
	must[any](s, agentapi.KindSettingsApply, at, moved)
}

func TestAnEntryIsWrittenUnderTheNameThatRightsWereAskedFor(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	apply := func(kind agentapi.SettingType, name string, update bool, fields map[string]string) error {
		_, err := s.do(agentapi.KindSettingsApply, s.setting(kind, name), agentapi.SettingChange{Type: kind, Name: name, Update: update, Fields: fields})
		return err
	}
	const one, key = "ssh:a.example.org:ssh-ed25519", " ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl\n"
	if err := apply(agentapi.SettingKnownHost, "known-host", false, map[string]string{"data": "a.example.org" + key}); err != nil {
		t.Fatal(err)
	}
	for _, hosts := range []string{"*", "b.example.org", "a.example.org,*"} {
		if err := apply(agentapi.SettingKnownHost, one, true, map[string]string{"data": hosts + key}); err == nil {
			t.Errorf("who may change %s wrote the key of %s", one, hosts)
		}
	}
	if err := apply(agentapi.SettingKnownHost, one, true, map[string]string{"data": "a.example.org" + key}); err != nil {
		t.Error(err)
	}
	if err := apply(agentapi.SettingCertificate, "a.example.org", false, map[string]string{"serverName": "b.example.org", "certData": certificate(t)}); err == nil {
		t.Error("a certificate was written for another host than rights were asked for")
	}
	for _, kind := range []agentapi.SettingType{agentapi.SettingCertificate, agentapi.SettingKnownHost, agentapi.SettingGPGKey} {
		fields := map[string]string{"project": "team-a"}
		if err := apply(kind, "a.example.org", false, fields); err == nil || !strings.Contains(err.Error(), "project") {
			t.Errorf("a %s of a project: %v", kind, err)
		}
	}
}

// until waits for what the agent hears of by a watch.
func (s *stand) until(what string, f func(context.Context) bool) {
	s.t.Helper()
	err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) { return f(ctx), nil })
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

// permits makes an AppProject with these source repositories.
func (s *stand) permits(project string, repositories ...string) {
	s.t.Helper()
	list, err := json.Marshal(repositories)
	if err != nil {
		s.t.Fatal(err)
	}
	must[any](s, agentapi.KindObjectApply, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: project}, agentapi.ObjectApply{
		Object: json.RawMessage(`{"apiVersion":"argoproj.io/v1alpha1","kind":"AppProject","metadata":{"name":"` + project + `"},
			"spec":{"sourceRepos":` + string(list) + `,"destinations":[{"server":"*","namespace":"` + s.ns + `"}]}}`),
	})
	s.until("project "+project, func(context.Context) bool {
		_, err := s.asks.Engine.Projects.Rules(project)
		return err == nil
	})
}

// refuses makes sure that a question is refused with a code, and in words that have this in them.
func (s *stand) refuses(kind agentapi.Kind, body any, code agentapi.Code, word string) {
	s.t.Helper()
	target := agentapi.Target{Kind: agentapi.ItemApplication, Namespace: s.ns}
	s.refused(kind, target, body, code)
	if _, err := s.do(kind, target, body); err == nil || !strings.Contains(err.Error(), word) {
		s.t.Errorf("%s %+v is answered %v, want %q in it", kind, body, err, word)
	}
}

func TestARepositoryIsLookedIntoWithTheCredentialsOfItsProject(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	private := testenv.Git(t, testenv.GitBasicAuth("bot", planted))
	repo := private.NewRepo("hidden")
	repo.Commit(map[string]string{"apps/web/a.yaml": "kind: ConfigMap", "apps/README": ""}, "first")
	head := repo.Head("main")
	s.permits("shop", private.Base()+"/**")
	s.permits("other", "https://git.example.org/**")
	at := agentapi.Target{Kind: agentapi.ItemApplication, Namespace: s.ns}
	refs := api.RepositoryRefsRequest{RepoURL: repo.URL(), ArgoProject: "shop"}
	s.refuses(agentapi.KindRepositoryRefs, refs, agentapi.CodeInvalid, "authentication failed") // nobody has given it a password yet

	const kind = agentapi.SettingRepository
	change := agentapi.SettingChange{Type: kind, Name: "hidden", Create: true, Fields: map[string]string{"url": repo.URL(), "project": "shop"}}
	s.seal(agentapi.KindSettingsApply, &change, map[string]string{"username": "bot", "password": planted})
	must[any](s, agentapi.KindSettingsApply, s.setting(kind, "hidden"), change)
	s.until("the credential", func(context.Context) bool {
		return len(s.asks.Settings.Repositories().Repository("shop", repo.URL())) > 0
	})
	got := must[api.RepositoryRefs](s, agentapi.KindRepositoryRefs, at, refs)
	want := api.RepositoryRefs{Default: "main", Branches: []api.RepositoryRef{{Name: "main", Commit: head}}, Tags: []api.RepositoryRef{}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("references (-want +got):\n%s", d)
	}
	paths := must[api.RepositoryPaths](s, agentapi.KindRepositoryPaths, at, api.RepositoryPathsRequest{RepoURL: repo.URL(), ArgoProject: "shop", Revision: "main", Path: "apps"})
	if paths.Revision != head || len(paths.Items) != 2 || paths.Items[0] != (api.RepositoryPath{Path: "apps/web", Type: "directory", Tool: "directory"}) {
		t.Errorf("paths are %+v", paths)
	}

	// A project that does not permit it learns nothing, whoever asks; nor does one that has no credential of its own.
	refs.ArgoProject = "other"
	s.refuses(agentapi.KindRepositoryRefs, refs, agentapi.CodeForbidden, "does not permit")
	s.refuses(agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{RepoURL: repo.URL(), ArgoProject: "other"}, agentapi.CodeForbidden, "does not permit")
	s.permits("third", "*")
	refs.ArgoProject = "third"
	s.refuses(agentapi.KindRepositoryRefs, refs, agentapi.CodeInvalid, "authentication failed")
	refs.ArgoProject = "none"
	s.refuses(agentapi.KindRepositoryRefs, refs, agentapi.CodeForbidden, "does not exist")
	s.refused(agentapi.KindRepositoryRefs, agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "elsewhere"},
		api.RepositoryRefsRequest{RepoURL: repo.URL(), ArgoProject: "shop"}, agentapi.CodeForbidden) // applications there are none of the project
}

func TestPathsHaveThePluginsOfTheAgentAndWhatTheyAnnounce(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.permits("shop", s.server.Base()+"/**")
	dir := t.TempDir()
	declaration := "kind: ConfigManagementPlugin\nmetadata: {name: %s}\nspec:\n  generate: {command: ['true']}\n  discover: {fileName: %s}\n" +
		"  parameters: {static: [{name: tag, title: Tag of %s, required: true, string: latest}, {name: list, collectionType: array, array: [a, b]}]}\n"
	for name, file := range map[string]string{"first": "none.txt", "second": "all.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name+".yaml"), fmt.Appendf(nil, declaration, name, file, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s.keeps.Plugins = render.Choice{&declared.Renderer{Dir: dir, Work: t.TempDir()}}
	ask := api.RepositoryPathsRequest{RepoURL: s.repo.URL(), ArgoProject: "shop", Path: "web"}
	got := must[api.RepositoryPaths](s, agentapi.KindRepositoryPaths, s.app(s.name), ask)
	want := []api.PluginParameter{
		{Name: "tag", Title: "Tag of second", Required: true, String: "latest"},
		{Name: "list", CollectionType: "array", Array: []string{"a", "b"}},
	}
	if d := cmp.Diff([]string{"first", "second"}, got.Plugins); d != "" || got.Tool != "plugin" || got.Details == nil {
		t.Fatalf("%+v", got)
	}
	if d := cmp.Diff(want, got.Details.Parameters); d != "" {
		t.Errorf("parameters (-want +got):\n%s", d)
	}
	ask.Path = ""
	if got = must[api.RepositoryPaths](s, agentapi.KindRepositoryPaths, s.app(s.name), ask); got.Tool == "plugin" || len(got.Plugins) != 2 {
		t.Errorf("%+v", got)
	}
	ask.Plugin = "first"
	if got = must[api.RepositoryPaths](s, agentapi.KindRepositoryPaths, s.app(s.name), ask); len(got.Warnings) != 1 ||
		!strings.Contains(got.Warnings[0], "does not know the files") {
		t.Errorf("%+v", got)
	}
}

func TestAHostileAddressOrPathIsRefused(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.permits("shop", "*")
	for _, address := range []string{
		"", "file:///etc", "/etc", "ext::sh -c id", "--upload-pack=id", "ftp://git.example.org/a", "http://", "ssh://-oProxyCommand=id/a",
		"https://bot:" + planted + "@git.example.org/a", "https://" + planted + "@git.example.org/a", "https://git.example.org/" + strings.Repeat("a", 4000),
	} {
		s.refuses(agentapi.KindRepositoryRefs, api.RepositoryRefsRequest{RepoURL: address, ArgoProject: "shop"}, agentapi.CodeInvalid, "")
		s.refuses(agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{RepoURL: address, ArgoProject: "shop"}, agentapi.CodeInvalid, "")
	}
	for _, at := range []string{"/etc", "../..", "web/../../..", "none", "web/all.yaml", "a\x00b"} {
		s.refuses(agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{RepoURL: s.repo.URL(), ArgoProject: "shop", Path: at}, agentapi.CodeInvalid, "")
	}
	s.refuses(agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{RepoURL: s.repo.URL(), ArgoProject: "shop", Revision: "none"}, agentapi.CodeInvalid, "revision not found")
	s.refuses(agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{RepoURL: s.repo.URL(), ArgoProject: "shop", Revision: "--all"}, agentapi.CodeInvalid, "")
	s.refuses(agentapi.KindRepositoryRefs, api.RepositoryRefsRequest{RepoURL: "oci://registry.invalid/charts", ArgoProject: "shop"}, agentapi.CodeInvalid, "name of the host is not known")
	s.refuses(agentapi.KindRepositoryRefs, api.RepositoryRefsRequest{RepoURL: s.repo.URL(), ArgoProject: "shop", Type: "svn"}, agentapi.CodeInvalid, "git, helm or oci")
}

func TestChartsOfAHelmRepositoryAreListed(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	var stolen atomic.Int32
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		stolen.Add(1)
		fmt.Fprint(w, "entries: {}")
	}))
	defer elsewhere.Close()
	charts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, password, _ := r.BasicAuth()
		switch {
		case r.URL.Path == "/away/index.yaml":
			http.Redirect(w, r, elsewhere.URL+"/index.yaml", http.StatusFound)
		case r.URL.Path == "/huge/index.yaml":
			fmt.Fprint(w, "entries: {a: [{description: "+strings.Repeat("x", 5<<20)+"}]}")
		case r.URL.Path == "/page/index.yaml":
			fmt.Fprint(w, "<html>"+planted)
		case user != "bot" || password != planted:
			w.WriteHeader(http.StatusUnauthorized)
		default:
			fmt.Fprint(w, "apiVersion: v1\nentries:\n  web:\n  - {version: 1.9.0}\n  - {version: 1.10.0, description: a shop}\n  cache:\n  - {version: 0.1.0}\n")
		}
	}))
	defer charts.Close()
	s.permits("shop", charts.URL+"/**")
	s.keeps.ReadBy = agentapi.EngineArgoCD // which deploys charts
	const kind = agentapi.SettingRepoCreds
	change := agentapi.SettingChange{Type: kind, Name: "charts", Create: true, Fields: map[string]string{"url": charts.URL, "type": "helm"}}
	s.seal(agentapi.KindSettingsApply, &change, map[string]string{"username": "bot", "password": planted})
	must[any](s, agentapi.KindSettingsApply, s.setting(kind, "charts"), change)
	s.until("the credential", func(context.Context) bool {
		return len(s.asks.Settings.Repositories().Repository("shop", charts.URL+"/all")) > 0
	})
	at := agentapi.Target{Kind: agentapi.ItemApplication, Namespace: s.ns}
	got := must[api.RepositoryRefs](s, agentapi.KindRepositoryRefs, at, api.RepositoryRefsRequest{RepoURL: charts.URL + "/all", ArgoProject: "shop"})
	want := []api.RepositoryChart{{Name: "cache", Versions: []string{"0.1.0"}}, {Name: "web", Description: "a shop", Versions: []string{"1.10.0", "1.9.0"}}}
	if d := cmp.Diff(want, got.Charts); d != "" {
		t.Errorf("charts (-want +got):\n%s", d)
	}
	for path, word := range map[string]string{"/away": "another host", "/huge": "KiB", "/page": "no entries"} {
		s.refuses(agentapi.KindRepositoryRefs, api.RepositoryRefsRequest{RepoURL: charts.URL + path, ArgoProject: "shop"}, agentapi.CodeInvalid, word)
	}
	if stolen.Load() > 0 {
		t.Error("a redirection was followed to a place that the project does not permit")
	}
	s.refuses(agentapi.KindRepositoryRefs, api.RepositoryRefsRequest{RepoURL: elsewhere.URL, ArgoProject: "shop", Type: "helm"}, agentapi.CodeForbidden, "does not permit")
	s.refuses(agentapi.KindRepositoryPaths, api.RepositoryPathsRequest{RepoURL: charts.URL + "/all", ArgoProject: "shop"}, agentapi.CodeUnsupported, "no paths")
}

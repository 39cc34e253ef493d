package place

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	gitsource "github.com/slipway-gitops/slipway/internal/source/git"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// TestASubmoduleIsReadWithACredentialOfThePermittedOnly has the credentials of three servers, two of which the project permits.
func TestASubmoduleIsReadWithACredentialOfThePermittedOnly(t *testing.T) {
	t.Parallel()
	seen := map[string]int{} // of the forbidden server: requests that sign in
	forbidden := testenv.Git(t, testenv.GitAuth(func(r *http.Request) bool {
		if r.Header.Get("Authorization") != "" {
			seen["forbidden"]++
		}
		return false
	}))
	open := testenv.Git(t)
	private, other := testenv.Git(t, testenv.GitBasicAuth("u", "private")), testenv.Git(t, testenv.GitBasicAuth("u", "other"))
	leaf := map[string]string{"f": "x"}
	at := func(s *testenv.GitServer, name string) (*testenv.GitRepo, string) {
		r := s.NewRepo(name)
		return r, r.Commit(leaf, "leaf")
	}
	sibling, a := at(private, "team/sibling")
	second, b := at(other, "second")
	secret, c := at(forbidden, "secret")
	public, d := at(open, "public")
	top := private.NewRepo("team/top")
	var text strings.Builder
	changes := []testenv.Change{}
	for name, of := range map[string][2]string{
		"sibling": {"../sibling.git", a}, "second": {second.URL(), b}, "secret": {secret.URL(), c}, "public": {public.URL(), d}, "absolute": {sibling.URL(), a},
	} {
		fmt.Fprintf(&text, "[submodule %q]\n\tpath = %s\n\turl = %s\n", name, name, of[0])
		changes = append(changes, testenv.Change{Path: name, Mode: "160000", Content: of[1]})
	}
	top.Apply("main", "top", append(changes, testenv.Change{Path: ".gitmodules", Content: text.String()})...)

	allow, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	client, err := git.New(t.Context(), git.Options{Dir: t.TempDir(), Hosts: &outward.Policy{Private: true, Allow: allow}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	settings := keep(
		[]string{"top", v1alpha1.SecretTypeRepository, "url", top.URL(), "username", "u", "password", "private"},
		[]string{"second", v1alpha1.SecretTypeRepoCreds, "url", other.Base(), "username", "u", "password", "other"},
		[]string{"secret", v1alpha1.SecretTypeRepoCreds, "url", forbidden.Base(), "username", "u", "password", "stolen"},
	)
	sources := NewSources(gitsource.NewPool(client, gitsource.PoolOptions{}), settings)
	sources.Permits = func(project, url string) bool {
		return project == "p" && !strings.HasPrefix(url, forbidden.Base()) && url != public.URL()
	}
	fetch := func() func(name string) (string, error) {
		t.Helper()
		got, err := sources.Fetch(t.Context(), "p", v1alpha1.ApplicationSource{RepoURL: top.URL(), Path: "."}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if modules := strings.Contains(got.Scope, "+modules"); modules != repository.Submodules(settings.Config(ConfigParameters)) {
			t.Errorf("the scope is %s", got.Scope)
		}
		return func(name string) (string, error) {
			raw, err := got.Tree.ReadFile(name)
			return string(raw), err
		}
	}
	read := fetch()
	for _, name := range []string{"sibling", "second", "public", "absolute"} {
		if got, err := read(name + "/f"); err != nil || got != "x" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	_, err = read("secret/f")
	if err == nil || !strings.Contains(err.Error(), "sourceRepos of project p does not permit it") || strings.Contains(err.Error(), "stolen") || seen["forbidden"] > 0 {
		t.Errorf("a repository that the project does not permit, with %d requests that sign in: %v", seen["forbidden"], err)
	}
	// How they are reached is looked up once, until the settings change.
	settings.mu.Lock()
	delete(settings.secrets, "second")
	settings.mu.Unlock()
	if got, err := fetch()("second/f"); err != nil || got != "x" {
		t.Errorf("it is looked up again: %q %v", got, err)
	}
	settings.version.Add(1)
	if got, err := fetch()("second/f"); err == nil {
		t.Errorf("it is read with a credential that is gone: %q", got)
	}
	settings.configs[ConfigParameters] = map[string]string{"reposerver.enable.git.submodule": "false"}
	if _, err := fetch()("sibling/f"); err == nil {
		t.Error("submodules are read although they are turned off")
	}
}

// TestASubmoduleIsReadWithTheCredentialOfItsOwnParent has two repositories with a login each, and a submodule of both that takes one.
func TestASubmoduleIsReadWithTheCredentialOfItsOwnParent(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t, testenv.GitAuth(func(r *http.Request) bool {
		user, _, _ := r.BasicAuth()
		return user == "bob" || user == "ann" && !strings.Contains(r.URL.Path, "lib")
	}))
	commit := server.NewRepo("lib").Commit(map[string]string{"f": "x"}, "lib")
	parent := func(name string) string {
		repo := server.NewRepo(name)
		repo.Apply("main", name, testenv.Change{Path: "lib", Mode: "160000", Content: commit},
			testenv.Change{Path: ".gitmodules", Content: "[submodule \"lib\"]\n\tpath = lib\n\turl = ../lib.git\n"})
		return repo.URL()
	}
	ann, bob := parent("of-ann"), parent("of-bob")
	client, err := git.New(t.Context(), git.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	sources := NewSources(gitsource.NewPool(client, gitsource.PoolOptions{}), keep(
		[]string{"ann", v1alpha1.SecretTypeRepository, "url", ann, "username", "ann", "password", "a"},
		[]string{"bob", v1alpha1.SecretTypeRepository, "url", bob, "username", "bob", "password", "b"},
	))
	for _, c := range []struct {
		parent string
		ok     bool
	}{{bob, true}, {ann, false}, {bob, true}} {
		got, err := sources.Fetch(t.Context(), "p", v1alpha1.ApplicationSource{RepoURL: c.parent, Path: "."}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := got.Tree.ReadFile("lib/f"); (err == nil) != c.ok {
			t.Errorf("%s: %q %v", c.parent, raw, err)
		}
	}
}

// TestASubmoduleInALocalDirectoryIsReadWhereItIsPermittedOnly has an agent that may read local directories.
func TestASubmoduleInALocalDirectoryIsReadWhereItIsPermittedOnly(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	top, local := server.NewRepo("top"), server.NewRepo("local")
	commit := local.Commit(map[string]string{"f": "x"}, "leaf")
	top.Apply("main", "top",
		testenv.Change{Path: "url", Mode: "160000", Content: commit},
		testenv.Change{Path: "path", Mode: "160000", Content: commit},
		testenv.Change{Path: ".gitmodules", Content: fmt.Sprintf("[submodule \"url\"]\n\tpath = url\n\turl = file://%[1]s\n"+
			"[submodule \"path\"]\n\tpath = path\n\turl = %[1]s\n", local.Dir())})
	client, err := git.New(t.Context(), git.Options{Dir: t.TempDir(), AllowFile: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	for _, permitted := range []bool{true, false} {
		sources := NewSources(gitsource.NewPool(client, gitsource.PoolOptions{}), keep())
		sources.Permits = func(_, url string) bool { return permitted || url == top.URL() }
		got, err := sources.Fetch(t.Context(), "p", v1alpha1.ApplicationSource{RepoURL: top.URL(), Path: "."}, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"url/f", "path/f"} {
			raw, err := got.Tree.ReadFile(name)
			if permitted && (err != nil || string(raw) != "x") {
				t.Errorf("%s is permitted: %q, %v", name, raw, err)
			}
			if !permitted && (err == nil || !strings.Contains(err.Error(), "only where sourceRepos of project p permits it")) {
				t.Errorf("%s is forbidden: %q, %v", name, raw, err)
			}
		}
	}
}

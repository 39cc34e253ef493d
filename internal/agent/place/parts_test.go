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
		if modules := strings.Contains(got.Scope, "+modules"); modules != settings.submodules() {
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
	settings.configs[ConfigParameters] = map[string]string{"reposerver.enable.git.submodule": "false"}
	if _, err := fetch()("sibling/f"); err == nil {
		t.Error("submodules are read although they are turned off")
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

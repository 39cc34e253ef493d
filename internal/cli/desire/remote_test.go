package desire

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/repository"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// remote fetches under a policy that allows some hosts.
func remote(t *testing.T, allow ...string) *Remote {
	t.Helper()
	list, err := outward.ReadList(allow)
	if err != nil {
		t.Fatal(err)
	}
	r, err := Elsewhere{Policy: &outward.Policy{Private: true, Allow: list}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	return r
}

func TestAGitRepositoryIsNotLookedForOnThisMachineUnlessThatIsAllowed(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	server := testenv.Git(t)
	repo := server.NewRepo("shop")
	repo.Commit(map[string]string{"web/all.yaml": "kind: ConfigMap"}, "first")
	refused := remote(t)
	for _, address := range []string{
		repo.URL(), strings.Replace(repo.URL(), "127.0.0.1", "localhost", 1), "http://169.254.169.254/shop.git", "ssh://git@[::1]/shop.git",
		"https://metadata.google.internal/shop.git",
	} {
		_, err := refused.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: address, TargetRevision: "main"}, "")
		if !errors.Is(err, outward.ErrRefused) || !strings.Contains(err.Error(), "--outbound-allow") {
			t.Errorf("a source at %s: %v", address, err)
		}
		if _, err = refused.FetchNeed(t.Context(), need.Need{Kind: need.Git, URL: address, Revision: "main"}); !errors.Is(err, outward.ErrRefused) {
			t.Errorf("a base at %s: %v", address, err)
		}
	}
	if n := server.RequestCount(); n > 0 {
		t.Errorf("this machine was asked %d times", n)
	}
	tree, err := remote(t, "127.0.0.0/8").Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: repo.URL(), TargetRevision: "main"}, "")
	if err != nil {
		t.Fatal(err)
	}
	if raw, err := tree.ReadFile("web/all.yaml"); err != nil || string(raw) != "kind: ConfigMap" {
		t.Errorf("%q, %v", raw, err)
	}
}

// TestASubmoduleIsReadAsInAnAgent has one that a template signs in to, and a file of Git LFS.
func TestASubmoduleIsReadAsInAnAgent(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	server := testenv.Git(t, testenv.GitAuth(func(r *http.Request) bool {
		user, password, _ := r.BasicAuth()
		return user == "ann" && password == "s3cret"
	}))
	commit := server.NewRepo("base").Commit(map[string]string{"all.yaml": "kind: ConfigMap"}, "base")
	repo := server.NewRepo("shop")
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		"4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n"
	repo.Apply("main", "first", testenv.Change{Path: "base", Mode: "160000", Content: commit},
		testenv.Change{Path: ".gitmodules", Content: "[submodule \"base\"]\n\tpath = base\n\turl = ../base.git\n"},
		testenv.Change{Path: ".gitattributes", Content: "*.bin filter=lfs\n"}, testenv.Change{Path: "large.bin", Content: pointer})
	for _, large := range []string{"false", "true"} {
		r := remote(t, "127.0.0.0/8")
		r.book.Secrets = map[string]repository.Secret{"shop": {Kind: v1alpha1.SecretTypeRepository, Data: map[string][]byte{
			"url": []byte(repo.URL()), "username": []byte("ann"), "password": []byte("s3cret"), "enableLfs": []byte(large),
		}}}
		alone, err := r.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: repo.URL(), TargetRevision: "main"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := alone.ReadFile("base/all.yaml"); !errors.Is(err, git.ErrAuth) {
			t.Errorf("the login of a repository goes to its submodule: %v", err)
		}
		r.book.Secrets["all"] = repository.Secret{Kind: v1alpha1.SecretTypeRepoCreds, Data: map[string][]byte{
			"url": []byte(server.Base()), "username": []byte("ann"), "password": []byte("s3cret"),
		}}
		tree, err := r.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: repo.URL(), TargetRevision: "main"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if raw, err := tree.ReadFile("base/all.yaml"); err != nil || string(raw) != "kind: ConfigMap" {
			t.Errorf("the submodule has %q, %v", raw, err)
		}
		r.Permits = func(address string) error {
			if address == repo.URL() {
				return nil
			}
			return errors.New("no")
		}
		narrow, err := r.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: repo.URL(), TargetRevision: "main"}, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := narrow.ReadFile("base/all.yaml"); !errors.Is(err, git.ErrAuth) {
			t.Errorf("a submodule that the project does not permit is read with a login: %v", err)
		}
		r.Permits = nil
		raw, err := tree.ReadFile("large.bin")
		switch {
		case large == "false" && (err != nil || string(raw) != pointer):
			t.Errorf("a file of Git LFS that is not to be fetched: %q, %v", raw, err)
		case large == "true" && (err == nil || !strings.Contains(err.Error(), "LFS")): // this server has no LFS
			t.Errorf("a file of Git LFS that is to be fetched: %q, %v", raw, err)
		}
		r.whole = false
		if tree, err = r.Fetch(t.Context(), v1alpha1.ApplicationSource{RepoURL: repo.URL(), TargetRevision: "main"}, ""); err != nil {
			t.Fatal(err)
		}
		if _, err := tree.ReadFile("base/all.yaml"); err == nil {
			t.Error("submodules are read although they are turned off")
		}
		r.Close()
	}
}

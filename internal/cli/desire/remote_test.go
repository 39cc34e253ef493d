package desire

import (
	"errors"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/outward"
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

package setting

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/git"
)

func TestReferencesAreInAnOrderOfUseAndBounded(t *testing.T) {
	t.Parallel()
	refs := git.Refs{Default: "refs/heads/trunk", IDs: map[string]string{
		"HEAD": "a", "refs/heads/trunk": "a", "refs/heads/alpha": "b", "refs/tags/v1.9.0": "c", "refs/tags/v1.10.0": "d", "refs/tags/latest": "e", "refs/pull/1/head": "f",
	}}
	got := refsOf(refs, "")
	want := api.RepositoryRefs{
		Default: "trunk", Branches: []api.RepositoryRef{{Name: "trunk", Commit: "a"}, {Name: "alpha", Commit: "b"}},
		Tags: []api.RepositoryRef{{Name: "v1.10.0", Commit: "d"}, {Name: "v1.9.0", Commit: "c"}, {Name: "latest", Commit: "e"}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("references (-want +got):\n%s", d)
	}
	if got = refsOf(refs, "ALPH"); len(got.Branches) != 1 || len(got.Tags) != 0 {
		t.Errorf("a search finds %+v", got)
	}
	for i := range 3 * maxRefs {
		refs.IDs[fmt.Sprintf("refs/heads/b%05d", i)] = "a"
	}
	if got = refsOf(refs, ""); len(got.Branches) != maxRefs || !got.Truncated || got.Branches[0].Name != "trunk" {
		t.Errorf("of many, %d branches are told, the first %v", len(got.Branches), got.Branches[0])
	}
}

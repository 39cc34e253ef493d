package demo_test

import (
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/dev/demo"
)

const url = "http://127.0.0.1:1/demo.git"

func TestEveryApplicationFollowsTheGivenRepositoryAtAPathThatExists(t *testing.T) {
	t.Parallel()
	repo, err := demo.Repository()
	if err != nil {
		t.Fatal(err)
	}
	apps, err := demo.Applications(url)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, app := range apps {
		names = append(names, app["metadata"].(map[string]any)["name"].(string))
		spec := app["spec"].(map[string]any)
		sources, _ := spec["sources"].([]any)
		if one, ok := spec["source"]; ok {
			sources = append(sources, one)
		}
		for _, s := range sources {
			source := s.(map[string]any)
			if source["repoURL"] != url {
				t.Errorf("%v follows %v, want %s", names[len(names)-1], source["repoURL"], url)
			}
			path, ok := source["path"].(string)
			if !ok {
				continue
			}
			if info, err := fs.Stat(repo, path); err != nil || !info.IsDir() {
				t.Errorf("%s is not a directory of the repository: %v", path, err)
			}
		}
	}
	if diff := cmp.Diff([]string{"web", "shop", "blog", "board", "payments"}, names); diff != "" {
		t.Errorf("applications (-want +got):\n%s", diff)
	}
}

func TestChartHelpersAreEmbeddedToo(t *testing.T) {
	t.Parallel()
	repo, err := demo.Repository()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fs.Stat(repo, "apps/blog/templates/_names.tpl"); err != nil {
		t.Error(err)
	}
}

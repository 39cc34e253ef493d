package place

import (
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/internal/project"
)

func appProject(name string, labels map[string]any, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "argoproj.io/v1alpha1", "kind": "AppProject",
		"metadata": map[string]any{"name": name, "namespace": "argocd", "labels": labels}, "spec": spec,
	}}
}

// projectBed is a store of projects that notes whose Applications had to look again, and what was logged.
type projectBed struct {
	*Projects
	told []string
	log  strings.Builder
}

func newProjectBed() *projectBed {
	b := &projectBed{}
	b.Projects = NewProjects("argocd", func(called string) { b.told = append(b.told, called) }, slog.New(slog.NewTextHandler(&b.log, nil)))
	return b
}

func (b *projectBed) put(t *testing.T, list ...*unstructured.Unstructured) {
	t.Helper()
	for _, u := range list {
		if err := b.Update(u); err != nil {
			t.Fatal(err)
		}
	}
}

// heard returns who had to look again since the last call.
func (b *projectBed) heard() []string {
	out := b.told
	slices.Sort(out)
	b.told = nil
	return out
}

const inheritance = "- {projectName: company, labelSelector: {matchLabels: {opt: prod}}}"

func everywhere(repos ...any) map[string]any {
	return map[string]any{"sourceRepos": repos, "destinations": []any{map[string]any{"server": "*", "namespace": "*"}}}
}

func TestProjectsInheritFromGlobalOnes(t *testing.T) {
	t.Parallel()
	b := newProjectBed()
	b.put(t, appProject("company", nil, everywhere("https://git.example/all")),
		appProject("shop", map[string]any{"opt": "prod"}, everywhere("https://git.example/shop")),
		appProject("lab", nil, everywhere("https://git.example/lab")))
	permits := func(called, repo string) bool {
		t.Helper()
		rules, err := b.Rules(called)
		return err == nil && rules.PermitsSource(repo) == nil
	}
	if permits("shop", "https://git.example/all") {
		t.Error("it inherits before it is told to")
	}
	b.heard()
	b.Inherit(inheritance)
	if diff := cmp.Diff([]string{"shop"}, b.heard()); diff != "" {
		t.Error(diff)
	}
	if !permits("shop", "https://git.example/all") || !permits("shop", "https://git.example/shop") || permits("lab", "https://git.example/all") {
		t.Error("inherited by the wrong ones")
	}
	before, _ := b.Rules("shop")
	b.Inherit(inheritance)
	b.put(t, appProject("shop", map[string]any{"opt": "prod", "more": "labels"}, everywhere("https://git.example/shop")))
	if after, _ := b.Rules("shop"); before != after || len(b.heard()) > 0 {
		t.Error("equal rules are not the same ones")
	}
	b.put(t, appProject("company", nil, everywhere("https://git.example/new")))
	if diff := cmp.Diff([]string{"company", "shop"}, b.heard()); diff != "" {
		t.Error(diff)
	}
	if permits("shop", "https://git.example/all") || !permits("shop", "https://git.example/new") {
		t.Error("a change of the global project is not inherited")
	}
	b.put(t, appProject("shop", nil, everywhere("https://git.example/shop")))
	if permits("shop", "https://git.example/new") {
		t.Error("it inherits without its label")
	}
}

func TestWhatCannotBeInheritedStopsWhoWould(t *testing.T) {
	t.Parallel()
	b := newProjectBed()
	b.put(t, appProject("shop", map[string]any{"opt": "prod"}, everywhere("*")), appProject("lab", nil, everywhere("*")))
	says := func(called, text string) {
		t.Helper()
		if _, err := b.Rules(called); (err == nil) != (text == "") || err != nil && !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", called, err, text)
		}
	}
	b.Inherit(inheritance)
	says("shop", `inherits from project "company", which does not exist`)
	says("lab", "")
	b.put(t, appProject("company", nil, everywhere("[")))
	says("shop", "a class must be written as")
	b.put(t, appProject("company", nil, everywhere("*")))
	says("shop", "")
	if err := b.Delete(appProject("company", nil, nil)); err != nil {
		t.Fatal(err)
	}
	says("shop", "does not exist")
	b.Inherit("nonsense: [")
	says("lab", "globalProjects in argocd-cm cannot be read")
	b.Inherit("")
	says("shop", "")
	says("lab", "")
}

func TestAProjectThatIsNotValidIsLogged(t *testing.T) {
	t.Parallel()
	b := newProjectBed()
	spec := everywhere("*")
	spec["roles"] = []any{map[string]any{"name": "-ci-"}}
	b.put(t, appProject("shop", nil, spec))
	if !strings.Contains(b.log.String(), "project is invalid") || !strings.Contains(b.log.String(), "-ci-") {
		t.Error(b.log.String())
	}
	if rules, err := b.Rules("shop"); err != nil || len(rules.Faults()) != 1 {
		t.Errorf("%v, %v", rules, err)
	}
}

func TestApplicationsMayBeInNamespacesByPattern(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		patterns []string
		plain    bool
		in, out  []string
	}{
		{nil, true, nil, []string{"team-a"}},
		{[]string{" team-a ", "", "team-b"}, true, []string{"team-a", "team-b"}, []string{"team-c", ""}},
		{[]string{"team-*"}, false, []string{"team-a", "team-"}, []string{"other"}},
		{[]string{"/^team-[0-9]+$/", "lab"}, false, []string{"team-12", "lab"}, []string{"team-a", "my-team-1"}},
		{[]string{"*"}, false, []string{"anything"}, nil},
	} {
		n, err := project.NewNamespaces(c.patterns)
		if err != nil {
			t.Fatal(err)
		}
		if _, plain := n.Names(); plain != c.plain {
			t.Errorf("%q is plain: %v", c.patterns, plain)
		}
		for _, ns := range c.in {
			if !n.Has(ns) {
				t.Errorf("%q does not have %s", c.patterns, ns)
			}
		}
		for _, ns := range c.out {
			if n.Has(ns) {
				t.Errorf("%q has %s", c.patterns, ns)
			}
		}
	}
	if _, err := project.NewNamespaces([]string{"/(/"}); err == nil {
		t.Error("an expression that cannot be read is taken")
	}
}

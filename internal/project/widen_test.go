package project_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// edit is a change of one field of a project.
type edit struct {
	field string // of the specification, as it is in Go
	what  string
	do    func(*v1alpha1.AppProject)
}

// bounded is a project that permits something in every field.
func bounded() *v1alpha1.AppProject {
	warn := true
	return &v1alpha1.AppProject{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"team": "shop"}, Annotations: map[string]string{v1alpha1.AnnotationDeletionBudget: "10", "note": "a"}},
		Spec: v1alpha1.AppProjectSpec{
			SourceRepos:                []string{"https://git.example/shop/**", "https://git.example/lib/*", "!https://git.example/shop/secret"},
			Destinations:               []v1alpha1.ApplicationDestination{{Server: "https://c1", Namespace: "shop-*"}, {Name: "edge", Namespace: "shop"}, {Server: "https://c1", Namespace: "!shop-root"}},
			Description:                "shop",
			Roles:                      []v1alpha1.ProjectRole{{Name: "ci", Policies: []string{"p, proj:shop:ci, applications, get, shop/*, allow"}, Groups: []string{"devs"}, JWTTokens: []v1alpha1.JWTToken{{IssuedAt: 1, ID: "a"}}}},
			ClusterResourceWhitelist:   []v1alpha1.ClusterResourceRule{{Kind: "Namespace", Name: "shop-*"}},
			ClusterResourceBlacklist:   []v1alpha1.ClusterResourceRule{{Group: "rbac.*", Kind: "*"}},
			NamespaceResourceWhitelist: []v1alpha1.GroupKind{{Group: "apps", Kind: "*"}, {Kind: "ConfigMap"}},
			NamespaceResourceBlacklist: []v1alpha1.GroupKind{{Kind: "Secret"}},
			OrphanedResources:          &v1alpha1.OrphanedResources{Warn: &warn},
			SyncWindows:                []v1alpha1.SyncWindow{{Kind: "allow", Schedule: "0 1 * * *", Duration: "1h", Applications: []string{"*"}}, {Kind: "deny", Schedule: "0 2 * * *", Duration: "1h", Applications: []string{"*"}}},
			SignatureKeys:              []v1alpha1.SignatureKey{{KeyID: "AAAAAAAAAAAAAAAA"}, {KeyID: "BBBBBBBBBBBBBBBB"}},
			SourceNamespaces:           []string{"team-*", "/^x$/"},
			DestinationServiceAccounts: []v1alpha1.DestinationServiceAccount{{Server: "*", Namespace: "*", DefaultServiceAccount: "shop"}},
			SourceIntegrity:            &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{}},

			PermitOnlyProjectScopedClusters: true,
		},
	}
}

// wider are changes that permit more.
func wider() []edit {
	return []edit{
		{"SourceRepos", "another repository", func(p *v1alpha1.AppProject) {
			p.Spec.SourceRepos = append(p.Spec.SourceRepos, "https://git.example/other")
		}},
		{"SourceRepos", "all repositories", func(p *v1alpha1.AppProject) { p.Spec.SourceRepos = append(p.Spec.SourceRepos, "*") }},
		{"SourceRepos", "what is below too", func(p *v1alpha1.AppProject) { p.Spec.SourceRepos[1] = "https://git.example/lib/**" }},
		{"SourceRepos", "no denial", func(p *v1alpha1.AppProject) { p.Spec.SourceRepos = p.Spec.SourceRepos[:2] }},
		{"SourceRepos", "alternatives", func(p *v1alpha1.AppProject) { p.Spec.SourceRepos[0] = "https://git.example/{shop,root}/**" }},
		{"Destinations", "all clusters", func(p *v1alpha1.AppProject) { p.Spec.Destinations[0].Server = "*" }},
		{"Destinations", "all namespaces", func(p *v1alpha1.AppProject) { p.Spec.Destinations[0].Namespace = "*" }},
		{"Destinations", "a cluster by name too", func(p *v1alpha1.AppProject) { p.Spec.Destinations[0].Name = "prod" }},
		{"Destinations", "the cluster itself", func(p *v1alpha1.AppProject) { p.Spec.Destinations[0].Namespace = "" }},
		{"Destinations", "all but one", func(p *v1alpha1.AppProject) {
			p.Spec.Destinations = append(p.Spec.Destinations, v1alpha1.ApplicationDestination{Server: "!https://x", Namespace: "*"})
		}},
		{"Destinations", "no denial", func(p *v1alpha1.AppProject) { p.Spec.Destinations = p.Spec.Destinations[:2] }},
		{"Roles", "a role", func(p *v1alpha1.AppProject) { p.Spec.Roles = append(p.Spec.Roles, v1alpha1.ProjectRole{Name: "more"}) }},
		{"Roles", "the same role twice", func(p *v1alpha1.AppProject) { p.Spec.Roles = append(p.Spec.Roles, p.Spec.Roles[0]) }},
		{"Roles", "a policy", func(p *v1alpha1.AppProject) {
			p.Spec.Roles[0].Policies = append(p.Spec.Roles[0].Policies, "p, proj:shop:ci, applications, *, shop/*, allow")
		}},
		{"Roles", "a group", func(p *v1alpha1.AppProject) { p.Spec.Roles[0].Groups = append(p.Spec.Roles[0].Groups, "all") }},
		{"Roles", "a token", func(p *v1alpha1.AppProject) {
			p.Spec.Roles[0].JWTTokens = append(p.Spec.Roles[0].JWTTokens, v1alpha1.JWTToken{IssuedAt: 2, ID: "b"})
		}},
		{"ClusterResourceWhitelist", "all names", func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceWhitelist[0].Name = "" }},
		{"ClusterResourceWhitelist", "all kinds", func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceWhitelist[0].Kind = "*" }},
		{"ClusterResourceBlacklist", "no denial", func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceBlacklist = nil }},
		{"ClusterResourceBlacklist", "a smaller denial", func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceBlacklist[0].Name = "a" }},
		{"NamespaceResourceWhitelist", "no list, which is all", func(p *v1alpha1.AppProject) { p.Spec.NamespaceResourceWhitelist = nil }},
		{"NamespaceResourceWhitelist", "a kind", func(p *v1alpha1.AppProject) {
			p.Spec.NamespaceResourceWhitelist = append(p.Spec.NamespaceResourceWhitelist, v1alpha1.GroupKind{Kind: "Pod"})
		}},
		{"NamespaceResourceBlacklist", "no denial", func(p *v1alpha1.AppProject) { p.Spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{} }},
		{"OrphanedResources", "nothing watched", func(p *v1alpha1.AppProject) { p.Spec.OrphanedResources = nil }},
		{"SyncWindows", "no denial", func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = p.Spec.SyncWindows[:1] }},
		{"SyncWindows", "no window that allows", func(p *v1alpha1.AppProject) { p.Spec.SyncWindows = p.Spec.SyncWindows[1:] }},
		{"SyncWindows", "another window that allows", func(p *v1alpha1.AppProject) {
			p.Spec.SyncWindows = append(p.Spec.SyncWindows, v1alpha1.SyncWindow{Kind: "allow", Schedule: "* * * * *", Duration: "1h", Applications: []string{"*"}})
		}},
		{"SyncWindows", "syncs that people ask for", func(p *v1alpha1.AppProject) { p.Spec.SyncWindows[1].ManualSync = true }},
		{"SignatureKeys", "a key", func(p *v1alpha1.AppProject) {
			p.Spec.SignatureKeys = append(p.Spec.SignatureKeys, v1alpha1.SignatureKey{KeyID: "CCCCCCCCCCCCCCCC"})
		}},
		{"SignatureKeys", "no keys, which is any", func(p *v1alpha1.AppProject) { p.Spec.SignatureKeys = nil }},
		{"SourceNamespaces", "all namespaces", func(p *v1alpha1.AppProject) { p.Spec.SourceNamespaces[0] = "*" }},
		{"SourceNamespaces", "another expression", func(p *v1alpha1.AppProject) { p.Spec.SourceNamespaces[1] = "/x/" }},
		{"PermitOnlyProjectScopedClusters", "clusters of all", func(p *v1alpha1.AppProject) { p.Spec.PermitOnlyProjectScopedClusters = false }},
		{"DestinationServiceAccounts", "another account", func(p *v1alpha1.AppProject) { p.Spec.DestinationServiceAccounts[0].DefaultServiceAccount = "root" }},
		{"DestinationServiceAccounts", "the agent's own", func(p *v1alpha1.AppProject) { p.Spec.DestinationServiceAccounts = nil }},
		{"SourceIntegrity", "unsigned commits", func(p *v1alpha1.AppProject) { p.Spec.SourceIntegrity = nil }},
		{"labels", "what a global project selects by", func(p *v1alpha1.AppProject) { p.Labels["tier"] = "root" }},
		{"annotations", "a larger deletion budget", func(p *v1alpha1.AppProject) { p.Annotations[v1alpha1.AnnotationDeletionBudget] = "100%" }},
		{"finalizers", "a finalizer", func(p *v1alpha1.AppProject) { p.Finalizers = []string{"x"} }},
		{"ownerReferences", "an owner", func(p *v1alpha1.AppProject) { p.OwnerReferences = []metav1.OwnerReference{{Name: "x"}} }},
	}
}

func TestAChangeThatPermitsMoreIsNamed(t *testing.T) {
	t.Parallel()
	for _, e := range wider() {
		after := bounded()
		e.do(after)
		got := project.Widens(bounded(), after)
		if len(got) != 1 || !strings.EqualFold(got[0][strings.LastIndexByte(got[0], '.')+1:], e.field) {
			t.Errorf("%s of %s: %v", e.what, e.field, got)
		}
	}
	if got := project.Widens(&v1alpha1.AppProject{}, &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: []v1alpha1.GroupKind{{Kind: "Pod"}}}}); len(got) != 1 {
		t.Errorf("a kind beside those that are inherited: %v", got)
	}
}

// A field that is new says what widens it, or that nothing does.
func TestEveryFieldOfAProjectHasAChangeThatWidensIt(t *testing.T) {
	t.Parallel()
	known := []string{"Description"}
	for _, e := range wider() {
		known = append(known, e.field)
	}
	spec := reflect.TypeFor[v1alpha1.AppProjectSpec]()
	for i := range spec.NumField() {
		if name := spec.Field(i).Name; !slices.Contains(known, name) {
			t.Errorf("%s is not compared by project.Widens: add it there, and to this test", name)
		}
	}
}

func TestAChangeThatPermitsLessOrTheSameIsNone(t *testing.T) {
	t.Parallel()
	for what, change := range map[string]func(*v1alpha1.AppProject){
		"nothing":                     func(*v1alpha1.AppProject) {},
		"another description":         func(p *v1alpha1.AppProject) { p.Spec.Description = "the shop" },
		"another note":                func(p *v1alpha1.AppProject) { p.Annotations["note"] = "b" },
		"one repository of a pattern": func(p *v1alpha1.AppProject) { p.Spec.SourceRepos[0] = "https://git.example/shop/web/api.git" },
		"a narrower pattern":          func(p *v1alpha1.AppProject) { p.Spec.SourceRepos[0] = "https://git.example/shop/{a,b}/*" },
		"another denial": func(p *v1alpha1.AppProject) {
			p.Spec.SourceRepos = append(p.Spec.SourceRepos, "!https://git.example/shop/x")
		},
		"the same address in another way": func(p *v1alpha1.AppProject) {
			p.Spec.SourceRepos = append(p.Spec.SourceRepos, "https://GIT.example/shop/x.git")
		},
		"a namespace of a pattern": func(p *v1alpha1.AppProject) { p.Spec.Destinations[0].Namespace = "shop-web" },
		"fewer destinations":       func(p *v1alpha1.AppProject) { p.Spec.Destinations = p.Spec.Destinations[1:] },
		"no role":                  func(p *v1alpha1.AppProject) { p.Spec.Roles = nil },
		"fewer policies":           func(p *v1alpha1.AppProject) { p.Spec.Roles[0].Policies, p.Spec.Roles[0].JWTTokens = nil, nil },
		"no kinds of the cluster":  func(p *v1alpha1.AppProject) { p.Spec.ClusterResourceWhitelist = nil },
		"a kind of a pattern":      func(p *v1alpha1.AppProject) { p.Spec.NamespaceResourceWhitelist[0].Kind = "Deployment" },
		"no kinds":                 func(p *v1alpha1.AppProject) { p.Spec.NamespaceResourceWhitelist = []v1alpha1.GroupKind{} },
		"another kind denied": func(p *v1alpha1.AppProject) {
			p.Spec.NamespaceResourceBlacklist = append(p.Spec.NamespaceResourceBlacklist, v1alpha1.GroupKind{Kind: "Pod"})
		},
		"all kinds denied": func(p *v1alpha1.AppProject) {
			p.Spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{{Group: "*", Kind: "*"}}
		},
		"another time denied": func(p *v1alpha1.AppProject) {
			p.Spec.SyncWindows = append(p.Spec.SyncWindows, v1alpha1.SyncWindow{Kind: "deny", Schedule: "* * * * *", Duration: "1h"})
		},
		"windows in another order": func(p *v1alpha1.AppProject) { slices.Reverse(p.Spec.SyncWindows) },
		"fewer keys":               func(p *v1alpha1.AppProject) { p.Spec.SignatureKeys = p.Spec.SignatureKeys[:1] },
		"no namespaces":            func(p *v1alpha1.AppProject) { p.Spec.SourceNamespaces = nil },
	} {
		after := bounded()
		change(after)
		if got := project.Widens(bounded(), after); len(got) != 0 {
			t.Errorf("%s widens %v", what, got)
		}
	}
}

func TestARoleThatDeniesStaysWhole(t *testing.T) {
	t.Parallel()
	with := func(role ...v1alpha1.ProjectRole) *v1alpha1.AppProject {
		return &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{Roles: role}}
	}
	denies := v1alpha1.ProjectRole{Name: "a", Policies: []string{"p, proj:shop:a, applications, *, shop/*, allow", "p, proj:shop:a, applications, delete, shop/*, deny"}, Groups: []string{"g"}}
	less := denies
	less.Policies = denies.Policies[:1]
	nobody := denies
	nobody.Groups = nil
	for what, after := range map[string]*v1alpha1.AppProject{"without the denial": with(less), "for no group": with(nobody), "gone": with()} {
		if len(project.Widens(with(denies), after)) != 1 {
			t.Errorf("%s permits no more", what)
		}
	}
}

func TestWhatIsNotWiderPermitsNothingNew(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		denying := rapid.Custom(func(t *rapid.T) string {
			return rapid.SampledFrom([]string{"", "", "!"}).Draw(t, "deny") + patterns().Draw(t, "pattern")
		})
		lists := func(name string) []string { return rapid.SliceOfN(denying, 0, 3).Draw(t, name) }
		spec := func(name string) v1alpha1.AppProjectSpec {
			out := v1alpha1.AppProjectSpec{SourceRepos: lists(name + " repositories"), NamespaceResourceWhitelist: []v1alpha1.GroupKind{}}
			for _, text := range lists(name + " namespaces") {
				out.Destinations = append(out.Destinations, v1alpha1.ApplicationDestination{Server: rapid.SampledFrom([]string{"a", "*", "!a", ""}).Draw(t, "server"), Name: rapid.SampledFrom([]string{"", "a", "b*"}).Draw(t, "name"), Namespace: text})
			}
			for i, text := range rapid.SliceOfN(patterns(), 0, 4).Draw(t, name+" kinds") {
				kind := v1alpha1.GroupKind{Group: rapid.SampledFrom([]string{"", "*", "a"}).Draw(t, "group"), Kind: text}
				if i%2 == 0 {
					out.NamespaceResourceWhitelist = append(out.NamespaceResourceWhitelist, kind)
				} else {
					out.NamespaceResourceBlacklist = append(out.NamespaceResourceBlacklist, kind)
				}
			}
			out.SourceNamespaces = rapid.SliceOfN(patterns(), 0, 3).Draw(t, name+" homes")
			return out
		}
		was, now := &v1alpha1.AppProject{Spec: spec("old")}, &v1alpha1.AppProject{Spec: spec("new")}
		// Most pairs differ in everything: one field at a time has the chance to be narrower.
		before := was.DeepCopy()
		switch rapid.IntRange(0, 3).Draw(t, "field") {
		case 0:
			before.Spec.SourceRepos = now.Spec.SourceRepos
		case 1:
			before.Spec.Destinations = now.Spec.Destinations
		case 2:
			before.Spec.NamespaceResourceWhitelist = now.Spec.NamespaceResourceWhitelist
			before.Spec.NamespaceResourceBlacklist = now.Spec.NamespaceResourceBlacklist
		case 3:
			before.Spec.SourceNamespaces = now.Spec.SourceNamespaces
		}
		after := before
		if len(project.Widens(was, after)) > 0 {
			return
		}
		old, err := project.New(was)
		if err != nil {
			return
		}
		next, err := project.New(after)
		if err != nil {
			return
		}
		value := rapid.StringMatching(`[ab/]{1,4}`).Draw(t, "value")
		to := project.Cluster{Server: rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "to"), Name: rapid.SampledFrom([]string{"a", "b", "bb", ""}).Draw(t, "called")}
		for what, ask := range map[string]func(*project.Rules) error{
			"source": func(r *project.Rules) error { return r.PermitsSource(value) }, "destination": func(r *project.Rules) error { return r.PermitsDestination(to, value) },
			"kind": func(r *project.Rules) error { return r.PermitsResource("a", value, "", true) }, "namespace": func(r *project.Rules) error { return r.PermitsNamespace(value, "argocd") },
		} {
			if ask(next) == nil && ask(old) != nil {
				t.Errorf("%s %q is permitted only after a change that is not called wider", what, value)
			}
		}
	})
}

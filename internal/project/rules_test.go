package project_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

func TestTheFirstServiceAccountOfADestinationCounts(t *testing.T) {
	t.Parallel()
	r := rules(t, v1alpha1.AppProjectSpec{DestinationServiceAccounts: []v1alpha1.DestinationServiceAccount{
		{Server: "https://one", Namespace: "shop-*", DefaultServiceAccount: "shop"},
		{Server: "https://one", Namespace: "*", DefaultServiceAccount: "platform:deployer"},
		{Server: "https://two", DefaultServiceAccount: "bare"},
		{Server: "https://*", Namespace: "?", DefaultServiceAccount: "letter"},
	}})
	for _, c := range []struct{ server, namespace, app, want string }{
		{"https://one", "shop-eu", "argocd", "system:serviceaccount:shop-eu:shop"},
		{"https://one", "other", "argocd", "system:serviceaccount:platform:deployer"},
		{"https://one", "", "argocd", "system:serviceaccount:platform:deployer"},
		{"https://two", "", "team-a", "system:serviceaccount:team-a:bare"},
		{"https://two", "other", "argocd", ""},
		{"https://two", "x", "argocd", "system:serviceaccount:x:letter"},
	} {
		got, err := r.ServiceAccount(project.Cluster{Server: c.server}, c.namespace, c.app)
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

func TestAServiceAccountIsNobodyElse(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", " ", "a:b:c", ":admin", "ns:", "system:masters:x", "a b", "A", "*", "a\nb", "ns:*", strings.Repeat("a", 300)} {
		p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{
			DestinationServiceAccounts: []v1alpha1.DestinationServiceAccount{{Server: "*", Namespace: "*", DefaultServiceAccount: name}},
		}}
		if _, err := project.New(p); err == nil {
			t.Errorf("%q is taken", name)
		}
		if project.Validate(p) == nil {
			t.Errorf("%q is valid", name)
		}
	}
	r := rules(t, v1alpha1.AppProjectSpec{
		DestinationServiceAccounts: []v1alpha1.DestinationServiceAccount{{Server: "*", Namespace: "*", DefaultServiceAccount: "deployer"}},
	})
	if got, err := r.ServiceAccount(project.Cluster{Server: "x"}, "kube-system:admin", "argocd"); err == nil {
		t.Errorf("a namespace with a colon gives %q", got)
	}
}

func TestOrphansAreWhatNobodyWants(t *testing.T) {
	t.Parallel()
	yes := true
	r := rules(t, v1alpha1.AppProjectSpec{
		NamespaceResourceBlacklist: []v1alpha1.GroupKind{{Kind: "ResourceQuota"}},
		OrphanedResources: &v1alpha1.OrphanedResources{Warn: &yes, Ignore: []v1alpha1.OrphanedResourceKey{
			{Kind: "Secret", Name: "*.example.com"}, {Group: "cert-manager.io"}, {Group: "apps", Kind: "Dep*"},
		}},
	})
	for _, c := range []struct {
		group, kind, namespace, name string
		want                         bool
	}{
		{"", "ConfigMap", "shop", "settings", true},
		{"", "ConfigMap", "shop", "kube-root-ca.crt", false},
		{"", "ServiceAccount", "shop", "default", false},
		{"", "ServiceAccount", "shop", "deployer", true},
		{"", "Service", "default", "kubernetes", false},
		{"", "Service", "shop", "kubernetes", true},
		{"", "Endpoints", "shop", "web", false},
		{"discovery.k8s.io", "EndpointSlice", "shop", "web-1", false},
		{"coordination.k8s.io", "Lease", "shop", "leader", false},
		{"", "Event", "shop", "web.1", false},
		{"metrics.k8s.io", "PodMetrics", "shop", "web", false},
		{"", "ResourceQuota", "shop", "limit", false},
		{"", "Secret", "shop", "a.example.com", false},
		{"", "Secret", "shop", "token", true},
		{"cert-manager.io", "Certificate", "shop", "web", false},
		{"apps", "Deployment", "shop", "web", false},
		{"apps", "StatefulSet", "shop", "web", true},
		{"", "Node", "", "one", false},
	} {
		if got := r.Orphaned(c.group, c.kind, c.namespace, c.name); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
	if asked, warn := r.WatchesOrphans(); !asked || !warn {
		t.Error("it does not ask for them")
	}
	if asked, warn := rules(t, v1alpha1.AppProjectSpec{OrphanedResources: &v1alpha1.OrphanedResources{}}).WatchesOrphans(); !asked || warn {
		t.Errorf("asked %v, warn %v without a word on it", asked, warn)
	}
	if rules(t, everything()).Orphaned("", "ConfigMap", "shop", "settings") {
		t.Error("a project that does not ask has orphans")
	}
}

func TestAProjectInheritsFromGlobalOnes(t *testing.T) {
	t.Parallel()
	own := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SourceRepos: []string{"https://git.example/own"}}}
	own.Name = "team"
	global := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{
		SourceRepos:                []string{"!https://git.example/own/secret", "https://git.example/all"},
		Destinations:               []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}},
		ClusterResourceWhitelist:   []v1alpha1.ClusterResourceRule{{Kind: "Namespace"}},
		NamespaceResourceWhitelist: []v1alpha1.GroupKind{{Kind: "ConfigMap"}},
		SyncWindows:                []v1alpha1.SyncWindow{{Kind: "deny", Schedule: "* * * * *", Duration: "1h", Applications: []string{"*"}}},
		DestinationServiceAccounts: []v1alpha1.DestinationServiceAccount{{Server: "*", Namespace: "*", DefaultServiceAccount: "deployer"}},
		SourceNamespaces:           []string{"*"},
	}}
	global.Name = "company"
	r, err := project.New(own, global)
	if err != nil {
		t.Fatal(err)
	}
	account, _ := r.ServiceAccount(project.Cluster{Server: "x"}, "shop", "argocd")
	verdict := r.Windows(project.AppFacts{Name: "web"}).CanSync(false, at(t, "2026-11-21T12:00:00Z"))
	got := map[string]bool{
		"its own repository":          r.PermitsSource("https://git.example/own") == nil,
		"one that is inherited":       r.PermitsSource("https://git.example/all") == nil,
		"an inherited destination":    r.PermitsDestination(project.Cluster{Server: "x"}, "shop") == nil,
		"a cluster-wide kind":         r.PermitsResource("", "Namespace", "shop", false) == nil,
		"an inherited kind":           r.PermitsResource("", "ConfigMap", "web", true) == nil,
		"a kind that nobody lists":    r.PermitsResource("", "Secret", "web", true) == nil,
		"namespaces of applications":  r.PermitsNamespace("elsewhere", "argocd") == nil,
		"a window with its project":   strings.Contains(verdict.Reason, "of project company"),
		"the inherited account":       account == "system:serviceaccount:shop:deployer",
		"its own specification stays": len(own.Spec.SourceRepos) == 1 && own.Spec.NamespaceResourceWhitelist == nil,
	}
	want := map[string]bool{
		"its own repository": true, "one that is inherited": true, "an inherited destination": true, "a cluster-wide kind": true,
		"an inherited kind": true, "a kind that nobody lists": false, "namespaces of applications": false,
		"a window with its project": true, "the inherited account": true, "its own specification stays": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestGlobalProjectsSelectByLabel(t *testing.T) {
	t.Parallel()
	globals, err := project.ParseGlobals(`
- projectName: company
  labelSelector:
    matchExpressions:
    - {key: opt, operator: In, values: [prod, test]}
- projectName: strict
  labelSelector:
    matchLabels: {strict: "yes"}
- projectName: everyone
`)
	if err != nil {
		t.Fatal(err)
	}
	of := func(name string, labels map[string]string) string {
		var out []string
		for _, g := range globals {
			if g.Selects(name, labels) {
				out = append(out, g.Project)
			}
		}
		return strings.Join(out, " ")
	}
	for _, c := range []struct {
		name   string
		labels map[string]string
		want   string
	}{
		{"a", map[string]string{"opt": "prod"}, "company everyone"},
		{"b", map[string]string{"opt": "dev", "strict": "yes"}, "strict everyone"},
		{"company", map[string]string{"opt": "prod"}, "everyone"},
		{"c", nil, "everyone"},
	} {
		if got := of(c.name, c.labels); got != c.want {
			t.Errorf("%s inherits from %q, want %q", c.name, got, c.want)
		}
	}
}

func TestGlobalProjectsThatCannotBeReadAreAnError(t *testing.T) {
	t.Parallel()
	var many strings.Builder
	for i := range 200 {
		fmt.Fprintf(&many, "- projectName: p%d\n", i)
	}
	for _, text := range []string{
		"a: b: c", "- projectName: [x]", "- labelSelector: {}", "- {projectName: a, labelSelector: {matchExpressions: [{key: a, operator: Near}]}}",
		many.String(), strings.Repeat(" ", 100_000),
	} {
		if _, err := project.ParseGlobals(text); err == nil || !strings.Contains(err.Error(), "globalProjects in argocd-cm") {
			t.Errorf("%.40q: %v", text, err)
		}
	}
	if out, err := project.ParseGlobals(""); err != nil || len(out) > 0 {
		t.Errorf("nothing: %v, %v", out, err)
	}
}

func FuzzParseGlobals(f *testing.F) {
	f.Add("- {projectName: a, labelSelector: {matchLabels: {x: y}}}", "x")
	f.Add("- &a {projectName: a}\n- *a", "")
	f.Fuzz(func(t *testing.T, text, label string) {
		globals, err := project.ParseGlobals(text)
		if err != nil && len(globals) > 0 {
			t.Error("an error and entries")
		}
		for _, g := range globals {
			if g.Selects(g.Project, map[string]string{label: label}) {
				t.Errorf("%q inherits from itself", g.Project)
			}
		}
	})
}

func FuzzServiceAccount(f *testing.F) {
	f.Add("https://*", "shop", "deployer", "https://x", "shop", "argocd")
	f.Add("*", "*", "ns:name", "https://x", "", "")
	f.Fuzz(func(t *testing.T, server, namespace, account, atServer, inNamespace, app string) {
		p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{
			DestinationServiceAccounts: []v1alpha1.DestinationServiceAccount{{Server: server, Namespace: namespace, DefaultServiceAccount: account}},
		}}
		r, err := project.New(p)
		if err != nil {
			return
		}
		user, err := r.ServiceAccount(project.Cluster{Server: atServer}, inNamespace, app)
		if err != nil || user == "" {
			return
		}
		parts := strings.Split(user, ":")
		if len(parts) != 4 || parts[0] != "system" || parts[1] != "serviceaccount" || parts[2] == "" || parts[3] == "" {
			t.Errorf("it acts as %q", user)
		}
	})
}

func TestTokensOfRolesAreChecked(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		tokens []v1alpha1.JWTToken
		valid  bool
	}{
		{"one that never ends", []v1alpha1.JWTToken{{IssuedAt: 1_700_000_000}}, true},
		{"two", []v1alpha1.JWTToken{{IssuedAt: 1_700_000_000, ID: "a"}, {IssuedAt: 1_700_000_000, ExpiresAt: 1_800_000_000, ID: "b"}}, true},
		{"one id twice", []v1alpha1.JWTToken{{IssuedAt: 1_700_000_000, ID: "a"}, {IssuedAt: 1_700_000_001, ID: "a"}}, false},
		{"no time", []v1alpha1.JWTToken{{}}, false},
		{"an end before its beginning", []v1alpha1.JWTToken{{IssuedAt: 1_700_000_000, ExpiresAt: 1_600_000_000}}, false},
	} {
		p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{Roles: []v1alpha1.ProjectRole{{Name: "ci", JWTTokens: c.tokens}}}}
		if err := project.Validate(p); (err == nil) != c.valid {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

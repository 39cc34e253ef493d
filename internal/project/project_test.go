package project_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

func rules(t testing.TB, spec v1alpha1.AppProjectSpec) *project.Rules {
	t.Helper()
	p := &v1alpha1.AppProject{Spec: spec}
	p.Name = "team"
	r, err := project.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// everything is the specification of the default project.
func everything() v1alpha1.AppProjectSpec {
	return v1alpha1.AppProjectSpec{
		SourceRepos:              []string{"*"},
		Destinations:             []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}},
		ClusterResourceWhitelist: []v1alpha1.ClusterResourceRule{{Group: "*", Kind: "*"}},
	}
}

func TestPermitsSource(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, repo string
		allowed    []string
		permitted  bool
	}{
		{"an scp-like address is the same as its ssh address", "git@git.example:team/app.git", []string{"ssh://git@git.example/team/*"}, true},
		{"an ssh address is the same as its scp-like address", "ssh://git@git.example/team/app", []string{"git@git.example:team/app.git"}, true},
		{"a port stays a port", "ssh://git@git.example:2222/team/app", []string{"git@git.example:team/app"}, false},
		{"a slash at the end makes no difference to a denial", "https://git.example/team/app/", []string{"**", "!https://git.example/team/app"}, false},
		{"a doubled slash makes no difference to a denial", "https://git.example//team/app", []string{"**", "!https://git.example/team/app"}, false},
		{"a user name makes no difference to a denial", "https://me@git.example/team/app", []string{"**", "!https://git.example/team/app"}, false},
		{"a default port makes no difference to a denial", "https://git.example:443/team/app", []string{"**", "!https://git.example/team/app"}, false},
		{"an escape makes no difference to a denial", "https://git.example/team/%61pp", []string{"**", "!https://git.example/team/app"}, false},
		{"a path does not climb out of what is permitted", "https://git.example/team/../other/app", []string{"https://git.example/team/**"}, false},
		{"nor in escapes", "https://git.example/team/%2e%2e/other/app", []string{"https://git.example/team/**"}, false},
		{"a query does not stand for a host", "https://evil.example?.git.example/app", []string{"https://*.git.example/*"}, false},
		{"nor does a fragment", "https://evil.example#.git.example/app", []string{"https://*.git.example/*"}, false},
		{"where everything is permitted, odd addresses are", "https://git.example/a?b", []string{"*"}, true},
		{"unless one is denied", "https://git.example/a?b", []string{"*", "!https://git.example/a"}, false},
		{"a path does not climb to what is denied", "https://git.example/x/../a", []string{"*", "!https://git.example/a"}, false},
		{"a dot behind the host makes no difference to a denial", "https://git.example./a", []string{"*", "!https://git.example/a"}, false},
		{"a tag makes no difference to a denial", "oci://r.example/a:1.0", []string{"*", "!oci://r.example/a"}, false},
		{"nor does a digest", "oci://r.example/a@sha256:00", []string{"*", "!oci://r.example/a"}, false},
		{"nor does the port of a registry", "oci://r.example:443/a", []string{"*", "!oci://r.example/a"}, false},
		{"another port is another registry", "oci://r.example:5000/a", []string{"*", "!oci://r.example/a"}, true},
		{"one name of Docker Hub stands for all", "oci://registry-1.docker.io/team/app", []string{"oci://docker.io/team/*"}, true},
		{"without a scheme as well", "index.docker.io/team", []string{"docker.io/*"}, true},
		{"a denial of one name is of all", "oci://Index.Docker.io/secret/app", []string{"*", "!oci://docker.io/secret/**"}, false},
		{"with port and dot as well", "oci://docker.io.:443/secret/app", []string{"*", "!oci://registry-1.docker.io/secret/**"}, false},
		{"with a user as well", "oci://me@docker.io/secret/app", []string{"*", "!oci://docker.io/secret/**"}, false},
		{"a host with such a beginning is another", "oci://docker.io.example/secret/app", []string{"*", "!oci://docker.io/secret/**"}, true},
		{"only a registry has the names", "https://index.docker.io/secret", []string{"*", "!https://docker.io/secret"}, true},
		{"an alternative", "https://git.example/b/app", []string{"https://git.example/{a,b}/*"}, true},
		{"a class", "https://git.example/c/app", []string{"https://git.example/[!ab]/app"}, true},
		{"an inverted class does not match a slash", "https://git.example/a/b", []string{"https://git.example/a[!x]b"}, false},
		{"nor behind a colon", "git@git.example:../other/app", []string{"git@git.example:**"}, false},
		{"ssh is no other scheme", "https://git.example/team/app", []string{"ssh://*", "ssh://**"}, false},
		{"a user that is not the default one is another", "alice@git.example:team/app", []string{"git@git.example:team/*"}, false},
		{"a host that is not of ASCII is opened by nobody", "https://git\u3002example/app", []string{"https://git.example/*"}, false},
		{"a long address whose other spelling is longer", "git.example:" + strings.Repeat("a", 1010), []string{"*", "!git.example:aa*"}, false},
		{"a letter that is escaped", "https://git.example/%C3%BC/app", []string{"https://git.example/\u00fc/app"}, true},
		{"no rules", "https://git.example/app", nil, false},
		{"an address that is too long", "https://git.example/" + strings.Repeat("a", 5000), []string{"*"}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := rules(t, v1alpha1.AppProjectSpec{SourceRepos: c.allowed}).PermitsSource(c.repo)
			if (err == nil) != c.permitted {
				t.Errorf("permitted %v, want %v: %v", err == nil, c.permitted, err)
			}
		})
	}
}

func TestADenialHoldsForTheChartsOfARegistry(t *testing.T) {
	t.Parallel()
	r := rules(t, v1alpha1.AppProjectSpec{SourceRepos: []string{"*", "!oci://r.example/secret", "!oci://registry-1.docker.io/secret", "!https://charts.example/secret"}})
	for _, c := range []struct {
		repo, chart string
		permitted   bool
	}{
		{"oci://r.example", "secret", false},
		{"oci://r.example/", "secret", false},
		{"r.example", "secret", false},
		{"index.docker.io", "secret", false},
		{"oci://docker.io:443", "secret", false},
		{"r.example:443", "secret", false},
		{"r.example/secret", "", false},
		{"oci://r.example.:/", "secret", false},
		{"r.example:0443", "secret", false},
		{"oci://r.example:1.0", "x", true}, // nobody can open it: the port is none
		{"oci://r.example/other:1.0", "x", false},
		{"r.example/other@sha256:" + strings.Repeat("0", 64), "x", false},
		{"oci://r.example", "other/../secret", false},
		{"oci://" + strings.Repeat("r.", 490) + "example/a", "a" + strings.Repeat("/a", 30), false},
		{"oci://r.example", "secrets", true},
		{"oci://r.example/other", "secret", true},
		{"https://charts.example", "secret", true}, // a Helm repository is one address
	} {
		if err := r.PermitsChart(c.repo, c.chart); (err == nil) != c.permitted {
			t.Errorf("chart %q of %s: permitted %t, want %t: %v", c.chart, c.repo, err == nil, c.permitted, err)
		}
	}
}

func TestDenialsTellProjectAndRemedyAndNoPassword(t *testing.T) {
	t.Parallel()
	r := rules(t, v1alpha1.AppProjectSpec{})
	for name, err := range map[string]error{
		"sourceRepos":              r.PermitsSource("https://me:hunter2@git.example/app"),
		"destinations":             r.PermitsDestination(project.Cluster{Server: "https://cluster"}, "shop"),
		"clusterResourceWhitelist": r.PermitsResource("", "Namespace", "shop", false),
		"sourceNamespaces":         r.PermitsNamespace("elsewhere", "argocd"),
		"namespaceResourceWhitelist": rules(t, v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: []v1alpha1.GroupKind{}}).
			PermitsResource("apps", "Deployment", "web", true),
	} {
		if err == nil || !strings.Contains(err.Error(), `project "team" does not permit`) || !strings.Contains(err.Error(), "spec."+name) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s shows a password: %v", name, err)
		}
	}
}

func TestTheDefaultProjectPermitsEverything(t *testing.T) {
	t.Parallel()
	r := rules(t, everything())
	for _, err := range []error{
		r.PermitsSource("https://git.example/app"),
		r.PermitsDestination(project.Cluster{Server: "https://cluster"}, "shop"),
		r.PermitsResource("rbac.authorization.k8s.io", "ClusterRole", "admin", false),
		r.PermitsResource("apps", "Deployment", "web", true),
	} {
		if err != nil {
			t.Error(err)
		}
	}
}

func TestNewRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	many := make([]string, 20_000)
	large := make([]string, 200)
	for i := range large {
		large[i] = "!" + strings.Repeat("*a", 500) + fmt.Sprint(i)
	}
	for name, patterns := range map[string][]string{
		"an open class": {"![a"}, "an open alternative": {"{a,b"}, "an escape of nothing": {`a*\`}, "a reversed class": {"[z-a]*b"},
		"too long a pattern": {strings.Repeat("a", 5000)}, "too many patterns": many, "too large patterns": large,
		"deep alternatives": {strings.Repeat("{", 100) + "a" + strings.Repeat("}", 100)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SourceRepos: patterns}}
			p.Name = "team"
			if _, err := project.New(p); err == nil || !strings.Contains(err.Error(), `project "team": spec.sourceRepos`) {
				t.Errorf("got %v", err)
			}
			if project.Validate(p) == nil {
				t.Error("such a project is called valid")
			}
		})
	}
}

func TestValidateChecksSyncWindows(t *testing.T) {
	t.Parallel()
	good := v1alpha1.SyncWindow{Kind: "allow", Schedule: "*/5 0-6,22 1 JAN-mar ?", Duration: "1h", TimeZone: "Europe/Berlin", Clusters: []string{"*"}}
	for _, c := range []struct {
		name   string
		valid  bool
		change func(*v1alpha1.SyncWindow)
	}{
		{"a good one", true, func(*v1alpha1.SyncWindow) {}},
		{"a word for a schedule", true, func(w *v1alpha1.SyncWindow) { w.Schedule = "@daily" }},
		{"an unknown kind", false, func(w *v1alpha1.SyncWindow) { w.Kind = "wrong" }},
		{"three fields", false, func(w *v1alpha1.SyncWindow) { w.Schedule = "* * *" }},
		{"a minute that is none", false, func(w *v1alpha1.SyncWindow) { w.Schedule = "60 * * * *" }},
		{"a step of nothing", false, func(w *v1alpha1.SyncWindow) { w.Schedule = "*/0 * * * *" }},
		{"a reversed range", false, func(w *v1alpha1.SyncWindow) { w.Schedule = "* 5-4 * * *" }},
		{"a duration in days", false, func(w *v1alpha1.SyncWindow) { w.Duration = "1000days" }},
		{"a zone that is a path", false, func(w *v1alpha1.SyncWindow) { w.TimeZone = "../../etc/passwd" }},
		{"for nothing", false, func(w *v1alpha1.SyncWindow) { w.Clusters = nil }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := good
			c.change(&w)
			p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SyncWindows: []v1alpha1.SyncWindow{w}}}
			if err := project.Validate(p); (err == nil) != c.valid {
				t.Errorf("valid %v, want %v: %v", err == nil, c.valid, err)
			}
			p.Spec.SyncWindows = append(p.Spec.SyncWindows, w)
			if project.Validate(p) == nil {
				t.Error("the same window twice is called valid")
			}
		})
	}
}

// patterns draws patterns of few letters, so that they often match.
func patterns() *rapid.Generator[string] {
	return rapid.StringMatching(`[ab*?/]{1,6}|\{a,b\}\*?|\[!?ab\]`)
}

func TestDenyBeatsAllow(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		denied := patterns().Draw(t, "denied")
		allowed := rapid.SliceOfN(patterns(), 0, 4).Draw(t, "allowed")
		value := rapid.StringMatching(`[ab/]{1,5}`).Draw(t, "value")
		make := func(spec v1alpha1.AppProjectSpec) *project.Rules {
			r, err := project.New(&v1alpha1.AppProject{Spec: spec})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		at := rapid.IntRange(0, len(allowed)).Draw(t, "at")
		repos := append(append(append([]string{}, allowed[:at]...), "!"+denied), allowed[at:]...)
		if make(v1alpha1.AppProjectSpec{SourceRepos: []string{denied}}).PermitsSource(value) == nil &&
			make(v1alpha1.AppProjectSpec{SourceRepos: repos}).PermitsSource(value) == nil {
			t.Errorf("source %q is permitted by %q", value, repos)
		}
		kinds := v1alpha1.AppProjectSpec{NamespaceResourceBlacklist: []v1alpha1.GroupKind{{Group: "*", Kind: denied}}}
		for _, kind := range allowed {
			kinds.NamespaceResourceWhitelist = append(kinds.NamespaceResourceWhitelist, v1alpha1.GroupKind{Group: "*", Kind: kind})
		}
		only := v1alpha1.AppProjectSpec{NamespaceResourceWhitelist: []v1alpha1.GroupKind{{Group: "*", Kind: denied}}}
		if make(only).PermitsResource("", value, "", true) == nil && make(kinds).PermitsResource("", value, "", true) == nil {
			t.Errorf("kind %q is permitted", value)
		}
		to := project.Cluster{Server: "https://c"}
		namespaces := []v1alpha1.ApplicationDestination{{Server: "*", Namespace: "*"}, {Server: "*", Namespace: "!" + denied}}
		one := []v1alpha1.ApplicationDestination{{Server: "*", Namespace: denied}}
		if make(v1alpha1.AppProjectSpec{Destinations: one}).PermitsDestination(to, value) == nil &&
			make(v1alpha1.AppProjectSpec{Destinations: namespaces}).PermitsDestination(to, value) == nil {
			t.Errorf("namespace %q is permitted", value)
		}
	})
}

func FuzzPatterns(f *testing.F) {
	for _, seed := range []string{"*", "!*", "{a,{b,c}}*", "[!a-z]", "[", `\`, "/(a+)+$/", "**/*", "https://*/**", "{{{{"} {
		f.Add(seed, "https://git.example/a/b")
	}
	f.Fuzz(func(t *testing.T, pattern, value string) {
		p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{
			SourceRepos: []string{pattern}, SourceNamespaces: []string{pattern},
			Destinations:             []v1alpha1.ApplicationDestination{{Server: pattern, Name: pattern, Namespace: pattern}},
			ClusterResourceWhitelist: []v1alpha1.ClusterResourceRule{{Group: pattern, Kind: pattern, Name: pattern}},
			Roles:                    []v1alpha1.ProjectRole{{Name: pattern, Policies: []string{pattern}, Groups: []string{pattern}}},
			SyncWindows:              []v1alpha1.SyncWindow{{Kind: "allow", Schedule: pattern, Duration: pattern, TimeZone: pattern}},
		}}
		_ = project.Validate(p)
		r, err := project.New(p)
		if err != nil {
			return
		}
		_ = r.PermitsSource(value)
		_ = r.PermitsDestination(project.Cluster{Server: value, Name: value}, value)
		_ = r.PermitsResource(value, value, value, false)
		_ = r.PermitsNamespace(value, "argocd")
	})
}

func TestHostilePatternsTakeBoundedTime(t *testing.T) {
	t.Parallel()
	spec := v1alpha1.AppProjectSpec{}
	for range 32 {
		spec.SourceRepos = append(spec.SourceRepos, strings.Repeat("*a?", 300)+"b")
	}
	r := rules(t, spec)
	start := time.Now()
	if r.PermitsSource(strings.Repeat("a", 1000)) == nil {
		t.Error("it is permitted")
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func BenchmarkPermitsResource(b *testing.B) {
	spec := everything()
	spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{{Kind: "ResourceQuota"}, {Kind: "LimitRange"}, {Group: "networking.k8s.io", Kind: "NetworkPolicy"}}
	large := spec
	for i := range 100 {
		large.NamespaceResourceWhitelist = append(large.NamespaceResourceWhitelist, v1alpha1.GroupKind{Group: "apps", Kind: fmt.Sprint("Kind", i)})
	}
	for name, r := range map[string]*project.Rules{"default": rules(b, everything()), "few": rules(b, spec), "hundred": rules(b, large)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := r.PermitsResource("apps", "Kind99", "web", true); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkPermitsSource(b *testing.B) {
	r := rules(b, v1alpha1.AppProjectSpec{SourceRepos: []string{"https://git.example/a/*", "https://git.example/b/*", "!https://git.example/secret/**"}})
	b.ReportAllocs()
	for b.Loop() {
		if err := r.PermitsSource("https://git.example/b/app.git"); err != nil {
			b.Fatal(err)
		}
	}
}

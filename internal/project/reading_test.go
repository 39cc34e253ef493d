package project

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/address"
)

// alike are spellings that open one repository, in groups.
func alike() [][]string {
	return [][]string{
		{
			"git@git.example:org/repo", "git.example:org/repo", "git@git.example:/org/repo.git", "git.example.:org/repo/", "ssh://git.example/org/repo",
			"ssh://git@git.example:22/org/repo", "ssh://git@git.example./org/repo", "SSH://git@Git.Example.:022/org/repo", "ssh://git.example:/org//repo.git",
			"ssh://git:word@git.example/org/repo", "ssh://git.example/org/repo/.git",
		},
		{"ssh://git.example:2222/org/repo", "ssh://git@git.example.:02222/org/repo.git"},
		{"alice@git.example:org/repo", "ssh://alice@git.example:22/org/repo", "ssh://Alice@GIT.example/org/repo"},
		{
			"https://git.example/org/repo", "https://me@git.example/org/repo", "https://me:word@git.example:443/org/repo.git", "https://git.example./org/repo",
			"https://git.example.:443/org/repo/", "HTTPS://GIT.example/Org/Repo", "https://git.example//org//repo", "https://git.example:0443/org/repo",
			"https://git.example:/org/repo", "https://git.example/org/repo/.git/",
		},
		{"http://git.example:80/org/repo", "http://git.example/org/repo.git"},
		{"file:///srv/org/repo", "/srv/org/repo", "file:///srv/org/repo.git/"},
	}
}

// ruled are the rules of a project that permits, and has policies for signatures.
func ruled(t testing.TB, repos []string, signed ...string) *Rules {
	t.Helper()
	p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SourceRepos: repos}}
	if signed != nil {
		p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{
			Policies: []v1alpha1.SourceIntegrityGitPolicy{gpgPolicy("head", []string{key}, signed...)},
		}}
	}
	r, err := New(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestARuleHoldsForAllSpellingsOfAnAddress(t *testing.T) {
	t.Parallel()
	for _, group := range alike() {
		for _, rule := range group {
			permits, forbids := ruled(t, []string{rule}), ruled(t, []string{"*", "!" + rule})
			asks, leaves := ruled(t, nil, rule), ruled(t, nil, "*", "!"+rule)
			for _, other := range slices.Concat(alike()...) {
				same := slices.Contains(group, other)
				signed, err := asks.Integrity(v1alpha1.ApplicationSource{RepoURL: other})
				left, wrong := leaves.Integrity(v1alpha1.ApplicationSource{RepoURL: other})
				got := []bool{permits.PermitsSource(other) == nil, forbids.PermitsSource(other) != nil, signed.Asks(), !left.Asks()}
				if err != nil || wrong != nil || !slices.Equal(got, []bool{same, same, same, same}) {
					t.Errorf("%s for %s: permits, forbids, asks, leaves out: %v, want %t, %v, %v", rule, other, got, same, err, wrong)
				}
			}
		}
	}
}

func TestAPatternHoldsForAllSpellingsOfAnAddress(t *testing.T) {
	t.Parallel()
	groups := alike()
	for pattern, group := range map[string]int{
		"git@git.example:org/*": 0, "git.example:org/*": 0, "ssh://git.example/org/*": 0, "ssh://git@git.example:22/**": 0, "ssh://git@*.example/org/*": 0,
		"git@*:org/*": 0, "*:org/*": 0, "ssh://*.example:22/org/repo": 0, "{git@git.example:org,git@other.example:org}/*": 0, "git@git.exampl[e]:org/*": 0,
		"ssh://git.example:2222/**": 1, "alice@*:**": 2, "https://me@*.example/**": 3, "https://*@git.example/org/*": 3, "https://{me@git,you@it}.example/**": 3,
		"https://git.*:443/**": 3, "https://git.example:443/org/{repo,other}": 3, "http{,}://git.example/org/repo": 4, "/srv/**": 5, "file:///srv/**": 5,
	} {
		permits, forbids, asks := ruled(t, []string{pattern}), ruled(t, []string{"*", "!" + pattern}), ruled(t, nil, pattern)
		for _, other := range groups[group] {
			signed, err := asks.Integrity(v1alpha1.ApplicationSource{RepoURL: other})
			if permits.PermitsSource(other) != nil || forbids.PermitsSource(other) == nil || err != nil || !signed.Asks() {
				t.Errorf("%s for %s: %v, %v, %t, %v", pattern, other, permits.PermitsSource(other), forbids.PermitsSource(other), signed.Asks(), err)
			}
		}
	}
}

// respelled writes an address in another way; each bit of how is a change of it.
func respelled(text string, how uint8) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	authority, path, _ := strings.Cut(rest, "/")
	user, host := divide(authority)
	for i, change := range []func(){
		func() { host = strings.ToUpper(host) },
		func() { host += "." },
		func() { host += ":0" + address.DefaultPort(strings.ToLower(scheme)) },
		func() { user = map[bool]string{true: "git@", false: "me:word@"}[strings.EqualFold(scheme, "ssh")] },
		func() { path = "/" + path + "//" },
		func() { path += "/.git" },
		func() { path += "?x" },
		func() { scheme = strings.ToUpper(scheme) },
	} {
		if how&(1<<i) != 0 {
			change()
		}
	}
	return scheme + "://" + user + host + "/" + path
}

// FuzzSpellings looks for two addresses that open one repository and for which the rules of a project differ.
func FuzzSpellings(f *testing.F) {
	for _, group := range alike() {
		for i, one := range group {
			f.Add(group[0], one, uint8(1)<<(i%8))
		}
	}
	f.Add("https://git.example/%6frg/repo", "https://git.example/%6Frg/repo?x", uint8(255))
	f.Add("ssh://git@[::1]/org/repo", "ssh://[::1]:22/org/repo#", uint8(4))
	rules := []*Rules{
		ruled(f, []string{"*", "!git@git.example:org/*", "!https://git.example/org/**", "!**repo"}, "git@*:org/*", "https://git.example/org/*", "!*secret"),
		ruled(f, []string{"ssh://git.example/**", "https://*.example/org/*", "/srv/*"}, "*", "!ssh://git.example:22/*", "!https://me@git.example/org/repo"),
	}
	answers := func(text string) string {
		out := ""
		for _, r := range rules {
			asks, err := r.Integrity(v1alpha1.ApplicationSource{RepoURL: text})
			out += fmt.Sprintf("permitted %t, asks %v, read %t\n", r.PermitsSource(text) == nil, asks, err == nil)
		}
		return out
	}
	f.Fuzz(func(t *testing.T, a, b string, how uint8) {
		x, err := address.ParseGit(a)
		if err != nil {
			return
		}
		for _, other := range []string{b, respelled(a, how), respelled(x.URL, how), x.URL} {
			y, err := address.ParseGit(other)
			if err != nil || x.URL != y.URL || ambiguous(a) != ambiguous(other) || max(len(a), len(other)) > maxValue {
				continue
			}
			if d := cmp.Diff(answers(a), answers(other)); d != "" {
				t.Errorf("%q and %q both open %s:\n%s", a, other, x.URL, d)
			}
		}
	})
}

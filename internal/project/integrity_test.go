package project

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

const key, other = "D56C4FCA57A46444", "4AEE18F83AFDEB23"

func gpgPolicy(mode v1alpha1.GPGMode, keys []string, urls ...string) v1alpha1.SourceIntegrityGitPolicy {
	out := v1alpha1.SourceIntegrityGitPolicy{GPG: &v1alpha1.SourceIntegrityGPG{Mode: mode, Keys: keys}}
	for _, u := range urls {
		out.Repos = append(out.Repos, v1alpha1.SourceIntegrityGitRepo{URL: u})
	}
	return out
}

func TestTheSignaturesThatARepositoryNeeds(t *testing.T) {
	t.Parallel()
	const ssh = `{git: {policies: [{repos: [{url: "https://git.example/ssh/*"}], ssh: {mode: strict, signers: [ann]}}]}}`
	group := gpgPolicy("head", []string{key}, "https://git.example/group/*", "!https://git.example/group/open")
	all := gpgPolicy("head", []string{key}, "*")
	head := Integrity{Mode: "head", Keys: []string{key}}
	for _, c := range []struct {
		name       string
		policies   []v1alpha1.SourceIntegrityGitPolicy
		annotation string
		legacy     []string
		source     v1alpha1.ApplicationSource
		want       Integrity
		wrong      string
	}{
		{"nothing asks", nil, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/a"}, Integrity{}, ""},
		{"of the group", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/group/sub/a"}, head, ""},
		{"left out", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/group/open"}, Integrity{}, ""},
		{"left out, with .git", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/group/open.git/"}, Integrity{}, ""},
		{"left out under another spelling", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://u@git.example/group/open"}, Integrity{}, ""},
		{"left out as it is escaped, and not as it reads", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/group/op%65n"}, head, ""},
		{"no address", []v1alpha1.SourceIntegrityGitPolicy{all}, "", nil, v1alpha1.ApplicationSource{RepoURL: "ssh://git.example:group/a"}, Integrity{}, "since it asks for signatures: parse repository address"},
		{"of another group", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/other/a"}, Integrity{}, ""},
		{"other letters", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "HTTPS://Git.Example:443/Group/a.git"}, head, ""},
		{"a user in it", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://u:p@git.example/group/a"}, head, ""},
		{"escaped letters", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/%67roup/a"}, head, ""},
		{"a detour", []v1alpha1.SourceIntegrityGitPolicy{group}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/x/../group/a"}, Integrity{}, "write the address without"},
		{"two policies", []v1alpha1.SourceIntegrityGitPolicy{group, all}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/group/a"}, Integrity{}, "multiple (2) git source integrity policies found for repo URL: https://git.example/group/a"},
		{"mode none", []v1alpha1.SourceIntegrityGitPolicy{gpgPolicy("none", nil, "*")}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/a"}, Integrity{}, ""},
		{"a chart", []v1alpha1.SourceIntegrityGitPolicy{all}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://charts.example", Chart: "a"}, Integrity{}, ""},
		{"an artifact", []v1alpha1.SourceIntegrityGitPolicy{all}, "", nil, v1alpha1.ApplicationSource{RepoURL: "oci://registry.example/a"}, Integrity{}, ""},
		{"signatureKeys", nil, "", []string{key, other}, v1alpha1.ApplicationSource{RepoURL: "https://git.example/a"}, Integrity{Mode: "head", Keys: []string{key, other}}, ""},
		{"signatureKeys beside policies", []v1alpha1.SourceIntegrityGitPolicy{group}, "", []string{other}, v1alpha1.ApplicationSource{RepoURL: "https://git.example/other"}, Integrity{Mode: "head", Keys: []string{other}}, ""},
		{"a policy beside signatureKeys", []v1alpha1.SourceIntegrityGitPolicy{group}, "", []string{other}, v1alpha1.ApplicationSource{RepoURL: "https://git.example/group/a"}, head, ""},
		{"none beside signatureKeys", []v1alpha1.SourceIntegrityGitPolicy{gpgPolicy("none", nil, "*")}, "", []string{other}, v1alpha1.ApplicationSource{RepoURL: "https://git.example/a"}, Integrity{}, ""},
		{"SSH", nil, ssh, nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/ssh/a"}, Integrity{Mode: "strict", Signers: []string{"ann"}}, ""},
		{"SSH for another repository", nil, ssh, nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/a"}, Integrity{}, ""},
		{"SSH or OpenPGP: the stricter mode", []v1alpha1.SourceIntegrityGitPolicy{all}, ssh, nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/ssh/a"}, Integrity{Mode: "strict", Keys: []string{key}, Signers: []string{"ann"}}, ""},
		{"SSH in place of OpenPGP", []v1alpha1.SourceIntegrityGitPolicy{gpgPolicy("none", nil, "*")}, ssh, nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/ssh/a"}, Integrity{Mode: "strict", Signers: []string{"ann"}}, ""},
		{"a long address", []v1alpha1.SourceIntegrityGitPolicy{all}, "", nil, v1alpha1.ApplicationSource{RepoURL: "https://git.example/" + strings.Repeat("a", maxValue)}, Integrity{}, "correct repoURL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := &v1alpha1.AppProject{}
			if c.policies != nil {
				p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{Policies: c.policies}}
			}
			for _, k := range c.legacy {
				p.Spec.SignatureKeys = append(p.Spec.SignatureKeys, v1alpha1.SignatureKey{KeyID: k})
			}
			p.Annotations = map[string]string{v1alpha1.AnnotationSourceIntegrity: c.annotation}
			rules, err := New(p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := rules.Integrity(c.source)
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if (err != nil) != (c.wrong != "") || err != nil && !strings.Contains(err.Error(), c.wrong) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAPolicyForSignaturesThatCannotBeReadPermitsNothing(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*v1alpha1.AppProject){
		"an unknown mode": func(p *v1alpha1.AppProject) {
			p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{
				Policies: []v1alpha1.SourceIntegrityGitPolicy{gpgPolicy("tail", nil, "*")},
			}}
		},
		"no gpg": func(p *v1alpha1.AppProject) {
			p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{
				Policies: []v1alpha1.SourceIntegrityGitPolicy{{}},
			}}
		},
		"a pattern": func(p *v1alpha1.AppProject) {
			p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{
				Policies: []v1alpha1.SourceIntegrityGitPolicy{gpgPolicy("head", nil, "[")},
			}}
		},
		"no YAML": func(p *v1alpha1.AppProject) { p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{" },
		"another field": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{git: {polices: []}}"
		},
		"no ssh": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{git: {policies: [{repos: []}]}}"
		},
		"no repository": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{oci: {policies: [{repos: [], cosign: {keys: [a]}}]}}"
		},
		"an empty address": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{oci: {policies: [{repos: [{url: a}, {}], cosign: {keys: [a]}}]}}"
		},
		"excluded repositories alone": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{helm: {policies: [{repos: [{url: '!a'}], gpg: {keys: [4AEE18F83AFDEB23]}}]}}"
		},
		"a key without a name": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{oci: {policies: [{repos: [{url: a}], cosign: {keys: ['']}}]}}"
		},
		"no mode": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = "{git: {policies: [{repos: [{url: a}], ssh: {signers: [a]}}]}}"
		},
		"too much": func(p *v1alpha1.AppProject) {
			p.Annotations[v1alpha1.AnnotationSourceIntegrity] = strings.Repeat(" ", maxPolicyBytes+1)
		},
	} {
		p := &v1alpha1.AppProject{}
		p.Annotations = map[string]string{}
		change(p)
		if _, err := New(p); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestAKeyThatNoSignatureCanHaveIsAFault(t *testing.T) {
	t.Parallel()
	p := &v1alpha1.AppProject{}
	p.Spec.SignatureKeys = []v1alpha1.SignatureKey{{KeyID: key}, {KeyID: "57A46444"}, {KeyID: "ann@example.org"}, {KeyID: "0x" + strings.ToLower(other)}}
	rules, err := New(p)
	if err != nil || len(rules.Faults()) != 2 || !strings.Contains(rules.Faults()[0].Error(), `"57A46444"`) {
		t.Errorf("%v, %v", rules.Faults(), err)
	}
	p.Spec.SignatureKeys = p.Spec.SignatureKeys[:1]
	p.Spec.SourceIntegrity = &v1alpha1.SourceIntegrity{Git: &v1alpha1.SourceIntegrityGit{}}
	if err := Validate(p); err == nil || !strings.Contains(err.Error(), "move its keys there") {
		t.Errorf("%v", err)
	}
}

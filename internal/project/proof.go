package project

import (
	"fmt"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// helmPolicies are what an annotation asks of the provenance files of charts.
type helmPolicies struct {
	Policies []struct {
		Repos []v1alpha1.SourceIntegrityGitRepo `json:"repos"`
		GPG   *struct {
			Keys []string `json:"keys"`
		} `json:"gpg"`
	} `json:"policies"`
}

func (h helmPolicies) compile(b *budget, name string) ([]integrityPolicy, error) {
	var out []integrityPolicy
	for i, p := range h.Policies {
		where := fmt.Sprintf("%s: helm.policies[%d]", name, i)
		if p.GPG == nil || len(p.GPG.Keys) == 0 {
			return nil, fmt.Errorf("%s has no gpg with keys: name the keys that sign the charts", where)
		}
		for _, id := range p.GPG.Keys {
			if !validKeyID(id) {
				return nil, fmt.Errorf("%s.gpg.keys: %.80q names no key: write the 16 hexadecimal digits of its id, or its fingerprint", where, id)
			}
		}
		compiled, err := newIntegrityPolicy(b, where, p.Repos, Integrity{Mode: v1alpha1.GPGModeNone, Helm: p.GPG.Keys})
		if err != nil {
			return nil, err
		}
		out = append(out, compiled)
	}
	return out, nil
}

// named is how many keys, signers, stores and identities a policy names.
func (i Integrity) named() int {
	return len(i.Keys) + len(i.Signers) + len(i.Cosign) + len(i.Identities) + len(i.Helm) + len(i.Notation.Stores) + len(i.Notation.Identities)
}

// ofArtifacts reports whether a policy is about what is in registries and chart repositories.
func (i Integrity) ofArtifacts() bool {
	return len(i.Cosign) > 0 || len(i.Identities) > 0 || len(i.Helm) > 0 || i.Notation.Asks()
}

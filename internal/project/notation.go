package project

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/integrity/subject"
)

// Notation is what a project asks of the signatures of the Notary Project, in the words of Notation's trust policies.
type Notation struct {
	Stores     []string // "ca:NAME", "signingAuthority:NAME" or "tsa:NAME"
	Identities []string // "x509.subject: …", or "*" for all that the stores vouch for
}

// Asks reports whether such a signature is asked for.
func (n Notation) Asks() bool { return len(n.Stores) > 0 }

// notationPolicy is what an annotation asks of signatures of the Notary Project.
type notationPolicy struct {
	TrustStores       []string `json:"trustStores"`
	TrustedIdentities []string `json:"trustedIdentities"`
}

func (n notationPolicy) compile(b *budget, where string, repos []v1alpha1.SourceIntegrityGitRepo) (integrityPolicy, error) {
	vouches := false
	for _, store := range n.TrustStores {
		kind, name, _ := strings.Cut(store, ":")
		if !slices.Contains([]string{"ca", "signingAuthority", "tsa"}, kind) || name == "" {
			return integrityPolicy{}, fmt.Errorf("%s.notation.trustStores: %.80q names no trust store: write ca:NAME, signingAuthority:NAME or "+
				"tsa:NAME", where, store)
		}
		vouches = vouches || kind != "tsa"
	}
	if !vouches {
		return integrityPolicy{}, fmt.Errorf("%s.notation.trustStores has no trust store for signers: add ca:NAME or "+
			"signingAuthority:NAME", where)
	}
	if len(n.TrustedIdentities) == 0 {
		return integrityPolicy{}, fmt.Errorf("%s.notation has no trustedIdentities: write \"x509.subject: C=…, ST=…, O=…\", "+
			"or \"*\" for all", where)
	}
	for _, identity := range n.TrustedIdentities {
		if identity == "*" && len(n.TrustedIdentities) == 1 {
			continue
		}
		text, ok := strings.CutPrefix(identity, "x509.subject:")
		if !ok || strings.TrimSpace(text) == "" {
			return integrityPolicy{}, fmt.Errorf("%s.notation.trustedIdentities: %.80q is no identity: write \"x509.subject: C=…, ST=…, O=…\", "+
				"or \"*\" alone for all", where, identity)
		}
		if _, err := subject.Parse(text); err != nil {
			return integrityPolicy{}, fmt.Errorf("%s.notation.trustedIdentities: %.200q: %w", where, identity, err)
		}
	}
	return newIntegrityPolicy(b, where, repos, Integrity{
		Mode: v1alpha1.GPGModeNone, Notation: Notation{Stores: n.TrustStores, Identities: n.TrustedIdentities},
	})
}

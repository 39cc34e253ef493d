package project

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/address"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Integrity is what a project asks of the signatures of a repository. A signature counts if Keys or Signers names its maker.
type Integrity struct {
	Mode    v1alpha1.GPGMode
	Keys    []string // ids or fingerprints of OpenPGP keys
	Signers []string // principals of SSH signers; "*" for all that the agent trusts
	Cosign  []string // names of the keys that sign artifacts

	Identities []Identity // that sign artifacts without a key
	Notation   Notation   // beside what else is asked for
	Helm       []string   // ids or fingerprints of the OpenPGP keys that sign charts, beside what else is asked for
}

// Asks reports whether the project asks for signatures at all.
func (i Integrity) Asks() bool {
	return i.ofArtifacts() || i.Mode != "" && i.Mode != v1alpha1.GPGModeNone
}

// Bounds of the policies of a project.
const (
	maxPolicies    = 200
	maxPolicyBytes = 64 << 10 // of the annotation
	maxNamed       = 1000     // keys or signers of a policy
)

// integrity are the compiled policies of a project.
type integrity struct {
	gpg, ssh []integrityPolicy
	cosign   []integrityPolicy // of artifacts in registries, by cosign or Notation
	helm     []integrityPolicy // of charts, by their provenance
	every    *Integrity        // of spec.signatureKeys: for what no policy of gpg matches
}

type integrityPolicy struct {
	repos []rule
	Integrity
}

// annotated is the annotation for SSH signers and for artifacts. It has the form of spec.sourceIntegrity, whose definition in Argo CD
// drops fields that it does not know.
type annotated struct {
	Git struct {
		Policies []struct {
			Repos []v1alpha1.SourceIntegrityGitRepo `json:"repos"`
			SSH   *struct {
				Mode    v1alpha1.GPGMode `json:"mode"`
				Signers []string         `json:"signers"`
			} `json:"ssh"`
		} `json:"policies"`
	} `json:"git"`
	OCI struct {
		Policies []struct {
			Repos    []v1alpha1.SourceIntegrityGitRepo `json:"repos"`
			Cosign   *cosignPolicy                     `json:"cosign"`
			Notation *notationPolicy                   `json:"notation"`
		} `json:"policies"`
	} `json:"oci"`
	Helm helmPolicies `json:"helm"`
}

// newIntegrity compiles what a project asks of signatures. What cannot be read is an error as a whole: a policy must not get lost.
func newIntegrity(b *budget, spec *v1alpha1.AppProjectSpec, annotation string) (integrity, error) {
	var out integrity
	if len(spec.SignatureKeys) > 0 {
		out.every = &Integrity{Mode: v1alpha1.GPGModeHead}
		for _, k := range spec.SignatureKeys {
			out.every.Keys = append(out.every.Keys, k.KeyID)
		}
	}
	if s := spec.SourceIntegrity; s != nil && s.Git != nil {
		for i, p := range s.Git.Policies {
			where := fmt.Sprintf("spec.sourceIntegrity.git.policies[%d]", i)
			if p.GPG == nil {
				return out, fmt.Errorf("%s has no gpg: add it, with mode none where nothing is to be verified", where)
			}
			compiled, err := compilePolicy(b, where, p.Repos, Integrity{Mode: p.GPG.Mode, Keys: p.GPG.Keys})
			if err != nil {
				return out, err
			}
			out.gpg = append(out.gpg, compiled)
		}
	}
	var err error
	out.ssh, out.cosign, out.helm, err = annotatedPolicies(b, annotation)
	if err == nil && len(out.gpg)+len(out.ssh)+len(out.cosign)+len(out.helm) > maxPolicies {
		err = fmt.Errorf("the project has more than %d policies for signatures: join them", maxPolicies)
	}
	return out, err
}

func annotatedPolicies(b *budget, annotation string) (ssh, cosign, helm []integrityPolicy, err error) {
	if annotation == "" {
		return nil, nil, nil, nil
	}
	const name = "annotation " + v1alpha1.AnnotationSourceIntegrity
	if len(annotation) > maxPolicyBytes {
		return nil, nil, nil, fmt.Errorf("%s has more than %d KiB: shorten it", name, maxPolicyBytes>>10)
	}
	var in annotated
	raw, err := yaml.YAMLToJSONStrict([]byte(annotation))
	if err == nil {
		err = strict.Decode(raw, &in)
	}
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%s cannot be read: write git.policies, each with repos and ssh (mode, signers), oci.policies, "+
			"each with repos and cosign (keys or keyless) or notation (trustStores, trustedIdentities), and helm.policies, "+
			"each with repos and gpg (keys), as YAML: %w", name, err)
	}
	for i, p := range in.Git.Policies {
		where := fmt.Sprintf("%s: git.policies[%d]", name, i)
		if p.SSH == nil {
			return nil, nil, nil, fmt.Errorf("%s has no ssh: add it, with mode and signers", where)
		}
		compiled, err := newIntegrityPolicy(b, where, p.Repos, Integrity{Mode: p.SSH.Mode, Signers: p.SSH.Signers})
		if err != nil {
			return nil, nil, nil, err
		}
		ssh = append(ssh, compiled)
	}
	for i, p := range in.OCI.Policies {
		where := fmt.Sprintf("%s: oci.policies[%d]", name, i)
		if p.Notation != nil && p.Cosign == nil {
			compiled, err := p.Notation.compile(b, where, p.Repos)
			if err != nil {
				return nil, nil, nil, err
			}
			cosign = append(cosign, compiled)
			continue
		}
		if p.Notation != nil {
			return nil, nil, nil, fmt.Errorf("%s has cosign and notation: write one of them, so that the other cannot stand for it", where)
		}
		asks, err := p.Cosign.asks(b, where)
		if err != nil {
			return nil, nil, nil, err
		}
		compiled, err := newIntegrityPolicy(b, where, p.Repos, asks)
		if err != nil {
			return nil, nil, nil, err
		}
		cosign = append(cosign, compiled)
	}
	helm, err = in.Helm.compile(b, name)
	return ssh, cosign, helm, err
}

// newIntegrityPolicy compiles a policy of the annotation. One that can name nothing is refused: it would look as if it asked for something.
func newIntegrityPolicy(b *budget, where string, repos []v1alpha1.SourceIntegrityGitRepo, asks Integrity) (integrityPolicy, error) {
	if err := namesSome(repos); err != nil {
		return integrityPolicy{}, fmt.Errorf("%s.repos %w", where, err)
	}
	return compilePolicy(b, where, repos, asks)
}

// namesSome finds what is wrong with the repositories of a policy that can name nothing.
func namesSome(repos []v1alpha1.SourceIntegrityGitRepo) error {
	some := false
	for _, r := range repos {
		text, deny := strings.CutPrefix(r.URL, "!")
		if strings.TrimSpace(text) == "" {
			return errors.New("has an entry without url: write the address of a repository, or a pattern")
		}
		some = some || !deny
	}
	if !some {
		return errors.New("names no repository, so the policy asks for nothing: add an address or a pattern without \"!\"")
	}
	return nil
}

func compilePolicy(b *budget, where string, repos []v1alpha1.SourceIntegrityGitRepo, asks Integrity) (integrityPolicy, error) {
	out := integrityPolicy{Integrity: asks}
	switch asks.Mode {
	case v1alpha1.GPGModeNone, v1alpha1.GPGModeHead, v1alpha1.GPGModeStrict:
	default:
		return out, fmt.Errorf("%s: mode %.40q is not known: write none, head or strict", where, asks.Mode)
	}
	if asks.named() > maxNamed {
		return out, fmt.Errorf("%s names more than %d keys: divide it", where, maxNamed)
	}
	for _, r := range repos {
		text, deny := strings.CutPrefix(r.URL, "!")
		text = normalize(text)
		if asks.ofArtifacts() && !deny {
			text = untagged(text) // a tag can move: its repository is signed as a whole
		}
		g, err := b.compile(text, false)
		if err != nil {
			return out, fmt.Errorf("%s.repos: %w", where, err)
		}
		out.repos = append(out.repos, rule{g, deny})
	}
	return out, nil
}

// Integrity returns what the project asks of the signatures of a source: of its commits, or of its artifact.
func (r *Rules) Integrity(src v1alpha1.ApplicationSource) (Integrity, error) {
	if src.Chart != "" || strings.HasPrefix(src.RepoURL, schemeOCI) {
		return r.artifactIntegrity(src)
	}
	i := r.integrity
	if i.every == nil && len(i.gpg) == 0 && len(i.ssh) == 0 {
		return Integrity{}, nil
	}
	if err := r.plain(src.RepoURL); err != nil {
		return Integrity{}, err
	}
	at, err := address.ParseGit(src.RepoURL)
	if err != nil {
		return Integrity{}, r.unread(src.RepoURL, err)
	}
	origins := []origin{ofGit(at)}
	if !matchable(origins[0]) {
		return Integrity{}, r.denied("a repository address of more than %d bytes; correct repoURL", maxValue)
	}
	gpg, err := r.onePolicy(i.gpg, origins, "git", src.RepoURL)
	if err != nil {
		return Integrity{}, err
	}
	ssh, err := r.onePolicy(i.ssh, origins, "git", src.RepoURL)
	switch {
	case err != nil:
		return Integrity{}, err
	case gpg == nil:
		gpg = i.every
	}
	var out Integrity
	for _, one := range []*Integrity{gpg, ssh} {
		if one == nil || !one.Asks() {
			continue
		}
		if out.Mode != v1alpha1.GPGModeStrict {
			out.Mode = one.Mode
		}
		out.Keys, out.Signers = append(out.Keys, one.Keys...), append(out.Signers, one.Signers...)
	}
	return out, nil
}

// checkIntegrity finds what in policies for signatures can never hold.
func checkIntegrity(spec *v1alpha1.AppProjectSpec) []error {
	var out []error
	if len(spec.SignatureKeys) > 0 && spec.SourceIntegrity != nil {
		out = append(out, errors.New("spec.signatureKeys is deprecated, and applies only to repositories that "+
			"spec.sourceIntegrity does not name: move its keys there"))
	}
	check := func(where, id string) {
		if !validKeyID(id) {
			out = append(out, fmt.Errorf("%s: %.80q names no key: write the 16 hexadecimal digits of its id, or its fingerprint", where, id))
		}
	}
	for i, k := range spec.SignatureKeys {
		check(fmt.Sprintf("spec.signatureKeys[%d]", i), k.KeyID)
	}
	if spec.SourceIntegrity != nil && spec.SourceIntegrity.Git != nil {
		for i, p := range spec.SourceIntegrity.Git.Policies {
			if p.GPG == nil {
				continue
			}
			if err := namesSome(p.Repos); err != nil {
				out = append(out, fmt.Errorf("spec.sourceIntegrity.git.policies[%d].repos %w", i, err))
			}
			for _, k := range p.GPG.Keys {
				check(fmt.Sprintf("spec.sourceIntegrity.git.policies[%d].gpg.keys", i), k)
			}
		}
	}
	return out
}

// validKeyID reports whether a text can name an OpenPGP key. Ids of 8 digits name many.
func validKeyID(id string) bool {
	id = strings.TrimPrefix(strings.ToUpper(strings.ReplaceAll(id, " ", "")), "0X")
	_, err := hex.DecodeString(id)
	return err == nil && (len(id) == 16 || len(id) == 40 || len(id) == 64)
}

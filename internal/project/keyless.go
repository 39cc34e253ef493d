package project

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// cosignPolicy is what a policy asks of signatures of cosign: those of keys, or those of identities. One that asked for both would be
// read as either by some and as both by others.
type cosignPolicy struct {
	Keys    []string   `json:"keys"`
	Keyless []Identity `json:"keyless"`
}

// Identity is an identity that may sign artifacts without a key. It is compared with a certificate that a root of the agent proves.
type Identity struct {
	Root          string `json:"root"`          // name of the trust root
	Issuer        string `json:"issuer"`        // address of the identity provider, as it is
	Subject       string `json:"subject"`       // as it is; "" where SubjectRegexp is given
	SubjectRegexp string `json:"subjectRegexp"` // of the whole subject

	subjects *regexp.Regexp // compiled SubjectRegexp
}

const (
	maxIdentities      = 100 // of a policy
	maxSubjectPattern  = 256 // bytes: repetitions make an expression much larger than its text
	maxSubjectCompared = 2048
)

// asks reads what a policy asks for.
func (p *cosignPolicy) asks(b *budget, where string) (Integrity, error) {
	out := Integrity{Mode: v1alpha1.GPGModeNone}
	switch {
	case p == nil || len(p.Keys)+len(p.Keyless) == 0:
		return out, fmt.Errorf("%s has no cosign with keys or keyless: name the keys or the identities that sign the artifacts", where)
	case slices.Contains(p.Keys, ""):
		return out, fmt.Errorf("%s.cosign.keys has an empty name: name the keys that sign the artifacts", where)
	case len(p.Keys) > 0 && len(p.Keyless) > 0:
		return out, fmt.Errorf("%s.cosign has keys and keyless: write one of them; to change from one to the other, "+
			"sign the artifacts in both ways first", where)
	case len(p.Keyless) > maxIdentities:
		return out, fmt.Errorf("%s.cosign.keyless has more than %d identities: join them with subjectRegexp", where, maxIdentities)
	}
	out.Cosign = p.Keys
	for i, one := range p.Keyless {
		compiled, err := one.compile(b, fmt.Sprintf("%s.cosign.keyless[%d]", where, i))
		if err != nil {
			return out, err
		}
		out.Identities = append(out.Identities, compiled)
	}
	return out, nil
}

// compile checks an identity, and reads its expression.
func (i Identity) compile(b *budget, where string) (Identity, error) {
	for _, f := range []struct{ name, value string }{{"root", i.Root}, {"issuer", i.Issuer}} {
		if f.value == "" {
			return i, fmt.Errorf("%s has no %s: write root, issuer, and subject or subjectRegexp", where, f.name)
		}
	}
	switch {
	case (i.Subject == "") == (i.SubjectRegexp == ""):
		return i, fmt.Errorf("%s must have one of subject and subjectRegexp: write who signs, or an expression that matches all of it", where)
	case max(len(i.Root), len(i.Issuer), len(i.Subject)) > maxValue:
		return i, fmt.Errorf("%s has a value of more than %d bytes: shorten it", where, maxValue)
	case i.SubjectRegexp == "":
		return i, nil
	}
	if b.bytes -= maxSubjectPattern; len(i.SubjectRegexp) > maxSubjectPattern || b.bytes < 0 {
		return i, fmt.Errorf("%s.subjectRegexp is longer than %d bytes, or one of too many: use subject, or shorter expressions",
			where, maxSubjectPattern)
	}
	if _, err := regexp.Compile(i.SubjectRegexp); err != nil { // alone: it must not close what is put around it
		return i, fmt.Errorf("%s.subjectRegexp %q cannot be read: correct it", where, i.SubjectRegexp)
	}
	whole, err := regexp.Compile(`\A(?:` + i.SubjectRegexp + `)\z`)
	if err != nil {
		return i, fmt.Errorf("%s.subjectRegexp %q cannot be read: correct it", where, i.SubjectRegexp)
	}
	i.subjects = whole
	return i, nil
}

// Allows reports whether this is the identity that a root proves. The issuer is compared as it is, and the subject wholly.
func (i Identity) Allows(root, issuer, subject string) bool {
	switch {
	case root == "" || issuer == "" || subject == "" || len(subject) > maxSubjectCompared || root != i.Root || issuer != i.Issuer:
		return false
	case i.subjects != nil:
		return i.subjects.MatchString(subject)
	}
	return i.SubjectRegexp == "" && subject == i.Subject
}

// Package integrity judges by their signatures whether the commits and annotated tags of a Git repository may be deployed. A
// policy, the public keys that an operator trusts and raw objects go in; a verdict comes out. It reads no file, runs no
// program and keeps no key ring. Packages below it judge what is no commit.
package integrity

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// Mode is how far back signatures are checked.
type Mode string

// The modes.
const (
	None   Mode = "none"
	Head   Mode = "head"   // the deployed commit, or the annotated tag that leads to it
	Strict Mode = "strict" // that, and all commits before, as far back as sealed ones
)

// Policy is what a project asks of the commits of a repository. A signature counts if Keys or Signers names its maker.
type Policy struct {
	Mode    Mode
	Keys    []string // ids or fingerprints of OpenPGP keys, in hexadecimal
	Signers []string // principals of SSH signers; "*" is every signer that is trusted
}

// Method is a kind of signature.
type Method string

// The methods.
const (
	OpenPGP Method = "OpenPGP"
	SSH     Method = "SSH"
)

// Signer is the maker of a signature that was verified.
type Signer struct {
	Method Method
	Key    string // id of an OpenPGP key in 16 hexadecimal digits, or the fingerprint of an SSH key
	Under  string // id of the primary key, where Key is a subkey; fingerprint of the authority, where Key has a certificate
	Owner  string // user id of the key, or principal
}

// String names a signer for people.
func (s Signer) String() string {
	out := string(s.Method) + " key " + s.Key
	if s.Under != "" {
		out += " (under " + s.Under + ")"
	}
	if s.Owner != "" {
		out += " of " + s.Owner
	}
	return out
}

// Code says what is wrong with a signature.
type Code string

// The codes.
const (
	Unsigned         Code = "unsigned"
	UnknownKey       Code = "signed with key not in keyring"
	BadSignature     Code = "bad signature"
	ExpiredSignature Code = "expired signature"
	ExpiredKey       Code = "signed with expired key"
	RevokedKey       Code = "signed with revoked key"
	UnallowedKey     Code = "signed with unallowed key"
	Several          Code = "several signatures"
	Weak             Code = "weak signature"
	Unsuitable       Code = "signed with a key that is not for signing"
	Unreadable       Code = "unreadable signature"
	Misnamed         Code = "tag of another name"
	TooMany          Code = "too many commits"
	OtherContent     Code = "signature of other content"
)

// Fault is why an object is not trusted.
type Fault struct {
	Revision string // a commit id, or the name of a tag
	Author   string // name and address, as the object has them
	Code     Code
	Method   Method // "" where there is no signature
	Key      string // id or fingerprint; "" where it is not known
	Detail   string // more, where the code does not say enough
}

// String states a fault in one line, in the words of Argo CD, with what to do about it.
func (f Fault) String() string {
	check := "GIT/GPG"
	if f.Method == SSH {
		check = "GIT/SSH"
	}
	out := fmt.Sprintf("%s: Failed verifying revision %s by '%s': %s (key_id=%s)", check, f.Revision, f.Author, f.Code, f.Key)
	if f.Detail != "" {
		out += ": " + f.Detail
	}
	return out + "; " + f.next()
}

func (f Fault) next() string {
	switch f.Code {
	case Unsigned, Several, Weak, Unreadable, BadSignature:
		return "sign it with a key that the project allows, and push"
	case UnknownKey:
		if f.Method == SSH {
			return "add the key to allowed_signers in the ConfigMap slipway-allowed-signers, or sign with a key that is there"
		}
		return "add the public key to the agent (slipway gpg add, or ConfigMap argocd-gpg-keys-cm), or sign with a key that is there"
	case UnallowedKey:
		return "sign with a key that the project allows, or have the project allow this one"
	case Misnamed:
		return "create and sign the tag again under its name, and push"
	case TooMany:
		return "sign a seal commit (git commit --gpg-sign --trailer=\"Argocd-gpg-seal: REASON\"), or use mode head"
	case ExpiredKey, ExpiredSignature, RevokedKey, Unsuitable:
		return "sign a new commit or tag with a valid key; or update the public key on the agent, where its owner renewed it"
	}
	return "sign a new commit with a key that the project allows"
}

// Verdict is what was found about a revision.
type Verdict struct {
	Signer  Signer // of the commit, or of the tag, where there is no fault
	Commits int    // how many commits were verified
	Faults  []Fault
}

// Verified reports whether the revision may be deployed.
func (v Verdict) Verified() bool { return len(v.Faults) == 0 && v.Signer.Key != "" }

// Text states all faults, one a line.
func (v Verdict) Text() string {
	lines := make([]string, len(v.Faults))
	for i, f := range v.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Question asks about one revision of a repository.
type Question struct {
	Policy Policy
	Keys   *Keyring
	Commit string // full id of the deployed commit
	Tag    []byte // the annotated tag that leads to it; nil for none
	Name   string // of the tag, without refs/tags/
	Now    time.Time

	Read func(id string) ([]byte, error) // returns the content of a commit
	// Known reports whether the history up to a commit was verified before, with the same policy and keys. nil: none was.
	Known func(id string) bool
}

// Bounds of one judgement.
const (
	maxFaults  = 10
	maxHistory = 50_000 // commits that are read
	maxParents = 100    // of one commit
	maxOwner   = 200    // bytes
)

// Judge verifies what a policy asks for. The error is that of Read: nothing is known then.
func Judge(q Question) (Verdict, error) {
	var v Verdict
	if q.Policy.Mode != Head && q.Policy.Mode != Strict {
		return v, fmt.Errorf("mode %q of the policy is not known: write none, head or strict", q.Policy.Mode)
	}
	if q.Tag != nil {
		signer, fault := q.tag()
		if fault != nil {
			v.Faults = append(v.Faults, *fault)
		}
		if v.Signer = signer; q.Policy.Mode == Head {
			return v, nil
		}
	}
	return q.walk(v)
}

// walk verifies a commit, and in strict mode those before it. What it reads is bounded, whether it is signed or not.
func (q Question) walk(v Verdict) (Verdict, error) {
	seen := map[string]bool{q.Commit: true}
	for queue := []string{q.Commit}; len(queue) > 0; queue = queue[1:] {
		id := queue[0]
		data, err := q.Read(id)
		if err != nil {
			return Verdict{}, err
		}
		c := parseCommit(data)
		signer, fault := q.verify(id, c)
		if fault != nil {
			if v.Faults = note(v.Faults, *fault); len(v.Faults) >= maxFaults {
				return v, nil
			}
		} else if v.Commits++; v.Signer.Key == "" && id == q.Commit {
			v.Signer = signer
		}
		if q.Policy.Mode == Head || fault == nil && c.sealed() {
			continue
		}
		if len(c.parents) > maxParents {
			detail := fmt.Sprintf("it has more than %d parents", maxParents)
			v.Faults = append(v.Faults, Fault{Revision: id, Author: c.author, Code: TooMany, Detail: detail})
			return v, nil
		}
		for _, p := range c.parents {
			if seen[p] || q.Known != nil && q.Known(p) {
				continue
			}
			if len(seen) >= maxHistory {
				v.Faults = append(v.Faults, Fault{Revision: p, Code: TooMany, Detail: fmt.Sprintf("more than %d have no seal before them", maxHistory)})
				return v, nil
			}
			seen[p] = true
			queue = append(queue, p)
		}
	}
	return v, nil
}

// note adds a fault. That of a key is named once: every commit that it signed has it.
func note(faults []Fault, f Fault) []Fault {
	if f.Key != "" && slices.ContainsFunc(faults, func(had Fault) bool { return had.Key == f.Key && had.Code == f.Code }) {
		return faults
	}
	return append(faults, f)
}

// tag verifies the annotated tag.
func (q Question) tag() (Signer, *Fault) {
	t := parseTag(q.Tag)
	name := legible.Line(q.Name, maxOwner)
	if t.kind != "commit" || t.target != q.Commit || t.name != q.Name {
		return Signer{}, &Fault{
			Revision: name, Author: t.author, Code: Misnamed,
			Detail: fmt.Sprintf("it is %q, and leads to %s %.40s", legible.Line(t.name, maxOwner), legible.Line(t.kind, maxOwner), t.target),
		}
	}
	return q.verify(name, t)
}

// verify checks the signature of one object.
func (q Question) verify(revision string, s signed) (Signer, *Fault) {
	fault := func(f Fault) (Signer, *Fault) {
		f.Revision, f.Author = revision, s.author
		return Signer{}, &f
	}
	switch {
	case s.fault != nil:
		return fault(*s.fault)
	case s.signature == "":
		return fault(Fault{Code: Unsigned})
	}
	var signer Signer
	var wrong *Fault
	switch {
	case strings.HasPrefix(s.signature, beginPGP):
		signer, wrong = q.Keys.openPGP(s.payload, s.signature, q.Policy, q.Now)
	case strings.HasPrefix(s.signature, beginSSH):
		signer, wrong = q.Keys.ssh(s.payload, s.signature, q.Policy, s.when)
	default:
		wrong = &Fault{Code: Unreadable, Detail: "it is neither an OpenPGP nor an SSH signature"}
	}
	if wrong != nil {
		return fault(*wrong)
	}
	return signer, nil
}

package integrity

import (
	"bytes"
	"crypto/rsa"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"

	"github.com/hiddeco/sshsig"
	"golang.org/x/crypto/ssh"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// gitNamespace is what Git signs for.
const gitNamespace = "git"

// ssh verifies a signature of ssh-keygen. Validity is that at the time when it was made, as the object says: Git does the same.
func (k *Keyring) ssh(payload []byte, text string, policy Policy, when time.Time) (Signer, *Fault) {
	sig, err := sshsig.Unarmor([]byte(text))
	if err != nil {
		return Signer{}, &Fault{Method: SSH, Code: Unreadable, Detail: "its armor or its key cannot be read"}
	}
	cert, certified := sig.PublicKey.(*ssh.Certificate)
	key := sig.PublicKey
	if certified {
		key = cert.Key
	}
	fault := func(code Code, detail string) (Signer, *Fault) {
		return Signer{}, &Fault{Method: SSH, Code: code, Key: ssh.FingerprintSHA256(key), Detail: detail}
	}
	switch {
	case sig.Namespace != gitNamespace:
		return fault(BadSignature, fmt.Sprintf("it is for the namespace %q", legible.Line(sig.Namespace, maxOwner)))
	case sig.Signature.Format == ssh.KeyAlgoRSA:
		return fault(Weak, "its hash is SHA-1")
	case sig.HashAlgorithm != sshsig.HashSHA256 && sig.HashAlgorithm != sshsig.HashSHA512:
		return fault(Weak, "its hash is neither SHA-256 nor SHA-512")
	case weakSSH(key) != "":
		return fault(Weak, weakSSH(key))
	case sshsig.Verify(bytes.NewReader(payload), sig, sig.PublicKey, sig.HashAlgorithm, gitNamespace) != nil:
		return fault(BadSignature, "")
	}
	code, detail := UnknownKey, ""
	for _, a := range k.signers {
		if a.authority != certified || !a.speaksOf(sig.PublicKey) {
			continue
		}
		if !a.signsForGit() {
			detail = "its line is for other namespaces than git"
			continue
		}
		if why := a.invalid(when); why != "" {
			code, detail = ExpiredKey, why
			continue
		}
		signer := Signer{Method: SSH, Key: ssh.FingerprintSHA256(key)}
		if certified {
			signer.Under = ssh.FingerprintSHA256(cert.SignatureKey)
			if why := checkCertificate(cert, when); why != "" {
				code, detail = ExpiredKey, why
				continue
			}
		}
		if signer.Owner = a.owner(policy.Signers, cert); signer.Owner == "" {
			code, detail = UnallowedKey, "it is that of "+legible.Line(a.principals, maxOwner)
			continue
		}
		return signer, nil
	}
	return fault(code, detail)
}

// keyDSA is the type of keys of DSA, which OpenSSH has removed.
const keyDSA = "ssh-dss"

// weakSSH says why a key is ignored; "" where it does.
func weakSSH(key ssh.PublicKey) string {
	if key.Type() == keyDSA {
		return "keys of DSA are not accepted"
	}
	if of, ok := key.(ssh.CryptoPublicKey); ok {
		if pub, ok := of.CryptoPublicKey().(*rsa.PublicKey); ok && pub.N.BitLen() < minRSA {
			return fmt.Sprintf("its RSA key has %d bits, less than %d", pub.N.BitLen(), minRSA)
		}
	}
	return ""
}

// checkCertificate says why the certificate of a user did not count at a time; "" where it did. Its authority was recognized.
func checkCertificate(cert *ssh.Certificate, when time.Time) string {
	at := uint64(max(when.Unix(), 0))
	switch {
	case cert.CertType != ssh.UserCert:
		return "its certificate is not that of a user"
	case len(cert.CriticalOptions) > 0:
		return "its certificate has critical options"
	case at < cert.ValidAfter || cert.ValidBefore != ssh.CertTimeInfinity && at >= cert.ValidBefore:
		return "its certificate was not valid at the time of the commit"
	case cert.Signature == nil || cert.Signature.Format == ssh.KeyAlgoRSA || weakSSH(cert.SignatureKey) != "":
		return "its certificate has a weak signature"
	}
	var checker ssh.CertChecker
	checker.Clock = func() time.Time { return when }
	checker.IsUserAuthority = func(auth ssh.PublicKey) bool { return bytes.Equal(auth.Marshal(), cert.SignatureKey.Marshal()) }
	for _, principal := range cert.ValidPrincipals {
		if err := checker.CheckCert(principal, cert); err == nil {
			return ""
		}
	}
	return "its certificate names no user, or its signature is bad"
}

// allowed is one line of an allowed signers file.
type allowed struct {
	principals string // a list of patterns
	authority  bool
	namespaces string // a list of patterns; "" for all
	after      time.Time
	before     time.Time
	key        ssh.PublicKey
}

// speaksOf reports whether the line is about a key, or about the authority that certified it.
func (a allowed) speaksOf(key ssh.PublicKey) bool {
	if cert, ok := key.(*ssh.Certificate); ok && a.authority {
		key = cert.SignatureKey
	}
	return bytes.Equal(a.key.Marshal(), key.Marshal())
}

// signsForGit reports whether the key of the line may sign commits and tags.
func (a allowed) signsForGit() bool { return a.namespaces == "" || matches(a.namespaces, gitNamespace) }

// invalid says why the line is ignored at a time; "" where it does.
func (a allowed) invalid(when time.Time) string {
	switch {
	case !a.after.IsZero() && when.Before(a.after):
		return "it was not valid yet at the time of the commit"
	case !a.before.IsZero() && !when.Before(a.before):
		return "it was not valid any more at the time of the commit"
	}
	return ""
}

// owner returns the principal of a policy that the line, and the certificate where there is one, allows; "" for none.
func (a allowed) owner(signers []string, cert *ssh.Certificate) string {
	var held []string // by the certificate, or by the line itself
	if cert == nil {
		held = strings.Split(a.principals, ",")
	} else {
		for _, p := range cert.ValidPrincipals {
			if matches(a.principals, p) {
				held = append(held, p)
			}
		}
	}
	for _, s := range signers {
		for _, p := range held {
			if s == "*" || p == s || cert == nil && matches(a.principals, s) {
				return legible.Line(p, maxOwner)
			}
		}
	}
	return ""
}

// matches reports whether a list of patterns, as OpenSSH has them, matches: one does, and none that begins with "!".
func matches(list, name string) bool {
	found := false
	for pattern := range strings.SplitSeq(list, ",") {
		pattern, deny := strings.CutPrefix(pattern, "!")
		if ok, err := path.Match(escape(pattern), escape(name)); err == nil && ok {
			if deny {
				return false
			}
			found = true
		}
	}
	return found
}

// escape has path.Match take everything but * and ? for itself: a "/" does not separate names of signers.
func escape(text string) string {
	return strings.NewReplacer("/", "\x00", `\`, "\x01", "[", "\x02", "]", "\x03").Replace(text)
}

// readSigners reads an allowed signers file.
func (k *Keyring) readSigners(text string) {
	if len(text) > maxKeyText {
		k.faults = append(k.faults, fmt.Sprintf("the allowed signers have more than %d KiB, and none is used: delete some", maxKeyText>>10))
		return
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		a, err := readSigner(line)
		if err != nil {
			k.faults = append(k.faults, fmt.Sprintf("line %d of the allowed signers is not used: %v", n, err))
			continue
		}
		if len(k.signers) == maxKeys {
			k.faults = append(k.faults, fmt.Sprintf("there are more than %d allowed signers: the last ones are not used; delete some", maxKeys))
			return
		}
		k.signers = append(k.signers, a)
	}
}

// readSigner reads one line: principals, options, and a key.
func readSigner(line string) (allowed, error) {
	var a allowed
	principals, rest := word(line)
	if a.principals = strings.ReplaceAll(principals, `"`, ""); a.principals == "" {
		return a, errors.New("it names no principal")
	}
	key, _, options, _, err := ssh.ParseAuthorizedKey([]byte(rest))
	if err != nil {
		return a, errors.New("write principals, options and a public key: ann@example.org namespaces=\"git\" ssh-ed25519 AAAA…")
	}
	if _, certified := key.(*ssh.Certificate); certified {
		return a, errors.New("its key is a certificate: give the key of the authority, with cert-authority")
	}
	a.key = key
	for _, option := range options {
		name, value, _ := strings.Cut(option, "=")
		value = strings.Trim(value, `"`)
		switch strings.ToLower(name) {
		case "cert-authority":
			a.authority = true
		case "namespaces":
			if a.namespaces = value; value == "" {
				return a, errors.New("its option namespaces is empty")
			}
		case "valid-after":
			a.after, err = readTime(value)
		case "valid-before":
			a.before, err = readTime(value)
		default:
			return a, fmt.Errorf("its option %q is not known", legible.Line(name, maxOwner))
		}
		if err != nil {
			return a, fmt.Errorf("its option %s is no time: write YYYYMMDD or YYYYMMDDHHMMSS, in UTC", legible.Line(name, maxOwner))
		}
	}
	if !a.after.IsZero() && !a.before.IsZero() && !a.before.After(a.after) {
		return a, errors.New("it ends before it begins")
	}
	return a, nil
}

// word cuts the first word off a line; blanks in quotes are part of it.
func word(line string) (first, rest string) {
	quoted := false
	for i, c := range line {
		switch {
		case c == '"':
			quoted = !quoted
		case (c == ' ' || c == '\t') && !quoted:
			return line[:i], strings.TrimSpace(line[i:])
		}
	}
	return line, ""
}

// readTime reads a time of an option. One without a zone is in UTC.
func readTime(text string) (time.Time, error) {
	text = strings.TrimSuffix(strings.TrimSuffix(text, "Z"), "z")
	for _, layout := range []string{"20060102", "200601021504", "20060102150405"} {
		if len(layout) == len(text) {
			return time.Parse(layout, text)
		}
	}
	return time.Time{}, errors.New("it has another length")
}

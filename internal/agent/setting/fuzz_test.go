package setting

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/git"
)

func FuzzRepositoryAddress(f *testing.F) {
	for _, address := range []string{"https://git.example/a", "https://a:b@git.example/a", "git@h:a", "oci://u:p@h/x", "https://%61:b@h", "ssh://a:b@h/x", "-u", "https://h/\x00", "https://a:b/c@h"} {
		f.Add(address)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if checkAddress(address) != nil || strings.HasPrefix(address, "oci://") {
			return
		}
		to, inside, err := git.ParseRemote(address, false)
		if err != nil || inside.Password != "" || strings.HasPrefix(to.URL, "file:") {
			t.Errorf("%q is taken: %v, %v", address, to, err)
		}
	})
}

func FuzzCertificateText(f *testing.F) {
	f.Add("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n")
	f.Add("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----")
	f.Add("-----BEGIN CERTIFICATE-----\na: b\n\nAAAA\n-----END CERTIFICATE-----x-----BEGIN")
	f.Fuzz(func(t *testing.T, text string) {
		if err := checkCertificates(text); err == nil && (!strings.Contains(text, "CERTIFICATE") || strings.Contains(text, "PRIVATE KEY")) {
			t.Errorf("%q is taken", text)
		}
	})
}

// What an index of charts says is bounded, and is text.
// keyOfNobody is a key of nobody, made for this test.
const keyOfNobody = `-----BEGIN PGP PUBLIC KEY BLOCK-----

mDMEawIMsBYJKwYBBAHaRw8BAQdArMLc03iwZi6VLICGHFiuA2eErhYWYqF/VYA3
vmzVKQe0F3Rlc3QgPHRlc3RAZXhhbXBsZS5vcmc+iJAEExYIADgWIQQRasTbzIX6
dntQWt74gOBc4pTl8AUCawIMsAIbAwULCQgHAgYVCgkICwIEFgIDAQIeAQIXgAAK
CRD4gOBc4pTl8GlYAP9yF5pHTg3FfdYnpRbvRNSXuJYguT2SsYS6m1Wpm+VuQAD/
ZTcjifyfnsdkh+Zkom28CsQI7XmqCrVRdZI2CK7pYQs=
=Cs5u
-----END PGP PUBLIC KEY BLOCK-----
`

func FuzzKeyID(f *testing.F) {
	f.Add(keyOfNobody)
	f.Add("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmA==\n-----END PGP PUBLIC KEY BLOCK-----")
	f.Add("-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nxv////8=\n-----END PGP PUBLIC KEY BLOCK-----")
	f.Fuzz(func(t *testing.T, text string) {
		if id, err := keyID(text); err == nil && len(id) != 16 {
			t.Errorf("the id is %q", id)
		}
	})
}

func FuzzKnownHosts(f *testing.F) {
	f.Add("git.example.org,b ssh-ed25519 AAAA\n", "ssh:b:ssh-ed25519")
	f.Add("@cert-authority *.a ssh-rsa AAAA\n|1|x|y ssh-rsa AAAA", "ssh:*.a:ssh-rsa")
	f.Fuzz(func(t *testing.T, text, name string) {
		if left := withoutHost(text, name); len(left) > len(text)+strings.Count(text, "\n")+1 {
			t.Errorf("taking %q out makes it longer: %q", name, left)
		}
		_, _, _ = knownHosts(map[string]string{"data": text})
	})
}

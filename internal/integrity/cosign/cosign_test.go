package cosign_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
)

var (
	signed = "sha256:" + strings.Repeat("a", 64)
	other  = "sha256:" + strings.Repeat("b", 64)
)

// maker signs with a key of its own.
type maker struct {
	t    *testing.T
	key  crypto.Signer
	hash crypto.Hash // 0 for what signs messages themselves
}

func (m maker) public(name string) cosign.Key {
	m.t.Helper()
	raw, err := x509.MarshalPKIXPublicKey(m.key.Public())
	if err != nil {
		m.t.Fatal(err)
	}
	key, err := cosign.ReadKey(name, string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw})))
	if err != nil {
		m.t.Fatal(err)
	}
	return key
}

func (m maker) sign(message []byte) string {
	m.t.Helper()
	digest := message
	switch m.hash {
	case crypto.SHA256:
		sum := sha256.Sum256(message)
		digest = sum[:]
	case crypto.SHA384:
		sum := sha512.Sum384(message)
		digest = sum[:]
	}
	raw, err := m.key.Sign(rand.Reader, digest, m.hash)
	if err != nil {
		m.t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(raw)
}

// tagged is a signature as it is under a tag.
func (m maker) tagged(digest string) cosign.Proof {
	payload := []byte(`{"critical":{"identity":{"docker-reference":"registry.example/a"},"image":{"docker-manifest-digest":"` + digest +
		`"},"type":"cosign container image signature"},"optional":null}`)
	return cosign.Proof{Payload: payload, Signature: m.sign(payload)}
}

// bundle is a signature that refers to an artifact, or another statement about it.
func (m maker) bundle(digest, predicate string) cosign.Proof {
	m.t.Helper()
	const kind = "application/vnd.in-toto+json"
	algorithm, digits, _ := strings.Cut(digest, ":")
	payload := []byte(`{"_type":"https://in-toto.io/Statement/v1","subject":[{"digest":{"` + algorithm + `":"` + digits +
		`"}}],"predicateType":"` + predicate + `","predicate":{}}`)
	text := fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(kind), kind, len(payload), payload)
	raw, err := json.Marshal(map[string]any{
		"mediaType":            "application/vnd.dev.sigstore.bundle.v0.3+json",
		"verificationMaterial": map[string]any{"publicKey": map[string]any{"hint": "x"}},
		"dsseEnvelope": map[string]any{
			"payload": base64.StdEncoding.EncodeToString(payload), "payloadType": kind, "signatures": []any{map[string]any{"sig": m.sign(text)}},
		},
	})
	if err != nil {
		m.t.Fatal(err)
	}
	return cosign.Proof{Payload: raw}
}

const sign = "https://sigstore.dev/cosign/sign/v1"

func made(t *testing.T, key crypto.Signer, err error, hash crypto.Hash) maker {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return maker{t, key, hash}
}

func curve(t *testing.T, c elliptic.Curve, hash crypto.Hash) maker {
	t.Helper()
	key, err := ecdsa.GenerateKey(c, rand.Reader)
	return made(t, key, err, hash)
}

func TestAGoodSignatureOfEveryKindOfKeyIsAccepted(t *testing.T) {
	t.Parallel()
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	for name, m := range map[string]maker{
		"P-256": curve(t, elliptic.P256(), crypto.SHA256), "P-384": curve(t, elliptic.P384(), crypto.SHA384),
		"P-384 with SHA-256": curve(t, elliptic.P384(), crypto.SHA256), "RSA": {t, large, crypto.SHA256}, "Ed25519": made(t, edwards, err, 0),
	} {
		for _, p := range []cosign.Proof{m.tagged(signed), m.bundle(signed, sign)} {
			key, fault := cosign.Judge(cosign.Question{
				Digest: signed, Proofs: []cosign.Proof{p}, Keys: []cosign.Key{m.public("release.pub")}, Allowed: []string{"release.pub"},
			})
			if fault != nil || !strings.HasPrefix(key.String(), "cosign key release.pub (") {
				t.Errorf("%s: %v, %v", name, key, fault)
			}
		}
	}
}

func TestWhatIsNoGoodSignatureIsRefused(t *testing.T) {
	t.Parallel()
	ours, theirs, strange := curve(t, elliptic.P256(), crypto.SHA256), curve(t, elliptic.P256(), crypto.SHA256), curve(t, elliptic.P256(), crypto.SHA256)
	keys := []cosign.Key{ours.public("ours"), theirs.public("theirs")}
	changed, cut := ours.tagged(other), ours.bundle(signed, sign)
	changed.Payload = []byte(strings.Replace(string(changed.Payload), other, signed, 1))
	cut.Payload = cut.Payload[:len(cut.Payload)-20]
	twice := ours.bundle(signed, sign)
	twice.Payload = []byte(strings.Replace(string(twice.Payload), `"signatures":[`, `"signatures":[{"sig":"YQ=="},`, 1))
	for name, c := range map[string]struct {
		proofs []cosign.Proof
		want   integrity.Code // "" for none
	}{
		"nothing":                         {nil, integrity.Unsigned},
		"an unknown key":                  {[]cosign.Proof{strange.tagged(signed)}, integrity.UnknownKey},
		"a key of another project":        {[]cosign.Proof{theirs.tagged(signed)}, integrity.UnallowedKey},
		"a bundle of another project":     {[]cosign.Proof{theirs.bundle(signed, sign)}, integrity.UnallowedKey},
		"another digest":                  {[]cosign.Proof{ours.tagged(other)}, cosign.Other},
		"a bundle of another digest":      {[]cosign.Proof{ours.bundle(other, sign)}, cosign.Other},
		"a payload that was changed":      {[]cosign.Proof{changed}, integrity.UnknownKey},
		"a list of parts, signed":         {[]cosign.Proof{ours.bundle(signed, "https://cyclonedx.org/bom")}, integrity.Unreadable},
		"a bundle that is cut off":        {[]cosign.Proof{cut}, integrity.Unreadable},
		"two signatures in one bundle":    {[]cosign.Proof{twice}, integrity.Unreadable},
		"no JSON":                         {[]cosign.Proof{{Payload: []byte("x"), Signature: "YQ=="}, {Payload: []byte("[]")}}, integrity.Unreadable},
		"two signatures, one is allowed":  {[]cosign.Proof{theirs.tagged(signed), ours.tagged(signed)}, ""},
		"a strange one before a good one": {[]cosign.Proof{strange.tagged(signed), {Payload: []byte("x")}, ours.bundle(signed, sign)}, ""},
		"too many":                        {append(slices.Repeat([]cosign.Proof{strange.tagged(signed)}, cosign.MaxProofs), ours.tagged(signed)), integrity.UnknownKey},
	} {
		key, fault := cosign.Judge(cosign.Question{Digest: signed, Proofs: c.proofs, Keys: keys, Allowed: []string{"ours"}})
		switch {
		case c.want == "" && (fault != nil || key.Name != "ours"):
			t.Errorf("%s: %v, %v", name, key, fault)
		case c.want != "" && (fault == nil || fault.Code != c.want || fault.Next() == ""):
			t.Errorf("%s: %v, %v; want %s", name, key, fault, c.want)
		}
	}
}

func TestWhatIsNoPublicKeyIsRefused(t *testing.T) {
	t.Parallel()
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Skip("this Go makes no small keys")
	}
	raw, err := x509.MarshalPKIXPublicKey(small.Public())
	if err != nil {
		t.Fatal(err)
	}
	const planted = "cGxhbnRlZA=="
	for name, text := range map[string]string{
		"nothing": "", "a private one": "-----BEGIN ENCRYPTED SIGSTORE PRIVATE KEY-----\n" + planted + "\n-----END ENCRYPTED SIGSTORE PRIVATE KEY-----\n",
		"a certificate": "-----BEGIN CERTIFICATE-----\n" + planted + "\n-----END CERTIFICATE-----\n",
		"no key":        "-----BEGIN PUBLIC KEY-----\n" + planted + "\n-----END PUBLIC KEY-----\n",
		"small RSA":     string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: raw})),
		"long":          strings.Repeat("x", 1<<20),
	} {
		if _, err := cosign.ReadKey("x", text); err == nil || strings.Contains(err.Error(), planted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

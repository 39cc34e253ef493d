package statement_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/statement"
)

func signers(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ec, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"Ed25519": ed, "ECDSA": ec}
}

// published is a key as ParseKeys gives it.
func published(t *testing.T, key crypto.PublicKey) []crypto.PublicKey {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		t.Fatal(err)
	}
	keys, err := statement.ParseKeys(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func digestOf(c string) string { return "sha256:" + strings.Repeat(c, 64) }

func two() statement.Statement {
	return statement.Statement{Issued: time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC), Releases: []statement.Release{
		{Version: "1.4.0", Digest: digestOf("a"), Minimum: "1.2.0"}, {Version: "1.5.0-rc.1", Digest: digestOf("b")},
	}}
}

func TestAStatementIsReadAsItWasSigned(t *testing.T) {
	t.Parallel()
	for name, key := range signers(t) {
		raw, err := statement.Sign(two(), key)
		if err != nil {
			t.Fatal(err)
		}
		got, err := statement.Verify(raw, published(t, key.Public()))
		if d := cmp.Diff(two(), got); d != "" || err != nil {
			t.Errorf("%s: %v\n%s", name, err, d)
		}
		if r, ok := got.Find(digestOf("a")); !ok || r.Minimum != "1.2.0" {
			t.Errorf("%s: found %+v, %t", name, r, ok)
		}
		if _, ok := got.Find(digestOf("c")); ok {
			t.Errorf("%s: found what is not in it", name)
		}
	}
}

func TestAStatementThatNoTrustedKeySignedIsRefused(t *testing.T) {
	t.Parallel()
	all := signers(t)
	raw, err := statement.Sign(two(), all["Ed25519"])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := statement.Verify(raw, published(t, all["ECDSA"].Public())); !errors.Is(err, statement.ErrUnsigned) {
		t.Errorf("another key: %v", err)
	}
	if _, err := statement.Verify(raw, nil); !errors.Is(err, statement.ErrUnsigned) {
		t.Errorf("no key: %v", err)
	}
	keys := published(t, all["Ed25519"].Public())
	var e map[string]any
	if err := json.Unmarshal(raw, &e); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(map[string]any){
		"another type":         func(e map[string]any) { e["payloadType"] = "application/vnd.in-toto+json" },
		"another payload":      func(e map[string]any) { e["payload"] = "e30=" },
		"another signature":    func(e map[string]any) { e["signatures"] = []any{map[string]any{"sig": "AAAA"}} },
		"no signature":         func(e map[string]any) { e["signatures"] = []any{} },
		"many signatures":      func(e map[string]any) { e["signatures"] = make([]map[string]any, 50) },
		"a field too much":     func(e map[string]any) { e["more"] = true },
		"a payload of numbers": func(e map[string]any) { e["payload"] = 7 },
	} {
		fresh := map[string]any{"payloadType": e["payloadType"], "payload": e["payload"], "signatures": e["signatures"]}
		change(fresh)
		bad, err := json.Marshal(fresh)
		if err != nil {
			t.Fatal(err)
		}
		if s, err := statement.Verify(bad, keys); err == nil {
			t.Errorf("%s: taken: %+v", name, s)
		}
	}
	if _, err := statement.Verify(append(bytes.Repeat([]byte(" "), statement.MaxBytes), raw...), keys); err == nil {
		t.Error("a large one is taken")
	}
}

func TestAStatementMeansOneThing(t *testing.T) {
	t.Parallel()
	key := signers(t)["Ed25519"]
	for name, change := range map[string]func(*statement.Statement){
		"no release":              func(s *statement.Statement) { s.Releases = nil },
		"a version twice":         func(s *statement.Statement) { s.Releases[1].Version = "1.4.0" },
		"a digest twice":          func(s *statement.Statement) { s.Releases[1].Digest = digestOf("a") },
		"a version that is none":  func(s *statement.Statement) { s.Releases[0].Version = "latest" },
		"a tag in place of a sum": func(s *statement.Statement) { s.Releases[0].Digest = "v1.4.0" },
		"a minimum that is none":  func(s *statement.Statement) { s.Releases[0].Minimum = "old" },
		"a minimum above itself":  func(s *statement.Statement) { s.Releases[0].Minimum = "1.4.1" },
		"a platform that is none": func(s *statement.Statement) { s.Releases[0].Platforms = []string{"linux"} },
		"platforms without end":   func(s *statement.Statement) { s.Releases[0].Platforms = slices.Repeat([]string{"linux/arm64"}, 100) },
	} {
		s := two()
		change(&s)
		if _, err := statement.Sign(s, key); err == nil {
			t.Errorf("%s: it is signed", name)
		}
	}
}

func TestVersionsAreCompared(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"1.2.0", "1.10.0", true},
		{"1.10.0", "1.2.0", false},
		{"1.4.0", "1.4.0", false},
		{"1.5.0-rc.1", "1.5.0", true},
		{"v1.4.0", "1.4.1", true},
		{"devel", "1.4.0", false},
		{"1.4.0", "devel", false},
		{"", "1.0.0", false},
		{"7054321", "7054322.0.0", false}, // a commit, as builds without a version have
	} {
		if got := statement.Older(c.a, c.b); got != c.want {
			t.Errorf("%s older than %s: %t", c.a, c.b, got)
		}
	}
	if got := statement.Floor("1.2.0", "1.3.0"); got != "1.3.0" {
		t.Errorf("the floor is %s", got)
	}
	if got := statement.Floor("", "1.3.0") + statement.Floor("1.2.0", "") + statement.Floor("", ""); got != "1.3.01.2.0" {
		t.Errorf("the floors are %s", got)
	}
}

func TestKeysOfOtherKindsAreRefused(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKIXPublicKey(p384.Public())
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(p384)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"none": nil, "no PEM": []byte("key"), "another curve": pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}),
		"a private key": pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}),
	} {
		if _, err := statement.ParseKeys(text); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
	if _, err := statement.ParseSigner(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})); err == nil {
		t.Error("a signer of another curve is taken")
	}
}

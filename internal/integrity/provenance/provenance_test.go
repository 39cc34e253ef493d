package provenance_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	helm "helm.sh/helm/v4/pkg/provenance"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/provenance"
)

const (
	meta = "apiVersion: v2\nname: web\nversion: 1.0.0\n"
	file = "web-1.0.0.tgz"
)

var archive = []byte("the archive")

func digest(raw []byte) string {
	sum := sha256.Sum256(raw)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// text is what Helm signs.
func text(meta, file, digest string) string {
	return fmt.Sprintf("%s\n...\nfiles:\n  %s: %s\n", meta, file, digest)
}

// ask asks about the archive that is deployed.
func ask(prov string, keys *integrity.Keyring, allowed ...string) provenance.Question {
	return provenance.Question{
		Text: []byte(prov), Keys: keys, Allowed: allowed, Now: time.Now(), Chart: "web", Version: "1.0.0", File: file, Digest: digest(archive),
	}
}

func TestWhatHelmSignsIsVerified(t *testing.T) {
	t.Parallel()
	key := pgpKey(t, "Ann <ann@example.org>", "never")
	secret := filepath.Join(t.TempDir(), "secring.gpg")
	if err := os.WriteFile(secret, []byte(gpg(t, "", "--export-secret-keys", key)), 0o600); err != nil {
		t.Fatal(err)
	}
	signatory, err := helm.NewFromKeyring(secret, "Ann")
	if err != nil {
		t.Fatal(err)
	}
	prov, err := signatory.ClearSign(archive, file, []byte(meta))
	if err != nil {
		t.Fatal(err)
	}
	v, fault := provenance.Judge(ask(prov, keyring(t, key), id(key)))
	if fault != nil || v.Signer.Key != id(key) || v.Signer.Owner != "Ann <ann@example.org>" || !v.Until.IsZero() {
		t.Errorf("%+v, %v", v, fault)
	}
}

func TestAProvenanceFileIsJudged(t *testing.T) {
	t.Parallel()
	ours, theirs, strange := pgpKey(t, "Ann <ann@example.org>", "never"), pgpKey(t, "Bob <bob@example.org>", "never"), pgpKey(t, "Eve", "never")
	keys := keyring(t, ours, theirs)
	good := text(meta, file, digest(archive))
	sign := func(said string, by ...string) string { return clearSigned(t, said, by...) }
	for name, c := range map[string]struct {
		prov   string
		change func(*provenance.Question)
		want   integrity.Code // "" for trusted
	}{
		"a good one":                   {sign(good, ours), nil, ""},
		"by the fingerprint":           {sign(good, ours), func(q *provenance.Question) { q.Allowed = []string{ours} }, ""},
		"of a registry":                {sign(good, ours), func(q *provenance.Question) { q.File = "" }, ""},
		"of a digest":                  {sign(good, ours), func(q *provenance.Question) { q.File, q.Version = "", "" }, ""},
		"of a tag with a letter":       {sign(good, ours), func(q *provenance.Question) { q.File, q.Version = "", "v1.0.0" }, ""},
		"two signatures, one is good":  {sign(good, strange, ours), nil, ""},
		"two signatures, none is":      {sign(good, strange, theirs), nil, integrity.UnallowedKey},
		"none":                         {"", nil, integrity.Unsigned},
		"another project's key":        {sign(good, theirs), nil, integrity.UnallowedKey},
		"a key that is not there":      {sign(good, strange), nil, integrity.UnknownKey},
		"an archive that was altered":  {sign(good, ours), func(q *provenance.Question) { q.Digest = digest([]byte("evil")) }, integrity.OtherContent},
		"of another version":           {sign(text("name: web\nversion: 0.9.0\n", file, digest(archive)), ours), nil, provenance.OtherChart},
		"of another chart":             {sign(text("name: api\nversion: 1.0.0\n", file, digest(archive)), ours), nil, provenance.OtherChart},
		"of another archive":           {sign(text(meta, "web-0.9.0.tgz", digest(archive)), ours), nil, integrity.OtherContent},
		"another hash":                 {sign(text(meta, file, "md5:"+strings.Repeat("0", 32)), ours), func(q *provenance.Question) { q.Digest = "md5:" + strings.Repeat("0", 32) }, integrity.OtherContent},
		"text before":                  {"name: web\n" + sign(good, ours), nil, integrity.Unreadable},
		"text behind":                  {sign(good, ours) + "files: {}\n", nil, integrity.Unreadable},
		"two blocks":                   {sign(good, ours) + sign(good, ours), nil, integrity.Unreadable},
		"text that was changed":        {strings.Replace(sign(good, ours), "version: 1.0.0", "version: 1.0.1", 1), nil, integrity.BadSignature},
		"a file that was added":        {strings.Replace(sign(good, ours), "files:\n", "files:\n  x.tgz: sha256:00\n", 1), nil, integrity.BadSignature},
		"three parts":                  {sign(good+"\n...\nfiles: {}\n", ours), nil, integrity.Unreadable},
		"no parts":                     {sign("hello\n", ours), nil, integrity.Unreadable},
		"a name twice":                 {sign(meta+"name: api\n\n...\nfiles: {}\n", ours), nil, integrity.Unreadable},
		"files that are none":          {sign(meta+"\n...\nfiles: [a]\n", ours), nil, integrity.Unreadable},
		"no signature":                 {"-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + good, nil, integrity.Unreadable},
		"a signature of another kind":  {gpg(t, good, "--armor", "--sign", "--local-user", ours), nil, integrity.Unreadable},
		"a huge one":                   {sign(good+strings.Repeat("# x\n", 70_000), ours), nil, integrity.Unreadable},
		"a weak hash":                  {gpg(t, good, "--clearsign", "--digest-algo", "SHA1", "--allow-weak-digest-algos", "--local-user", ours), nil, integrity.Weak},
		"Unicode before the signature": {"\uFEFF" + sign(good, ours), nil, integrity.Unreadable},
	} {
		q := ask(c.prov, keys, id(ours))
		if c.change != nil {
			c.change(&q)
		}
		v, fault := provenance.Judge(q)
		switch {
		case c.want == "" && (fault != nil || v.Signer.Key != id(ours)):
			t.Errorf("%s: %+v, %v", name, v, fault)
		case c.want != "" && (fault == nil || fault.Code != c.want || !strings.Contains(fault.String(), "; ")):
			t.Errorf("%s: %+v, %v; want %s", name, v, fault, c.want)
		}
	}
}

func TestASignedChartIsTrustedUntilItsKeyExpires(t *testing.T) {
	t.Parallel()
	short := pgpKey(t, "Ann <ann@example.org>", "1y")
	keys := keyring(t, short)
	q := ask(clearSigned(t, text(meta, file, digest(archive)), short), keys, id(short))
	v, fault := provenance.Judge(q)
	if fault != nil || v.Until.Before(time.Now().AddDate(0, 11, 0)) || v.Until.After(time.Now().AddDate(1, 0, 2)) {
		t.Fatalf("%+v, %v", v, fault)
	}
	for name, now := range map[string]time.Time{"when it expires": v.Until.Add(time.Second), "later": v.Until.AddDate(1, 0, 0)} {
		q.Now = now
		if v, fault := provenance.Judge(q); fault == nil || fault.Code != integrity.ExpiredKey {
			t.Errorf("%s: %+v, %v", name, v, fault)
		}
	}
	dir, _ := home()
	raw, err := os.ReadFile(filepath.Join(dir, "openpgp-revocs.d", short+".rev"))
	if err != nil {
		t.Fatal(err)
	}
	gpg(t, strings.Replace(string(raw), ":-----BEGIN", "-----BEGIN", 1), "--import")
	q.Keys, q.Now = keyring(t, short), time.Now().Add(time.Minute)
	if v, fault := provenance.Judge(q); fault == nil || fault.Code != integrity.RevokedKey {
		t.Errorf("a key that is revoked: %+v, %v", v, fault)
	}
}

func FuzzProvenance(f *testing.F) {
	f.Add([]byte("-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA512\n\n" + text(meta, file, digest(archive)) +
		"-----BEGIN PGP SIGNATURE-----\n\niQ==\n=AAAA\n-----END PGP SIGNATURE-----\n"))
	keys := integrity.NewKeyring(nil, "")
	f.Fuzz(func(t *testing.T, raw []byte) {
		if v, fault := provenance.Judge(ask(string(raw), keys)); fault == nil || fault.String() == "" {
			t.Errorf("without a key it is trusted: %+v", v)
		}
	})
}

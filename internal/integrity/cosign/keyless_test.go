package cosign_test

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/cosign"
	"github.com/slipway-gitops/slipway/internal/testenv/sigstore"
)

const full = sigstore.Log | sigstore.Certs | sigstore.Times

func rootOf(t *testing.T, name string, s *sigstore.Sigstore) cosign.Root {
	t.Helper()
	r, err := cosign.ReadRoot(name, s.Root())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func tagged(s *sigstore.Sigstore, who sigstore.Signer, digest string) cosign.Proof {
	payload, a := s.Tagged(who, digest)
	return cosign.Proof{
		Payload: payload, Signature: a[sigstore.AnnotationSignature], Certificate: a[sigstore.AnnotationCertificate],
		Log: a[sigstore.AnnotationLog], Timestamp: a[sigstore.AnnotationTimestamp],
	}
}

func bundled(s *sigstore.Sigstore, who sigstore.Signer, version, digest string) cosign.Proof {
	return cosign.Proof{Payload: s.JSON(s.Bundle(who, version, digest, sign))}
}

// asks is a question that allows the signer that pipelines are.
func asks(roots []cosign.Root, proofs ...cosign.Proof) cosign.Keyless {
	who := sigstore.Workflow()
	return cosign.Keyless{
		Digest: signed, Proofs: proofs, Roots: roots, Named: []string{"ours"},
		Allows: func(i cosign.Identity) bool {
			return i.Root.Name == "ours" && i.Issuer == who.Issuer && i.Subject == who.Subjects[0]
		},
	}
}

func TestASignatureByAnIdentityIsAcceptedInEveryLayout(t *testing.T) {
	t.Parallel()
	for name, parts := range map[string]sigstore.Parts{
		"all services": full, "log and certificates": sigstore.Log | sigstore.Certs, "log alone": sigstore.Log, "timestamps alone": sigstore.Times,
		"timestamps and certificates": sigstore.Times | sigstore.Certs, "log and timestamps": sigstore.Log | sigstore.Times,
	} {
		s := sigstore.New(t, parts)
		roots := []cosign.Root{rootOf(t, "ours", s)}
		who := sigstore.Workflow()
		for layout, p := range map[string]cosign.Proof{
			"tag": tagged(s, who, signed), "0.1": bundled(s, who, "0.1", signed), "0.2": bundled(s, who, "0.2", signed), "0.3": bundled(s, who, "0.3", signed),
		} {
			got, fault := cosign.JudgeKeyless(asks(roots, p))
			if fault != nil || got.Subject != who.Subjects[0] || got.Issuer != who.Issuer || got.Root.Name != "ours" {
				t.Errorf("%s, %s: %v, %v", name, layout, got, fault)
				continue
			}
			for _, part := range []string{who.Subjects[0], who.Issuer, "root ours, " + roots[0].Fingerprint} {
				if !strings.Contains(got.String(), part) {
					t.Errorf("%s does not say %s", got, part)
				}
			}
		}
	}
}

func TestALogOfTheSecondVersionNeedsATimestamp(t *testing.T) {
	t.Parallel()
	s := sigstore.New(t, full)
	roots := []cosign.Root{rootOf(t, "ours", s)}
	who := sigstore.Workflow()
	who.Second = true
	if got, fault := cosign.JudgeKeyless(asks(roots, bundled(s, who, "0.3", signed))); fault != nil {
		t.Errorf("%v, %v", got, fault)
	}
	untimed, ended := who, who
	untimed.Without, ended.For = sigstore.Times, 30*time.Second
	another := change(t, s, who, func(m map[string]any) {
		m["tlogEntries"] = s.Bundle(who, "0.3", signed, sign)["verificationMaterial"].(map[string]any)["tlogEntries"]
	})
	for name, c := range map[string]struct {
		proof  cosign.Proof
		detail string
	}{
		"without a timestamp":            {bundled(s, untimed, "0.3", signed), "timestamps"},
		"a certificate that ended":       {bundled(s, ended, "0.3", signed), "leaf certificate"},
		"the entry of another signature": {another, "inclusion"},
	} {
		if _, fault := cosign.JudgeKeyless(asks(roots, c.proof)); fault == nil || fault.Code != cosign.Unproved || !strings.Contains(fault.Detail, c.detail) {
			t.Errorf("%s: %v", name, fault)
		}
	}
}

func TestAPersonSignsWithAnAddressOfMail(t *testing.T) {
	t.Parallel()
	s := sigstore.New(t, full)
	who := sigstore.Signer{Subjects: []string{"ann@example.org"}, Issuer: "https://accounts.example"}
	q := asks([]cosign.Root{rootOf(t, "ours", s)}, tagged(s, who, signed), bundled(s, who, "0.3", signed))
	q.Allows = func(i cosign.Identity) bool { return i.Subject == "ann@example.org" && i.Issuer == who.Issuer }
	if got, fault := cosign.JudgeKeyless(q); fault != nil {
		t.Errorf("%v, %v", got, fault)
	}
}

// change changes a bundle at a path.
func change(t *testing.T, s *sigstore.Sigstore, who sigstore.Signer, edit func(material map[string]any)) cosign.Proof {
	t.Helper()
	var b map[string]any
	if err := json.Unmarshal(s.JSON(s.Bundle(who, "0.3", signed, sign)), &b); err != nil {
		t.Fatal(err)
	}
	edit(b["verificationMaterial"].(map[string]any))
	return cosign.Proof{Payload: s.JSON(b)}
}

func entryOf(material map[string]any) map[string]any {
	return material["tlogEntries"].([]any)[0].(map[string]any)
}

// flipped is base64 with another first byte.
func flipped(t *testing.T, text any) string {
	t.Helper()
	raw, err := base64.StdEncoding.DecodeString(text.(string))
	if err != nil {
		t.Fatal(err)
	}
	raw[0] ^= 1
	return base64.StdEncoding.EncodeToString(raw)
}

func TestASignatureThatProvesNoIdentityIsRefused(t *testing.T) {
	t.Parallel()
	s, elsewhere := sigstore.New(t, full), sigstore.New(t, full)
	stamps := sigstore.New(t, sigstore.Times|sigstore.Certs)
	who := sigstore.Workflow()
	ended, old := who, who
	ended.For = 30 * time.Second // before it was logged
	old.At = time.Now().Add(-40 * time.Minute)
	unlogged, uncertified, untimed := who, who, who
	unlogged.Without, uncertified.Without, untimed.Without = sigstore.Log, sigstore.Certs, full&^sigstore.Certs
	two := who
	two.Subjects = append(slices.Clone(who.Subjects), "https://git.example/other")
	good, other2 := tagged(s, who, signed), tagged(s, who, other)
	mixed := good
	mixed.Log = other2.Log
	stampless := good
	stampless.Timestamp, stampless.Log = "", ""
	changed := good
	changed.Payload = bytes.Replace(good.Payload, []byte("registry.example/a"), []byte("registry.example/b"), 1)
	for name, c := range map[string]struct {
		by     *sigstore.Sigstore // whose root is ours
		proofs []cosign.Proof
		want   integrity.Code
		detail string
	}{
		"nothing":                            {s, nil, integrity.Unsigned, ""},
		"another root":                       {elsewhere, []cosign.Proof{good, bundled(s, who, "0.3", signed)}, cosign.Unproved, ""},
		"another authority, our log's parts": {s, []cosign.Proof{bundled(elsewhere, who, "0.3", signed)}, cosign.Unproved, "log"},
		"a certificate that ended":           {s, []cosign.Proof{bundled(s, ended, "0.3", signed)}, cosign.Unproved, "integrated time outside certificate validity"},
		"under a tag as well":                {s, []cosign.Proof{tagged(s, ended, signed)}, cosign.Unproved, "integrated time outside certificate validity"},
		"one that ended, by its timestamp":   {stamps, []cosign.Proof{bundled(stamps, ended, "0.3", signed)}, cosign.Unproved, "leaf certificate"},
		"a certificate without a time":       {stamps, []cosign.Proof{bundled(stamps, untimed, "0.3", signed), tagged(stamps, untimed, signed)}, cosign.Unproved, "timestamps"},
		"without the log":                    {s, []cosign.Proof{bundled(s, unlogged, "0.3", signed), tagged(s, unlogged, signed)}, cosign.Unproved, "log"},
		"a certificate that is not logged":   {s, []cosign.Proof{bundled(s, uncertified, "0.3", signed), tagged(s, uncertified, signed)}, cosign.Unproved, "signed certificate timestamp"},
		"nothing but a certificate":          {s, []cosign.Proof{stampless}, cosign.Unproved, "log"},
		"the entry of another artifact":      {s, []cosign.Proof{mixed}, cosign.Unproved, "transparency log"},
		"the payload of another digest":      {s, []cosign.Proof{other2, bundled(s, who, "0.3", other)}, cosign.Other, ""},
		"a payload that was changed":         {s, []cosign.Proof{changed}, cosign.Unproved, ""},
		"two subjects":                       {s, []cosign.Proof{bundled(s, two, "0.3", signed), tagged(s, two, signed)}, integrity.Unreadable, "exactly one subject"},
		"a list of parts":                    {s, []cosign.Proof{{Payload: s.JSON(s.Bundle(who, "0.3", signed, "https://cyclonedx.org/bom"))}}, integrity.Unreadable, ""},
		"a bundle of a version to come":      {s, []cosign.Proof{{Payload: bytes.Replace(s.JSON(s.Bundle(who, "0.3", signed, sign)), []byte("v0.3+json"), []byte("v0.4+json"), 1)}}, integrity.Unreadable, ""},
		"a huge bundle":                      {s, []cosign.Proof{{Payload: append(s.JSON(s.Bundle(who, "0.3", signed, sign)), bytes.Repeat([]byte(" "), 1<<20)...)}}, integrity.Unreadable, ""},
		"a huge annotation":                  {s, []cosign.Proof{{Payload: good.Payload, Signature: good.Signature, Certificate: good.Certificate + strings.Repeat("\n", 1<<20)}}, integrity.Unreadable, ""},
		"many entries": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			m["tlogEntries"] = slices.Repeat(m["tlogEntries"].([]any), 100)
		})}, integrity.Unreadable, "too many"},
		"one entry twice": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			m["tlogEntries"] = slices.Repeat(m["tlogEntries"].([]any), 2)
		})}, cosign.Unproved, "duplicate"},
		"many timestamps": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			m["timestampVerificationData"] = map[string]any{"rfc3161Timestamps": slices.Repeat([]any{map[string]any{"signedTimestamp": "YQ=="}}, 5000)}
		})}, integrity.Unreadable, "too many"},
		"a large entry": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			entryOf(m)["canonicalizedBody"] = base64.StdEncoding.EncodeToString(make([]byte, 16<<10+1))
		})}, integrity.Unreadable, "more than 16 KiB"},
		"a large timestamp": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			large := base64.StdEncoding.EncodeToString(make([]byte, 16<<10+1))
			m["timestampVerificationData"] = map[string]any{"rfc3161Timestamps": []any{map[string]any{"signedTimestamp": large}}}
		})}, integrity.Unreadable, "more than 16 KiB"},
		"a proof of inclusion that was changed": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			proof := entryOf(m)["inclusionProof"].(map[string]any)
			proof["hashes"] = []any{flipped(t, proof["hashes"].([]any)[0])}
		})}, cosign.Unproved, ""},
		"another root hash": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			proof := entryOf(m)["inclusionProof"].(map[string]any)
			proof["rootHash"] = flipped(t, proof["rootHash"])
		})}, cosign.Unproved, ""},
		"a checkpoint of nobody": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			at := entryOf(m)["inclusionProof"].(map[string]any)["checkpoint"].(map[string]any)
			at["envelope"] = strings.Replace(at["envelope"].(string), "\n2\n", "\n3\n", 1)
		})}, cosign.Unproved, ""},
		"another time in the log": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			entryOf(m)["integratedTime"] = "1"
		})}, cosign.Unproved, "log"},
		"a timestamp of another signature": {stamps, []cosign.Proof{change(t, stamps, who, func(m map[string]any) {
			m["timestampVerificationData"] = map[string]any{"rfc3161Timestamps": []any{map[string]any{"signedTimestamp": stamps.Stamp([]byte("x"), time.Now())}}}
		})}, cosign.Unproved, "timestamps"},
		"a timestamp of another authority": {stamps, []cosign.Proof{change(t, stamps, who, func(m map[string]any) {
			m["timestampVerificationData"] = elsewhere.Bundle(who, "0.3", signed, sign)["verificationMaterial"].(map[string]any)["timestampVerificationData"]
		})}, cosign.Unproved, "timestamps"},
		"a key beside nothing": {s, []cosign.Proof{change(t, s, who, func(m map[string]any) {
			delete(m, "certificate")
			m["publicKey"] = map[string]any{"hint": "x"}
		}), {Payload: good.Payload, Signature: good.Signature}}, cosign.Uncertified, ""},
		"unreadable parts": {s, []cosign.Proof{
			{Payload: good.Payload, Signature: good.Signature, Certificate: "x"},
			{Payload: good.Payload, Signature: good.Signature, Certificate: good.Certificate, Log: "{"},
			{Payload: good.Payload, Signature: good.Signature, Certificate: good.Certificate, Timestamp: "[]"},
			{Payload: good.Payload, Signature: good.Signature, Certificate: good.Certificate + good.Certificate, Log: good.Log},
		}, integrity.Unreadable, "annotation"},
	} {
		got, fault := cosign.JudgeKeyless(asks([]cosign.Root{rootOf(t, "ours", c.by)}, c.proofs...))
		if fault == nil || fault.Code != c.want || !strings.Contains(fault.Detail, c.detail) || fault.Next() == "" || len(fault.String()) > 1000 {
			t.Errorf("%s: %v, %v; want %s with %q", name, got, fault, c.want, c.detail)
		}
	}
	if _, fault := cosign.JudgeKeyless(asks([]cosign.Root{rootOf(t, "ours", s)}, bundled(s, old, "0.3", signed), tagged(s, old, signed))); fault != nil {
		t.Errorf("a certificate that was valid when it signed: %v", fault)
	}
}

func TestAnIdentityIsAllowedAsAWhole(t *testing.T) {
	t.Parallel()
	s := sigstore.New(t, full)
	root := rootOf(t, "ours", s)
	who := sigstore.Workflow()
	longer, shorter, provider := who, who, who
	longer.Subjects = []string{who.Subjects[0] + ".evil"}
	shorter.Subjects = []string{"https://evil.example/" + who.Subjects[0]}
	provider.Issuer = who.Issuer + ".evil"
	for name, bad := range map[string]sigstore.Signer{"wanted as prefix": longer, "wanted as suffix": shorter, "another issuer": provider} {
		for _, p := range []cosign.Proof{tagged(s, bad, signed), bundled(s, bad, "0.3", signed)} {
			_, fault := cosign.JudgeKeyless(asks([]cosign.Root{root}, p))
			if fault == nil || fault.Code != cosign.UnallowedIdentity || fault.By == nil || fault.By.Subject != bad.Subjects[0] || fault.By.Issuer != bad.Issuer {
				t.Errorf("%s: %+v", name, fault)
				continue
			}
			if text := fault.String(); !strings.Contains(text, "identity="+bad.Subjects[0]+", issuer="+bad.Issuer+", root=ours") {
				t.Errorf("%s: %s", name, text)
			}
			if _, fault := cosign.JudgeKeyless(asks([]cosign.Root{root}, p, bundled(s, who, "0.3", signed))); fault != nil {
				t.Errorf("%s beside a good one: %v", name, fault)
			}
		}
	}
}

func TestOnlyNamedRootsCount(t *testing.T) {
	t.Parallel()
	ours, theirs := sigstore.New(t, full), sigstore.New(t, sigstore.Times)
	roots := []cosign.Root{rootOf(t, "ours", ours), rootOf(t, "theirs", theirs)}
	q := asks(roots, bundled(theirs, sigstore.Workflow(), "0.3", signed))
	if _, fault := cosign.JudgeKeyless(q); fault == nil || fault.Code != cosign.Unproved {
		t.Errorf("a root that the project does not name: %v", fault)
	}
	q.Named = []string{"ours", "theirs"}
	if _, fault := cosign.JudgeKeyless(q); fault == nil || fault.Code != cosign.UnallowedIdentity || fault.By.Root.Name != "theirs" {
		t.Errorf("an identity of another root: %v", fault)
	}
	q.Allows = func(i cosign.Identity) bool { return i.Root.Name == "theirs" }
	if _, fault := cosign.JudgeKeyless(q); fault != nil {
		t.Error(fault)
	}
	q.Named = []string{"gone"}
	if _, fault := cosign.JudgeKeyless(q); fault == nil || fault.Code != cosign.UnknownRoot || !strings.Contains(fault.String(), "root=gone") {
		t.Errorf("a root that the agent does not have: %v", fault)
	}
	if q.Named = []string{"gone", "ours"}; true {
		if _, fault := cosign.JudgeKeyless(q); fault == nil || fault.Code != cosign.UnknownRoot {
			t.Errorf("one of two roots that the agent does not have: %v", fault)
		}
	}
}

func TestAKeyIsNoIdentityAndAnIdentityIsNoKey(t *testing.T) {
	t.Parallel()
	s, m := sigstore.New(t, full), curve(t, elliptic.P256(), crypto.SHA256)
	roots := []cosign.Root{rootOf(t, "ours", s)}
	for _, p := range []cosign.Proof{m.tagged(signed), m.bundle(signed, sign)} {
		q := asks(roots, p)
		q.Allows = func(cosign.Identity) bool { return true }
		if _, fault := cosign.JudgeKeyless(q); fault == nil || fault.Code != cosign.Uncertified {
			t.Errorf("a key: %v", fault)
		}
	}
	for _, p := range []cosign.Proof{tagged(s, sigstore.Workflow(), signed), bundled(s, sigstore.Workflow(), "0.3", signed)} {
		_, fault := cosign.Judge(cosign.Question{Digest: signed, Proofs: []cosign.Proof{p}, Keys: []cosign.Key{m.public("ours")}, Allowed: []string{"ours"}})
		if fault == nil || fault.Code != integrity.UnknownKey {
			t.Errorf("an identity: %v", fault)
		}
	}
}

func TestWhatIsNoTrustRootIsRefused(t *testing.T) {
	t.Parallel()
	good := sigstore.New(t, full).Root()
	const planted = "cGxhbnRlZA"
	edit := func(f func(map[string]any)) string {
		var doc map[string]any
		if err := json.Unmarshal([]byte(good), &doc); err != nil {
			t.Fatal(err)
		}
		f(doc)
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":          {"", "no trust root"},
		"a private key":    {"-----BEGIN PRIVATE KEY-----\n" + planted + "\n-----END PRIVATE KEY-----\n", "no trust root"},
		"an unknown field": {edit(func(m map[string]any) { m[planted] = 1 }), "no trust root"},
		"another document": {edit(func(m map[string]any) { m["mediaType"] = "application/json" }), "cannot be used"},
		"no authority":     {edit(func(m map[string]any) { delete(m, "certificateAuthorities") }), "no certificate authority"},
		"no time": {
			edit(func(m map[string]any) { delete(m, "tlogs"); delete(m, "timestampAuthorities") }),
			"neither a transparency log nor a timestamp authority",
		},
		"many logs": {edit(func(m map[string]any) { m["tlogs"] = slices.Repeat(m["tlogs"].([]any), 200) }), "more than 100 authorities"},
		"a long chain": {edit(func(m map[string]any) {
			chain := m["certificateAuthorities"].([]any)[0].(map[string]any)["certChain"].(map[string]any)
			chain["certificates"] = slices.Repeat(chain["certificates"].([]any), 6)
		}), "more than 10 certificates"},
		"a certificate that is none": {edit(func(m map[string]any) {
			m["certificateAuthorities"].([]any)[0].(map[string]any)["certChain"] = map[string]any{"certificates": []any{map[string]any{"rawBytes": "YQ=="}}}
		}), "cannot be used"},
		"long": {good + strings.Repeat(" ", 1<<20), "more than 256 KiB"},
	} {
		if _, err := cosign.ReadRoot("x", c.text); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), planted) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package notation_test

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/notaryproject/notation-core-go/signature"

	"github.com/slipway-gitops/slipway/internal/integrity"
	"github.com/slipway-gitops/slipway/internal/integrity/notation"
)

var (
	signed = "sha256:" + strings.Repeat("a", 64)
	other  = "sha256:" + strings.Repeat("b", 64)
)

const acme = "x509.subject: C=US, ST=WA, O=Acme"

// stores are trust stores that are read without a fault.
func stores(t *testing.T, data map[string]string) *notation.Stores {
	t.Helper()
	s := notation.ReadStores(data)
	if len(s.Faults()) > 0 {
		t.Fatal(s.Faults())
	}
	return s
}

func ask(s *notation.Stores, proofs ...notation.Proof) notation.Question {
	return notation.Question{
		Digest: signed, Proofs: proofs, Stores: s, Trusted: []string{"ca:acme"}, Identities: []string{acme}, Now: time.Now(),
	}
}

// changed is an envelope in JWS with another field.
func changed(t *testing.T, p notation.Proof, field, value string) notation.Proof {
	t.Helper()
	var in map[string]any
	if err := json.Unmarshal(p.Envelope, &in); err != nil {
		t.Fatal(err)
	}
	in[field] = base64.RawURLEncoding.EncodeToString([]byte(value))
	raw, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return notation.Proof{MediaType: p.MediaType, Envelope: raw}
}

func at(signing, expiry time.Duration) func(*signature.SignRequest) {
	return func(r *signature.SignRequest) {
		if r.SigningTime = time.Now().Add(signing); expiry != 0 {
			r.Expiry = time.Now().Add(expiry)
		}
	}
}

func byAuthority(r *signature.SignRequest) {
	r.SigningScheme = signature.SigningSchemeX509SigningAuthority
}

func with(key string, critical bool) func(*signature.SignRequest) {
	return func(r *signature.SignRequest) {
		r.ExtendedSignedAttributes = []signature.Attribute{{Key: key, Critical: critical, Value: "x"}}
	}
}

func brief(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Hour) }

// TestSignaturesAreJudged goes through good and bad ones in both kinds of envelopes.
func TestSignaturesAreJudged(t *testing.T) {
	t.Parallel()
	ca, elsewhere, self := authority(t, "Acme"), authority(t, "Acme"), alone(t, "Acme")
	s := stores(t, map[string]string{
		"ca.acme": ca.pem(), "ca.other": elsewhere.pem(), "ca.self": self.pem(), "signingAuthority.acme": elsewhere.pem(),
	})
	below := issued(t, ca, generate(t), func(c *x509.Certificate) {
		c.Subject, c.IsCA, c.BasicConstraintsValid, c.KeyUsage = subjectOf("Acme", "middle"), true, true, x509.KeyUsageCertSign
	})
	large, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	withRSA := issued(t, ca, large, func(c *x509.Certificate) { c.Subject = subjectOf("Acme", "rsa") })
	leaf := ca.leaf("Acme")
	trust := func(names ...string) func(*notation.Question) {
		return func(q *notation.Question) { q.Trusted = names }
	}
	identities := func(list ...string) func(*notation.Question) {
		return func(q *notation.Question) { q.Identities = list }
	}
	for _, kind := range []string{typeJWS, typeCOSE} {
		for name, c := range map[string]struct {
			proof  notation.Proof
			change func(*notation.Question)
			want   integrity.Code // "" for trusted
		}{
			"a good one":                          {leaf.sign(kind, signed), nil, ""},
			"with RSA":                            {withRSA.sign(kind, signed), nil, ""},
			"with a certificate between":          {below.leaf("Acme").sign(kind, signed), nil, ""},
			"every identity":                      {ca.leaf("Else").sign(kind, signed), identities("*"), ""},
			"one of the identities":               {leaf.sign(kind, signed), identities("x509.subject:C=DE,ST=BE,O=Else", acme), ""},
			"one of the stores":                   {leaf.sign(kind, signed), trust("ca:other", "ca:acme"), ""},
			"a leaf in the store":                 {self.sign(kind, signed), trust("ca:self"), ""},
			"before it expires":                   {leaf.sign(kind, signed, at(-time.Hour, time.Hour)), nil, ""},
			"an attribute that is not critical":   {leaf.sign(kind, signed, with("io.example.note", false)), nil, ""},
			"another subject":                     {ca.leaf("Else").sign(kind, signed), nil, notation.OtherSubject},
			"a common name more":                  {leaf.sign(kind, signed), identities(acme + ", CN=other"), notation.OtherSubject},
			"an identity that cannot be read":     {leaf.sign(kind, signed), identities("x509.subject: O=Acme"), notation.OtherSubject},
			"an identity of another kind":         {leaf.sign(kind, signed), identities("x509.san: acme"), notation.OtherSubject},
			"no identities":                       {leaf.sign(kind, signed), identities(), notation.OtherSubject},
			"another root of the same name":       {elsewhere.leaf("Acme").sign(kind, signed), nil, notation.Untrusted},
			"a leaf that is in no store":          {self.sign(kind, signed), nil, notation.Untrusted},
			"another leaf that vouches":           {alone(t, "Acme").sign(kind, signed), trust("ca:self"), notation.Untrusted},
			"a store that is not there":           {leaf.sign(kind, signed), trust("ca:none"), notation.Untrusted},
			"a store of another kind":             {leaf.sign(kind, signed), trust("signingAuthority:acme", "tsa:acme"), notation.Untrusted},
			"another digest":                      {leaf.sign(kind, other), nil, integrity.OtherContent},
			"when it has expired":                 {leaf.sign(kind, signed, at(-2*time.Hour, -time.Hour)), nil, integrity.ExpiredSignature},
			"a certificate that has expired":      {ca.leaf("Acme", brief).sign(kind, signed, at(-2*time.Hour, 0)), nil, notation.ExpiredCertificate},
			"before the certificate is valid":     {leaf.sign(kind, signed), func(q *notation.Question) { q.Now = q.Now.AddDate(-1, 0, 0) }, notation.ExpiredCertificate},
			"a critical attribute":                {leaf.sign(kind, signed, with("io.example.must", true)), nil, notation.Critical},
			"a plugin":                            {leaf.sign(kind, signed, with("io.cncf.notary.verificationPlugin", true)), nil, notation.Critical},
			"the payload of another kind":         {leaf.sign(kind, signed, func(r *signature.SignRequest) { r.Payload.ContentType = "application/json" }), nil, integrity.Unreadable},
			"a payload of something else":         {leaf.sign(kind, signed, func(r *signature.SignRequest) { r.Payload.Content = []byte(`{"a":1}`) }), nil, integrity.Unreadable},
			"of an authority":                     {elsewhere.leaf("Acme").sign(kind, signed, byAuthority), trust("signingAuthority:acme"), ""},
			"of an authority, long ago":           {elsewhere.leaf("Acme", brief).sign(kind, signed, byAuthority, at(-2*time.Hour, 0)), trust("signingAuthority:acme"), ""},
			"of an authority, expired":            {elsewhere.leaf("Acme").sign(kind, signed, byAuthority, at(-2*time.Hour, -time.Hour)), trust("signingAuthority:acme"), integrity.ExpiredSignature},
			"of an authority, as if of another":   {elsewhere.leaf("Acme").sign(kind, signed, byAuthority), trust("ca:other"), notation.Untrusted},
			"as if of an authority":               {elsewhere.leaf("Acme").sign(kind, signed), trust("signingAuthority:acme"), notation.Untrusted},
			"the other kind of envelope":          {notation.Proof{MediaType: map[string]string{typeJWS: typeCOSE, typeCOSE: typeJWS}[kind], Envelope: leaf.sign(kind, signed).Envelope}, nil, integrity.Unreadable},
			"an envelope of no kind":              {notation.Proof{MediaType: "application/json", Envelope: leaf.sign(kind, signed).Envelope}, nil, integrity.Unreadable},
			"an envelope that is cut off":         {notation.Proof{MediaType: kind, Envelope: leaf.sign(kind, signed).Envelope[:300]}, nil, integrity.Unreadable},
			"a large envelope":                    {notation.Proof{MediaType: kind, Envelope: append(leaf.sign(kind, signed).Envelope, make([]byte, 70_000)...)}, nil, integrity.Unreadable},
			"an envelope that was not kept":       {notation.Proof{MediaType: kind}, nil, integrity.Unreadable},
			"no certificate of the authority too": {leaf.sign(kind, signed), trust(), notation.Untrusted},
		} {
			q := ask(s, c.proof)
			if c.change != nil {
				c.change(&q)
			}
			v, fault := notation.Judge(q)
			switch {
			case c.want == "" && (fault != nil || !strings.Contains(v.String(), "O=") || !strings.Contains(v.String(), " under ")):
				t.Errorf("%s, %s: %v, %v", kind, name, v, fault)
			case c.want != "" && (fault == nil || fault.Code != c.want || !strings.Contains(fault.String(), "; ")):
				t.Errorf("%s, %s: %v, %v; want %s", kind, name, v, fault, c.want)
			}
		}
	}
}

func TestAnEnvelopeThatWasChangedIsRefused(t *testing.T) {
	t.Parallel()
	ca := authority(t, "Acme")
	s := stores(t, map[string]string{"ca.acme": ca.pem()})
	leaf := ca.leaf("Acme")
	good := leaf.sign(typeJWS, other)
	payload := `{"targetArtifact":{"digest":"` + signed + `"}}`
	evil := alone(t, "Acme").sign(typeJWS, signed)
	var mixed, theirs map[string]any
	for raw, into := range map[*notation.Proof]*map[string]any{&good: &mixed, &evil: &theirs} {
		if err := json.Unmarshal(raw.Envelope, into); err != nil {
			t.Fatal(err)
		}
	}
	mixed["payload"], mixed["signature"], mixed["protected"] = theirs["payload"], theirs["signature"], theirs["protected"]
	swapped, err := json.Marshal(mixed)
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]notation.Proof{
		"another payload":                     changed(t, good, "payload", payload),
		"another signature":                   changed(t, good, "signature", strings.Repeat("x", 64)),
		"no algorithm":                        changed(t, good, "protected", `{"alg":"none","cty":"application/vnd.cncf.notary.payload.v1+json"}`),
		"a certificate of another":            {MediaType: typeJWS, Envelope: swapped},
		"certificates in other letters":       {MediaType: typeJWS, Envelope: []byte(strings.Replace(string(leaf.sign(typeJWS, signed).Envelope), `"x5c"`, `"X5C"`, 1))},
		"certificates without end":            {MediaType: typeJWS, Envelope: []byte(`{"header":{"x5c":["` + strings.Repeat(`MA==","`, 20) + `"]}}`)},
		"a chain that does not vouch for one": (&holder{t, append(slices.Clone(leaf.chain[:1]), authority(t, "Acme").chain...), leaf.key}).unchecked(signed),
	} {
		if v, fault := notation.Judge(ask(s, p)); fault == nil || fault.Code != integrity.Unreadable {
			t.Errorf("%s: %v, %v", name, v, fault)
		}
	}
}

// unchecked signs with a chain that notation would not sign with.
func (h *holder) unchecked(digest string) notation.Proof {
	h.t.Helper()
	var in map[string]any
	proof := (&holder{h.t, issued(h.t, nil, h.key, func(c *x509.Certificate) { c.Subject = subjectOf("Acme", "alone") }).chain, h.key}).sign(typeJWS, digest)
	if err := json.Unmarshal(proof.Envelope, &in); err != nil {
		h.t.Fatal(err)
	}
	var chain [][]byte
	for _, c := range h.chain {
		chain = append(chain, c.Raw)
	}
	in["header"] = map[string]any{"x5c": chain}
	raw, err := json.Marshal(in)
	if err != nil {
		h.t.Fatal(err)
	}
	return notation.Proof{MediaType: typeJWS, Envelope: raw}
}

func TestOneGoodSignatureIsEnough(t *testing.T) {
	t.Parallel()
	ca, elsewhere := authority(t, "Acme"), authority(t, "Acme")
	s := stores(t, map[string]string{"ca.acme": ca.pem()})
	bad, good := elsewhere.leaf("Acme").sign(typeJWS, signed), ca.leaf("Acme").sign(typeCOSE, signed)
	unread := notation.Proof{MediaType: typeJWS, Envelope: []byte("x")}
	if v, fault := notation.Judge(ask(s, bad, unread, good)); fault != nil || v.Store != "ca:acme" || v.Subject != "CN=release,O=Acme,ST=WA,C=US" {
		t.Errorf("%+v, %v", v, fault)
	}
	for name, c := range map[string]struct {
		proofs []notation.Proof
		want   integrity.Code
	}{
		"none":            {nil, integrity.Unsigned},
		"the nearest one": {[]notation.Proof{bad, unread, ca.leaf("Acme").sign(typeJWS, other), ca.leaf("Else").sign(typeJWS, signed)}, notation.OtherSubject},
		"too many":        {append(slices.Repeat([]notation.Proof{unread}, notation.MaxProofs), good), integrity.Unreadable},
	} {
		if v, fault := notation.Judge(ask(s, c.proofs...)); fault == nil || fault.Code != c.want {
			t.Errorf("%s: %v, %v", name, v, fault)
		}
	}
}

func TestAnAnswerHoldsUntilSomethingExpires(t *testing.T) {
	t.Parallel()
	ca := authority(t, "Acme")
	s := stores(t, map[string]string{"ca.acme": ca.pem()})
	end := time.Now().Add(time.Hour).Truncate(time.Second)
	short := ca.leaf("Acme", func(c *x509.Certificate) { c.NotAfter = end })
	for name, p := range map[string]notation.Proof{
		"the certificate": short.sign(typeJWS, signed),
		"the signature":   ca.leaf("Acme").sign(typeJWS, signed, func(r *signature.SignRequest) { r.Expiry = end }),
	} {
		q := ask(s, p)
		v, fault := notation.Judge(q)
		if fault != nil || !v.Until.Equal(end) {
			t.Errorf("%s: %v, %v, want %v", name, v.Until, fault, end)
		}
		q.Now = end.Add(time.Second)
		if _, fault := notation.Judge(q); fault == nil {
			t.Errorf("%s: it is trusted for longer", name)
		}
	}
}

func TestATimestampOutlivesTheCertificate(t *testing.T) {
	t.Parallel()
	ca, clock := authority(t, "Acme"), newClock(t)
	s := stores(t, map[string]string{"ca.acme": ca.pem(), "tsa.clock": clock.pem(), "tsa.other": authority(t, "Clocks").pem()})
	short := ca.leaf("Acme", func(c *x509.Certificate) { c.NotAfter = time.Now().Add(time.Hour) })
	late := ca.leaf("Acme", brief)
	for _, kind := range []string{typeJWS, typeCOSE} {
		stamped, plain := short.sign(kind, signed, clock.stamp), short.sign(kind, signed)
		afterwards := late.sign(kind, signed, at(-2*time.Hour, 0), clock.stamp)
		for name, c := range map[string]struct {
			proof   notation.Proof
			trusted []string
			want    string // "" for trusted
		}{
			"with a timestamp":            {stamped, []string{"ca:acme", "tsa:clock"}, ""},
			"without":                     {plain, []string{"ca:acme", "tsa:clock"}, "it has no timestamp"},
			"no store for timestamps":     {stamped, []string{"ca:acme"}, "no trust store for timestamps"},
			"another authority":           {stamped, []string{"ca:acme", "tsa:other"}, "its timestamp is not trusted"},
			"stamped when it had expired": {afterwards, []string{"ca:acme", "tsa:clock"}, "was not valid when it was signed"},
		} {
			q := ask(s, c.proof)
			q.Trusted, q.Now = c.trusted, time.Now().Add(2*time.Hour)
			v, fault := notation.Judge(q)
			if c.want == "" && fault != nil || c.want != "" && (fault == nil || fault.Code != notation.ExpiredCertificate || !strings.Contains(fault.String(), c.want)) {
				t.Errorf("%s, %s: %v, %v; want %s", kind, name, v, fault, c.want)
			}
		}
	}
	var one, two map[string]any
	raw := [][]byte{short.sign(typeJWS, signed, clock.stamp).Envelope, short.sign(typeJWS, signed).Envelope}
	if json.Unmarshal(raw[0], &one) != nil || json.Unmarshal(raw[1], &two) != nil {
		t.Fatal("no JSON")
	}
	two["header"] = one["header"]
	moved, err := json.Marshal(two)
	if err != nil {
		t.Fatal(err)
	}
	q := ask(s, notation.Proof{MediaType: typeJWS, Envelope: moved})
	q.Trusted, q.Now = []string{"ca:acme", "tsa:clock"}, time.Now().Add(2*time.Hour)
	if _, fault := notation.Judge(q); fault == nil || !strings.Contains(fault.String(), "of another signature") {
		t.Errorf("a timestamp of another signature: %v", fault)
	}
}

func TestWhatIsNoTrustStoreIsReported(t *testing.T) {
	t.Parallel()
	ca := authority(t, "Acme")
	const planted = "cGxhbnRlZA=="
	s := notation.ReadStores(map[string]string{
		"ca.good": ca.pem() + "\n" + authority(t, "Else").pem(), "good": ca.pem(), "ca.": ca.pem(), "crl.x": ca.pem(), "ca.none": "", "ca.key": "-----BEGIN PRIVATE KEY-----\n" + planted +
			"\n-----END PRIVATE KEY-----\n", "ca.text": ca.pem() + planted, "ca.long": strings.Repeat("x", 300<<10), "ca.leaf": (&holder{t, ca.leaf("Acme").chain[:1], nil}).pem(),
		"ca.public": "-----BEGIN PUBLIC KEY-----\n" + planted + "\n-----END PUBLIC KEY-----\n", "ca.many": strings.Repeat(ca.pem(), 101),
	})
	all := strings.Join(s.Faults(), "\n")
	if len(s.Faults()) != 10 || strings.Contains(all, planted) || strings.Contains(all, "ca.good") {
		t.Errorf("%d: %s", len(s.Faults()), all)
	}
	same, others := notation.ReadStores(map[string]string{"ca.a": ca.pem()}), notation.ReadStores(map[string]string{"ca.b": ca.pem()})
	if same.Edition() == others.Edition() || same.Edition() != notation.ReadStores(map[string]string{"ca.a": ca.pem()}).Edition() {
		t.Error("editions do not tell stores apart")
	}
}

func FuzzNotation(f *testing.F) {
	f.Add(typeJWS, []byte(`{"payload":"e30","protected":"e30","header":{"x5c":["MA=="]},"signature":"MA"}`))
	f.Add(typeCOSE, []byte{0xd2, 0x84, 0x40, 0xa0, 0x40, 0x40})
	s := notation.ReadStores(nil)
	f.Fuzz(func(t *testing.T, kind string, raw []byte) {
		if v, fault := notation.Judge(ask(s, notation.Proof{MediaType: kind, Envelope: raw})); fault == nil || fault.String() == "" {
			t.Errorf("without a store it is trusted: %v", v)
		}
	})
}

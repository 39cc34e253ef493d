package place

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/notaryproject/notation-core-go/signature"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/trust"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// notary has a certificate that vouches for itself, which signs in the name of an organization.
type notary struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newNotary(t *testing.T, organization string) notary {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
		Subject: pkix.Name{Country: []string{"US"}, Province: []string{"WA"}, Organization: []string{organization}},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return notary{t, cert, key}
}

func (n notary) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: n.cert.Raw}))
}

// sign makes an envelope as notation does.
func (n notary) sign(kind, digest string) []byte {
	n.t.Helper()
	signer, err := signature.NewLocalSigner([]*x509.Certificate{n.cert}, n.key)
	if err != nil {
		n.t.Fatal(err)
	}
	envelope, err := signature.NewEnvelope(kind)
	if err != nil {
		n.t.Fatal(err)
	}
	raw, err := envelope.Sign(&signature.SignRequest{
		Payload: signature.Payload{
			ContentType: "application/vnd.cncf.notary.payload.v1+json", Content: []byte(`{"targetArtifact":{"digest":"` + digest + `"}}`),
		},
		Signer: signer, SigningTime: time.Now(), SigningScheme: signature.SigningSchemeX509,
	})
	if err != nil {
		n.t.Fatal(err)
	}
	return raw
}

// attach has signatures refer to a digest, in the index that clients keep under a tag, and returns that index.
func (s *shop) attach(digest string, kind string, envelopes ...[]byte) []byte {
	s.t.Helper()
	list := []any{map[string]any{"mediaType": testenv.OCIManifest, "artifactType": "application/x", "digest": digest, "size": 1}}
	for _, e := range envelopes {
		raw, err := json.Marshal(map[string]any{
			"schemaVersion": 2, "mediaType": testenv.OCIManifest, "artifactType": "application/vnd.cncf.notary.signature",
			"subject": map[string]any{"digest": digest}, "layers": []any{map[string]any{"mediaType": kind, "digest": s.server.Blob(e), "size": len(e)}},
		})
		if err != nil {
			s.t.Fatal(err)
		}
		list = append(list, map[string]any{
			"mediaType": testenv.OCIManifest, "artifactType": "application/vnd.cncf.notary.signature", "size": len(raw),
			"digest": s.server.Manifest("team/web", "", testenv.OCIManifest, raw),
		})
	}
	index, err := json.Marshal(map[string]any{"schemaVersion": 2, "mediaType": testenv.OCIIndex, "manifests": list})
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.Manifest("team/web", strings.Replace(digest, ":", "-", 1), testenv.OCIIndex, index)
	return index
}

// trusts sets the trust stores.
func (s *shop) trusts(data map[string]any) {
	s.settings.Put("configmaps", &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": ConfigTrustStores}, "data": data}})
}

func byNotation(claim trust.Claim) trust.Claim {
	claim.Policy = project.Integrity{Notation: project.Notation{
		Stores: []string{"ca:acme"}, Identities: []string{"x509.subject: C=US, ST=WA, O=Acme"},
	}}
	return claim
}

const typeJWS, typeCOSE = "application/jose+json", "application/cose"

func TestAnArtifactIsTrustedByEnvelopesThatReferToIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{typeJWS, typeCOSE} {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, by a list of referrers %t", kind, listed), func(t *testing.T) {
				t.Parallel()
				s := newShop(t, "ours")
				acme, evil, other := newNotary(t, "Acme"), newNotary(t, "Acme"), newNotary(t, "Other")
				s.trusts(map[string]any{"ca.acme": acme.pem() + other.pem()})
				good := s.push("1.0.0", "good")
				claim := byNotation(s.claim("1.0.0"))
				for _, c := range []struct {
					name      string
					envelopes [][]byte
					want      string // "" for trusted
				}{
					{"none", nil, "unsigned (subject=)"},
					{"another root", [][]byte{evil.sign(kind, good)}, "signed under no trusted certificate (subject=O=Acme,ST=WA,C=US)"},
					{"another subject", [][]byte{other.sign(kind, good)}, "signed by a subject that is not trusted (subject=O=Other,ST=WA,C=US)"},
					{"another digest", [][]byte{acme.sign(kind, "sha256:"+strings.Repeat("0", 64))}, "signature of other content"},
					{"a huge one", [][]byte{make([]byte, 70<<10)}, "unreadable signature"},
					{"two of them", [][]byte{evil.sign(kind, good), acme.sign(kind, good)}, ""},
				} {
					index := s.attach(good, kind, c.envelopes...)
					s.server.Intercept(func(w http.ResponseWriter, r *http.Request) bool {
						if !listed || r.URL.Path != "/v2/team/web/referrers/"+good {
							return false
						}
						w.Header().Set("Content-Type", testenv.OCIIndex)
						_, _ = w.Write(index)
						return true
					})
					s.trust.Refresh()
					clear(s.trust.signed)
					signer, err := s.trust.Judge(t.Context(), claim)
					if c.want == "" && (err != nil || !strings.HasPrefix(signer, "Notation certificate O=Acme,ST=WA,C=US (") || !strings.HasSuffix(signer, " under ca:acme")) {
						t.Errorf("%s: %q, %v", c.name, signer, err)
					}
					if c.want != "" && (err == nil || !v1alpha1.Unverified(err.Error()) || !strings.HasPrefix(err.Error(), "OCI/NOTATION: ") || !strings.Contains(err.Error(), c.want)) {
						t.Errorf("%s: %q, %v; want %s", c.name, signer, err, c.want)
					}
				}
			})
		}
	}
}

func TestTrustInCertificatesChangesWithTheirStore(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours")
	acme := newNotary(t, "Acme")
	s.trusts(map[string]any{"ca.acme": acme.pem()})
	good := s.push("1.0.0", "good")
	s.attach(good, typeJWS, acme.sign(typeJWS, good))
	claim := byNotation(s.claim("1.0.0"))
	if _, err := s.trust.Judge(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	bad := s.push("1.0.0", "bad")
	s.attach(bad, typeJWS, acme.sign(typeJWS, good))
	if _, err := s.trust.Judge(t.Context(), byNotation(s.claim("1.0.0"))); err == nil || !strings.Contains(err.Error(), "signature of other content") {
		t.Errorf("a tag that moved: %v", err)
	}
	s.server.Break()
	if _, err := s.trust.Judge(t.Context(), claim); err != nil {
		t.Errorf("the registry is down, and it was verified before: %v", err)
	}
	for about, answer := range s.trust.signed {
		if answer.err == nil && answer.holds(time.Now().Add(2*time.Hour)) {
			t.Errorf("%s: it outlives its certificate", about)
		}
	}
	s.trusts(map[string]any{})
	if _, err := s.trust.Judge(t.Context(), claim); err == nil || v1alpha1.Unverified(err.Error()) {
		t.Errorf("the certificate is gone, and nothing is known: %v", err)
	}
	s.server.Mend()
	if _, err := s.trust.Judge(t.Context(), claim); err == nil || !strings.Contains(err.Error(), "signed under no trusted certificate") {
		t.Errorf("the certificate is gone: %v", err)
	}
}

func TestASignatureOfNotationIsNoneOfCosignAndTheOtherWayAround(t *testing.T) {
	t.Parallel()
	s := newShop(t, "ours")
	acme := newNotary(t, "Acme")
	s.trusts(map[string]any{"ca.acme": acme.pem()})
	byCosign := s.push("1.0.0", "one")
	s.sign(byCosign, byCosign, "ours")
	envelope := s.push("2.0.0", "two")
	s.attach(envelope, typeJWS, acme.sign(typeJWS, envelope))
	if _, err := s.trust.Judge(t.Context(), byNotation(s.claim("1.0.0", "ours"))); err == nil || !strings.Contains(err.Error(), "unsigned") {
		t.Errorf("cosign for Notation: %v", err)
	}
	if _, err := s.trust.Judge(t.Context(), s.claim("2.0.0", "ours")); err == nil || !strings.Contains(err.Error(), "unsigned") {
		t.Errorf("Notation for cosign: %v", err)
	}
	chart := byNotation(trust.Claim{
		Project: "default", Source: v1alpha1.ApplicationSource{RepoURL: "https://charts.example", Chart: "web"}, Revision: "1.0.0", Digest: "sha256:a",
	})
	if _, err := s.trust.Judge(t.Context(), chart); err == nil || !v1alpha1.Unverified(err.Error()) || !strings.Contains(err.Error(), "push it to an OCI registry") {
		t.Errorf("a Helm repository: %v", err)
	}
}

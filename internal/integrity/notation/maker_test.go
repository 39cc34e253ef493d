package notation_test

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/notaryproject/notation-core-go/signature"
	_ "github.com/notaryproject/notation-core-go/signature/cose"
	_ "github.com/notaryproject/notation-core-go/signature/jws"
	"github.com/notaryproject/tspclient-go"

	"github.com/slipway-gitops/slipway/internal/integrity/notation"
)

const typeJWS, typeCOSE = "application/jose+json", "application/cose"

// holder has a certificate, its key and those above it.
type holder struct {
	t     *testing.T
	chain []*x509.Certificate // its own first
	key   crypto.Signer
}

func generate(t *testing.T) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// subjectOf is a subject with an organization and a common name.
func subjectOf(organization, name string) pkix.Name {
	return pkix.Name{Country: []string{"US"}, Province: []string{"WA"}, Organization: []string{organization}, CommonName: name}
}

// issued is a certificate that another one vouches for; above is nil for one that vouches for itself.
func issued(t *testing.T, above *holder, key crypto.Signer, change func(*x509.Certificate)) *holder {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(365 * 24 * time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	change(template)
	out := &holder{t: t, key: key}
	parent, by := template, key
	if above != nil {
		parent, by = above.chain[0], above.key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	if out.chain = []*x509.Certificate{cert}; above != nil {
		out.chain = append(out.chain, above.chain...)
	}
	return out
}

// authority is a root.
func authority(t *testing.T, organization string) *holder {
	return issued(t, nil, generate(t), func(c *x509.Certificate) {
		c.Subject, c.IsCA, c.BasicConstraintsValid, c.KeyUsage = subjectOf(organization, "root"), true, true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
	})
}

// leaf is a certificate that signs code.
func (h *holder) leaf(organization string, change ...func(*x509.Certificate)) *holder {
	h.t.Helper()
	return issued(h.t, h, generate(h.t), func(c *x509.Certificate) {
		c.Subject, c.ExtKeyUsage = subjectOf(organization, "release"), []x509.ExtKeyUsage{x509.ExtKeyUsageCodeSigning}
		for _, f := range change {
			f(c)
		}
	})
}

// alone is a certificate that vouches for itself and is no authority.
func alone(t *testing.T, organization string) *holder {
	return issued(t, nil, generate(t), func(c *x509.Certificate) { c.Subject = subjectOf(organization, "alone") })
}

// pem are the certificates that vouch for it: the last one of its chain.
func (h *holder) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: h.chain[len(h.chain)-1].Raw}))
}

// sign signs a digest as notation does.
func (h *holder) sign(kind, digest string, change ...func(*signature.SignRequest)) notation.Proof {
	h.t.Helper()
	signer, err := signature.NewLocalSigner(h.chain, h.key)
	if err != nil {
		h.t.Fatal(err)
	}
	req := &signature.SignRequest{
		Payload: signature.Payload{
			ContentType: "application/vnd.cncf.notary.payload.v1+json",
			Content: []byte(`{"targetArtifact":{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"` + digest +
				`","size":7}}`),
		},
		Signer: signer, SigningTime: time.Now().Add(-time.Minute), SigningScheme: signature.SigningSchemeX509, SigningAgent: "test",
	}
	for _, f := range change {
		f(req)
	}
	envelope, err := signature.NewEnvelope(kind)
	if err != nil {
		h.t.Fatal(err)
	}
	raw, err := envelope.Sign(req)
	if err != nil {
		h.t.Fatal(err)
	}
	return notation.Proof{MediaType: kind, Envelope: raw}
}

// clock is an authority for timestamps that OpenSSL runs.
type clock struct {
	*holder
	dir string
}

func newClock(t *testing.T) *clock {
	t.Helper()
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("openssl is not installed: install OpenSSL 3")
	}
	c := &clock{holder: issued(t, authority(t, "Clocks"), generate(t), func(c *x509.Certificate) {
		c.Subject = subjectOf("Clocks", "clock")
		c.ExtraExtensions = []pkix.Extension{{Id: []int{2, 5, 29, 37}, Critical: true, Value: []byte{0x30, 0x0a, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8}}}
	}), dir: t.TempDir()}
	key, err := x509.MarshalPKCS8PrivateKey(c.key)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{
		"key.pem":   pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		"cert.pem":  pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.chain[0].Raw}),
		"chain.pem": []byte(c.pem()), "serial": []byte("01\n"),
		"conf": []byte("[tsa]\ndefault_tsa = t\n[t]\nserial = serial\nsigner_cert = cert.pem\ncerts = chain.pem\nsigner_key = key.pem\nsigner_digest = sha256\n" +
			"default_policy = 1.2.3.4.1\ndigests = sha256\naccuracy = secs:1\ness_cert_id_alg = sha256\n"),
	} {
		if err := os.WriteFile(filepath.Join(c.dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Timestamp implements tspclient.Timestamper.
func (c *clock) Timestamp(ctx context.Context, req *tspclient.Request) (*tspclient.Response, error) {
	raw, err := req.MarshalBinary()
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(c.dir, "query"), raw, 0o600); err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "openssl", "ts", "-reply", "-config", "conf", "-queryfile", "query", "-out", "reply")
	cmd.Dir = c.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("openssl: %w: %s", err, out)
	}
	if raw, err = os.ReadFile(filepath.Join(c.dir, "reply")); err != nil {
		return nil, err
	}
	var out tspclient.Response
	return &out, out.UnmarshalBinary(raw)
}

// stamp has a signature stamped.
func (c *clock) stamp(req *signature.SignRequest) {
	req.Timestamper, req.TSARootCAs = c, x509.NewCertPool()
	req.TSARootCAs.AddCert(c.chain[1])
}

package fleet

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// issuer signs certificates of agents.
type issuer struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string // its certificate
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{t: t, file: filepath.Join(t.TempDir(), "agents-ca.pem")}
	i.cert, i.key = i.sign("agents", nil, nil, time.Now().Add(time.Hour))
	i.write(i.file, "CERTIFICATE", i.cert.Raw)
	return i
}

// sign makes a certificate; one that is its own authority without a parent.
func (i *issuer) sign(name string, parent *x509.Certificate, by *ecdsa.PrivateKey, ends time.Time) (*x509.Certificate, *ecdsa.PrivateKey) {
	i.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		i.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: ends,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true,
	}
	if parent == nil {
		template.IsCA, template.KeyUsage, template.ExtKeyUsage, parent, by = true, x509.KeyUsageCertSign, nil, template, key
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		i.t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		i.t.Fatal(err)
	}
	return cert, key
}

func (i *issuer) write(file, kind string, raw []byte) {
	i.t.Helper()
	err := os.WriteFile(file+".new", pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw}), 0o600)
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		i.t.Fatal(err)
	}
}

// issue writes a certificate and its key, in place of those before.
func (i *issuer) issue(dir string, ends time.Time) (args []string) {
	i.t.Helper()
	cert, key := i.sign("agent", i.cert, i.key, ends)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		i.t.Fatal(err)
	}
	certFile, keyFile := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	i.write(keyFile, "PRIVATE KEY", der)
	i.write(certFile, "CERTIFICATE", cert.Raw)
	return []string{"--client-cert", certFile, "--client-key", keyFile}
}

func TestAnAgentPresentsItsCertificateAndRenewsItWhileItIsConnected(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	trusted, foreign := newIssuer(t), newIssuer(t)
	s := startServer(t, "--client-ca", trusted.file)
	dir := t.TempDir()
	args := foreign.issue(dir, time.Now().Add(time.Hour))
	id, agent := s.newAgent("certified", s.url, testenv.Kubeconfig(t), ns, args...)
	agent.Start()
	says := func(text string) {
		t.Helper()
		await(t, settled, "the log of the agent", func(context.Context) string {
			if agent.Logged(text) == 0 {
				return fmt.Sprintf("it does not say %q", text)
			}
			return ""
		}, agent, s.Process)
	}
	says("refuses the agent's certificate (")
	trusted.issue(dir, time.Now().Add(-time.Minute))
	says("refuses the agent's certificate, which expired at")
	// The server ends the link with the certificate. One that is renewed before that makes the next link, without a restart.
	trusted.issue(dir, time.Now().Add(time.Hour))
	await(t, settled, "the agent with a good certificate", s.connected(id), agent, s.Process)
	first, err := s.agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trusted.issue(dir, time.Now().Add(2*time.Hour))
	await(t, settled, "the link with the renewed certificate", func(ctx context.Context) string {
		now, err := s.agents(ctx)
		if err != nil {
			return err.Error()
		}
		if now[id].Epoch == first[id].Epoch {
			return "it is the one before"
		}
		return s.connected(id)(ctx)
	}, agent, s.Process)
	if agent.Ended() || agent.Logged("the certificates of the link were renewed") == 0 {
		t.Errorf("the agent does not say why it connected again:\n%s", agent.Tail())
	}
}

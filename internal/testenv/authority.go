package testenv

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Authority signs certificates for a test. Its own lasts an hour.
type Authority struct {
	t    testing.TB
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewAuthority makes one.
func NewAuthority(t testing.TB) *Authority {
	t.Helper()
	a := &Authority{t: t}
	_, a.cert, a.key = a.sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: "authority of " + t.Name()}, NotAfter: time.Now().Add(time.Hour),
		IsCA: true, KeyUsage: x509.KeyUsageCertSign,
	})
	return a
}

// PEM is the certificate of the authority itself.
func (a *Authority) PEM() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw})
}

// Pool trusts the authority, and nothing else.
func (a *Authority) Pool() *x509.CertPool {
	pool := x509.NewCertPool()
	pool.AddCert(a.cert)
	return pool
}

// Issue makes a certificate of a name for servers and clients, which lasts an hour. hosts are names and addresses of a server.
func (a *Authority) Issue(name string, hosts ...string) *Certificate {
	a.t.Helper()
	return a.IssueUntil(time.Now().Add(time.Hour), name, hosts...)
}

// IssueUntil is Issue for a certificate with another end, which may have passed.
func (a *Authority) IssueUntil(ends time.Time, name string, hosts ...string) *Certificate {
	a.t.Helper()
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, NotAfter: ends, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	raw, _, key := a.sign(template)
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		a.t.Fatalf("write key: %v", err)
	}
	return &Certificate{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
		TLS:  tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key},
	}
}

// sign makes a certificate of a template; the first one is that of the authority.
func (a *Authority) sign(template *x509.Certificate) ([]byte, *x509.Certificate, *ecdsa.PrivateKey) {
	a.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		a.t.Fatalf("make key: %v", err)
	}
	parent, by := a.cert, a.key
	if parent == nil {
		parent, by = template, key
	}
	template.SerialNumber, template.BasicConstraintsValid = big.NewInt(time.Now().UnixNano()), true
	template.NotBefore = time.Now().Add(-time.Hour)
	if template.NotAfter.Before(time.Now()) {
		template.NotBefore = template.NotAfter.Add(-time.Hour)
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, by)
	if err != nil {
		a.t.Fatalf("make certificate: %v", err)
	}
	cert, err := x509.ParseCertificate(raw)
	if err != nil {
		a.t.Fatalf("read certificate: %v", err)
	}
	return raw, cert, key
}

// Certificate is one with its key.
type Certificate struct {
	Cert, Key []byte // PEM
	TLS       tls.Certificate
}

// Files writes key and certificate into a directory, and returns their paths. Those of another certificate are replaced, each as a whole.
func (c *Certificate) Files(t testing.TB, dir string) (cert, key string) {
	t.Helper()
	cert, key = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for _, file := range []struct {
		path string
		text []byte
	}{{key, c.Key}, {cert, c.Cert}} {
		err := os.WriteFile(file.path+".new", file.text, 0o600)
		if err == nil {
			err = os.Rename(file.path+".new", file.path)
		}
		if err != nil {
			t.Fatalf("write certificate: %v", err)
		}
	}
	return cert, key
}

// Server is a configuration of a server that shows the certificate.
func (c *Certificate) Server() *tls.Config {
	return &tls.Config{Certificates: []tls.Certificate{c.TLS}, MinVersion: tls.VersionTLS12}
}

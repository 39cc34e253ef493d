// Package pki makes and keeps the keys and certificates of one development
// cluster: its certificate authorities, its serving certificates, its client
// certificates and the key that signs service account tokens.
package pki

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Names of the pairs in a Store. Each is the file name without its ending.
const (
	CA                = "ca"
	FrontProxyCA      = "front-proxy-ca"
	APIServer         = "apiserver"
	KubeletClient     = "apiserver-kubelet-client"
	FrontProxyClient  = "front-proxy-client"
	Admin             = "admin"
	ControllerManager = "controller-manager"
	Scheduler         = "scheduler"
	NodeAgent         = "node-agent"
	Kubelet           = "kubelet" // what the nodes serve with
	ServiceAccount    = "sa"      // a key only: it has no certificate
)

// KubeletClientName is the name of the API server for the nodes.
const KubeletClientName = "kube-apiserver-kubelet-client"

// mastersGroup is the group that RBAC and priority and fairness let through
// without any check.
const mastersGroup = "system:masters"

const (
	authorityLife = 10 * 365 * 24 * time.Hour
	leafLife      = 5 * 365 * 24 * time.Hour
	renewBefore   = 30 * 24 * time.Hour
)

// Store is a directory of PEM files, readable by their owner only.
type Store struct {
	// Dir is the directory; it exists once Ensure has returned.
	Dir string
}

// CertPath returns the path of the certificate called name.
func (s Store) CertPath(name string) string { return filepath.Join(s.Dir, name+".crt") }

// KeyPath returns the path of the private key called name.
func (s Store) KeyPath(name string) string { return filepath.Join(s.Dir, name+".key") }

// leaf describes one certificate that an authority signs.
type leaf struct {
	name, authority, commonName string
	groups                      []string
	server                      bool
	dnsNames                    []string
	addresses                   []net.IP
}

// leaves lists every certificate of a cluster whose first service address is
// serviceIP.
func leaves(serviceIP net.IP) []leaf {
	return []leaf{
		{
			name: APIServer, authority: CA, commonName: "kube-apiserver", server: true,
			dnsNames: []string{
				"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc",
				"kubernetes.default.svc.cluster.local",
			},
			addresses: []net.IP{serviceIP, net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		},
		{name: KubeletClient, authority: CA, commonName: KubeletClientName, groups: []string{mastersGroup}},
		{
			name: Kubelet, authority: CA, commonName: "kubelet", server: true, dnsNames: []string{"localhost"},
			addresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		},
		{name: FrontProxyClient, authority: FrontProxyCA, commonName: "front-proxy-client"},
		{name: Admin, authority: CA, commonName: "kubernetes-admin", groups: []string{mastersGroup}},
		{name: ControllerManager, authority: CA, commonName: "system:kube-controller-manager", groups: []string{mastersGroup}},
		{name: Scheduler, authority: CA, commonName: "system:kube-scheduler", groups: []string{mastersGroup}},
		{name: NodeAgent, authority: CA, commonName: "system:node-agent", groups: []string{mastersGroup}},
	}
}

// Ensure fills the store with everything a cluster needs and keeps what is
// there and still good for a month after now, so that credentials handed out
// stay valid over restarts. A missing or unreadable authority is replaced, and
// with it everything it had signed.
func (s Store) Ensure(serviceIP net.IP, now time.Time) error {
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return fmt.Errorf("make key directory: %w", err)
	}
	authorities := map[string]pair{}
	for _, name := range []string{CA, FrontProxyCA} {
		authority, err := s.ensureAuthority(name, now)
		if err != nil {
			return err
		}
		authorities[name] = authority
	}
	for _, l := range leaves(serviceIP) {
		if err := s.ensureLeaf(l, authorities[l.authority], now); err != nil {
			return err
		}
	}
	if _, err := readKey(s.KeyPath(ServiceAccount)); err == nil {
		return nil
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	return s.writeKey(ServiceAccount, key)
}

// pair is a certificate and its private key.
type pair struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func (s Store) ensureAuthority(name string, now time.Time) (pair, error) {
	if have, err := s.read(name); err == nil && have.cert.IsCA && fresh(have.cert, now) {
		return have, nil
	}
	serial, err := newSerial()
	if err != nil {
		return pair{}, err
	}
	key, err := newKey()
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: "devcluster " + name + " " + serial.Text(36)},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(authorityLife),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	return s.sign(name, template, key, pair{cert: template, key: key})
}

func (s Store) ensureLeaf(l leaf, authority pair, now time.Time) error {
	if have, err := s.read(l.name); err == nil && fresh(have.cert, now) &&
		have.cert.CheckSignatureFrom(authority.cert) == nil {
		return nil
	}
	serial, err := newSerial()
	if err != nil {
		return err
	}
	key, err := newKey()
	if err != nil {
		return err
	}
	usage := x509.ExtKeyUsageClientAuth
	if l.server {
		usage = x509.ExtKeyUsageServerAuth
	}
	template := &x509.Certificate{
		SerialNumber:          serial,
		Subject:               pkix.Name{CommonName: l.commonName, Organization: l.groups},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(leafLife),
		KeyUsage:              x509.KeyUsageDigitalSignature,
		ExtKeyUsage:           []x509.ExtKeyUsage{usage},
		BasicConstraintsValid: true,
		DNSNames:              l.dnsNames,
		IPAddresses:           l.addresses,
	}
	_, err = s.sign(l.name, template, key, authority)
	return err
}

// sign makes the certificate that template describes and writes it with its
// key. The key goes first: a certificate on disk always has its key.
func (s Store) sign(name string, template *x509.Certificate, key *ecdsa.PrivateKey, authority pair) (pair, error) {
	der, err := x509.CreateCertificate(rand.Reader, template, authority.cert, key.Public(), authority.key)
	if err != nil {
		return pair{}, fmt.Errorf("sign certificate %s: %w", name, err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return pair{}, fmt.Errorf("parse certificate %s: %w", name, err)
	}
	if err := os.Remove(s.CertPath(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return pair{}, fmt.Errorf("remove old certificate %s: %w", name, err)
	}
	if err := s.writeKey(name, key); err != nil {
		return pair{}, err
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	if err := os.WriteFile(s.CertPath(name), block, 0o600); err != nil {
		return pair{}, fmt.Errorf("write certificate %s: %w", name, err)
	}
	return pair{cert: cert, key: key}, nil
}

func (s Store) writeKey(name string, key *ecdsa.PrivateKey) error {
	// Not PKCS 8: the API server reads public keys out of this form only.
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return fmt.Errorf("encode key %s: %w", name, err)
	}
	block := pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der})
	if err := os.WriteFile(s.KeyPath(name), block, 0o600); err != nil {
		return fmt.Errorf("write key %s: %w", name, err)
	}
	return nil
}

// read loads the pair called name and checks that key and certificate belong
// together: a start that was killed between the two writes leaves them apart.
func (s Store) read(name string) (pair, error) {
	data, err := os.ReadFile(s.CertPath(name))
	if err != nil {
		return pair{}, fmt.Errorf("read certificate %s: %w", name, err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return pair{}, fmt.Errorf("read certificate %s: no PEM block", name)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return pair{}, fmt.Errorf("parse certificate %s: %w", name, err)
	}
	key, err := readKey(s.KeyPath(name))
	if err != nil {
		return pair{}, err
	}
	if !key.PublicKey.Equal(cert.PublicKey) {
		return pair{}, fmt.Errorf("certificate %s does not belong to its key", name)
	}
	return pair{cert: cert, key: key}, nil
}

func readKey(path string) (*ecdsa.PrivateKey, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read key: %w", err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		return nil, fmt.Errorf("read key %s: no PEM block", path)
	}
	key, err := x509.ParseECPrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("parse key %s: %w", path, err)
	}
	return key, nil
}

func fresh(cert *x509.Certificate, now time.Time) bool {
	return now.After(cert.NotBefore) && now.Add(renewBefore).Before(cert.NotAfter)
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make key: %w", err)
	}
	return key, nil
}

func newSerial() (*big.Int, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, fmt.Errorf("make serial number: %w", err)
	}
	return serial, nil
}

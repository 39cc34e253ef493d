package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// certificate is a pair of files that is read again when it changed.
type certificate struct {
	cert, key string
	log       *slog.Logger
	now       func() time.Time

	mu      sync.Mutex
	loaded  *tls.Certificate
	stamp   [2]time.Time
	checked time.Time
}

// lookEvery is how often it is looked whether the files changed.
const lookEvery = 10 * time.Second

// get is the certificate of now. One that cannot be read leaves the one before in force: renewal writes two files, and
// not at the same moment.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if c.loaded != nil && now.Sub(c.checked) < lookEvery {
		return c.loaded, nil
	}
	c.checked = now
	stamp, err := stamps(c.cert, c.key)
	if err == nil && c.loaded != nil && stamp == c.stamp {
		return c.loaded, nil
	}
	var pair tls.Certificate
	if err == nil {
		pair, err = tls.LoadX509KeyPair(c.cert, c.key)
	}
	if err != nil {
		if c.loaded == nil {
			return nil, fmt.Errorf("read certificate: %w", err)
		}
		c.log.Error("read certificate again", "err", err, "then", "the one before stays in force")
		return c.loaded, nil
	}
	if c.loaded != nil {
		c.log.Info("certificate was renewed", "until", pair.Leaf.NotAfter)
	}
	c.loaded, c.stamp = &pair, stamp
	return c.loaded, nil
}

func stamps(files ...string) (out [2]time.Time, err error) {
	for i, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			return out, err
		}
		out[i] = info.ModTime()
	}
	return out, nil
}

// tlsConfig is how the server does TLS; nil for plain HTTP.
func tlsConfig(c *Config) (*tls.Config, error) {
	if !c.tls() {
		return nil, nil //nolint:nilnil // there is none
	}
	if c.SelfSigned {
		if err := selfSign(c); err != nil {
			return nil, err
		}
	}
	pair := &certificate{cert: c.TLSCert, key: c.TLSKey, log: c.Log, now: c.Now}
	if _, err := pair.get(nil); err != nil {
		return nil, err
	}
	out := &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: pair.get}
	if c.ClientCA == "" {
		return out, nil
	}
	// People come without one; the link asks for it. No session is resumed: what was trusted then may not be any more.
	out.ClientAuth, out.SessionTicketsDisabled = tls.VerifyClientCertIfGiven, true
	trusted := &clientCA{file: c.ClientCA, base: out.Clone(), log: c.Log, now: c.Now}
	if _, err := trusted.get(nil); err != nil {
		return nil, err
	}
	out.GetConfigForClient = trusted.get
	return out, nil
}

// selfSign makes a certificate that is its own authority, once, and keeps it with the data.
func selfSign(c *Config) error {
	c.TLSCert, c.TLSKey = filepath.Join(c.Data, "server.crt"), filepath.Join(c.Data, "server.key")
	if raw, err := os.ReadFile(c.TLSCert); err == nil {
		if fits(raw, hostsOf(c), c.Now()) {
			return nil
		}
		c.Log.Warn("the self-signed certificate does not fit the addresses any more or ends soon: a new one is made; " +
			"give it to agents and command lines")
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return fmt.Errorf("make certificate: %w", err)
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return fmt.Errorf("make certificate: %w", err)
	}
	now := c.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "slipway-server", Organization: []string{"self-signed"}},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(825 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true, IsCA: true,
	}
	for _, host := range hostsOf(c) {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return fmt.Errorf("make certificate: %w", err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return fmt.Errorf("make certificate: %w", err)
	}
	return errors.Join(
		replace(c.TLSKey, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}), 0o600),
		replace(c.TLSCert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644),
	)
}

// replace writes a file as a whole: others wait for it, and must not read half of it.
func replace(path string, data []byte, mode os.FileMode) error {
	if err := os.WriteFile(path+".new", data, mode); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// hostsOf are the names that a self-signed certificate is for.
func hostsOf(c *Config) []string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	add := func(host string) {
		if ip := net.ParseIP(host); host != "" && host != "localhost" && (ip == nil || !ip.IsLoopback() && !ip.IsUnspecified()) {
			hosts = append(hosts, host)
		}
	}
	if host, _, err := net.SplitHostPort(c.Listen); err == nil {
		add(host)
	}
	if u, err := url.Parse(c.PublicURL); err == nil {
		add(u.Hostname())
	}
	if name, err := os.Hostname(); err == nil {
		add(name)
	}
	return hosts
}

// fits is true for a certificate that is for all of the hosts and lasts another month.
func fits(raw []byte, hosts []string, now time.Time) bool {
	block, _ := pem.Decode(raw)
	if block == nil {
		return false
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil || cert.NotAfter.Before(now.Add(30*24*time.Hour)) {
		return false
	}
	for _, host := range hosts {
		if cert.VerifyHostname(host) != nil {
			return false
		}
	}
	return true
}

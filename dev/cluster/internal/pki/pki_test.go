package pki

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func serviceIP() net.IP { return net.IPv4(10, 96, 0, 1) }

func ensured(t *testing.T, now time.Time) Store {
	t.Helper()
	s := Store{Dir: filepath.Join(t.TempDir(), "pki")}
	if err := s.Ensure(serviceIP(), now); err != nil {
		t.Fatal(err)
	}
	return s
}

func certificate(t *testing.T, s Store, name string) *x509.Certificate {
	t.Helper()
	data, err := os.ReadFile(s.CertPath(name))
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(data)
	if block == nil {
		t.Fatalf("no PEM block in certificate %s", name)
	}
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func contents(t *testing.T, s Store) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(s.Dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]byte{}
	for _, path := range paths {
		if all[filepath.Base(path)], err = os.ReadFile(path); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestEveryCertificateVerifiesForItsUse(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := ensured(t, now)
	for _, l := range leaves(serviceIP()) {
		roots := x509.NewCertPool()
		roots.AddCert(certificate(t, s, l.authority))
		usage := x509.ExtKeyUsageClientAuth
		names := []string{""}
		if l.server {
			usage = x509.ExtKeyUsageServerAuth
			names = []string{"localhost", "127.0.0.1"}
		}
		for _, name := range names {
			_, err := certificate(t, s, l.name).Verify(x509.VerifyOptions{
				Roots: roots, CurrentTime: now, DNSName: name, KeyUsages: []x509.ExtKeyUsage{usage},
			})
			if err != nil {
				t.Errorf("certificate %s for %q: %v", l.name, name, err)
			}
		}
	}
}

func TestAProxyClientIsNotAnOrdinaryClient(t *testing.T) {
	t.Parallel()
	s := ensured(t, time.Now())
	roots := x509.NewCertPool()
	roots.AddCert(certificate(t, s, CA))
	_, err := certificate(t, s, FrontProxyClient).Verify(x509.VerifyOptions{
		Roots: roots, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err == nil {
		t.Error("the authority of ordinary clients vouches for the proxy client")
	}
}

func TestFilesAreForTheirOwnerOnly(t *testing.T) {
	t.Parallel()
	s := ensured(t, time.Now())
	for name := range contents(t, s) {
		info, err := os.Stat(filepath.Join(s.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if mode := info.Mode().Perm(); mode != 0o600 {
			t.Errorf("%s has mode %o, want 600", name, mode)
		}
	}
}

func TestASecondEnsure(t *testing.T) {
	t.Parallel()
	now := time.Now()
	const all = "*"
	tests := []struct {
		name    string
		spoil   func(t *testing.T, s Store)
		later   time.Duration
		renewed []string // the pairs that change; all stands for every pair
	}{
		{name: "keeps everything", spoil: func(*testing.T, Store) {}},
		{name: "replaces a certificate that is missing", spoil: func(t *testing.T, s Store) { remove(t, s.CertPath(Admin)) }, renewed: []string{Admin}},
		{name: "replaces a certificate whose key is missing", spoil: func(t *testing.T, s Store) { remove(t, s.KeyPath(Scheduler)) }, renewed: []string{Scheduler}},
		{name: "replaces a key that is garbage", spoil: func(t *testing.T, s Store) {
			if err := os.WriteFile(s.KeyPath(APIServer), []byte("garbage"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, renewed: []string{APIServer}},
		{name: "replaces a certificate with the key of another", spoil: func(t *testing.T, s Store) {
			if err := os.Rename(s.KeyPath(Admin), s.KeyPath(NodeAgent)); err != nil {
				t.Fatal(err)
			}
		}, renewed: []string{Admin, NodeAgent}},
		{name: "replaces what a lost authority signed", spoil: func(t *testing.T, s Store) { remove(t, s.CertPath(FrontProxyCA)) }, renewed: []string{FrontProxyCA, FrontProxyClient}},
		{name: "replaces certificates that end soon", spoil: func(*testing.T, Store) {}, later: leafLife - renewBefore + time.Hour, renewed: []string{
			APIServer, KubeletClient, FrontProxyClient, Admin, ControllerManager, Scheduler, NodeAgent, Kubelet,
		}},
		{name: "replaces all once the authorities end", spoil: func(*testing.T, Store) {}, later: authorityLife, renewed: []string{all}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := ensured(t, now)
			before := contents(t, s)
			test.spoil(t, s)
			if err := s.Ensure(serviceIP(), now.Add(test.later)); err != nil {
				t.Fatal(err)
			}
			after := contents(t, s)
			renewed := map[string]bool{}
			for _, name := range test.renewed {
				renewed[name+".crt"] = true
			}
			if len(after) != len(before) {
				t.Errorf("%d files, want %d", len(after), len(before))
			}
			for name, old := range before {
				if filepath.Ext(name) != ".crt" {
					continue
				}
				want := renewed[name] || renewed[all+".crt"]
				if got := !bytes.Equal(old, after[name]); got != want {
					t.Errorf("%s changed: %v, want %v", name, got, want)
				}
			}
			if !bytes.Equal(before[ServiceAccount+".key"], after[ServiceAccount+".key"]) {
				t.Error("the service account key changed: all tokens are void")
			}
		})
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
}

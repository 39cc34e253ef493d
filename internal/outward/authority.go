package outward

import (
	"crypto/x509"
	"errors"
)

// Authorities are those of the system and those in a PEM bundle; those in the bundle alone where the system has none.
func Authorities(pem []byte) (*x509.CertPool, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, errors.New("it holds no certificate: write certificates in PEM")
	}
	return pool, nil
}

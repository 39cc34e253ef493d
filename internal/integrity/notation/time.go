package notation

import (
	"context" //nolint:depguard // what verifies timestamps takes one, and waits for nothing
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/notaryproject/notation-core-go/signature"
	nx509 "github.com/notaryproject/notation-core-go/x509"
	"github.com/notaryproject/tspclient-go"

	"github.com/slipway-gitops/slipway/internal/integrity"
)

// timely finds the time for which the certificates of a signature must be valid: now, or where a policy trusts authorities for it the
// time that such a one confirmed. It returns until when that holds without a further look.
func (q Question) timely(s signed) (until time.Time, fault *Fault) {
	if expiry := s.SignedAttributes.Expiry; !expiry.IsZero() {
		if until = expiry; !q.Now.Before(expiry) {
			return until, &Fault{Code: integrity.ExpiredSignature, Detail: "it expired at " + expiry.UTC().Format(time.RFC3339)}
		}
	}
	if s.SignedAttributes.SigningScheme == signature.SigningSchemeX509SigningAuthority {
		at := s.SignedAttributes.SigningTime // the authority vouches for it
		if cert := invalidAt(s.CertificateChain, at, at); cert != nil {
			return until, &Fault{Code: ExpiredCertificate, Detail: fmt.Sprintf("certificate %s was not valid when it was signed, at %s",
				named(cert), at.UTC().Format(time.RFC3339))}
		}
		return until, nil
	}
	cert := invalidAt(s.CertificateChain, q.Now, q.Now)
	if cert == nil {
		for _, c := range s.CertificateChain {
			if until.IsZero() || c.NotAfter.Before(until) {
				until = c.NotAfter
			}
		}
		return until, nil
	}
	authorities := q.Stores.of(kindTSA, q.Trusted)
	if len(authorities) == 0 {
		return until, &Fault{Code: ExpiredCertificate, Detail: fmt.Sprintf("certificate %s is valid from %s to %s, and the policy names no "+
			"trust store for timestamps", named(cert), cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339))}
	}
	earliest, latest, err := stamped(s, authorities)
	if err != nil {
		return until, &Fault{Code: ExpiredCertificate, Detail: fmt.Sprintf("certificate %s is valid to %s, and when it signed is not known: %v",
			named(cert), cert.NotAfter.UTC().Format(time.RFC3339), err)}
	}
	if cert := invalidAt(s.CertificateChain, earliest, latest); cert != nil {
		return until, &Fault{Code: ExpiredCertificate, Detail: fmt.Sprintf("certificate %s was not valid when it was signed, at %s", named(cert),
			latest.UTC().Format(time.RFC3339))}
	}
	return until, nil
}

// invalidAt finds a certificate that is not valid for a whole span of time; nil for none.
func invalidAt(chain []*x509.Certificate, from, to time.Time) *x509.Certificate {
	for _, cert := range chain {
		if from.Before(cert.NotBefore) || to.After(cert.NotAfter) {
			return cert
		}
	}
	return nil
}

// stamped verifies the timestamp of a signature, and returns the span in which it was made. No service is asked.
func stamped(s signed, authorities []anchor) (earliest, latest time.Time, err error) {
	raw := s.UnsignedAttributes.TimestampSignature
	if len(raw) == 0 {
		return earliest, latest, errors.New("it has no timestamp")
	}
	token, err := tspclient.ParseSignedToken(raw)
	if err != nil {
		return earliest, latest, errors.New("its timestamp cannot be read")
	}
	if len(token.Certificates) > maxCertificates {
		return earliest, latest, fmt.Errorf("its timestamp has more than %d certificates", maxCertificates)
	}
	roots := x509.NewCertPool()
	for _, a := range authorities {
		roots.AddCert(a.cert)
	}
	for _, cert := range token.Certificates {
		if err := measured(cert); err != nil {
			return earliest, latest, err
		}
	}
	info, err := token.Info()
	if err != nil {
		return earliest, latest, errors.New("its timestamp cannot be read")
	}
	stamp, err := info.Validate(s.Signature)
	if err != nil {
		return earliest, latest, errors.New("its timestamp is of another signature")
	}
	chain, err := token.Verify(context.Background(), x509.VerifyOptions{CurrentTime: stamp.Value, Roots: roots})
	if err == nil {
		err = nx509.ValidateTimestampingCertChain(chain)
	}
	if err != nil {
		return earliest, latest, fmt.Errorf("its timestamp is not trusted: %w", err)
	}
	return stamp.Value.Add(-stamp.Accuracy), stamp.Value.Add(stamp.Accuracy), nil
}

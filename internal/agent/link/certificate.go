package link

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// renewEvery is how often the files of the transport are looked at while there is a session.
const renewEvery = 10 * time.Second

// pair reads the agent's certificate and its key.
func (t *Transport) pair() (*tls.Certificate, error) {
	cert, err := readFile(t.CertFile)
	if err != nil {
		return nil, fmt.Errorf("read --client-cert: %w", err)
	}
	key, err := readFile(t.KeyFile)
	if err != nil {
		return nil, fmt.Errorf("read --client-key: %w", err)
	}
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		return nil, fmt.Errorf("read --client-cert %s and --client-key %s: %w: both must be PEM and belong together", t.CertFile, t.KeyFile, err)
	}
	return &pair, nil
}

// leaf is the agent's certificate; nil without one, or where it cannot be read.
func (t *Transport) leaf() *x509.Certificate {
	if t.CertFile == "" {
		return nil
	}
	pair, err := t.pair()
	if err != nil {
		return nil
	}
	return pair.Leaf
}

// print is of what the files of the transport contain; what cannot be read counts as empty.
func (t *Transport) print() [sha256.Size]byte {
	sum := sha256.New()
	for _, name := range []string{t.CAFile, t.CertFile, t.KeyFile} {
		if name == "" {
			continue
		}
		raw, _ := readFile(name) // a file that is being replaced
		of := sha256.Sum256(raw)
		sum.Write(of[:])
	}
	return [sha256.Size]byte(sum.Sum(nil))
}

// vetted is a TLS connection that says why the other side ended it, where that was because of the agent's certificate.
type vetted struct {
	*tls.Conn
	cfg *tls.Config
	who string
}

// Read implements net.Conn.
func (v *vetted) Read(p []byte) (int, error) {
	n, err := v.Conn.Read(p)
	if err != nil {
		err = alertOf(err, v.cfg, v.who)
	}
	return n, err
}

// alertOf explains an alert of the other side: it is about the certificate that was shown, or that none was.
func alertOf(err error, cfg *tls.Config, who string) error {
	var op *net.OpError
	if !errors.As(err, &op) || op.Op != "remote error" {
		return err
	}
	if len(cfg.Certificates) == 0 {
		return &undialled{fmt.Errorf("%s ends the TLS connection (%w): if it asks agents for a certificate, give --client-cert and --client-key",
			who, op.Err)}
	}
	leaf := cfg.Certificates[0].Leaf
	switch now := time.Now(); {
	case leaf != nil && now.After(leaf.NotAfter):
		return &undialled{fmt.Errorf("%s refuses the agent's certificate, which expired at %s (%w): renew the file of --client-cert", who,
			leaf.NotAfter.UTC().Format(time.RFC3339), op.Err)}
	case leaf != nil && now.Before(leaf.NotBefore):
		return &undialled{fmt.Errorf("%s refuses the agent's certificate, which is valid from %s (%w): check the clocks, "+
			"or the file of --client-cert", who, leaf.NotBefore.UTC().Format(time.RFC3339), op.Err)}
	}
	return &undialled{fmt.Errorf("%s refuses the agent's certificate (%w): it must be for clients, and signed by an authority of the "+
		"server's --client-ca: check the file of --client-cert", who, op.Err)}
}

// renewals ends a session when the files of the transport have been renewed: the next one shows the new certificate, and
// does so before the server ends this one for the old.
func (l *Link) renewals(ctx context.Context, before [sha256.Size]byte) error {
	t := &l.cfg.Transport
	if t.CAFile == "" && t.CertFile == "" {
		return nil
	}
	ticker := time.NewTicker(l.renew)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		if t.print() == before || t.Insecure && t.CertFile == "" {
			continue
		}
		// Two files are not written at the same moment: both must fit before the session is given up.
		if _, err := t.tls(""); err != nil {
			l.log.Debug("renewed files of the link are not complete yet", "err", err)
			continue
		}
		leaf := t.leaf()
		l.status.shows(leaf)
		if leaf != nil && l.now().After(leaf.NotAfter) {
			continue
		}
		l.log.Info("the certificates of the link were renewed; the agent connects again with them")
		return errSessionOver
	}
}

// certified adds what is to say of the agent's certificate to the health of the link: it says so in the last fifth of its time.
func (s *Status) certified(c *agentapi.Component) {
	if s.CertificateEnds.IsZero() || c.Message != "" {
		return
	}
	if left := s.CertificateEnds.Sub(s.at); left < s.certificateLasts/5 {
		c.Message = fmt.Sprintf("the agent's certificate for the link expires at %s: renew the file of --client-cert",
			s.CertificateEnds.UTC().Format(time.RFC3339))
	}
}

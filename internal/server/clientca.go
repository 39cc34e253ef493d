package server

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// maxClientCA bounds the file of --client-ca.
const maxClientCA = 4 << 20

// clientCA is the file of the authorities that sign the certificates of agents. It is read again when it changed.
type clientCA struct {
	file string
	base *tls.Config // without authorities
	log  *slog.Logger
	now  func() time.Time

	mu      sync.Mutex
	raw     []byte
	loaded  *tls.Config
	checked time.Time
}

// get is how TLS is done now. A file that cannot be read leaves the authorities before in force.
func (c *clientCA) get(*tls.ClientHelloInfo) (*tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	if since := now.Sub(c.checked); c.loaded != nil && since >= 0 && since < lookEvery {
		return c.loaded, nil
	}
	c.checked = now
	raw, pool, err := readPool(c.file)
	switch {
	case err != nil && c.loaded == nil:
		return nil, err
	case err != nil:
		c.log.Error("read --client-ca again", "err", err, "then", "the authorities before stay in force")
		return c.loaded, nil
	case c.loaded != nil && bytes.Equal(raw, c.raw):
		return c.loaded, nil
	case c.loaded != nil:
		c.log.Info("the authorities for certificates of agents changed")
	}
	fresh := c.base.Clone()
	fresh.ClientCAs = pool
	c.raw, c.loaded = raw, fresh
	return fresh, nil
}

func readPool(file string) ([]byte, *x509.CertPool, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read --client-ca: %w", err)
	}
	if info.Size() > maxClientCA {
		return nil, nil, fmt.Errorf("read --client-ca: %s has %d bytes, more than %d", file, info.Size(), maxClientCA)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, fmt.Errorf("read --client-ca: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(raw) {
		return nil, nil, fmt.Errorf("read --client-ca: %s holds no certificate in PEM", file)
	}
	return raw, pool, nil
}

// certified lets agents through that showed a certificate, for as long as it is valid: a link may last for months.
func certified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
			core.WriteProblem(w, api.Errorf(api.CodeForbidden,
				"this server asks agents for a certificate: give the agent --client-cert and --client-key"), "")
			return
		}
		ctx, cancel := context.WithDeadline(r.Context(), validUntil(r.TLS.VerifiedChains))
		defer cancel()
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// validUntil is the end of the chain that is valid for longest.
func validUntil(chains [][]*x509.Certificate) time.Time {
	var longest time.Time
	for _, chain := range chains {
		ends := chain[0].NotAfter
		for _, cert := range chain[1:] {
			if cert.NotAfter.Before(ends) {
				ends = cert.NotAfter
			}
		}
		if ends.After(longest) {
			longest = ends
		}
	}
	return longest
}

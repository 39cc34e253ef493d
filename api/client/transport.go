package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// transport is how the server is reached: through the proxy of the environment, with the certificates of the system and
// those of the configuration.
func transport(cfg Config) (*http.Transport, error) {
	conf, err := tlsConfig(cfg)
	if err != nil {
		return nil, err
	}
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 15 * time.Second}).DialContext,
		TLSClientConfig:       conf,
		TLSHandshakeTimeout:   10 * time.Second,
		ForceAttemptHTTP2:     true,
		IdleConnTimeout:       60 * time.Second,
		MaxIdleConnsPerHost:   8,
		ExpectContinueTimeout: time.Second,
		ResponseHeaderTimeout: cfg.Timeout,
	}, nil
}

func tlsConfig(cfg Config) (*tls.Config, error) {
	conf := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: cfg.Insecure} //nolint:gosec // only on request
	if len(cfg.CA) == 0 {
		return conf, nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // a system without certificates: those that were given count
	}
	if !pool.AppendCertsFromPEM(cfg.CA) {
		return nil, api.Errorf(api.CodeInvalid, "the CA has no certificate in it: give a PEM file with -----BEGIN CERTIFICATE-----")
	}
	conf.RootCAs = pool
	return conf, nil
}

// loopback is true for a host that is this machine.
func loopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// unsent is true for an error before the server can have seen the request.
func unsent(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// final is true for an error that the next attempt would meet as well.
func final(err error) bool {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var verify *tls.CertificateVerificationError
	var dns *net.DNSError
	var record tls.RecordHeaderError
	return errors.As(err, &unknown) || errors.As(err, &name) || errors.As(err, &invalid) || errors.As(err, &verify) ||
		errors.As(err, &record) || errors.As(err, &dns) && dns.IsNotFound
}

// unreached says why a server was not reached, and what to do.
func (c *Client) unreached(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); errors.Is(cause, context.Canceled) {
		return cause
	}
	hint := "check the address, and whether the server runs"
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	var record tls.RecordHeaderError
	var dns *net.DNSError
	switch {
	case errors.As(err, &unknown):
		hint = "give the certificate that signs the server's, with --ca-file at `slipway login`"
	case errors.As(err, &name):
		hint = "use the name that the certificate is for"
	case errors.As(err, &invalid):
		hint = "have the server's certificate renewed, and look at this machine's clock"
	case errors.As(err, &record):
		hint = "the server speaks no TLS there: write http:// if that is meant"
	case errors.As(err, &dns):
		hint = "check the name of the host"
	case errors.Is(err, context.DeadlineExceeded):
		hint = "the server or something on the way is slow: try again"
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = "nothing listens there: check the address, and start the server"
	}
	return &Error{
		Err:    &api.Error{Code: api.CodeUnavailable, Message: fmt.Sprintf("reach server %s: %v: %s", c.base, plain(err), hint)},
		Server: c.base.String(), cause: err,
	}
}

// plain is an error of the network without the method and URL that net/http puts in front.
func plain(err error) error {
	var wrapped interface{ Unwrap() error }
	if errors.As(err, &wrapped) {
		if inner := wrapped.Unwrap(); inner != nil {
			return inner
		}
	}
	return err
}

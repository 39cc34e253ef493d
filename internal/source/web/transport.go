package web

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/net/http/httpproxy"

	"github.com/slipway-gitops/slipway/internal/outward"
)

// maxClientKey bounds the private key of a client certificate, in bytes.
const maxClientKey = 16 << 10

// headerTime bounds how long a server may take until it begins to answer.
const headerTime = 30 * time.Second

// transport connects as an access describes it. At home its authorities replace those of the system, elsewhere they are added.
// With secret, the client certificate is shown.
func transport(policy *outward.Policy, a Access, home, secret bool) (*http.Transport, error) {
	out := policy.Transport()
	out.ResponseHeaderTimeout = headerTime
	// Archives are what they are; a caller that asks for a compressed text unpacks it.
	out.DisableCompression = true
	config := &tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: a.Insecure} //nolint:gosec // on the user's word
	if len(a.CA) > 0 {
		all, err := outward.Authorities(a.CA)
		if err != nil {
			return nil, errors.New("the certificate authorities of the host hold no certificate: write them in PEM")
		}
		if config.RootCAs = all; home {
			config.RootCAs = x509.NewCertPool()
			config.RootCAs.AppendCertsFromPEM(a.CA)
		}
	}
	if len(a.ClientCert) > 0 && secret {
		if len(a.ClientKey) > maxClientKey { // reading and using one that large takes seconds
			return nil, fmt.Errorf("the key of the client certificate has more than %d KiB: use a smaller one", maxClientKey>>10)
		}
		pair, err := tls.X509KeyPair(a.ClientCert, a.ClientKey)
		if err != nil { // its text may quote what it read
			return nil, errors.New("read client certificate: certificate and key do not fit, or are no PEM")
		}
		config.Certificates = []tls.Certificate{pair}
	}
	out.TLSClientConfig = config
	out.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return &outward.ProxyRefused{Code: resp.StatusCode}
		}
		return nil
	}
	if a.Proxy == "" {
		return out, nil
	}
	out.DialContext = policy.Dial
	choose := (&httpproxy.Config{HTTPProxy: a.Proxy, HTTPSProxy: a.Proxy, NoProxy: a.NoProxy}).ProxyFunc()
	out.Proxy = func(r *http.Request) (*url.URL, error) {
		to, err := choose(r.URL)
		if err != nil || to == nil {
			return nil, err
		}
		return to, policy.Check(r.URL.Hostname()) // a proxy resolves names itself: the host is judged as it is written
	}
	return out, nil
}

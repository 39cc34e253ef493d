package web

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Access is how a source is reached over HTTP or HTTPS. The zero value is anonymous access. Printing or logging one shows only
// which kinds of secret it holds.
type Access struct {
	// Identity identifies an access whose secrets change automatically, such as tokens of a registry: those with the same Identity
	// share caches. The caller that sets it guarantees that all of them may read the same. Empty means that the secrets are the
	// identity.
	Identity string

	Username string // for Password
	Password string // or an access token used as password
	Bearer   string // token for "Authorization: Bearer", instead of Username and Password

	ClientCert []byte // TLS client certificate, PEM
	ClientKey  []byte // its key, PEM
	CA         []byte // PEM bundle that replaces the system's roots at the home of the Client
	Insecure   bool   // accept any server certificate

	Proxy   string // URL of an HTTP, HTTPS or SOCKS5 proxy, may hold a password
	NoProxy string // comma-separated hosts that are reached without Proxy

	// Within are the addresses that the credentials and the client certificate are for, with everything below them; none for all of
	// the home.
	Within []string
	// PassCredentials sends the credentials and the client certificate to other hosts and paths too, where what is at home names them.
	PassCredentials bool
}

// Scope identifies the access without revealing it: equal ones have equal scopes. It belongs in every key of a cache that holds
// what was read with it.
func (a Access) Scope() string {
	h := sha256.New()
	if a.Identity != "" {
		a = Access{Identity: a.Identity, Within: a.Within}
	}
	for _, f := range []string{
		a.Identity, a.Username, a.Password, a.Bearer, string(a.ClientCert), string(a.ClientKey), string(a.CA), a.Proxy, a.NoProxy,
	} {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	fmt.Fprintf(h, "%t%t%q", a.Insecure, a.PassCredentials, a.Within)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// WithoutSecrets is the same way to the host with no user, password and token, for a caller that sends its own.
func (a Access) WithoutSecrets() Access {
	a.Username, a.Password, a.Bearer = "", "", ""
	return a
}

// String shows no secret.
func (a Access) String() string {
	var k []string
	for _, f := range []struct {
		has  bool
		name string
	}{{a.Username+a.Password != "", "password"}, {a.Bearer != "", "bearer token"}, {len(a.ClientCert) > 0, "client certificate"}} {
		if f.has {
			k = append(k, f.name)
		}
	}
	if len(k) == 0 {
		return "access(anonymous)"
	}
	return "access(" + strings.Join(k, ", ") + ")"
}

// GoString shows no secret.
func (a Access) GoString() string { return a.String() }

// LogValue shows no secret.
func (a Access) LogValue() slog.Value { return slog.StringValue(a.String()) }

// MarshalJSON shows no secret, so that one in a larger value cannot leak by accident.
func (a Access) MarshalJSON() ([]byte, error) { return []byte(`"` + a.String() + `"`), nil }

// check finds what can never work.
func (a Access) check() error {
	for name, v := range map[string]string{
		"user name": a.Username, "password": a.Password, "bearer token": a.Bearer, "proxy": a.Proxy, "no-proxy list": a.NoProxy,
	} {
		if strings.ContainsAny(v, "\r\n\x00") {
			return fmt.Errorf("the %s of the repository credential holds a line break: remove it", name)
		}
	}
	if (len(a.ClientCert) > 0) != (len(a.ClientKey) > 0) {
		return errors.New("the repository credential needs both a TLS client certificate and its key")
	}
	if a.Proxy == "" {
		return nil
	}
	to, err := url.Parse(a.Proxy)
	if err != nil || to.Hostname() == "" {
		return errors.New("the proxy of the repository is no URL: write it as http://host:port")
	}
	switch to.Scheme {
	case "http", "https", "socks5", "socks5h":
		return nil
	}
	return errors.New("the proxy of the repository has a scheme that is not known: use http, https or socks5")
}

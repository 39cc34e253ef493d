package git

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"
)

// Credential is how a repository is reached. The zero value is anonymous access. Printing or logging one shows only
// which kinds of secret it holds.
type Credential struct {
	// Identity identifies a credential whose secrets change automatically, as the tokens of a GitHub App do: credentials
	// with the same Identity share mirrors and caches. The caller that sets it guarantees that all of them may read the same, and
	// includes the project in it. Empty means that the secrets themselves are the identity.
	Identity string

	Username string // for Password; "git" where empty
	Password string // or an access token used as password
	Bearer   string // token for "Authorization: Bearer", instead of Username and Password

	ClientCert []byte // TLS client certificate, PEM
	ClientKey  []byte // its key, PEM
	CA         []byte // PEM bundle that replaces the system's roots
	Insecure   bool   // accept any server certificate or host key

	SSHKey     []byte // private key, PEM, without passphrase
	KnownHosts []byte // lines of known_hosts; the server must be in it unless Insecure

	Proxy   string // URL of an HTTP or SOCKS proxy, may hold a password
	NoProxy string // comma-separated hosts that are reached without Proxy
}

// Scope identifies the credential without revealing it: equal credentials have equal scopes. It belongs in every key of
// a cache that holds what was read with it, so that no user reads what only another could.
func (c Credential) Scope() string {
	h := sha256.New()
	if c.Identity != "" {
		c = Credential{Identity: c.Identity}
	}
	insecure := "false"
	if c.Insecure {
		insecure = "true"
	}
	for _, f := range []string{
		c.Identity, c.Username, c.Password, c.Bearer, string(c.ClientCert), string(c.ClientKey), string(c.CA), insecure,
		string(c.SSHKey), string(c.KnownHosts), c.Proxy, c.NoProxy,
	} {
		fmt.Fprintf(h, "%d:%s", len(f), f)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// kinds names what the credential holds.
func (c Credential) kinds() string {
	var k []string
	add := func(has bool, name string) {
		if has {
			k = append(k, name)
		}
	}
	add(c.Password != "", "password")
	add(c.Bearer != "", "bearer token")
	add(len(c.ClientCert) > 0, "client certificate")
	add(len(c.SSHKey) > 0, "ssh key")
	if len(k) == 0 {
		return "anonymous"
	}
	return strings.Join(k, ", ")
}

// String shows no secret.
func (c Credential) String() string { return "credential(" + c.kinds() + ")" }

// GoString shows no secret.
func (c Credential) GoString() string { return c.String() }

// LogValue shows no secret.
func (c Credential) LogValue() slog.Value { return slog.StringValue(c.String()) }

// MarshalJSON shows no secret, so that one in a larger value cannot leak by accident.
func (c Credential) MarshalJSON() ([]byte, error) { return []byte(`"` + c.String() + `"`), nil }

// secrets lists what must never be printed.
func (c Credential) secrets() []string {
	s := []string{c.Password, c.Bearer}
	if c.Password != "" {
		s = append(s, basic(c), url.QueryEscape(c.Password), url.PathEscape(c.Password))
	}
	if u, err := url.Parse(c.Proxy); err == nil && u.User != nil {
		p, _ := u.User.Password()
		s = append(s, u.User.String(), p)
	}
	return s
}

func (c Credential) check() error {
	for name, v := range map[string]string{
		"user name": c.Username, "password": c.Password, "bearer token": c.Bearer, "proxy": c.Proxy, "no-proxy list": c.NoProxy,
	} {
		if strings.ContainsAny(v, "\r\n\x00") {
			return fmt.Errorf("the %s of the repository credential holds a line break: remove it", name)
		}
	}
	if (len(c.ClientCert) > 0) != (len(c.ClientKey) > 0) {
		return errors.New("the repository credential needs both a TLS client certificate and its key")
	}
	return nil
}

func basic(c Credential) string {
	user := c.Username
	if user == "" {
		user = "git"
	}
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + c.Password))
}

package git

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Credential is how a repository is reached. The zero value is anonymous access. Printing or logging one shows only
// which kinds of secret it holds.
type Credential struct {
	// Identity identifies a credential whose secrets change automatically, as the tokens of a GitHub App do: credentials
	// with the same Identity share mirrors and caches. The caller that sets it guarantees that all of them may read the same. Empty
	// means that the secrets themselves are the identity.
	Identity string

	Username string // for Password; "git" where empty
	Password string // or an access token used as password
	Bearer   string // token for "Authorization: Bearer", instead of Username and Password
	Basic    bool   // send Password although there is a Bearer
	Tokens   Tokens // gives Password or Bearer for each command, where they change; with an Identity

	ClientCert []byte // TLS client certificate, PEM
	ClientKey  []byte // its key, PEM
	CA         []byte // PEM bundle that replaces the system's roots
	Insecure   bool   // accept any server certificate or host key

	SSHKey     []byte // private key, PEM, without passphrase
	KnownHosts []byte // lines of known_hosts; the server must be in it unless Insecure

	Proxy   string // URL of an HTTP or SOCKS proxy, may hold a password
	NoProxy string // comma-separated hosts that are reached without Proxy

	Depth int // commits of each reference that are fetched, 0 for all of them. It decides on nothing that is read
}

// Tokens gives what signs in, where that changes automatically. It is safe for concurrent use.
type Tokens interface {
	// Login returns what can be used now. A refused one is a password or bearer token that the server did not accept: another one
	// is returned where there is one. An error that wraps ErrUnreachable is about the service that gives tokens, others are about
	// the credential.
	Login(ctx context.Context, refused string) (Login, error)
}

// Login is a user name and a password, or a bearer token.
type Login struct{ Username, Password, Bearer string }

// String shows no secret.
func (l Login) String() string { return Credential{Password: l.Password, Bearer: l.Bearer}.String() }

// GoString shows no secret.
func (l Login) GoString() string { return l.String() }

// signedIn returns the credential with what its Tokens give. One without Tokens stays as it is.
func (c Credential) signedIn(ctx context.Context, r Remote, refused string) (Credential, error) {
	if c.Tokens == nil || r.scheme != "https" && r.scheme != "http" {
		return c, nil
	}
	l, err := c.Tokens.Login(ctx, refused)
	switch {
	case err == nil:
		c.Username, c.Password, c.Bearer = l.Username, l.Password, l.Bearer
		return c, nil
	case ctx.Err() != nil:
		return c, context.Cause(ctx)
	}
	kind := ErrAuth
	if errors.Is(err, ErrUnreachable) {
		kind = ErrUnreachable
	}
	return c, &Error{Kind: kind, URL: r.URL, Detail: "there is no token to sign in with", Hint: err.Error(), cause: err}
}

// token is what a server can refuse.
func (c Credential) token() string {
	if c.Bearer != "" {
		return c.Bearer
	}
	return c.Password
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
	if c.Basic && c.Bearer != "" {
		insecure += " basic"
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
	add(c.Tokens != nil, "tokens of a service")
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
	if c.Proxy != "" {
		if _, err := parseProxy(c.Proxy); err != nil {
			return err
		}
	}
	return checkKey(c.SSHKey)
}

// checkKey refuses a private key that ssh could not use without a person, before anything is tried with it.
func checkKey(key []byte) error {
	if len(bytes.TrimSpace(key)) == 0 {
		return nil
	}
	if _, _, _, _, err := ssh.ParseAuthorizedKey(key); err == nil {
		return errors.New("sshPrivateKey is a public key: give the private half, which begins with -----BEGIN")
	}
	// What Go cannot read may still be a key that ssh reads.
	_, err := ssh.ParseRawPrivateKey(key)
	if locked := new(ssh.PassphraseMissingError); errors.As(err, &locked) {
		return errors.New("the SSH private key has a passphrase: give a key without one (ssh-keygen -p -N '' -f KEY)")
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

package git_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// till gives tokens with numbers, and the next one where the last was refused.
type till struct {
	mu     sync.Mutex
	number int
	takes  int // the number that the server takes
	err    error
}

func (t *till) Login(_ context.Context, refused string) (git.Login, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if refused == fmt.Sprintf("token-%d", t.number) {
		t.number++
	}
	return git.Login{Username: "x-access-token", Password: fmt.Sprintf("token-%d", t.number)}, t.err
}

func (t *till) accepts(r *http.Request) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	user, password, _ := r.BasicAuth()
	return user == "x-access-token" && password == fmt.Sprintf("token-%d", t.takes)
}

func TestATokenThatWasWithdrawnIsRenewedOnce(t *testing.T) {
	t.Parallel()
	tokens := &till{}
	server := testenv.Git(t, testenv.GitTLS(), testenv.GitAuth(tokens.accepts))
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "one"}, "begin")
	c := client(t)
	cred := git.Credential{Identity: "app", Tokens: tokens, CA: server.CA()}
	m := mirror(t, c, repo.URL(), cred)
	if got, err := read(t.Context(), m); err != nil || got != "one" {
		t.Fatalf("%q %v", got, err)
	}
	scope := m.Scope()
	tokens.takes = 1 // in the middle of the work
	repo.Commit(map[string]string{"a.txt": "two"}, "next")
	if got, err := read(t.Context(), m); err != nil || got != "two" {
		t.Errorf("with a renewed token: %q %v", got, err)
	}
	if again := mirror(t, c, repo.URL(), git.Credential{Identity: "app", Tokens: &till{}, CA: server.CA()}); again.Scope() != scope {
		t.Error("another token has another mirror")
	}
	tokens.takes = 7
	_, err := mirror(t, c, repo.URL(), cred).LsRemote(t.Context())
	if !errors.Is(err, git.ErrAuth) || tokens.number != 2 {
		t.Errorf("a server that takes no token: %v, %d renewals", err, tokens.number)
	}
	for _, wrong := range []error{errors.New("no such App"), fmt.Errorf("%w: no answer", git.ErrUnreachable)} {
		tokens.err = wrong
		_, err := mirror(t, c, repo.URL(), cred).LsRemote(t.Context())
		if !errors.Is(err, wrong) || errors.Is(err, git.ErrAuth) == errors.Is(wrong, git.ErrUnreachable) {
			t.Errorf("%v gives the error %v", wrong, err)
		}
	}
	if text := fmt.Sprintf("%v %+v %#v", cred, cred, git.Login{Password: "hidden"}); strings.Contains(text, "token-") || strings.Contains(text, "hidden") {
		t.Error(text)
	}
}

func TestAPasswordIsSentDespiteABearerTokenWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	for _, basic := range []bool{true, false} {
		server := testenv.Git(t, testenv.GitAuth(func(r *http.Request) bool {
			_, password, is := r.BasicAuth()
			return is == basic && (!basic || password == "p") && (basic || r.Header.Get("Authorization") == "Bearer b")
		}))
		repo := server.NewRepo("r")
		repo.Commit(map[string]string{"a.txt": "one"}, "begin")
		cred := git.Credential{Username: "u", Password: "p", Bearer: "b", Basic: basic}
		if got, err := read(t.Context(), mirror(t, client(t), repo.URL(), cred)); err != nil || got != "one" {
			t.Errorf("basic %t: %q %v", basic, got, err)
		}
	}
}

func encode(t *testing.T, key any, passphrase string) []byte {
	t.Helper()
	block, err := ssh.MarshalPrivateKey(key, "")
	if passphrase != "" {
		block, err = ssh.MarshalPrivateKeyWithPassphrase(key, "", []byte(passphrase))
	}
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(block)
}

func TestKeysOfEveryKindSignInAndOneWithAPassphraseIsRefused(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "one"}, "begin")
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string][]byte{"ed25519": testenv.NewSSHKey(t), "ecdsa": encode(t, curve, ""), "rsa": encode(t, long, "")} {
		server.AddSSHKey(key)
		cred := git.Credential{SSHKey: key, KnownHosts: server.KnownHosts()}
		if got, err := read(t.Context(), mirror(t, client(t), repo.SSHURL(), cred)); err != nil || got != "one" {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
	public, err := ssh.NewPublicKey(&long.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	for want, key := range map[string][]byte{"has a passphrase": encode(t, curve, "hidden"), "is a public key": ssh.MarshalAuthorizedKey(public)} {
		_, err := client(t).Mirror(repo.SSHURL(), git.Credential{SSHKey: key})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want that it %s", err, want)
		}
	}
}

func TestAHostIsKnownByItsAuthority(t *testing.T) {
	t.Parallel()
	server, other := testenv.Git(t), testenv.Git(t)
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "one"}, "begin")
	cred := git.Credential{SSHKey: server.SSHKey(), KnownHosts: server.CertAuthority()}
	if got, err := read(t.Context(), mirror(t, client(t), repo.SSHURL(), cred)); err != nil || got != "one" {
		t.Errorf("%q %v", got, err)
	}
	at := strings.Fields(string(server.CertAuthority()))[1]
	alien := strings.Fields(string(other.CertAuthority()))
	alien[1] = at
	cred.KnownHosts = []byte(strings.Join(alien, " ") + "\n")
	if _, err := mirror(t, client(t), repo.SSHURL(), cred).LsRemote(t.Context()); !errors.Is(err, git.ErrHostKey) {
		t.Errorf("a host that another authority vouches for: %v", err)
	}
}

func TestAProxyIsUsedOverEveryTransport(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t, testenv.GitTLS())
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "one"}, "begin")
	named := func(address string) string { return strings.Replace(address, "127.0.0.1", "git.slipway.invalid", 1) }
	keys := git.Credential{SSHKey: server.SSHKey(), KnownHosts: []byte(named(string(server.KnownHosts()))), Insecure: false}
	for _, c := range []struct {
		scheme, address string
		cred            git.Credential
		resolved        string // what the proxy is asked for
	}{
		{"http", named(repo.URL()), git.Credential{Insecure: true}, "git.slipway.invalid"},
		{"socks5", named(repo.URL()), git.Credential{Insecure: true}, "127.0.0.1"},
		{"socks5h", named(repo.URL()), git.Credential{Insecure: true}, "git.slipway.invalid"},
		{"http", named(repo.SSHURL()), keys, "git.slipway.invalid"},
		{"socks5", named(repo.SSHURL()), keys, "127.0.0.1"},
		{"socks5h", named(repo.SSHURL()), keys, "git.slipway.invalid"},
	} {
		proxy := testenv.NewProxy(t, "u", "p")
		hosts := &names{
			Policy: outward.Policy{Private: true}, asked: map[string]int{},
			known: map[string]string{"git.slipway.invalid": "127.0.0.1", "127.0.0.1": "127.0.0.1"},
		}
		at := url.URL{Scheme: c.scheme, Host: proxy.Address(), User: url.UserPassword("u", "p")}
		c.cred.Proxy = at.String()
		called := c.scheme + " to " + strings.SplitN(c.address, ":", 2)[0]
		// The table of names is not safe for several commands.
		if got, err := read(t.Context(), mirror(t, client(t, func(o *git.Options) { o.Hosts = hosts }), c.address, c.cred)); err != nil || got != "one" {
			t.Errorf("%s: %q %v", called, got, err)
			continue
		}
		if !slices.Contains(proxy.Hosts(), c.resolved) || proxy.Used() == 0 {
			t.Errorf("%s: the proxy was asked for %q", called, proxy.Hosts())
		}
		at.User = url.UserPassword("u", "hidden")
		c.cred.Proxy = at.String()
		_, err := mirror(t, client(t, func(o *git.Options) { o.Hosts = hosts }), c.address, c.cred).LsRemote(t.Context())
		if !errors.Is(err, git.ErrUnreachable) || strings.Contains(err.Error(), "hidden") || strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s with a wrong password: %v", called, err)
		}
		used := proxy.Used()
		c.cred.NoProxy = "other.example,git.slipway.invalid"
		if got, err := read(t.Context(), mirror(t, client(t, func(o *git.Options) { o.Hosts = hosts }), c.address, c.cred)); err != nil || got != "one" {
			t.Errorf("%s past the proxy: %q %v", called, got, err)
		}
		if proxy.Used() != used {
			t.Errorf("%s: the proxy was used although noProxy names the host", called)
		}
	}
	for _, wrong := range []string{"ftp://h:1", "://", "h:1"} {
		if _, err := client(t).Mirror(repo.URL(), git.Credential{Proxy: wrong}); err == nil {
			t.Errorf("a proxy at %s is taken", wrong)
		}
	}
}

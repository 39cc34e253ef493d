package git_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// expired serves HTTPS with a certificate that has expired, and returns its address and the certificate.
func expired(t *testing.T) (string, []byte) {
	t.Helper()
	authority := testenv.NewAuthority(t)
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.TLS = authority.IssueUntil(time.Now().Add(-24*time.Hour), "old", "127.0.0.1").Server()
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL, authority.PEM()
}

// outcome is what came of the layers: those that worked, and the one that failed.
func outcome(steps []git.Step) (ok []string, failed string, err error) {
	for _, s := range steps {
		switch {
		case !s.Tried:
		case s.Err == nil:
			ok = append(ok, string(s.Layer))
		default:
			failed, err = string(s.Layer), s.Err
		}
	}
	return ok, failed, err
}

func TestATryFindsTheLayerThatFails(t *testing.T) {
	t.Parallel()
	open, secure := testenv.Git(t), testenv.Git(t, testenv.GitTLS(), testenv.GitBasicAuth("bob", "secret-password"))
	open.NewRepo("r").Commit(map[string]string{"a.txt": "x"}, "one")
	open.NewRepo("empty")
	repo := secure.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "x"}, "one")
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("Zaubernuss")) }))
	t.Cleanup(page.Close)
	old, oldCA := expired(t)
	proxy := testenv.NewProxy(t, "u", "p")
	good := git.Credential{Username: "bob", Password: "secret-password", CA: secure.CA()}
	with := func(change func(*git.Credential)) git.Credential {
		c := good
		change(&c)
		return c
	}
	ssh := git.Credential{SSHKey: open.SSHKey(), KnownHosts: open.KnownHosts()}
	sshURL := strings.Replace(open.NewRepo("s").SSHURL(), "/s.git", "/r.git", 1)
	hosts := &names{
		Policy: outward.Policy{Private: true}, asked: map[string]int{},
		known: map[string]string{"127.0.0.1": "127.0.0.1", "git.slipway.invalid": "127.0.0.1"},
	}
	named := func(address string) string { return strings.Replace(address, "127.0.0.1", "git.slipway.invalid", 1) }
	by := func(password string) string {
		return (&url.URL{Scheme: "http", Host: proxy.Address(), User: url.UserPassword("u", password)}).String()
	}
	for _, c := range []struct {
		name, url, revision string
		cred                git.Credential
		ok                  string // layers that worked
		failed, hint        string
	}{
		{"all is well", repo.URL(), "main", good, "name connection TLS authentication repository revision", "", ""},
		{"over SSH", sshURL, "", ssh, "name connection host key authentication repository revision", "", ""},
		{"over SSH, unchecked", sshURL, "", git.Credential{SSHKey: open.SSHKey(), Insecure: true}, "name connection host key authentication repository revision", "", ""},
		{"a name that is not known", "https://nothing.slipway.invalid/r.git", "", good, "", "name", "name server"},
		{"an address that is refused", "https://169.254.169.254/r.git", "", good, "", "name", "metadata"},
		{"a closed port", "http://" + closed.Addr().String() + "/r.git", "", git.Credential{}, "name", "connection", "check address and port"},
		{"an unknown authority", repo.URL(), "", with(func(c *git.Credential) { c.CA = nil }), "name connection", "TLS", "certificate authority"},
		{"an expired certificate", old + "/r.git", "", git.Credential{CA: oldCA}, "name connection", "TLS", "renew"},
		{"no TLS", strings.Replace(page.URL, "http:", "https:", 1) + "/r.git", "", git.Credential{}, "name connection", "TLS", "check the port"},
		{"a wrong password", repo.URL(), "", with(func(c *git.Credential) { c.Password = "other" }), "name connection TLS", "authentication", "refuses the credential"},
		{"no password", repo.URL(), "", git.Credential{CA: secure.CA()}, "name connection TLS", "authentication", "add a credential"},
		{"no such repository", secure.Base() + "/none.git", "", good, "name connection TLS authentication", "repository", "check the address"},
		{"a page of something else", page.URL + "/r.git", "", git.Credential{}, "name connection authentication", "repository", "check the address"},
		{"an empty repository", open.Base() + "/empty.git", "", git.Credential{}, "name connection authentication", "repository", "push a commit"},
		{"no such branch", repo.URL(), "mian", good, "name connection TLS authentication repository", "revision", "did you mean main"},
		{"an unknown host key", sshURL, "", git.Credential{SSHKey: open.SSHKey()}, "name connection", "host key", "known hosts"},
		{"a key that is not known", sshURL, "", git.Credential{SSHKey: testenv.NewSSHKey(t), KnownHosts: open.KnownHosts()}, "name connection host key", "authentication", "check the SSH key"},
		{"no such repository over SSH", strings.Replace(sshURL, "/r.git", "/none.git", 1), "", ssh, "name connection host key authentication", "repository", "check the address"},
		{"a proxy", named(repo.URL()), "", with(func(c *git.Credential) { c.Proxy, c.Insecure = by("p"), true }), "name connection proxy TLS authentication repository revision", "", ""},
		{"a wrong password of a proxy", named(repo.URL()), "", with(func(c *git.Credential) { c.Proxy, c.Insecure = by("hidden"), true }), "name connection", "proxy", "user and password"},
		{"a proxy that is not there", named(repo.URL()), "", with(func(c *git.Credential) { c.Proxy = "http://" + closed.Addr().String() }), "name", "connection", "proxy"},
	} {
		_, steps := mirror(t, client(t, func(o *git.Options) { o.Hosts = hosts }), c.url, c.cred).Try(t.Context(), c.revision)
		ok, failed, err := outcome(steps)
		if skipped := slices.ContainsFunc(steps, func(s git.Step) bool { return !s.Tried }); skipped && c.failed == "" {
			t.Errorf("%s: nothing fails, and a layer is skipped: %v", c.name, steps)
		}
		if strings.Join(ok, " ") != c.ok || failed != c.failed {
			t.Errorf("%s: %q work, and %q fails: %v", c.name, ok, failed, err)
		}
		if c.failed == "" {
			continue
		}
		for _, secret := range []string{"Zaubernuss", "hidden", "secret-password", "other"} {
			if strings.Contains(err.Error(), secret) && !strings.Contains(err.Error(), secret+" ") {
				t.Errorf("%s: %v shows %s", c.name, err, secret)
			}
		}
		if !strings.Contains(err.Error(), c.hint) {
			t.Errorf("%s: %v, want %q", c.name, err, c.hint)
		}
	}
}

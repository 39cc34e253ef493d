package git_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/git"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// names is a resolver that knows some names, no matter what a name server says, and is asked once for each.
type names struct {
	outward.Policy
	known map[string]string
	asked map[string]int
}

func (n *names) Resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	if at, ok := n.known[host]; ok {
		n.asked[host]++
		return []netip.Addr{netip.MustParseAddr(at)}, nil
	}
	return n.Policy.Resolve(ctx, host)
}

func TestGitConnectsToTheAddressThatWasChecked(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "one"}, "begin")
	hosts := &names{known: map[string]string{"git.slipway.invalid": "127.0.0.1"}, asked: map[string]int{}}
	c := client(t, func(o *git.Options) { o.Hosts = hosts })
	named := func(address string) string { return strings.Replace(address, "127.0.0.1", "git.slipway.invalid", 1) }
	// No name server knows the name: git is not to ask one.
	if got, err := read(t.Context(), mirror(t, c, named(repo.URL()), git.Credential{})); err != nil || got != "one" {
		t.Errorf("over HTTP: %q %v", got, err)
	}
	known := strings.Replace(string(server.KnownHosts()), "127.0.0.1", "git.slipway.invalid", 1)
	cred := git.Credential{SSHKey: server.SSHKey(), KnownHosts: []byte(known)}
	if got, err := read(t.Context(), mirror(t, c, named(repo.SSHURL()), cred)); err != nil || got != "one" {
		t.Errorf("over SSH: %q %v", got, err)
	}
	// The key is that of the name, not that of whatever is at the address.
	cred.KnownHosts = server.KnownHosts()
	if _, err := read(t.Context(), mirror(t, c, named(repo.SSHURL()), cred)); !errors.Is(err, git.ErrHostKey) {
		t.Errorf("over SSH with the key of another name: %v", err)
	}
	if hosts.asked["git.slipway.invalid"] == 0 {
		t.Error("the name was not resolved here")
	}
}

func TestARepositoryDoesNotLeadToThisMachineOrTheLink(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	reached := make(chan struct{}, 100)
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			reached <- struct{}{}
			_ = conn.Close()
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, func(o *git.Options) { o.Hosts = &outward.Policy{Private: true} })
	for _, host := range []string{
		"127.0.0.1", "localhost", "LOCALHOST.", "x.localhost", "127.1", "2130706433", "0x7f.1", "0177.0.0.1", "0.0.0.0", "[::1]", "[::ffff:127.0.0.1]",
		"[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "169.254.169.254", "[fe80::1]", "[fd00:ec2::254]", "metadata.google.internal", "１２７.0.0.1", "①27.0.0.1",
	} {
		for _, address := range []string{"http://" + host + ":" + port + "/r.git", "https://" + host + ":" + port + "/r.git", "ssh://git@" + host + ":" + port + "/r.git"} {
			m, err := c.Mirror(address, git.Credential{Insecure: true})
			if err == nil {
				_, err = m.LsRemote(t.Context())
			}
			if err == nil || !errors.Is(err, outward.ErrRefused) && !strings.Contains(err.Error(), "parse repository address") {
				t.Errorf("%s: %v", address, err)
			}
		}
		m, err := c.Mirror("http://192.0.2.1:1/r.git", git.Credential{Proxy: (&url.URL{Scheme: "http", Host: host + ":" + port}).String()})
		if err == nil {
			_, err = m.LsRemote(t.Context())
		}
		if err == nil || !errors.Is(err, git.ErrUnreachable) && !errors.Is(err, git.ErrDenied) {
			t.Errorf("by a proxy at %s: %v", host, err)
		}
	}
	if n := len(reached); n > 0 {
		t.Errorf("this machine was reached %d times", n)
	}
}

func TestARedirectOfAGitServerIsNotFollowedToTheLink(t *testing.T) {
	t.Parallel()
	server, inner := testenv.Git(t), testenv.Git(t)
	repo := server.NewRepo("r")
	repo.Commit(map[string]string{"a.txt": "one"}, "begin")
	server.RedirectTo(inner.Base())
	allow, err := outward.ReadList([]string{"127.0.0.0/8"})
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, func(o *git.Options) { o.Hosts = &outward.Policy{Private: true, Allow: allow} })
	if _, err := mirror(t, c, repo.URL(), git.Credential{}).LsRemote(t.Context()); !errors.Is(err, git.ErrMoved) {
		t.Error(err)
	}
	if n := inner.RequestCount(); n > 0 {
		t.Errorf("the other server was asked %d times", n)
	}
}

func TestANameThatIsOnlyKnownToAProxyIsLeftToIt(t *testing.T) {
	t.Parallel()
	server := testenv.Git(t)
	hosts := &names{
		Policy: outward.Policy{Private: true}, asked: map[string]int{},
		known: map[string]string{"proxy.slipway.invalid": "127.0.0.1"},
	}
	c := client(t, func(o *git.Options) { o.Hosts = hosts })
	at, err := url.Parse(server.Base())
	if err != nil {
		t.Fatal(err)
	}
	proxy := fmt.Sprintf("http://proxy.slipway.invalid:%s", at.Port())
	// The server is no proxy, but it is asked: the name that is unknown here does not end the attempt.
	_, err = mirror(t, c, "http://unknown.slipway.invalid/r.git", git.Credential{Proxy: proxy}).LsRemote(t.Context())
	if server.RequestCount() == 0 {
		t.Errorf("the proxy was not asked: %v", err)
	}
	if _, err := mirror(t, c, "http://unknown.slipway.invalid/r.git", git.Credential{}).LsRemote(t.Context()); !errors.Is(err, git.ErrUnreachable) {
		t.Error(err)
	}
}

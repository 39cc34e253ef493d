package outward

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func list(t *testing.T, entries ...string) List {
	t.Helper()
	l, err := ReadList(entries)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// inward are hosts that nobody but the operator may choose, in the spellings that attackers use.
func inward() []string {
	return []string{
		"127.0.0.1", "127.255.255.254", "0.0.0.0", "0.1.2.3", "::1", "::", "[::1]", "127.0.0.1.", "localhost", "LOCALHOST", "localhost.", "x.localhost",
		"169.254.169.254", "169.254.170.2", "169.254.170.23", "fe80::1", "fe80::1%eth0", "fd00:ec2::254", "fd00:ec2::23", "fd20:ce::254", "fd00:42::42",
		"100.100.100.200", "168.63.129.16", "192.0.0.192", "metadata", "metadata.google.internal", "Metadata.Google.Internal.", "metadata.goog",
		"instance-data.ec2.internal", "224.0.0.1", "239.255.255.250", "ff02::1", "240.0.0.1", "255.255.255.255", "fec0::1",
		"::ffff:127.0.0.1", "::ffff:169.254.169.254", "::ffff:7f00:1", "::127.0.0.1", "::7f00:1", "::ffff:0:127.0.0.1",
		"64:ff9b::127.0.0.1", "64:ff9b::a9fe:a9fe", "64:ff9b:1::7f00:1", "2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:7f00:1::", "fe80::5efe:127.0.0.1",
		"2a00::5efe:169.254.169.254", "2a00::200:5efe:127.0.0.1",
		"2130706433", "017700000001", "0x7f000001", "0x7f.1", "127.1", "127.0.1", "0177.0.0.1", "0x7f.0.0.1", "127.0.0.0x1", "0xa9fea9fe", "2852039166",
		"0251.0376.0251.0376", "127.0.0.1.0x", "1", "0", "0x", "00000127.0.0.1", "256.256.256.256", "127.0.0.01",
		"１２７.0.0.1", "127。0。0。1", "ⓛocalhost", "①②⑦.0.0.1", "127.0.0.1%00.example.org", "127.0.0.1\x00", "127.0.0.1 ", " 127.0.0.1", "127.0.0.1\r\n",
		"example.org@127.0.0.1", "127.0.0.1#.example.org", "127.0.0.1/", "", ".", "..", "-x", ".local", "a..b", strings.Repeat("a", 254), "%6c", "localhost%00",
	}
}

func TestWhatIsOfThisMachineOrOfTheLinkIsRefusedInEverySpelling(t *testing.T) {
	t.Parallel()
	for _, p := range []*Policy{{}, {Private: true}} {
		for _, host := range inward() {
			if found, err := p.Resolve(t.Context(), host); !errors.Is(err, ErrRefused) {
				t.Errorf("%q, private %t: %v %v", host, p.Private, found, err)
			}
			conn, err := p.Dial(t.Context(), "tcp", net.JoinHostPort(strings.Trim(host, "[]"), "1"))
			if err == nil {
				_ = conn.Close()
			}
			if !errors.Is(err, ErrRefused) && !strings.HasSuffix(strings.TrimSuffix(strings.ToLower(host), "."), ".localhost") {
				t.Errorf("dial %q, private %t: %v", host, p.Private, err)
			}
		}
	}
}

func TestPrivateNetworksAreForThoseWhoMayReachThem(t *testing.T) {
	t.Parallel()
	open, closed := &Policy{Private: true}, &Policy{}
	for _, host := range []string{"10.1.2.3", "172.31.0.1", "192.168.1.1", "100.64.0.1", "fd12::1", "::ffff:10.0.0.1", "64:ff9b::10.0.0.1", "2002:a00:1::"} {
		if err := open.Check(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
		if err := closed.Check(host); !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "--outbound-allow") {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"8.8.8.8", "2606:4700::1111", "64:ff9b::8.8.8.8", "2002:808:808::", "github.com", "GitHub.com.", "xn--bcher-kva.example", "3com.com", "a_b.example.org"} {
		for _, p := range []*Policy{open, closed} {
			if err := p.Check(host); err != nil {
				t.Errorf("%s: %v", host, err)
			}
		}
	}
}

func TestTheOperatorWidensAndNarrows(t *testing.T) {
	t.Parallel()
	p := &Policy{
		Private: true, Allow: list(t, "127.0.0.0/8", "fd00:ec2::254", "metadata.google.internal", "*.dev.example.org"),
		Deny: list(t, "127.0.0.66", "10.9.0.0/16", "*.corp.example.org", "forbidden.dev.example.org"),
	}
	for _, host := range []string{"127.0.0.1", "::ffff:127.0.0.1", "fd00:ec2::254", "metadata.google.internal", "a.dev.example.org", "10.8.0.1"} {
		if err := p.Check(host); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, host := range []string{"127.0.0.66", "10.9.1.1", "::ffff:10.9.1.1", "64:ff9b::10.9.1.1", "x.corp.example.org", "forbidden.dev.example.org", "169.254.169.254", "::1"} {
		if err := p.Check(host); !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, wrong := range []string{"10.0.0.0/99", "127.1", "http://x", "a b", "*", "*.", "host:80", "0x7f"} {
		if l, err := ReadList([]string{wrong}); err == nil {
			t.Errorf("%q is read as %v", wrong, l)
		}
	}
}

// TestTheAddressThatIsCheckedIsTheOneThatIsDialled has names lead to loopback after all, as a second answer of a name server
// does: the check of the name passes, and the connection does not come about.
func TestTheAddressThatIsCheckedIsTheOneThatIsDialled(t *testing.T) {
	t.Parallel()
	reached := false
	s := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(s.Close)
	at := netip.MustParseAddrPort(s.Listener.Addr().String())
	p := &Policy{Private: true}
	// Go's dialer resolves this name itself; the check of the name alone knows nothing of it.
	conn, err := p.Dial(t.Context(), "tcp", net.JoinHostPort("localhost", itoa(at.Port())))
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, ErrRefused) || strings.Contains(err.Error(), "127.0.0.1") {
		t.Errorf("%v: it is refused, and the address is not shown", err)
	}
	client := &http.Client{Transport: p.Transport()}
	redirect := httptest.NewServer(http.RedirectHandler(s.URL, http.StatusFound))
	t.Cleanup(redirect.Close)
	// The first host is the operator's, what it leads to is not.
	front := netip.MustParseAddrPort(redirect.Listener.Addr().String())
	byName := &Policy{Private: true, Allow: list(t, "localhost")}
	client.Transport = byName.Transport()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://localhost:"+itoa(front.Port()), nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err == nil {
		_ = answer.Body.Close()
	}
	if !errors.Is(err, ErrRefused) || reached {
		t.Errorf("after a redirect: %v, reached %t", err, reached)
	}
}

func itoa(n uint16) string {
	return strings.TrimPrefix(netip.AddrPortFrom(netip.IPv4Unspecified(), n).String(), "0.0.0.0:")
}

func TestNothingButTCPIsDialled(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"unix", "udp", "ip4:icmp", ""} {
		if conn, err := (&Policy{Private: true, Allow: list(t, "127.0.0.0/8")}).Dial(context.WithoutCancel(t.Context()), network, "127.0.0.1:1"); err == nil {
			_ = conn.Close()
			t.Errorf("%q is dialled", network)
		}
	}
}

func TestAProxyOfTheEnvironmentDoesNotLeadToMetadata(t *testing.T) {
	reached := ""
	proxy := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reached = r.URL.String() }))
	t.Cleanup(proxy.Close)
	t.Setenv("HTTP_PROXY", proxy.URL)
	p := &Policy{Private: true}
	for _, host := range []string{"169.254.169.254", "metadata.google.internal", "2852039166", "[::ffff:169.254.169.254]"} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+host+"/latest", nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Transport: p.Transport()}).Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		if !errors.Is(err, ErrRefused) {
			t.Errorf("%s: %v", host, err)
		}
	}
	if reached != "" {
		t.Errorf("the proxy was asked for %s", reached)
	}
}

// TestTheAddressOfTheProxyIsNoWayAroundThePolicy has others choose what the operator has set as proxy.
func TestTheAddressOfTheProxyIsNoWayAroundThePolicy(t *testing.T) {
	reached := false
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	t.Cleanup(proxy.Close)
	at := proxy.Listener.Addr().String()
	for _, name := range proxyVariables() {
		t.Setenv(name, proxy.URL)
	}
	ask := func(p *Policy, address string) error {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := (&http.Client{Transport: p.Transport()}).Do(r)
		if err == nil {
			_ = answer.Body.Close()
		}
		return err
	}
	closed := &Policy{Private: true}
	if err := ask(closed, proxy.URL); !errors.Is(err, ErrRefused) || reached {
		t.Errorf("a request: %v, reached %t", err, reached)
	}
	conn, err := closed.Dial(t.Context(), "tcp", at)
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, ErrRefused) {
		t.Errorf("a connection: %v", err)
	}
	// A private network is open, and the proxy is in it: it is still not what others may choose.
	private := &Policy{Private: true}
	for _, name := range proxyVariables() {
		t.Setenv(name, "http://10.255.255.1:3128")
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://10.255.255.1:3128/", nil)
	t.Setenv("NO_PROXY", "10.0.0.0/8")
	if to, err := private.Proxy(r); to == nil && !errors.Is(err, ErrRefused) {
		t.Errorf("without a proxy: %v", err)
	}
	if err := ask(&Policy{Allow: list(t, "127.0.0.1")}, proxy.URL); err != nil || !reached {
		t.Errorf("what the operator allows: %v, reached %t", err, reached)
	}
}

package git

import (
	"context"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// pinned is a host with the addresses that were found harmless. git and ssh connect to those and ask no name server again,
// which could answer something else the second time.
type pinned struct {
	host, port string
	addresses  []netip.Addr
}

// nowhere is an address at which nothing answers (RFC 5737). It stands for a name that could not be resolved here where a
// proxy resolves it: a direct connection must not try again.
const nowhere = "192.0.2.1"

// curl is the value of http.curloptResolve.
func (p pinned) curl() string {
	list := make([]string, len(p.addresses))
	for i, at := range p.addresses {
		if list[i] = at.String(); at.Is6() {
			list[i] = "[" + at.String() + "]"
		}
	}
	return p.host + ":" + p.port + ":" + strings.Join(list, ",")
}

// ssh are options. The key of the host is still that of its name.
func (p pinned) ssh() []string {
	return []string{"-o", "HostName=" + p.addresses[0].String(), "-o", "HostKeyAlias=" + p.alias(), "-o", "CheckHostIP=no"}
}

// alias is what the host is called in known_hosts.
func (p pinned) alias() string {
	if p.port != "22" {
		return "[" + p.host + "]:" + p.port
	}
	return p.host
}

// pin resolves what a command is going to connect to. It refuses hosts that must not be connected to.
func (c *Client) pin(ctx context.Context, r Remote, cred Credential) ([]pinned, error) {
	if c.opts.Hosts == nil || r.scheme == "file" {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, c.opts.Timeout)
	defer cancel()
	proxied := r.proxied(cred) || r.scheme != "ssh" && (cred.Proxy != "" || proxyInEnvironment())
	u, err := url.Parse(r.URL)
	if err != nil {
		return nil, err
	}
	standard := map[string]string{"https": "443", "http": "80", "ssh": "22"}
	pins, err := c.pinHost(ctx, r, u, standard, proxied)
	if err != nil {
		return nil, err
	}
	// A proxy of the environment is the operator's choice, that of a credential is not. That of ssh is resolved when it is used.
	if r.scheme == "ssh" || cred.Proxy == "" {
		return pins, nil
	}
	to, err := url.Parse(cred.Proxy)
	if err != nil || to.Hostname() == "" {
		return nil, &Error{Kind: ErrUnreachable, URL: r.URL, Hint: "the proxy of the repository is no URL: write it as http://host:port"}
	}
	standard = map[string]string{"https": "443", "proxy": "1080"} // of libcurl
	more, err := c.pinHost(ctx, r, to, standard, false)
	return append(pins, more...), err
}

// pinHost resolves the host of one address; standard are ports where it has none.
func (c *Client) pinHost(ctx context.Context, r Remote, u *url.URL, standard map[string]string, proxied bool) ([]pinned, error) {
	host, port := u.Hostname(), u.Port()
	if port == "" {
		port = standard[u.Scheme]
	}
	if port == "" {
		port = standard["proxy"]
	}
	found, err := c.opts.Hosts.Resolve(ctx, host)
	switch {
	case err != nil && c.opts.Hosts.Refuses(err):
		return nil, &Error{Kind: ErrDenied, URL: r.URL, Detail: "the host may not be connected to", Hint: err.Error(), cause: err}
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !proxied:
		return nil, &Error{
			Kind: ErrUnreachable, URL: r.URL, Detail: "could not resolve host", Hint: "check the address, the network and the proxy", cause: err,
		}
	case err != nil:
		found = []netip.Addr{netip.MustParseAddr(nowhere)}
	}
	if net.ParseIP(host) != nil {
		return nil, nil
	}
	return []pinned{{host, port, found}}, nil
}

func proxyInEnvironment() bool {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"} {
		if os.Getenv(name) != "" {
			return true
		}
	}
	return false
}

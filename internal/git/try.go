package git

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

// Layer is a part of the way to a repository, each of which can fail alone.
type Layer string

// The layers in the order in which they are tried.
const (
	LayerName           Layer = "name"
	LayerConnection     Layer = "connection"
	LayerProxy          Layer = "proxy"
	LayerTLS            Layer = "TLS"
	LayerHostKey        Layer = "host key"
	LayerAuthentication Layer = "authentication"
	LayerRepository     Layer = "repository"
	LayerRevision       Layer = "revision"
)

// Step is what came of one layer.
type Step struct {
	Layer  Layer
	Detail string        // what was tried, or found
	Err    error         // why it failed; nil where it did not
	Tried  bool          // false for what comes after a failure
	Took   time.Duration // zero where it came out of another step
}

// dialTime bounds a connection that is tried.
const dialTime = 10 * time.Second

// Try does what reading a revision of the repository takes, short of fetching it, and returns what came of each layer. The way to
// the server is tried by small steps first, as git makes it: with the same addresses, proxy and certificates. Whether the
// repository can be read is git's own answer.
func (m *Mirror) Try(ctx context.Context, revision string) (Refs, []Step) {
	t := &trial{mirror: m, cred: *m.cred.Load()}
	if m.remote.scheme != "file" {
		t.way(ctx)
	}
	// What only fails in small steps may work for git, which has a TLS of its own.
	if last := t.last(); last.Err != nil && last.Layer != LayerTLS && last.Layer != LayerProxy {
		return Refs{}, t.finish()
	}
	began := time.Now()
	refs, err := m.LsRemote(ctx)
	took := time.Since(began)
	if err != nil {
		t.blame(err, took)
		return refs, t.finish()
	}
	t.forgive()
	if m.remote.scheme == "ssh" {
		t.add(Step{Layer: LayerHostKey, Detail: t.hostKey()})
	}
	t.add(Step{Layer: LayerAuthentication, Detail: t.login(), Took: took})
	branches := 0
	for name := range refs.IDs {
		if strings.HasPrefix(name, "refs/heads/") {
			branches++
		}
	}
	listed := Step{Layer: LayerRepository, Detail: fmt.Sprintf("it lists %s and %s", count(branches, "branch", "branches"),
		count(len(refs.IDs)-branches, "other reference", "other references"))}
	if len(refs.IDs) == 0 { // a page of something else counts for git as a repository without references
		listed.Err = &Error{
			Kind: ErrNotFound, URL: m.URL(), Detail: "it has no branch and no tag",
			Hint: "check the address, or push a commit before it is tried",
		}
	}
	t.add(listed)
	if listed.Err != nil {
		return refs, t.finish()
	}
	t.add(revisionStep(m, refs, revision))
	return refs, t.finish()
}

func revisionStep(m *Mirror, refs Refs, revision string) Step {
	called := revision
	if called == "" {
		called = "HEAD"
	}
	found, err := refs.Resolve(revision, "")
	if err != nil {
		return Step{Layer: LayerRevision, Detail: clean(called), Err: fmt.Errorf("%s: %w", m.URL(), err)}
	}
	detail := fmt.Sprintf("%s is commit %.12s", clean(called), found.Commit)
	if found.Ref != "" {
		detail += " of " + clean(found.Ref)
	} else if revision != "" {
		detail = clean(called) + " is a commit, which is looked for when it is fetched"
	}
	return Step{Layer: LayerRevision, Detail: detail}
}

// trial is one try.
type trial struct {
	mirror *Mirror
	cred   Credential
	steps  []Step
}

func (t *trial) add(s Step) {
	s.Tried = true
	t.steps = append(t.steps, s)
}

func (t *trial) last() Step {
	if len(t.steps) == 0 {
		return Step{}
	}
	return t.steps[len(t.steps)-1]
}

// forgive takes a failure back: git got through.
func (t *trial) forgive() {
	if n := len(t.steps); n > 0 && t.steps[n-1].Err != nil {
		t.steps[n-1].Err, t.steps[n-1].Detail = nil, "git gets through"
	}
}

func (t *trial) login() string {
	if t.cred.Anonymous() {
		return "the server wants no credential"
	}
	return "the server takes the " + t.cred.kinds()
}

// finish adds the layers that were not tried.
func (t *trial) finish() []Step {
	layers := []Layer{LayerName, LayerConnection}
	if t.proxy() != nil {
		layers = append(layers, LayerProxy)
	}
	switch t.mirror.remote.scheme {
	case "https":
		layers = append(layers, LayerTLS)
	case "ssh":
		layers = append(layers, LayerHostKey)
	case "file":
		layers = nil
	}
	layers = append(layers, LayerAuthentication, LayerRepository, LayerRevision)
	out := make([]Step, 0, len(layers))
	for _, l := range layers {
		step := Step{Layer: l}
		for _, s := range t.steps {
			if s.Layer == l {
				step = s
			}
		}
		out = append(out, step)
	}
	return out
}

// blame finds the layer of an error of git. What comes before it has worked.
func (t *trial) blame(err error, took time.Duration) {
	failed := Step{Layer: LayerRepository, Err: err, Took: took}
	switch {
	case errors.Is(err, ErrTLS):
		failed.Layer = LayerTLS
	case errors.Is(err, ErrHostKey):
		failed.Layer = LayerHostKey
	case errors.Is(err, ErrAuth), errors.Is(err, ErrDenied):
		failed.Layer = LayerAuthentication
	case t.last().Err != nil:
		return // git fails in its own words at what failed before
	}
	switch last := t.last(); {
	case last.Layer == failed.Layer && last.Err != nil:
		return // it is known more exactly
	case last.Layer == failed.Layer:
		t.steps = t.steps[:len(t.steps)-1]
	default:
		t.forgive()
	}
	if t.mirror.remote.scheme == "ssh" && failed.Layer != LayerHostKey && !errors.Is(err, ErrUnreachable) {
		t.add(Step{Layer: LayerHostKey, Detail: t.hostKey()})
	}
	if errors.Is(err, ErrNotFound) || errors.Is(err, ErrMoved) {
		t.add(Step{Layer: LayerAuthentication, Detail: "the server does not refuse the " + t.cred.kinds() + ", or hides the repository from it"})
	}
	t.add(failed)
}

func (t *trial) hostKey() string {
	if t.cred.Insecure {
		return "the host key is not checked (insecure)"
	}
	return "the host key is known"
}

// proxy is the one that git uses; nil for none.
func (t *trial) proxy() *url.URL {
	r := t.mirror.remote
	config := httpproxy.FromEnvironment()
	if t.cred.Proxy != "" {
		config = &httpproxy.Config{HTTPProxy: t.cred.Proxy, HTTPSProxy: t.cred.Proxy, NoProxy: t.cred.NoProxy}
	} else if r.scheme == "ssh" {
		return nil
	}
	scheme := r.scheme
	if scheme == "ssh" {
		scheme = "https"
	}
	to, err := config.ProxyFunc()(&url.URL{Scheme: scheme, Host: r.host})
	if err != nil {
		return nil
	}
	return to
}

// way tries name, connection, proxy and TLS, up to the first that fails.
func (t *trial) way(ctx context.Context) {
	m := t.mirror
	at, err := url.Parse(m.remote.URL)
	if err != nil {
		t.add(Step{Layer: LayerName, Err: err})
		return
	}
	port := at.Port()
	if port == "" {
		port = map[string]string{"https": "443", "http": "80", "ssh": "22"}[at.Scheme]
	}
	first, firstPort := at.Hostname(), port
	proxy := t.proxy()
	if proxy != nil {
		first = proxy.Hostname()
		if _, firstPort, err = net.SplitHostPort(proxyAddress(proxy)); err != nil {
			return
		}
	}
	conn := t.connect(ctx, first, firstPort, proxy != nil)
	if conn == nil {
		return
	}
	defer func() { _ = conn.Close() }()
	if proxy != nil {
		if at.Scheme == "http" && strings.HasPrefix(proxy.Scheme, "http") {
			return // such a proxy is asked for the page itself
		}
		began := time.Now()
		through, err := m.client.through(ctx, m.remote, proxy, at.Hostname(), port, t.cred.CA)
		t.add(Step{Layer: LayerProxy, Detail: "the proxy connects to " + at.Hostname(), Err: err, Took: time.Since(began)})
		if err != nil {
			return
		}
		_ = conn.Close()
		conn = through
	}
	if at.Scheme == "https" {
		t.secure(ctx, conn, at.Hostname())
	}
}

// connect resolves a host and connects to it. It returns nil where that fails.
func (t *trial) connect(ctx context.Context, host, port string, proxy bool) net.Conn {
	m := t.mirror
	of := ""
	if proxy {
		of = "proxy "
	}
	began := time.Now()
	found, err := m.client.lookUp(ctx, m.remote, host)
	named := Step{Layer: LayerName, Detail: of + host + " has " + count(len(found), "address", "addresses"), Err: err, Took: time.Since(began)}
	if net.ParseIP(host) != nil && err == nil {
		named.Detail = of + host + " is an address"
	}
	t.add(named)
	if err != nil {
		return nil
	}
	began = time.Now()
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	var conn net.Conn
	for _, at := range byPreference(found) {
		if conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", netip.AddrPortFrom(at, portOf(port)).String()); err == nil {
			break
		}
	}
	step := Step{Layer: LayerConnection, Detail: of + "port " + port + " answers", Took: time.Since(began)}
	if err != nil {
		step.Detail = of + "port " + port
		step.Err = &Error{Kind: ErrUnreachable, URL: m.URL(), Detail: whyNot(err), Hint: "check address and port, the network and the proxy"}
	}
	t.add(step)
	return conn
}

func portOf(text string) uint16 {
	n, err := net.LookupPort("tcp", text)
	if err != nil {
		return 0
	}
	return uint16(n) //nolint:gosec // a port
}

// lookUp gives the addresses of a host that may be connected to.
func (c *Client) lookUp(ctx context.Context, r Remote, host string) ([]netip.Addr, error) {
	resolve := net.DefaultResolver.LookupNetIP
	if c.opts.Hosts != nil {
		resolve = func(ctx context.Context, _, host string) ([]netip.Addr, error) {
			return c.opts.Hosts.Resolve(ctx, host)
		}
	}
	found, err := resolve(ctx, "ip", host)
	if err == nil && len(found) > 0 {
		return found, nil
	}
	if c.opts.Hosts != nil && err != nil && c.opts.Hosts.Refuses(err) {
		return nil, &Error{Kind: ErrDenied, URL: r.URL, Detail: "the host may not be connected to", Hint: err.Error(), cause: err}
	}
	return nil, &Error{
		Kind: ErrUnreachable, URL: r.URL, Detail: "the name of the host is not known",
		Hint: "check the address, and the name server of the agent", cause: err,
	}
}

// whyNot says why a connection did not come about, in words of ours.
func whyNot(err error) string {
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		return "no answer in time"
	}
	return reason(err.Error())
}

// secure tries TLS.
func (t *trial) secure(ctx context.Context, conn net.Conn, host string) {
	began := time.Now()
	config := &tls.Config{ServerName: host, MinVersion: tls.VersionTLS12, InsecureSkipVerify: t.cred.Insecure}
	if len(t.cred.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(t.cred.CA)
	}
	if pair, err := tls.X509KeyPair(t.cred.ClientCert, t.cred.ClientKey); err == nil {
		config.Certificates = []tls.Certificate{pair}
	}
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	secure := tls.Client(conn, config)
	err := secure.HandshakeContext(ctx)
	step := Step{Layer: LayerTLS, Took: time.Since(began)}
	if err != nil {
		detail, hint := ofTLS(err)
		step.Err = &Error{Kind: ErrTLS, URL: t.mirror.URL(), Detail: detail, Hint: hint}
		t.add(step)
		return
	}
	state := secure.ConnectionState()
	step.Detail = tls.VersionName(state.Version)
	switch {
	case t.cred.Insecure:
		step.Detail += ", the certificate is not checked (insecure)"
	case len(state.PeerCertificates) > 0:
		step.Detail += ", the certificate is valid until " + state.PeerCertificates[0].NotAfter.UTC().Format(time.DateOnly)
	}
	t.add(step)
}

// ofTLS says why a server is not trusted, and what to do.
func ofTLS(err error) (detail, hint string) {
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	const renew = "have the server's owner renew it, and check the clock of this machine"
	switch {
	case errors.As(err, &authority):
		return "the authority of the certificate is not known",
			"add the certificate authority of the server (slipway cert add-tls), or mark the repository insecure"
	case errors.As(err, &name):
		return "the certificate is for another host", "use the address that the certificate is for"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired, or is not valid yet", renew
	case errors.As(err, &invalid):
		return "the certificate is not valid", renew
	}
	return "the server ends the handshake, or does not speak TLS", "check the port, the client certificate, and whether a proxy is in between"
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

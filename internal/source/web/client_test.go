package web_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/source/web"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// here allows what tests start on this machine.
func here(t testing.TB) *outward.Policy {
	t.Helper()
	allow, err := outward.ReadList([]string{"127.0.0.0/8", "::1", "localhost"})
	if err != nil {
		t.Fatal(err)
	}
	return &outward.Policy{Private: true, Allow: allow}
}

func open(t testing.TB, address string, a web.Access, o web.Options) *web.Client {
	t.Helper()
	c, err := web.Open(address, here(t), a, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func get(t testing.TB, c *web.Client, address string) (string, error) {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := c.Get(t.Context(), u, nil)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	raw, err := io.ReadAll(resp.Body)
	return string(raw), err
}

func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// seen are the requests of a server.
type seen struct {
	mu   sync.Mutex
	list []*http.Request
}

func (s *seen) add(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := r.Clone(context.WithoutCancel(r.Context())) // the server goes on with its own
	s.list = append(s.list, kept)
}

func (s *seen) last(t testing.TB) *http.Request {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.list) == 0 {
		t.Fatal("the server got no request")
	}
	return s.list[len(s.list)-1]
}

func TestACredentialStaysAtItsHost(t *testing.T) {
	t.Parallel()
	var elsewhere seen
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { elsewhere.add(r) })
	var at seen
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		at.add(r)
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL+"/file?signature=x", http.StatusFound)
		}
	})
	a := web.Access{Username: "robot", Password: "hunter2"}
	c := open(t, home.URL, a, web.Options{})
	if _, err := get(t, c, home.URL+"/index.yaml"); err != nil {
		t.Fatal(err)
	}
	if user, password, _ := at.last(t).BasicAuth(); user != "robot" || password != "hunter2" {
		t.Errorf("the home got %q and %q", user, password)
	}
	for name, address := range map[string]string{"a redirect": home.URL + "/away", "an address of another host": other.URL + "/file"} {
		if _, err := get(t, c, address); err != nil {
			t.Fatal(err)
		}
		got := elsewhere.last(t)
		if got.Header.Get("Authorization") != "" || got.Header.Get("Referer") != "" {
			t.Errorf("%s: another host got %v", name, got.Header)
		}
	}
	a.PassCredentials = true
	c = open(t, home.URL, a, web.Options{})
	if _, err := get(t, c, other.URL+"/file"); err != nil {
		t.Fatal(err)
	}
	if _, password, _ := elsewhere.last(t).BasicAuth(); password != "hunter2" {
		t.Error("another host got no credential, though it is passed on")
	}
	if _, err := get(t, c, home.URL+"/away"); err != nil {
		t.Fatal(err)
	}
	if elsewhere.last(t).Header.Get("Authorization") != "" {
		t.Error("a redirect got the credential")
	}
}

func TestACredentialIsSentBelowWhatItIsForOnly(t *testing.T) {
	t.Parallel()
	var got seen
	home := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.add(r) })
	a := web.Access{Bearer: "hunter2", Within: []string{home.URL + "/team/charts/", home.URL + "/shared"}}
	c := open(t, home.URL+"/team/charts", a, web.Options{})
	for path, want := range map[string]bool{
		"/team/charts": true, "/team/charts/": true, "/team/charts/a%20b/app-1.0.0+1.tgz?x=/../y": true, "/shared/app.tgz": true,
		"/": false, "/team": false, "/team/charts2/app.tgz": false, "/other/app.tgz": false, "/Team/charts/app.tgz": false,
		"/team/charts/../secret": false, "/team/charts/%2e%2e/secret": false, "/team/charts/%2E%2E/%2e/secret": false, "/team/charts/..%2fsecret": false,
		"/team/charts/%252e%252e/secret": false, "/team/charts/..\\secret": false, "/team/charts/..%5csecret": false, "/team/charts/..;/secret": false,
		"/team%2fcharts/app.tgz": false, "//team/charts/app.tgz": false,
	} {
		at, err := url.Parse(home.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		if c.Sends(at) != want {
			t.Errorf("%s: it is stated that the credential is sent: %t", path, !want)
		}
		if _, err := get(t, c, home.URL+path); err != nil {
			t.Fatal(err)
		}
		if sent := got.last(t).Header.Get("Authorization") != ""; sent != want {
			t.Errorf("%s: the credential is sent: %t", path, sent)
		}
	}
	a.PassCredentials = true
	if _, err := get(t, open(t, home.URL+"/team/charts", a, web.Options{}), home.URL+"/other"); err != nil || got.last(t).Header.Get("Authorization") == "" {
		t.Errorf("another path got no credential, though it is passed on: %v", err)
	}
	if _, err := web.Open(home.URL, here(t), web.Access{Within: []string{"ftp://x"}}, web.Options{}); err == nil {
		t.Error("what is no address is taken for what a credential is for")
	}
}

func TestAHeaderOfTheCallerDoesNotFollowARedirectToAnotherHost(t *testing.T) {
	t.Parallel()
	var got seen
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { got.add(r) })
	home := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
	})
	c := open(t, home.URL, web.Access{}, web.Options{})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, home.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer xyz")
	req.Header.Set("Cookie", "a=b")
	req.Header.Set("Accept", "application/json")
	resp, err := c.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	h := got.last(t).Header
	if h.Get("Authorization") != "" || h.Get("Cookie") != "" || h.Get("Accept") != "application/json" {
		t.Errorf("the other host got %v", h)
	}
}

func TestRedirectsAreBoundedAndNeverGiveUpTLS(t *testing.T) {
	t.Parallel()
	plain := serve(t, func(http.ResponseWriter, *http.Request) {})
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/down":
			http.Redirect(w, r, plain.URL, http.StatusFound)
		case "/scheme":
			http.Redirect(w, r, "gopher://Zaubernuss/", http.StatusFound)
		case "/metadata":
			http.Redirect(w, r, "https://169.254.169.254/latest", http.StatusFound)
		case "/loop":
			http.Redirect(w, r, "/loop?Zaubernuss", http.StatusFound)
		}
	}))
	t.Cleanup(secure.Close)
	c := open(t, secure.URL, web.Access{Insecure: true}, web.Options{})
	for path, want := range map[string]error{
		"/down": web.ErrMoved, "/scheme": web.ErrMoved, "/loop": web.ErrMoved, "/metadata": web.ErrRefused,
	} {
		_, err := get(t, c, secure.URL+path)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "Zaubernuss") {
			t.Errorf("%s: the error has words of the server: %v", path, err)
		}
	}
}

func TestWhatThePolicyRefusesIsNotConnectedTo(t *testing.T) {
	t.Parallel()
	var reached seen
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { reached.add(r) })
	_, port, _ := net.SplitHostPort(s.Listener.Addr().String())
	for name, c := range map[string]struct {
		address string
		access  web.Access
	}{
		"this machine":           {"http://127.0.0.1:" + port, web.Access{}},
		"a name of this machine": {"http://localhost:" + port, web.Access{}},
		"an odd number":          {"http://2130706433:" + port, web.Access{}},
		"a metadata service":     {"http://metadata.google.internal", web.Access{}},
		"a proxy here":           {"http://charts.example.test", web.Access{Proxy: s.URL}},
		"a SOCKS proxy here":     {"http://charts.example.test", web.Access{Proxy: "socks5://127.0.0.1:" + port}},
		"metadata by a proxy":    {"http://169.254.169.254", web.Access{Proxy: "http://192.0.2.1:3128"}},
	} {
		client, err := web.Open(c.address, &outward.Policy{Private: true}, c.access, web.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		_, err = get(t, client, c.address+"/index.yaml")
		if !errors.Is(err, web.ErrRefused) || web.LayerOf(err) != web.LayerPolicy {
			t.Errorf("%s: %v, want %v", name, err, web.ErrRefused)
		}
	}
	if len(reached.list) > 0 {
		t.Error("a request arrived")
	}
}

func TestAFailureNamesItsLayerAndNothingOfTheServer(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	strange := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(strange.Close)
	closed := serve(t, nil)
	closed.Close()
	status := serve(t, func(w http.ResponseWriter, r *http.Request) {
		var code int
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &code)
		w.Header().Set("X", marker)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, marker)
	})
	deny := serve(t, func(w http.ResponseWriter, _ *http.Request) { http.Error(w, marker, http.StatusProxyAuthRequired) })
	for name, c := range map[string]struct {
		address string
		access  web.Access
		kind    error
		layer   web.Layer
	}{
		"a name":             {"http://nowhere.invalid/x", web.Access{}, web.ErrName, web.LayerName},
		"no listener":        {closed.URL + "/x", web.Access{}, web.ErrConnect, web.LayerConnection},
		"a strange CA":       {strange.URL + "/x", web.Access{}, web.ErrTLS, web.LayerTLS},
		"no TLS":             {strings.Replace(status.URL, "http:", "https:", 1) + "/200", web.Access{}, web.ErrTLS, web.LayerTLS},
		"no HTTP":            {"http://" + testenv.Says(t, marker+" 220 ready\r\n") + "/x", web.Access{}, web.ErrAnswer, web.LayerContent},
		"an end":             {"http://" + testenv.Says(t, "") + "/x", web.Access{}, web.ErrConnect, web.LayerConnection},
		"401":                {status.URL + "/401", web.Access{}, web.ErrAuth, web.LayerAuthentication},
		"403":                {status.URL + "/403", web.Access{}, web.ErrDenied, web.LayerAuthentication},
		"404":                {status.URL + "/404", web.Access{}, web.ErrNotFound, web.LayerContent},
		"429":                {status.URL + "/429", web.Access{}, web.ErrBusy, web.LayerServer},
		"503":                {status.URL + "/503", web.Access{}, web.ErrServer, web.LayerServer},
		"418":                {status.URL + "/418", web.Access{}, web.ErrAnswer, web.LayerContent},
		"a proxy that is no": {"https://charts.example.test/x", web.Access{Proxy: deny.URL}, web.ErrProxy, web.LayerConnection},
		"no proxy":           {"http://charts.example.test/x", web.Access{Proxy: closed.URL}, web.ErrProxy, web.LayerConnection},
	} {
		t.Run(name, func(t *testing.T) {
			client := open(t, c.address, c.access, web.Options{})
			_, err := get(t, client, c.address+"?token=geheim")
			if !errors.Is(err, c.kind) || web.LayerOf(err) != c.layer {
				t.Fatalf("%v (layer %s), want %v (layer %s)", err, web.LayerOf(err), c.kind, c.layer)
			}
			if text := err.Error(); strings.Contains(text, marker) || strings.Contains(text, "geheim") || !strings.Contains(text, ": ") {
				t.Errorf("the error is %q", text)
			}
			t.Log(err)
		})
	}
}

func TestAServerThatStopsSendingIsGivenUp(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "a part")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c := open(t, s.URL, web.Access{}, web.Options{Idle: 50 * time.Millisecond})
	if _, err := get(t, c, s.URL); !errors.Is(err, web.ErrTimeout) {
		t.Errorf("%v, want %v", err, web.ErrTimeout)
	}
}

func TestWhatTheCallerGivesUpIsNoFailureOfTheServer(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := serve(t, func(_ http.ResponseWriter, r *http.Request) { cancel(); <-r.Context().Done() })
	c := open(t, s.URL, web.Access{}, web.Options{})
	if _, err := c.Get(ctx, c.Home(), nil); !errors.Is(err, context.Canceled) || web.LayerOf(err) != "" {
		t.Errorf("%v, want %v", err, context.Canceled)
	}
}

func TestALongAnswerEndsAtTheLimit(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 1<<16)); err != nil {
				return
			}
		}
	})
	c := open(t, s.URL, web.Access{}, web.Options{Bytes: 1 << 20})
	text, err := get(t, c, s.URL)
	if !errors.Is(err, web.ErrTooLarge) || len(text) > 1<<20 {
		t.Errorf("%d bytes, %v; want %v", len(text), err, web.ErrTooLarge)
	}
}

// secure starts a server that asks for a client certificate, and returns the authority of its own.
func secure(t testing.TB, mode tls.ClientAuthType, clients *x509.CertPool, h http.HandlerFunc) (*httptest.Server, []byte) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.TLS = &tls.Config{ClientAuth: mode, ClientCAs: clients}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
}

func TestAClientCertificateIsShownAtHomeOnly(t *testing.T) {
	t.Parallel()
	authority := testenv.NewAuthority(t)
	mine := authority.Issue("robot")
	var elsewhere seen
	other, _ := secure(t, tls.RequestClientCert, nil, func(_ http.ResponseWriter, r *http.Request) { elsewhere.add(r) })
	home, ca := secure(t, tls.RequireAndVerifyClientCert, authority.Pool(), func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/away" {
			http.Redirect(w, r, other.URL, http.StatusFound)
		}
	})
	c := open(t, home.URL, web.Access{ClientCert: mine.Cert, ClientKey: mine.Key, CA: ca}, web.Options{})
	if _, err := get(t, c, home.URL); err != nil {
		t.Fatal(err)
	}
	if _, err := get(t, c, home.URL+"/away"); err != nil { // both servers have the certificate of the same authority
		t.Fatal(err)
	}
	if n := len(elsewhere.last(t).TLS.PeerCertificates); n > 0 {
		t.Error("another host got the client certificate")
	}
	without := open(t, home.URL, web.Access{CA: ca}, web.Options{})
	if _, err := get(t, without, home.URL); !errors.Is(err, web.ErrTLS) {
		t.Errorf("without the certificate: %v, want %v", err, web.ErrTLS)
	}
}

func TestAnAccessShowsNoSecretAndIsIdentifiedByAllOfIt(t *testing.T) {
	t.Parallel()
	a := web.Access{
		Username: "robot", Password: "hunter2", Bearer: "hunter2", ClientKey: []byte("hunter2"), ClientCert: []byte("x"), Proxy: "http://u:hunter2@p",
	}
	raw, err := a.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{fmt.Sprint(a), fmt.Sprintf("%+v", a), fmt.Sprintf("%#v", a), a.LogValue().String(), string(raw), a.Scope()} {
		if strings.Contains(text, "hunter2") {
			t.Errorf("%q shows a secret", text)
		}
	}
	scopes := map[string]bool{}
	all := []web.Access{
		{},
		{Username: "a"},
		{Password: "a"},
		{Bearer: "a"},
		{Insecure: true},
		{PassCredentials: true},
		{Within: []string{"https://a.example/a"}},
		{Within: []string{"https://a.example/b"}},
		{Proxy: "a"},
		{NoProxy: "a"},
		{CA: []byte("a")},
		{ClientCert: []byte("a")},
		{ClientKey: []byte("a")},
		{Identity: "a"},
		{Username: "ab"},
		{Username: "a", Password: "b"},
	}
	for _, one := range all {
		scopes[one.Scope()] = true
	}
	if len(scopes) != len(all) {
		t.Errorf("%d scopes for %d accesses", len(scopes), len(all))
	}
}

func TestWhatCanNeverWorkIsRefusedWithoutItsSecrets(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		address string
		access  web.Access
	}{
		"no address":      {"", web.Access{}},
		"another scheme":  {"file:///etc/passwd", web.Access{}},
		"no host":         {"https:///x", web.Access{}},
		"no URL":          {"https://u:hunter2@[", web.Access{}},
		"a line break":    {"https://a.example", web.Access{Password: "hunter2\r\nX: y"}},
		"half a pair":     {"https://a.example", web.Access{ClientCert: []byte("hunter2")}},
		"no pair":         {"https://a.example", web.Access{ClientCert: []byte("hunter2"), ClientKey: []byte("hunter2")}},
		"no CA":           {"https://a.example", web.Access{CA: []byte("hunter2")}},
		"a strange proxy": {"https://a.example", web.Access{Proxy: "ftp://hunter2@p"}},
		"no proxy":        {"https://a.example", web.Access{Proxy: "hunter2:\x7f"}},
	} {
		_, err := web.Open(c.address, here(t), c.access, web.Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for address, want := range map[string]string{
		"HTTPS://U:p@Charts.Example.org.:443/a/": "https://U:p@charts.example.org/a", "http://h:80": "http://h", "https://h:8443/#x": "https://h:8443",
	} {
		u, err := web.ParseAddress(address)
		if err != nil || u.String() != want {
			t.Errorf("%s is read as %v, %v; want %s", address, u, err, want)
		}
	}
}

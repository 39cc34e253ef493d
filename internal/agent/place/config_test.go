package place

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/internal/outward"
)

func TestAClusterIsReachedWhereItWasChecked(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	api := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		_, _ = w.Write([]byte(`{"gitVersion":"v1.36.3"}`))
	}))
	t.Cleanup(api.Close)
	entry := clusterEntry{server: api.URL, secret: "east", config: []byte(`{"bearerToken":"hidden","tlsClientConfig":{"insecure":true}}`)}
	for _, server := range []string{
		api.URL, "https://localhost:1", "https://127.1:6443", "https://2130706433", "https://[::1]", "https://[::ffff:127.0.0.1]:6443", "https://169.254.169.254",
		"https://metadata.google.internal", "http://169.254.169.254", "169.254.169.254:80",
	} {
		config, err := clusterEntry{server: server, secret: "east", config: entry.config}.rest(nil)
		if err != nil {
			t.Fatal(err)
		}
		next, err := carry(config, &outward.Policy{Private: true})
		if errors.Is(err, outward.ErrRefused) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		client, err := discovery.NewDiscoveryClientForConfig(over(config.Host, next))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.RESTClient().Get().AbsPath("/version").Do(t.Context()).Raw(); !errors.Is(err, outward.ErrRefused) {
			t.Errorf("%s: %v", server, err)
		}
	}
	if n := asked.Load(); n > 0 {
		t.Errorf("this machine was asked %d times", n)
	}
	// Where the operator allows it, all clients use the connections of one transport, with TLS as the Secret says.
	socket, err := entry.rest(nil)
	if err != nil {
		t.Fatal(err)
	}
	allowed := &outward.Policy{Allow: outward.List{Networks: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}}
	next, err := carry(socket, allowed)
	if err != nil {
		t.Fatal(err)
	}
	config := over(socket.Host, next)
	for range 3 {
		client, err := discovery.NewDiscoveryClientForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := client.ServerVersion(); err != nil || v.GitVersion != "v1.36.3" {
			t.Errorf("%v %v", v, err)
		}
	}
	if config.Transport == nil || socket.Dial == nil || !socket.Insecure {
		t.Error("clients do not share a transport, or what dials by itself has lost its TLS")
	}
}

func TestAConnectionThatCannotBeReadIsReportedWithoutItsContent(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ config, want string }{
		"PEM where base64 belongs": {`{"tlsClientConfig":{"caData":"-----BEGIN sesame"}}`, "not base64: write the PEM file in base64"},
		"a number":                 {`{"bearerToken":4711}`, "bearerToken has another type"},
		"no JSON":                  {`bearerToken: sesame`, "no valid JSON"},
		"another case":             {`{"bearertoken":"sesame"}`, "write bearerToken"},
	} {
		_, err := clusterEntry{server: "https://edge.example.org", secret: "edge", config: []byte(c.config)}.rest(nil)
		if err == nil || !strings.Contains(err.Error(), "cluster Secret edge") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if err != nil && (strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "4711")) {
			t.Errorf("%s: the error quotes the content: %v", name, err)
		}
	}
}

package outward_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestAReasonHasNothingOfTheAnswer(t *testing.T) {
	t.Parallel()
	const marker = "Zaubernuss"
	says := func(text string) string { return testenv.Says(t, text) }
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	t.Cleanup(silent.Close)
	strange := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(strange.Close)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = closed.Close()
	client := &http.Client{Timeout: 2 * time.Second}
	t.Cleanup(client.CloseIdleConnections)
	for name, c := range map[string]struct{ url, want string }{
		"no HTTP":                        {"http://" + says(marker+" 220 ready\r\n"), "not what was expected"},
		"a line that is no status":       {"http://" + says("HTTP/1.1 "+marker+"\r\n\r\n"), "not what was expected"},
		"a header that is none":          {"http://" + says("HTTP/1.1 200 OK\r\n"+marker+"\r\n\r\n"), "not what was expected"},
		"a redirect to an odd place":     {"http://" + says("HTTP/1.1 302 Found\r\nLocation: gopher://"+marker+"/\r\nContent-Length: 0\r\n\r\n"), "not what was expected"},
		"a redirect that is no URL":      {"http://" + says("HTTP/1.1 302 Found\r\nLocation: ://"+marker+"\r\nContent-Length: 0\r\n\r\n"), "not what was expected"},
		"no TLS":                         {"https://" + says(marker), "speak TLS"},
		"HTTP where TLS is wanted":       {"https://" + says("HTTP/1.1 200 "+marker+"\r\n\r\n"), "speak TLS"},
		"an end":                         {"http://" + says(""), "was closed"},
		"nobody":                         {"http://" + closed.Addr().String(), "refused"},
		"no answer":                      {silent.URL, "no answer in time"},
		"an authority that is not known": {strange.URL, "authority"},
	} {
		t.Run(name, func(t *testing.T) {
			resp, err := client.Get(c.url + "/x")
			if err == nil {
				_ = resp.Body.Close()
				t.Fatal("there is no error")
			}
			if got := outward.Reason(err); strings.Contains(got, marker) || !strings.Contains(got, c.want) {
				t.Errorf("%v is told as %q, want %q", err, got, c.want)
			}
		})
	}
	if got := outward.Status(404); got != "status 404 Not Found" {
		t.Error(got)
	}
	if got := outward.Status(599); got != "status 599" {
		t.Error(got)
	}
}

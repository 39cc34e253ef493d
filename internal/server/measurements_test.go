package server

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

func TestMetricsTakeAToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	nobody, viewer := w.user("nobody", "", ""), w.user("viewer", "account.viewer", "account")
	for _, c := range []struct {
		name, token string
		want        int
	}{
		{"without a token", "", http.StatusUnauthorized},
		{"without a right", nobody, http.StatusForbidden},
		{"of who sees the settings", viewer, http.StatusOK},
	} {
		out := w.send(w.request(c.token, http.MethodGet, "/metrics", ""))
		if out.Code != c.want || (out.Code == http.StatusOK) != strings.Contains(out.Body.String(), "slipway_server_agents") {
			t.Errorf("%s: %d %.300s", c.name, out.Code, out.Body)
		}
	}
}

func TestMetricsHaveAnAddressOfTheirOwnWhereThatIsSaid(t *testing.T) {
	t.Parallel()
	w := &world{t: t, server: newServer(t, func(c *Config) { c.MetricsListen = "127.0.0.1:0" })}
	address := "http://" + w.server.measured.listener.Addr().String()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- w.server.measured.run(ctx) }()
	for path, want := range map[string]int{"/metrics": http.StatusOK, "/api/v1/users": http.StatusNotFound, "/": http.StatusNotFound} {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, address+path, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || answer.StatusCode != want || want == http.StatusOK && !strings.Contains(string(text), "slipway_server_build_info") {
			t.Errorf("%s: %d %v %.300s", path, answer.StatusCode, err, text)
		}
	}
	token := w.signIn("admin")
	if out := w.send(w.request(token, http.MethodGet, "/metrics", "")); out.Code != http.StatusNotFound {
		t.Errorf("at the server's own address: %d", out.Code)
	}
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

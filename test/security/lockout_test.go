package security

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server"
)

func TestAStrangerCannotKeepTheAdministratorOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *server.Config) { c.TrustedProxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")} })
	from := func(address, password string) int {
		r := w.request("", http.MethodPost, "/api/v1/session", fmt.Sprintf(`{"username":"admin","password":%q}`, password))
		r.Header.Set("X-Forwarded-For", address)
		return w.send(r).StatusCode
	}
	for range 30 {
		from("203.0.113.9", "wrong password")
	}
	if status := from("203.0.113.9", password); status != http.StatusTooManyRequests {
		t.Errorf("the stranger guesses on: %d", status)
	}
	if status := from("192.0.2.1", password); status != http.StatusOK {
		t.Errorf("the administrator is kept out by a stranger: %d", status)
	}
	for i := range 120 {
		from(fmt.Sprintf("198.51.100.%d", i), "wrong password")
	}
	if status := from("192.0.2.1", password); status != http.StatusOK {
		t.Errorf("the administrator is kept out by many strangers: %d", status)
	}
}

package core

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/internal/legible"
)

// headers sets what keeps browsers from being used against their users.
func (h *Core) headers(out http.Header, r *http.Request) {
	out.Set("X-Content-Type-Options", "nosniff")
	out.Set("X-Frame-Options", "DENY")
	out.Set("Referrer-Policy", "no-referrer")
	out.Set("Cross-Origin-Opener-Policy", "same-origin")
	out.Set("Cross-Origin-Resource-Policy", "same-origin")
	out.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
	out.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	if strings.HasPrefix(r.URL.Path, "/api/") {
		out.Set("Cache-Control", "no-store")
	}
	if h.secure(r) {
		out.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

// secure is true for a request that came by HTTPS, or to a proxy in front that did.
func (h *Core) secure(r *http.Request) bool {
	return r.TLS != nil || strings.HasPrefix(h.cfg.PublicURL, "https://")
}

// preflight answers what a browser asks before it lets a page of an allowed origin call, and names that origin in every
// answer to it. Cookies are not for other origins: such a page needs a token.
func (h *Core) preflight(w http.ResponseWriter, r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(h.cfg.AllowedOrigins, origin) {
		return false
	}
	out := w.Header()
	out.Add("Vary", "Origin")
	out.Set("Access-Control-Allow-Origin", origin)
	out.Set("Cross-Origin-Resource-Policy", "cross-origin")
	out.Set("Access-Control-Expose-Headers", "ETag, Location, Retry-After, Traceparent, X-Request-Id, Idempotency-Replayed")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	out.Set("Access-Control-Allow-Methods", "GET, POST, PUT, PATCH, DELETE")
	out.Set("Access-Control-Allow-Headers",
		"Authorization, Content-Type, Idempotency-Key, If-Match, Last-Event-ID, Traceparent, X-Slipway-Reason")
	out.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// foreign is true for a request of a page of an allowed origin that is not our own.
func (h *Core) foreign(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || !slices.Contains(h.cfg.AllowedOrigins, origin) {
		return false
	}
	ours, err := originOf(h.cfg.PublicURL)
	return err != nil || origin != ours
}

// Allowed is true where a WebSocket may be opened: from no browser, from our own pages, or from an allowed origin.
func (h *Core) Allowed(r *http.Request) bool {
	origin := r.Header.Get("Origin")
	if origin == "" || slices.Contains(h.cfg.AllowedOrigins, origin) {
		return true
	}
	if ours, err := originOf(h.cfg.PublicURL); err == nil && origin == ours {
		return true
	}
	// Where browsers come by TLS, a page without it may be written by an attacker on the network.
	u, err := url.Parse(origin)
	return err == nil && u.Host != "" && u.Host == r.Host && (u.Scheme == "https" || u.Scheme == "http" && !h.secure(r))
}

// originOf is scheme and host of a URL.
func originOf(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || (u.Scheme != "https" && u.Scheme != "http") {
		return "", fmt.Errorf("read URL %q: write https://HOST or http://HOST", address)
	}
	return u.Scheme + "://" + u.Host, nil
}

// Client is where a request comes from. X-Forwarded-For counts as far as trusted proxies wrote it: from its end, up to
// the first address that is none of theirs.
func (h *Core) client(r *http.Request) Client {
	return Client{IP: ClientIP(r, h.cfg.TrustedProxies), UserAgent: legible.Cut(r.UserAgent(), 300)}
}

// ClientIP is the address that a request comes from, seen through trusted proxies.
func ClientIP(r *http.Request, trusted []netip.Prefix) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		host = r.RemoteAddr
	}
	at, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	at = at.Unmap().WithZone("")
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && contains(trusted, at); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = hop.Unmap().WithZone("")
	}
	return at.String()
}

func contains(prefixes []netip.Prefix, at netip.Addr) bool {
	return slices.ContainsFunc(prefixes, func(p netip.Prefix) bool { return p.Contains(at) })
}

package gateway

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync"

	"golang.org/x/time/rate"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/address"
)

// serveLink passes a WebSocket on to the broker, after the upgrade byte by byte.
func (g *Gateway) serveLink(w http.ResponseWriter, r *http.Request) {
	b := g.conns.broker.Load()
	if b == nil {
		w.Header().Set("Retry-After", "1")
		writeProblem(w, http.StatusServiceUnavailable, "the server is starting: try again in a moment")
		return
	}
	if r.Header.Get("Origin") != "" { // browsers send it with every WebSocket, agents never do
		writeProblem(w, http.StatusForbidden, agentapi.PathLink+" is for agents: no page may open it")
		return
	}
	ip := g.cfg.ClientIP(r)
	if !g.linkRate.allow(ip) {
		w.Header().Set("Retry-After", "5")
		writeProblem(w, http.StatusTooManyRequests, "too many connections from "+ip+": wait some seconds")
		return
	}
	if r.ProtoMajor != 1 || !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		w.Header().Set("Upgrade", "websocket")
		writeProblem(w, http.StatusUpgradeRequired, agentapi.PathLink+" is for agents, which speak WebSocket over HTTP/1.1 here; "+
			"a proxy in between must let the upgrade pass")
		return
	}
	// Past here an agent that cannot be looked up can only be cut off, without a word.
	limited, cancel := context.WithTimeout(r.Context(), authTimeout)
	err := g.cfg.Reachable(limited)
	cancel()
	if err != nil {
		g.cfg.Log.Warn("an agent cannot be let in now", "from", ip, "error", err)
		w.Header().Set("Retry-After", "1")
		writeProblem(w, http.StatusServiceUnavailable, "the server does not reach its database: try again in a moment")
		return
	}
	proxy := httputil.ReverseProxy{
		Transport: b.transport,
		ErrorLog:  slog.NewLogLogger(g.cfg.Log.Handler(), slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			// Nothing of the request counts but what the upgrade needs: neither path nor cookies nor other headers.
			header := http.Header{"X-Forwarded-For": {ip}}
			for _, name := range []string{"Connection", "Upgrade", "Sec-Websocket-Key", "Sec-Websocket-Version"} {
				header.Set(name, r.Out.Header.Get(name))
			}
			r.Out.Header = header
			r.Out.URL.Scheme, r.Out.URL.Host, r.Out.URL.Path, r.Out.URL.RawPath, r.Out.URL.RawQuery = "http", b.address, "/", "", ""
			r.Out.Host = b.address
		},
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			g.cfg.Log.Warn("pass a connection on to the link", "from", ip, "error", err)
			writeProblem(w, http.StatusBadGateway, "the link does not answer: see the server's log")
		},
	}
	r, over := g.arriving.enter(r)
	defer over()
	proxy.ServeHTTP(w, r)
}

// writeProblem answers with a problem document (RFC 9457).
func writeProblem(w http.ResponseWriter, status int, detail string) {
	w.Header().Set("Content-Type", "application/problem+json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"title": http.StatusText(status), "status": status, "detail": detail}) // the client is gone
}

func remoteIP(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// addressRate bounds how often something is done from each address. Addresses that were not seen for a while are
// forgotten: it remembers two generations of at most maxAddresses.
type addressRate struct {
	every rate.Limit
	burst int

	mu          sync.Mutex
	young, aged map[string]*rate.Limiter
}

const maxAddresses = 5000

func newAddressRate(every rate.Limit, burst int) *addressRate {
	return &addressRate{every: every, burst: burst, young: map[string]*rate.Limiter{}}
}

// allow reports whether an address may do it once more.
func (a *addressRate) allow(ip string) bool {
	key := address.Network(ip)
	a.mu.Lock()
	defer a.mu.Unlock()
	at := a.young[key]
	if at == nil {
		if at = a.aged[key]; at == nil {
			at = rate.NewLimiter(a.every, a.burst)
		}
		if len(a.young) >= maxAddresses {
			a.young, a.aged = map[string]*rate.Limiter{}, a.young
		}
		a.young[key] = at
	}
	return at.Allow()
}

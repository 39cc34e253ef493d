package httpapi

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"

	"github.com/slipway-gitops/slipway/api"
)

const (
	style = `body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:4rem auto;padding:0 1rem}code,pre{font-family:ui-monospace,monospace}`
	front = `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Slipway</title><style>` + style + `</style></head>
<body>
<h1>Slipway</h1>
<p>This is the control plane of an installation of Slipway, which brings Kubernetes clusters to what Git says.</p>
<p>Sign in from a terminal:</p>
<pre>slipway login URL-OF-THIS-PAGE
slipway app list</pre>
<p>Programs use the API, which <a href="/api/v1/openapi.json">openapi.json</a> describes.</p>
</body>
</html>
`
)

//nolint:gochecknoglobals // never changes
var styleHash = func() string {
	sum := sha256.Sum256([]byte(style))
	return base64.StdEncoding.EncodeToString(sum[:])
}()

// page says what this is.
func (h *Handler) page(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = w.Write([]byte(front)) // the reader may have gone
}

// healthz says that the process answers.
func (h *Handler) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // the reader may have gone
}

// readyz says that the database answers too.
func (h *Handler) readyz(w http.ResponseWriter, r *http.Request) {
	if err := h.cfg.Keeper.Ping(r.Context()); err != nil {
		h.log.Warn("not ready", "err", err)
		writeProblem(w, api.Errorf(api.CodeUnavailable, "the database does not answer: see the server's log"), requestID(r.Context()))
		return
	}
	h.healthz(w, r)
}

// metrics tells counts of all agents and applications: to who may see the settings of the server, with a token.
func (h *Handler) metrics(w http.ResponseWriter, r *http.Request) {
	route := &Route{Method: http.MethodGet, Path: "/metrics", Permission: api.PermSettingView}
	c := &call{Handler: h, route: route, id: requestID(r.Context()), client: h.client(r), request: r}
	err := h.limits.address(c.client.IP, route)
	if err == nil {
		err = h.identify(c, r)
	}
	if err == nil {
		err = c.may(route.Permission, target{object: serverSettings()})
	}
	if err != nil {
		c.refuse(w, err)
		return
	}
	h.cfg.Metrics.ServeHTTP(w, r)
}

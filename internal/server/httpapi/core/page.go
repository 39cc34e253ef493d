package core

import (
	"net/http"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Pages are what people see in a browser. Serve reports whether there is something to be seen; where there is not, it has
// not answered.
type Pages interface {
	Serve(w http.ResponseWriter, r *http.Request) bool
}

// showed answers with a page or a file of one, outside of what programs ask for.
func (h *Core) showed(w http.ResponseWriter, r *http.Request) bool {
	if h.cfg.Pages == nil || (r.Method != http.MethodGet && r.Method != http.MethodHead) {
		return false
	}
	path := r.URL.Path
	if path == "/api" || strings.HasPrefix(path, "/api/") || path == "/metrics" {
		return false
	}
	if !h.cfg.Pages.Serve(w, r) {
		return false
	}
	r.Pattern = "GET /" // what it is counted as
	return true
}

// healthz says that the process answers.
func (h *Core) healthz(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = w.Write([]byte("ok\n")) // the reader may have gone
}

// readyz says that the database answers too, and that what is to be kept can be written.
func (h *Core) readyz(w http.ResponseWriter, r *http.Request) {
	if err := h.cfg.Keeper.Ping(r.Context()); err != nil {
		h.Log.Warn("not ready", "err", err)
		WriteProblem(w, api.Errorf(api.CodeUnavailable, "the database does not answer, or a disk takes no writes: see the server's log"),
			requestID(r.Context()))
		return
	}
	h.healthz(w, r)
}

// metrics returns counts of all agents and applications: to users who may see the settings of the server, with a token.
func (h *Core) metrics(w http.ResponseWriter, r *http.Request) {
	route := &Route{Method: http.MethodGet, Path: "/metrics", Permission: api.PermSettingView}
	c := &Call{Core: h, Route: route, ID: requestID(r.Context()), Client: h.client(r), Request: r}
	err := h.Limits.address(c.Client.IP, route)
	if err == nil {
		err = h.identify(c, r)
	}
	if err == nil {
		err = c.May(route.Permission, Target{Object: ServerSettings()})
	}
	if err != nil {
		c.refuse(w, err)
		return
	}
	h.cfg.Metrics.ServeHTTP(w, r)
}

// ServerSettings is what rights to the settings are asked for.
func ServerSettings() rbac.Object {
	return rbac.Object{Type: api.TypeSetting, Scope: api.ScopeAccount, ID: "server"}
}

package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"
)

// serve starts the listeners that the configuration names. Handlers with one address share its listener.
func (a *Agent) serve(ctx context.Context, g *errgroup.Group) error {
	muxes := map[string]*http.ServeMux{}
	at := func(addr string) *http.ServeMux {
		if addr == "" {
			return http.NewServeMux() // never served
		}
		if muxes[addr] == nil {
			muxes[addr] = http.NewServeMux()
		}
		return muxes[addr]
	}
	health := at(a.cfg.HealthListen)
	health.HandleFunc("GET /healthz", a.serveHealth)
	health.HandleFunc("GET /readyz", a.serveReady)
	if a.shadow != nil {
		health.HandleFunc("GET /shadow", a.serveShadow)
	}
	if a.link != nil {
		health.HandleFunc("GET /link", a.serveLink)
	}
	at(a.cfg.MetricsListen).Handle("GET /metrics", promhttp.HandlerFor(a.metrics.registry, promhttp.HandlerOpts{}))
	at(a.cfg.WebhookListen).Handle("/api/webhook", a.receiver)
	debug := at(a.cfg.PprofListen)
	debug.HandleFunc("GET /debug/pprof/", pprof.Index)
	debug.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	debug.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	for addr, mux := range muxes {
		listener, err := net.Listen("tcp", addr)
		if err != nil {
			return fmt.Errorf("listen on %s: %w: choose another address", addr, err)
		}
		a.log.Info("listening", "address", listener.Addr().String()) // with port 0 nobody else knows
		server := &http.Server{
			Handler: mux, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute,
			MaxHeaderBytes: 64 << 10,
		}
		g.Go(func() error {
			if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				return fmt.Errorf("serve on %s: %w", addr, err)
			}
			return nil
		})
		g.Go(func() error {
			<-ctx.Done()
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			return server.Shutdown(stop)
		})
	}
	return nil
}

func (a *Agent) serveReady(w http.ResponseWriter, _ *http.Request) {
	if why := a.waits.Load(); why != nil {
		http.Error(w, *why, http.StatusServiceUnavailable)
		return
	}
	if !a.leads() {
		http.Error(w, "waiting for the leader lease, or for the first list of Applications", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ready")
}

// leads reports whether this agent leads and has seen all Applications.
func (a *Agent) leads() bool {
	select {
	case <-a.ready:
		return true
	default:
		return false
	}
}

package agent

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/inlet"
)

// serveLimits bounds the connections of one address: forges, Prometheus, probes and an ingress need few.
func serveLimits() inlet.Limits {
	return inlet.Limits{Connections: 2048, Waiting: 1024, PerAddress: 256}
}

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
		health.HandleFunc("GET /shadow", a.shadow.Serve)
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
		listener, err := inlet.Listen(ctx, addr)
		if err != nil {
			return fmt.Errorf("listen on %s: %w: choose another address", addr, err)
		}
		a.log.Info("listening", "address", listener.Addr().String()) // with port 0 nobody else knows
		server := inlet.New(inlet.Config{Handler: mux, Limits: serveLimits(), Log: a.log, Ended: a.metrics.cut})
		g.Go(func() error {
			if err := server.Serve(context.WithoutCancel(ctx), listener); err != nil {
				return fmt.Errorf("serve on %s: %w", addr, err)
			}
			return nil
		})
		g.Go(func() error {
			<-ctx.Done()
			stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
			defer cancel()
			if err := server.Shutdown(stop); err != nil {
				return server.Close() // who is too slow is cut off
			}
			return nil
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
	if err := a.disk.err(); err != nil {
		a.log.Warn("not ready: the data directory takes no writes", "err", err)
		http.Error(w, "the data directory takes no writes: "+err.Error()+": make room, or check its permissions (--data)", http.StatusServiceUnavailable)
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

package agent

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/inlet"
)

const (
	// probeEvery is how old the last proof may be that the data directory takes writes: frequent probes cause no more writes.
	probeEvery = 10 * time.Second
	// probeTime is how long a write may take. A disk that hangs counts as one that takes no writes.
	probeTime = 3 * time.Second
	// probeFile is written in the data directory, and removed again.
	probeFile = ".write-probe"
	// probeBytes is what is written: a block of its own, which a full disk does not have.
	probeBytes = 4 << 10
)

// disk reports whether a directory takes writes.
type disk struct {
	dir string

	mu      sync.Mutex
	probed  time.Time     // when failure was found; zero for never
	failure error         // nil: it takes writes
	running chan struct{} // closed when the probe under way is over; nil for none
}

// err says why the directory takes no writes, as found at most probeEvery ago.
func (d *disk) err() error {
	if d.dir == "" {
		return nil
	}
	d.mu.Lock()
	if d.running == nil && (d.probed.IsZero() || time.Since(d.probed) >= probeEvery) {
		d.running = make(chan struct{})
		go d.look(d.running)
	}
	running := d.running
	d.mu.Unlock()
	if running != nil {
		timer := time.NewTimer(probeTime)
		defer timer.Stop()
		select {
		case <-running:
		case <-timer.C:
			return fmt.Errorf("a write to %s takes longer than %s", d.dir, probeTime)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.failure
}

// look writes once. There is one at a time, however long the disk takes.
func (d *disk) look(done chan struct{}) {
	err := writeOnce(d.dir)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.failure, d.probed, d.running = err, time.Now(), nil
	close(done)
}

func writeOnce(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	name := filepath.Join(dir, probeFile)
	file, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, probeBytes))
	if err = errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Remove(name)
}

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
		a.log.Info("listening", "address", listener.Addr().String()) // with port 0 nothing else knows
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
				return server.Close() // a client that is too slow is cut off
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
		http.Error(w, "the data directory takes no writes: "+err.Error()+": make room, or check its permissions (--data)",
			http.StatusServiceUnavailable)
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

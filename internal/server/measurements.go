package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// measurements is the address of its own for /metrics; nil for none.
type measurements struct {
	listener net.Listener
	http     *http.Server
}

// listenMetrics takes the address; where it is empty there is none.
func listenMetrics(ctx context.Context, address string) (*measurements, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen on --metrics-listen %s: %w", address, err)
	}
	return &measurements{listener: listener}, nil
}

// publish serves what is measured at the address. What it returns is for the server's own: nothing where there is an
// address, so that it is not to be had in two ways.
func (m *measurements) publish(what http.Handler) http.Handler {
	if m == nil {
		return what
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", what)
	m.http = &http.Server{
		Handler: mux, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
	}
	return nil
}

// run answers until ctx ends.
func (m *measurements) run(ctx context.Context) error {
	if m == nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = m.http.Close() })() // a scrape that is cut off comes again
	if err := m.http.Serve(m.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve metrics: %w", err)
	}
	return nil
}

// close gives the address back. After run it does nothing.
func (m *measurements) close() error {
	if m == nil {
		return nil
	}
	if err := m.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return fmt.Errorf("stop listening for metrics: %w", err)
	}
	return nil
}

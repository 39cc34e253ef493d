package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/slipway-gitops/slipway/internal/inlet"
)

// measurements is the address of its own for /metrics; nil for none.
type measurements struct {
	listener net.Listener
	http     *inlet.Server
}

// listenMetrics takes the address; where it is empty there is none.
func listenMetrics(ctx context.Context, address string) (*measurements, error) {
	if address == "" {
		return nil, nil //nolint:nilnil // there is none, and nothing is wrong
	}
	listener, err := inlet.Listen(ctx, address)
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
	m.http = inlet.New(inlet.Config{Handler: mux, Limits: inlet.Limits{Connections: 512, Waiting: 256, PerAddress: 64, HeaderBytes: 16 << 10}})
	return nil
}

// run answers until ctx ends.
func (m *measurements) run(ctx context.Context) error {
	if m == nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = m.http.Close() })() // a scrape that is cut off comes again
	if err := m.http.Serve(ctx, m.listener); err != nil {
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

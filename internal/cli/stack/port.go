package stack

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"

	"github.com/slipway-gitops/slipway/internal/inlet"
)

// ports are what the stack listens on, on 127.0.0.1. They are kept, so that addresses survive a restart.
type ports struct {
	Git     int `json:"git"`
	Webhook int `json:"webhook"`
	Health  int `json:"health"`
	Metrics int `json:"metrics"`
	Server  int `json:"server"`
}

func loopback(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// choosePorts reads the ports of the last time and replaces those that are taken now by free ones. A wanted Git port
// that is taken is an error. The listener is for the Git server.
func (d dir) choosePorts(ctx context.Context, git int) (ports, net.Listener, error) {
	var p ports
	raw, err := os.ReadFile(d.ports())
	if err == nil {
		err = json.Unmarshal(raw, &p)
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return p, nil, fmt.Errorf("read ports of the last time: %w; remove %s", err, d.ports())
	}
	if git != 0 {
		p.Git = git
	}
	listener, err := inlet.Listen(ctx, loopback(p.Git))
	if err != nil && git == 0 {
		listener, err = inlet.Listen(ctx, loopback(0))
	}
	if err != nil {
		return p, nil, fmt.Errorf("listen on port %d: %w; choose another with --port", git, err)
	}
	p.Git = listener.Addr().(*net.TCPAddr).Port
	for _, port := range []*int{&p.Webhook, &p.Health, &p.Metrics, &p.Server} {
		if *port, err = free(ctx, *port); err != nil {
			_ = listener.Close()
			return p, nil, err
		}
	}
	raw, err = json.Marshal(p)
	if err == nil {
		err = replaceFile(d.ports(), append(raw, '\n'))
	}
	if err != nil {
		_ = listener.Close()
		return p, nil, err
	}
	return p, listener, nil
}

// free returns want where nothing listens on it, else a free port. The agent opens it a moment later.
func free(ctx context.Context, want int) (int, error) {
	l, err := inlet.Listen(ctx, loopback(want))
	if err != nil {
		l, err = inlet.Listen(ctx, loopback(0))
	}
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	return l.Addr().(*net.TCPAddr).Port, l.Close()
}

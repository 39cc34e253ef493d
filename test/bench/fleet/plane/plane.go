// Package plane starts the control plane that a benchmark of a fleet measures: the real program, over TLS, with a database
// of its own.
package plane

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
)

// The user of a server that a benchmark started. It is on loopback and holds nothing.
const (
	User     = "admin"
	Password = "a-harbour-with-200-boats"
)

const (
	startLimit = time.Minute
	lookEvery  = 20 * time.Millisecond
)

// Options say how to start a server.
type Options struct {
	Binary string
	// Dir is for its data and its log.
	Dir string
	// Database is a postgres:// URL; SQLite in Dir where it is empty.
	Database string
	// Listen is an address; one that is free where it is empty.
	Listen string
}

// Server is the program that runs.
type Server struct {
	// URL is where it is reached, CA the file with its certificate.
	URL *url.URL
	CA  string
	// Admin may do everything.
	Admin *client.Client

	process *process
	probe   *http.Client
	anybody *client.Client
}

// Start starts a server, waits until it is ready, and signs in.
func Start(ctx context.Context, o Options) (*Server, error) {
	binary, err := filepath.Abs(o.Binary)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", o.Binary, err)
	}
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("find the server: %w: build it with: make programs", err)
	}
	if o.Listen == "" {
		if o.Listen, err = freeAddress(); err != nil {
			return nil, err
		}
	}
	data := filepath.Join(o.Dir, "data")
	s := &Server{
		URL: &url.URL{Scheme: "https", Host: o.Listen}, CA: filepath.Join(data, "server.crt"),
		process: &process{
			log: filepath.Join(o.Dir, "server.log"), env: []string{"SLIPWAY_ADMIN_PASSWORD=" + Password},
			// What is measured is the work, not how many requests one user may make.
			argv: []string{binary, "--listen", o.Listen, "--self-signed", "--data", data, "--rate-limit", "10000", "--rate-burst", "10000"},
		},
	}
	if o.Database != "" {
		s.process.env = append(s.process.env, "SLIPWAY_DATABASE="+o.Database)
	}
	if err := s.process.start(); err != nil {
		return nil, err
	}
	if err := s.open(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// open waits for a server that was started first, and signs in.
func (s *Server) open(ctx context.Context) error {
	var pem []byte
	roots := x509.NewCertPool()
	err := await(ctx, s.process, func(context.Context) (err error) {
		if pem, err = os.ReadFile(s.CA); err != nil {
			return err
		}
		if !roots.AppendCertsFromPEM(pem) {
			return errors.New("its certificate is not there as a whole")
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.probe = &http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
	if err := s.Ready(ctx); err != nil {
		return err
	}
	if s.anybody, err = client.New(client.Config{Server: s.URL.String(), CA: pem}); err != nil {
		return err
	}
	session, err := s.anybody.SignIn(ctx, api.SignIn{Username: User, Password: Password, Token: "bench"})
	if err != nil {
		return fmt.Errorf("sign in: %w", err)
	}
	s.Admin = s.anybody.With(session.Token)
	return nil
}

// With is a client with another token.
func (s *Server) With(token string) *client.Client { return s.anybody.With(token) }

// Ready waits until the server answers.
func (s *Server) Ready(ctx context.Context) error {
	return await(ctx, s.process, func(ctx context.Context) error {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL.JoinPath("readyz").String(), nil)
		if err != nil {
			return err
		}
		answer, err := s.probe.Do(req)
		if err != nil {
			return err
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return errors.New(answer.Status)
		}
		return nil
	})
}

// PID is that of the server's process.
func (s *Server) PID() int { return s.process.cmd.Process.Pid }

// Alive says why the server is not running; nil where it is.
func (s *Server) Alive() error { return s.process.alive() }

// Kill ends the server without a warning, as a crash would.
func (s *Server) Kill() { s.process.end(syscall.SIGKILL) }

// Restart starts it again; Ready says when it is there.
func (s *Server) Restart() error { return s.process.start() }

// Close ends the server.
func (s *Server) Close() {
	if s.anybody != nil {
		s.anybody.Close()
	}
	s.process.end(syscall.SIGTERM)
}

// await looks again and again until nothing is wrong any more, the process ends, or a minute is over.
func await(ctx context.Context, p *process, wrong func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		problem := wrong(ctx)
		if problem == nil {
			return nil
		}
		if err := p.alive(); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait for %s: %w; the end of its log is:\n%s", p.argv[0], problem, p.tail())
		}
	}
}

// freeAddress returns one that no other process gets while the server is away: below the ports that connections go out from.
func freeAddress() (string, error) {
	for range 100 {
		address := fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(12000))
		if l, err := net.Listen("tcp", address); err == nil {
			return address, l.Close()
		}
	}
	return "", errors.New("find a free port on loopback: none of 100 tries was one")
}

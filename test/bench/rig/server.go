package rig

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
)

// joinTimeout is how long an agent may take from its registration until the server has all of its state.
const joinTimeout = 2 * time.Minute

// Server is a control plane with SQLite, over TLS on loopback, that one agent can join. What it costs is not the engine's.
type Server struct {
	process *Process
	client  *client.Client
	url, ca string
	token   string // file
	agent   string // its id
}

// StartServer runs the server binary with its data below dir, waits until it answers, and makes an agent on it.
func StartServer(ctx context.Context, binary, dir string) (*Server, error) {
	path, err := program(binary, "build it with: make build")
	if err != nil {
		return nil, err
	}
	data := filepath.Join(dir, "data")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return nil, fmt.Errorf("make directory of the server: %w", err)
	}
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	s := &Server{url: "https://" + address, ca: filepath.Join(data, "server.crt"), token: filepath.Join(dir, "token")}
	password := rand.Text()
	s.process, err = start("slipway-server", filepath.Join(dir, "server.log"),
		[]string{path, "--listen", address, "--self-signed", "--data", data}, "SLIPWAY_ADMIN_PASSWORD="+password)
	if err != nil {
		return nil, err
	}
	if err := s.prepare(ctx, password); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// prepare waits for the server, signs in and makes the agent.
func (s *Server) prepare(ctx context.Context, password string) error {
	waiting, cancel := context.WithTimeout(ctx, engineTimeout)
	defer cancel()
	if err := s.process.until(waiting, func() bool { return s.answers(waiting) }); err != nil {
		return err
	}
	ca, err := os.ReadFile(s.ca)
	if err != nil {
		return fmt.Errorf("read certificate of the server: %w", err)
	}
	anybody, err := client.New(client.Config{Server: s.url, CA: ca})
	if err != nil {
		return fmt.Errorf("reach the server: %w", err)
	}
	defer anybody.Close()
	session, err := anybody.SignIn(ctx, api.SignIn{Username: "admin", Password: password, Token: "bench"})
	if err != nil {
		return fmt.Errorf("sign in at the server: %w", err)
	}
	s.client = anybody.With(session.Token)
	made, err := s.client.CreateAgent(ctx, api.Agent{Meta: api.Meta{Name: "bench"}}, false)
	if err != nil {
		return fmt.Errorf("make an agent on the server: %w", err)
	}
	s.agent = made.Agent.ID
	if err := os.WriteFile(s.token, []byte(made.Token), 0o600); err != nil {
		return fmt.Errorf("store token of the agent: %w", err)
	}
	return nil
}

// answers reports whether the server has a certificate and is ready behind it.
func (s *Server) answers(ctx context.Context) bool {
	ca, err := os.ReadFile(s.ca)
	roots := x509.NewCertPool()
	if err != nil || !roots.AppendCertsFromPEM(ca) {
		return false
	}
	probe := http.Client{Timeout: webhookTimeout, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
	if err != nil {
		return false
	}
	answer, err := probe.Do(request)
	if err != nil {
		return false
	}
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}

// arguments are those by which an agent joins.
func (s *Server) arguments() []string {
	return []string{"--server", s.url, "--server-ca", s.ca, "--registration-token-file", s.token}
}

// await waits until the agent is connected and the server has as many of its Applications as there are.
func (s *Server) await(ctx context.Context, agent *Process, apps int) error {
	ctx, cancel := context.WithTimeout(ctx, joinTimeout)
	defer cancel()
	problem := "not checked yet"
	err := agent.until(ctx, func() bool {
		problem = s.missing(ctx, apps)
		return problem == ""
	})
	if err != nil {
		return fmt.Errorf("wait for the server to know the agent's state (%s): %w", problem, err)
	}
	return nil
}

// missing says what the server does not know yet; "" for nothing.
func (s *Server) missing(ctx context.Context, apps int) string {
	at, err := s.client.AgentEntities().Get(ctx, s.agent)
	if err != nil {
		return err.Error()
	}
	if at.Status.State != api.AgentConnected {
		return fmt.Sprintf("the agent is %s: %s", at.Status.State, at.Status.Message)
	}
	known, err := s.client.AllApplications(ctx, api.ApplicationFilter{ItemFilter: api.ItemFilter{Agent: s.agent}})
	if err != nil {
		return err.Error()
	}
	if len(known) < apps {
		return fmt.Sprintf("it has %d of %d applications", len(known), apps)
	}
	return ""
}

// Close stops the server. A second call does nothing.
func (s *Server) Close() {
	s.process.Stop()
	if s.client != nil {
		s.client.Close()
	}
}

// StartLinked runs our own agent as StartAgent does, but linked to a server of its own, and waits until the server has
// heard of all Applications, of which there are apps. Close stops both.
func StartLinked(ctx context.Context, o AgentOptions, server string, apps int) (*Engine, error) {
	s, err := StartServer(ctx, server, filepath.Join(o.Dir, "server"))
	if err != nil {
		return nil, err
	}
	o.link = s.arguments()
	e, err := StartAgent(ctx, o)
	if err != nil {
		s.Close()
		return nil, err
	}
	e.server = s
	if err := s.await(ctx, e.process, apps); err != nil {
		e.Close()
		return nil, err
	}
	return e, nil
}

// FindServer fails when the binary of the server is not there, before all the measuring comes to it.
func FindServer(binary string) error {
	_, err := program(binary, "build it with: make build")
	return err
}

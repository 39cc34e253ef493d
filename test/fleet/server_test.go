package fleet

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const adminPassword = "a-harbour-with-20-boats"

// server is a control plane that stays at its address over restarts. It has SQLite, unless its environment says otherwise.
type server struct {
	*testenv.Process

	t     *testing.T
	url   string
	ca    string // file
	probe *http.Client
	admin *client.Client
}

// startServer starts one and signs in. More arguments come after those that all servers have.
func startServer(t *testing.T, more ...string) *server {
	t.Helper()
	return startServerWith(t, nil, more...)
}

// startServerWith starts one with more in its environment and more arguments, and signs in.
func startServerWith(t *testing.T, env []string, more ...string) *server {
	t.Helper()
	dir := t.TempDir()
	data := filepath.Join(dir, "data")
	address, metrics := testenv.Address(t), testenv.Address(t)
	s := &server{
		t: t, url: "https://" + address, ca: filepath.Join(data, "server.crt"),
		Process: testenv.NewProcess(t, "server", "slipway-server", dir, append([]string{
			"--listen", address, "--self-signed", "--data", data, "--rate-limit", "2000", "--rate-burst", "4000",
			"--metrics-listen", metrics,
		}, more...)...),
	}
	s.Env = append([]string{"SLIPWAY_ADMIN_PASSWORD=" + adminPassword}, env...)
	s.NothingMissed(metrics)
	s.Start()
	var pem []byte
	roots := x509.NewCertPool()
	await(t, settled, "the certificate of the server", func(context.Context) string {
		var err error
		if pem, err = os.ReadFile(s.ca); err != nil {
			return err.Error()
		}
		if !roots.AppendCertsFromPEM(pem) {
			return "it is not there as a whole"
		}
		return ""
	}, s.Process)
	s.probe = probeOf(roots)
	s.awaitReady()
	s.signIn(pem)
	return s
}

// probeOf asks whether a server answers, each time anew.
func probeOf(roots *x509.CertPool) *http.Client {
	return &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true,
	}}
}

// signIn makes admin who may do everything.
func (s *server) signIn(ca []byte) {
	s.t.Helper()
	anybody, err := client.New(client.Config{Server: s.url, CA: ca})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(anybody.Close)
	session, err := anybody.SignIn(s.t.Context(), api.SignIn{Username: "admin", Password: adminPassword, Token: "fleet"})
	if err != nil {
		s.t.Fatal(err)
	}
	s.admin = anybody.With(session.Token)
}

// awaitReady waits until the server answers.
func (s *server) awaitReady() {
	s.t.Helper()
	await(s.t, settled, "the server does not answer", func(ctx context.Context) string {
		if s.Ended() {
			s.t.Fatalf("the server ended by itself:\n%s", s.Tail())
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
		if err != nil {
			return err.Error()
		}
		answer, err := s.probe.Do(req)
		if err != nil {
			return err.Error()
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return answer.Status
		}
		return ""
	}, s.Process)
}

// agents returns how all agents are, by id.
func (s *server) agents(ctx context.Context) (map[string]api.AgentStatus, error) {
	page, err := s.admin.AgentEntities().List(ctx, api.ListOptions{Limit: api.MaxLimit})
	if err != nil {
		return nil, err
	}
	out := map[string]api.AgentStatus{}
	for _, a := range page.Items {
		out[a.ID] = a.Status
	}
	return out, nil
}

// newAgent makes an agent on the server and prepares its process, which reaches the server at url. More arguments come
// after those that all agents have.
func (s *server) newAgent(name, url, kubeconfig, ns string, more ...string) (id string, p *testenv.Process) {
	s.t.Helper()
	made, err := s.admin.CreateAgent(s.t.Context(), api.Agent{Meta: api.Meta{Name: name}}, false)
	if err != nil {
		s.t.Fatal(err)
	}
	return made.Agent.ID, s.agentProcess(name, made.Token, url, kubeconfig, ns, more...)
}

// agentProcess prepares an agent with a data directory of its own; without a token, where its namespace has its identity.
func (s *server) agentProcess(name, token, url, kubeconfig, ns string, more ...string) *testenv.Process {
	s.t.Helper()
	dir := s.t.TempDir()
	file := filepath.Join(dir, "token")
	if err := os.WriteFile(file, []byte(token), 0o600); err != nil {
		s.t.Fatal(err)
	}
	metrics := testenv.Address(s.t)
	p := testenv.NewProcess(s.t, name, "slipway-agent", dir, append([]string{
		// Agents of other tests work on the same cluster, some on Applications of the same names.
		"--kubeconfig", kubeconfig, "--namespace", ns, "--installation-id", ns, "--poll", "2s", "--data", filepath.Join(dir, "data"), "--server", url,
		"--server-ca", s.ca, "--registration-token-file", file, "--workers", "2", "--metrics-listen", metrics,
	}, more...)...)
	p.NothingMissed(metrics)
	return p
}

// connected says which of some agents the server does not see.
func (s *server) connected(ids ...string) func(context.Context) string {
	return func(ctx context.Context) string {
		all, err := s.agents(ctx)
		if err != nil {
			return err.Error()
		}
		for _, id := range ids {
			if at := all[id]; at.State != api.AgentConnected {
				return fmt.Sprintf("agent %s is %s: %s", id, at.State, at.Message)
			}
		}
		return ""
	}
}

// audit returns all entries of an action, or of a noun with a dot.
func (s *server) audit(t *testing.T, action string) []api.AuditEntry {
	t.Helper()
	all, err := client.All(api.ListOptions{Limit: api.MaxLimit}, func(o api.ListOptions) (api.Page[api.AuditEntry], error) {
		return s.admin.Audit(t.Context(), api.AuditFilter{ListOptions: o, Action: action})
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// verifyAudit checks that the chain is whole.
func (s *server) verifyAudit(t *testing.T) int64 {
	t.Helper()
	v, err := s.admin.VerifyAudit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !v.OK {
		t.Errorf("the audit: %s", v.Message)
	}
	return v.Checked
}

package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// issuer makes certificates of clients.
type issuer struct {
	*testenv.Authority
	t    *testing.T
	file string // its certificate
}

func newIssuer(t *testing.T) *issuer {
	t.Helper()
	i := &issuer{testenv.NewAuthority(t), t, filepath.Join(t.TempDir(), "agents-ca.pem")}
	if err := os.WriteFile(i.file, i.PEM(), 0o600); err != nil {
		t.Fatal(err)
	}
	return i
}

// issue writes a certificate and its key, in place of those before.
func (i *issuer) issue(dir string, ends time.Time) (args []string) {
	i.t.Helper()
	cert, key := i.IssueUntil(ends, "agent").Files(i.t, dir)
	return []string{"--client-cert", cert, "--client-key", key}
}

func TestAnAgentPresentsItsCertificateAndRenewsItWhileItIsConnected(t *testing.T) {
	t.Parallel()
	ns := testenv.Namespace(t)
	trusted, foreign := newIssuer(t), newIssuer(t)
	s := startServer(t, "--client-ca", trusted.file)
	dir := t.TempDir()
	args := foreign.issue(dir, time.Now().Add(time.Hour))
	id, agent := s.newAgent("certified", s.url, testenv.Kubeconfig(t), ns, args...)
	agent.Start()
	says := func(text string) {
		t.Helper()
		await(t, settled, "the log of the agent", func(context.Context) string {
			if agent.Logged(text) == 0 {
				return fmt.Sprintf("it does not say %q", text)
			}
			return ""
		}, agent, s.Process)
	}
	says("refuses the agent's certificate (")
	trusted.issue(dir, time.Now().Add(-time.Minute))
	says("refuses the agent's certificate, which expired at")
	// The server ends the link with the certificate. One that is renewed before that makes the next link, without a restart.
	trusted.issue(dir, time.Now().Add(time.Hour))
	await(t, settled, "the agent with a good certificate", s.connected(id), agent, s.Process)
	first, err := s.agents(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	trusted.issue(dir, time.Now().Add(2*time.Hour))
	await(t, settled, "the link with the renewed certificate", func(ctx context.Context) string {
		now, err := s.agents(ctx)
		if err != nil {
			return err.Error()
		}
		if now[id].Epoch == first[id].Epoch {
			return "it is the one before"
		}
		return s.connected(id)(ctx)
	}, agent, s.Process)
	if agent.Ended() || agent.Logged("the certificates of the link were renewed") == 0 {
		t.Errorf("the agent does not say why it connected again:\n%s", agent.Tail())
	}
}

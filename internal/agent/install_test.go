package agent

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestAgentsThatComeToANewClusterAtOnceAllBegin(t *testing.T) {
	t.Parallel()
	config := testenv.PrivateCluster(t).Config()
	var agents []*Agent
	for i := range 6 {
		a, err := New(t.Context(), Config{
			REST: rest.CopyConfig(config), Namespace: fmt.Sprintf("agent-%d", i), Data: t.TempDir(), Identity: "test", InstallCRDs: true,
			Poll: time.Hour, Workers: 1, Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		agents = append(agents, a)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	g, ended := errgroup.WithContext(ctx)
	for _, a := range agents {
		g.Go(func() error { return a.Run(ended) })
	}
	for _, a := range agents {
		select {
		case <-a.ready:
		case <-ended.Done():
		case <-time.After(patience):
			t.Errorf("the agent in %s does not begin", a.cfg.Namespace)
		}
	}
	cancel()
	if err := g.Wait(); err != nil {
		t.Error(err)
	}
}

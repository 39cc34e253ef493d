package fleet

import (
	"context"
	"fmt"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestReplicasThatShareApplicationsAreOneAgentToTheServer(t *testing.T) {
	const apps = 12
	s := startServer(t)
	cluster, ns := clientOf(t, testenv.Cluster(t)), testenv.Namespace(t)
	flags := []string{"--shards", "4", "--lease-duration", "1m"}
	id, one := s.newAgent("shared", s.url, testenv.Kubeconfig(t), ns, flags...)
	one.Start()
	await(t, settled, "the first replica", s.connected(id), one)
	two := s.agentProcess("shared-too", "", s.url, testenv.Kubeconfig(t), ns, flags...)
	two.Start()
	await(t, settled, "the second replica has its share", func(context.Context) string {
		if two.Logged(`"msg":"shards taken"`) == 0 {
			return "it has none"
		}
		return ""
	}, one, two)
	repo := testenv.Git(t).NewRepo("shared")
	files := map[string]string{}
	for n := range apps {
		files[fmt.Sprintf("app%d/cm.yaml", n)] = configMap(fmt.Sprint("shared", n), "one")
	}
	repo.Commit(files, "one")
	for n := range apps {
		createApplication(t, cluster, ns, fmt.Sprint("shared", n), repo.URL(), fmt.Sprint("app", n), false)
	}
	m := s.mirror(cluster, id, ns)
	await(t, settled, "the server knows all", m.differs, one, two)
	for n := range apps {
		if _, err := s.admin.Application(api.Target{Agent: id, Namespace: ns, Name: fmt.Sprint("shared", n)}).Operate(t.Context(), api.SyncRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	await(t, settled, "what somebody asked the one that speaks for", func(ctx context.Context) string {
		for n := range apps {
			if problem := valueIn(ctx, cluster, ns, fmt.Sprint("shared", n), "one"); problem != "" {
				return problem
			}
		}
		return m.differs(ctx)
	}, one, two)
	if one.Logged(`"msg":"synced"`) == 0 || two.Logged(`"msg":"synced"`) == 0 {
		t.Errorf("the replicas synced %d and %d times", one.Logged(`"msg":"synced"`), two.Logged(`"msg":"synced"`))
	}
	await(t, settled, "the ledger has an entry for each operation", func(ctx context.Context) string {
		page, err := s.admin.Ledger(ctx, api.LedgerFilter{Agent: id, ListOptions: api.ListOptions{Limit: api.MaxLimit}})
		if err != nil {
			return err.Error()
		}
		if len(page.Items) != apps {
			return fmt.Sprintf("it has %d, for %d", len(page.Items), apps)
		}
		return ""
	}, one, two)
}

package fleet

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// What an agent did while nobody heard of it is on its disk only: a status has the last operation, not those before.
func TestAnAgentThatIsKilledWithoutItsServerTellsOnceOfAllThatItDid(t *testing.T) {
	t.Parallel()
	ns, client := testenv.Namespace(t), clientOf(t, testenv.Cluster(t))
	s := startServer(t)
	way := newProxy(t, strings.TrimPrefix(s.url, "https://"))
	id, agent := s.newAgent("spool", "https://"+way.address, testenv.Kubeconfig(t), ns)
	agent.Start()
	await(t, settled, "the agent", s.connected(id), agent, s.Process)
	repo, name := repository(t), ns+"-app"
	var commits []string
	commit := func() {
		t.Helper()
		value := fmt.Sprint(len(commits))
		commits = append(commits, repo.Commit(map[string]string{name + "/cm.yaml": configMap(name, value)}, "commit "+value))
	}
	deployed := func() {
		t.Helper()
		await(t, settled, "the cluster", func(ctx context.Context) string {
			if problem := valueIn(ctx, client, ns, name, fmt.Sprint(len(commits)-1)); problem != "" {
				return problem
			}
			return synced(ctx, client, ns, name, commits[len(commits)-1])
		}, agent)
	}
	var entries map[string][]api.LedgerEntry // by revision
	told := func(ctx context.Context) string {
		page, err := s.admin.Ledger(ctx, api.LedgerFilter{ListOptions: api.ListOptions{Limit: api.MaxLimit}, Agent: id, Name: name})
		if err != nil {
			return err.Error()
		}
		entries = map[string][]api.LedgerEntry{}
		for _, e := range page.Items {
			entries[e.Revision] = append(entries[e.Revision], e)
		}
		for i, revision := range commits {
			if len(entries[revision]) == 0 {
				return fmt.Sprintf("commit %d is not in the ledger", i)
			}
		}
		return ""
	}
	commit()
	createApplication(t, client, ns, name, repo.URL(), name, true)
	deployed()
	await(t, settled, "the ledger", told, agent, s.Process)

	way.cut()
	for range 3 {
		commit()
		deployed()
	}
	agent.Kill()
	agent.Start()
	way.restore()
	await(t, settled, "the ledger after the return of the link", told, agent, s.Process)
	commit() // it is told behind all that was done before
	deployed()
	await(t, settled, "the ledger at the end", told, agent, s.Process)
	for i, revision := range commits {
		if found := entries[revision]; len(found) != 1 {
			t.Errorf("the ledger has %d entries of commit %d: %+v", len(found), i, found)
		} else if e := found[0]; i < 3 && (e.Recovered || len(e.Notes) > 0 || e.Counts.Created+e.Counts.Changed != 1) {
			t.Errorf("the entry of commit %d is not the one that was made then: %+v", i, e)
		}
	}
}

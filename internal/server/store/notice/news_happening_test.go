package notice_test

import (
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestARecoveryARepairAHeldDeletionAndADeletionAreNews(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		s.Tell(status("web", "shop", "Synced", "Degraded", false), status("going", "shop", "Synced", "Healthy", false))
		s.rule("all", nil, api.NotifyHealthy, api.NotifyReverted, api.NotifyDeleted, api.NotifyHeld)
		s.Tell(status("web", "shop", "Synced", "Progressing", false))
		s.told("on its way")
		s.Tell(status("web", "shop", "Synced", "Degraded", false))
		s.gather(false)
		s.Tell(status("web", "shop", "Synced", "Healthy", false))
		want := []string{"Waiting healthy account.prod/argocd/web"}
		s.told("it recovered", want...)

		said := func(message string) agentapi.Item {
			return storetest.App("going", "shop", func(r map[string]any) {
				r["status"] = map[string]any{
					"sync": map[string]any{"status": "Synced"}, "health": map[string]any{"status": "Healthy"},
					"conditions": []any{map[string]any{"type": "DeletionError", "message": message}},
				}
			})
		}
		s.Tell(said("the API server is away"))
		s.told("a deletion that fails waits for nobody", want...)
		s.Tell(said("held: nothing was deleted: confirm with `slipway app confirm going`"))
		want = append(want, "Waiting held account.prod/argocd/going")
		s.told("a deletion that waits for a person", want...)

		record := func(id, action, phase string, repair bool) gateway.Record {
			return gateway.Record{ID: id, LedgerDetail: api.LedgerDetail{LedgerEntry: api.LedgerEntry{
				Namespace: "argocd", Name: id, ApplicationUID: id, ArgoProject: "shop", Action: action, Phase: phase, Options: &api.LedgerOptions{Repair: repair},
				StartedAt: s.Clock.Now(), FinishedAt: s.Clock.Now().Add(time.Second),
			}}}
		}
		batch := gateway.RecordBatch{Records: []gateway.Record{
			record("sync", api.LedgerSync, "Succeeded", false), record("repair", api.LedgerSync, "Succeeded", true),
			record("fails", api.LedgerSync, "Failed", true), record("gone", api.LedgerDelete, "Succeeded", false),
		}}
		if _, err := s.KeepRecords(t.Context(), s.Agent.UID, s.Epoch, batch, s.Clock.Now()); err != nil {
			t.Fatal(err)
		}
		s.told("a repair and a deletion, once", append(want, "Waiting drift.reverted account.prod/argocd/repair", "Waiting deleted account.prod/argocd/gone")...)
	})
}

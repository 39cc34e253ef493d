package notice_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestANotificationSaysWhyAndNotHowTheLastOperationEnded(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		of := func(name, sync, health, why string, conditions ...any) agentapi.Item {
			return storetest.App(name, "shop", func(r map[string]any) {
				r["status"] = map[string]any{
					"sync": map[string]any{"status": sync}, "health": map[string]any{"status": health, "message": why}, "conditions": conditions,
					"operationState": map[string]any{"phase": "Succeeded", "message": "successfully synced (all tasks run)"},
				}
			})
		}
		s.Tell(of("web", "Synced", "Healthy", ""), of("gone", "Synced", "Healthy", ""), of("ill", "Synced", "Healthy", ""))
		s.rule("all", nil, api.NotifyOutOfSync, api.NotifyDegraded, api.NotifyHealthy, api.NotifyHeld)
		condition := func(kind, message string) any { return map[string]any{"type": kind, "message": message} }
		s.Tell(of("web", "OutOfSync", "Healthy", "", condition("Held", "held: this sync would delete 12 objects")),
			of("gone", "Synced", "Healthy", "", condition("DeletionError", "held: nothing was deleted")),
			of("ill", "Synced", "Degraded", "Deployment web exceeded its progress deadline"))
		s.gather(true)
		s.Tell(of("ill", "Synced", "Healthy", ""))
		s.gather(true)
		page := storetest.Must[api.Page[api.NotificationDelivery]](t)(s.ListNotifications(t.Context(), storetest.All(api.TypeNotificationRule), api.DeliveryFilter{}))
		got := map[string]string{}
		for _, d := range page.Items {
			got[d.Event.Name+" "+d.Event.Event] = d.Event.Message
		}
		want := map[string]string{
			"web held": "held: this sync would delete 12 objects", "web out-of-sync": "", "gone held": "held: nothing was deleted",
			"ill degraded": "Deployment web exceeded its progress deadline", "ill healthy": "",
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("messages (-want +got):\n%s", diff)
		}
	})
}

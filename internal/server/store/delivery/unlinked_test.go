package delivery_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

// links sets whether the new applications of the agent are linked.
func links(s *storetest.Shipping, on bool) {
	s.T.Helper()
	agent := storetest.Must[api.Agent](s.T)(s.Agents.Get(s.T.Context(), s.Agent.ID))
	agent.AutoCreate = on
	storetest.Must[api.Agent](s.T)(s.Agents.Update(s.T.Context(), agent))
}

// waits checks whether applications of the agent are to be linked.
func waits(s *storetest.Shipping, when string, want ...string) {
	s.T.Helper()
	if diff := cmp.Diff(want, storetest.Must[[]string](s.T)(s.Unlinked(s.T.Context()))); diff != "" {
		s.T.Errorf("%s: agents with applications to link (-want +got):\n%s", when, diff)
	}
}

func TestTheDatabaseKeepsWhichNewApplicationsAreToBeLinked(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx, s := t.Context(), storetest.NewShipping(t, b)
		s.Tell(storetest.App("before-prod", "shop"))
		waits(s, "of an agent that links none")
		links(s, true)
		s.Tell(storetest.App("before-prod", "shop", storetest.To(map[string]any{"name": "away"})))
		waits(s, "an application that was there")
		s.Tell(storetest.App("checkout-prod", "shop"), storetest.App("basket-prod", "shop"))
		waits(s, "two that are new", s.Agent.UID)

		var all sync.WaitGroup
		var did atomic.Int64
		for range 4 { // as servers that look at the same moment
			all.Go(func() {
				id, plan, err := s.LinkUnlinked(ctx, s.Agent.UID)
				if err != nil || id != s.Agent.ID {
					t.Errorf("agent %q, %v", id, err)
				}
				did.Add(int64(len(plan.Items)))
			})
		}
		all.Wait()
		if did.Load() != 2 {
			t.Errorf("%d applications are linked, want each of two once", did.Load())
		}
		const shop = "project.acme.shop."
		s.Expect("linked", "checkout-prod", shop+"checkout", shop+"prod")
		s.Expect("not new", "before-prod", "", "")
		waits(s, "all are linked")

		s.Tell(storetest.App("search-prod", "shop"))
		for i := range 3 {
			forgotten, err := s.LinkFailed(ctx, s.Agent.UID, 3)
			if err != nil || (forgotten == 1) != (i == 2) {
				t.Errorf("after %d attempts %d are forgotten, %v", i+1, forgotten, err)
			}
		}
		waits(s, "it failed too often")

		s.Tell(storetest.App("late-prod", "shop"))
		links(s, false)
		if _, plan, err := s.LinkUnlinked(ctx, s.Agent.UID); err != nil || len(plan.Items) > 0 {
			t.Errorf("of an agent that links none any more: %+v, %v", plan, err)
		}
		waits(s, "of an agent that links none any more")
		s.Expect("not wanted any more", "late-prod", "", "")
		if id, _, err := s.LinkUnlinked(ctx, "nobody"); id != "" || err != nil {
			t.Errorf("of an agent that is gone: %q, %v", id, err)
		}
	})
}

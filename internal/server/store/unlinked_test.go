package store_test

import (
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
)

// links sets whether the new applications of the agent are linked.
func (s *shipping) links(on bool) {
	s.t.Helper()
	agent := must[api.Agent](s.t)(s.Agents().Get(s.t.Context(), s.agent.ID))
	agent.AutoCreate = on
	must[api.Agent](s.t)(s.Agents().Update(s.t.Context(), agent))
}

// waits checks whether applications of the agent are to be linked.
func (s *shipping) waits(when string, want ...string) {
	s.t.Helper()
	if diff := cmp.Diff(want, must[[]string](s.t)(s.Unlinked(s.t.Context()))); diff != "" {
		s.t.Errorf("%s: agents with applications to link (-want +got):\n%s", when, diff)
	}
}

func TestTheDatabaseKeepsWhichNewApplicationsAreToBeLinked(t *testing.T) {
	onBoth(t, func(t *testing.T, b *bench) {
		ctx, s := t.Context(), newShipping(t, b)
		s.tell(app("before-prod", "shop"))
		s.waits("of an agent that links none")
		s.links(true)
		s.tell(app("before-prod", "shop", to(map[string]any{"name": "away"})))
		s.waits("an application that was there")
		s.tell(app("checkout-prod", "shop"), app("basket-prod", "shop"))
		s.waits("two that are new", s.agent.UID)

		var all sync.WaitGroup
		var did atomic.Int64
		for range 4 { // as servers that look at the same moment
			all.Go(func() {
				id, plan, err := s.LinkUnlinked(ctx, s.agent.UID)
				if err != nil || id != s.agent.ID {
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
		s.expect("linked", "checkout-prod", shop+"checkout", shop+"prod")
		s.expect("not new", "before-prod", "", "")
		s.waits("all are linked")

		s.tell(app("search-prod", "shop"))
		for i := range 3 {
			forgotten, err := s.LinkFailed(ctx, s.agent.UID, 3)
			if err != nil || (forgotten == 1) != (i == 2) {
				t.Errorf("after %d attempts %d are forgotten, %v", i+1, forgotten, err)
			}
		}
		s.waits("it failed too often")

		s.tell(app("late-prod", "shop"))
		s.links(false)
		if _, plan, err := s.LinkUnlinked(ctx, s.agent.UID); err != nil || len(plan.Items) > 0 {
			t.Errorf("of an agent that links none any more: %+v, %v", plan, err)
		}
		s.waits("of an agent that links none any more")
		s.expect("not wanted any more", "late-prod", "", "")
		if id, _, err := s.LinkUnlinked(ctx, "nobody"); id != "" || err != nil {
			t.Errorf("of an agent that is gone: %q, %v", id, err)
		}
	})
}

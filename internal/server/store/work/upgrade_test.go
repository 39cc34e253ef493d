package work_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

func imageDigest(c string) string { return "sha256:" + strings.Repeat(c, 64) }

// waiting are agents that an upgrade has not begun.
func waiting(agents ...string) []api.UpgradeTarget {
	var out []api.UpgradeTarget
	for i, a := range agents {
		out = append(out, api.UpgradeTarget{
			Agent: a, Place: i + 1, Step: min(i, 1), State: api.UpgradeTargetWaiting, Version: "1.4.0", Digest: imageDigest("a"),
		})
	}
	return out
}

// begin keeps an upgrade of some agents.
func begin(t *testing.T, b *storetest.Bench, id string, agents ...string) error {
	t.Helper()
	u := api.Upgrade{
		ID: id, By: api.Principal{Type: api.PrincipalUser, ID: "ada"}, Steps: 1,
		Request: api.UpgradeRequest{Release: "1.4.0", Scope: api.ScopeAccount, Reason: "fixes"},
	}
	return b.AddUpgrade(t.Context(), u, "token-of-"+id, waiting(agents...))
}

func TestAnUpgradeIsRunByOneServerAndTakenOver(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		if err := begin(t, b, "u", "account.a", "account.b"); err != nil {
			t.Fatal(err)
		}
		var got atomic.Int64
		var group sync.WaitGroup
		for i := range 8 {
			group.Go(func() {
				u, token, err := b.ClaimUpgrade(ctx, fmt.Sprint("server ", i), time.Hour)
				switch {
				case err != nil:
					t.Error(err)
				case u != nil:
					got.Add(1)
					if u.ID != "u" || token != "token-of-u" || u.By.ID != "ada" || u.Request.Reason != "fixes" {
						t.Errorf("it is %+v, %q", u, token)
					}
				}
			})
		}
		group.Wait()
		if got.Load() != 1 {
			t.Fatalf("%d servers have it", got.Load())
		}
		targets := storetest.Must[[]api.UpgradeTarget](t)(b.UpgradeTargets(ctx, "u"))
		if d := cmp.Diff(waiting("account.a", "account.b"), targets); d != "" {
			t.Error(d)
		}
		// The one that has it changes it; no other does.
		if _, err := b.HoldUpgrade(ctx, "u", "other", time.Hour); !errors.Is(err, work.ErrLost) {
			t.Errorf("another one holds it: %v", err)
		}
		if err := b.KeepUpgrade(ctx, "u", "other", targets); !errors.Is(err, work.ErrLost) {
			t.Errorf("another one keeps it: %v", err)
		}
		if err := b.EndUpgrade(ctx, "u", "other", api.UpgradeDone, ""); !errors.Is(err, work.ErrLost) {
			t.Errorf("another one ends it: %v", err)
		}
		if err := b.ReleaseUpgrade(ctx, "u", "other", 0); err != nil {
			t.Fatal(err)
		}
		if u, _, err := b.ClaimUpgrade(ctx, "other", time.Hour); err != nil || u != nil {
			t.Errorf("another one claims it: %+v, %v", u, err)
		}
	})
}

func TestAnUpgradeThatIsGivenBackGoesOnAndEnds(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		if err := begin(t, b, "u", "account.a", "account.b"); err != nil {
			t.Fatal(err)
		}
		for _, holder := range []string{"one", "two"} {
			u, _, err := b.ClaimUpgrade(ctx, holder, time.Hour)
			if err != nil || u == nil {
				t.Fatalf("%s: %v, %v", holder, u, err)
			}
			if holder == "one" {
				if err := b.ReleaseUpgrade(ctx, "u", holder, 0); err != nil {
					t.Fatal(err)
				}
			}
		}
		targets := waiting("account.a", "account.b")
		targets[0].State = api.UpgradeTargetDone
		if err := b.KeepUpgrade(ctx, "u", "two", targets[:1]); err != nil {
			t.Fatal(err)
		}
		if err := b.StopUpgrade(ctx, "u", "user:ada"); err != nil {
			t.Fatal(err)
		}
		if u := storetest.Must[*api.Upgrade](t)(b.HoldUpgrade(ctx, "u", "two", time.Hour)); u.StoppedBy != "user:ada" {
			t.Errorf("stopped by %q", u.StoppedBy)
		}
		if err := b.EndUpgrade(ctx, "u", "two", api.UpgradeStopped, "stopped by user:ada"); err != nil {
			t.Fatal(err)
		}
		u := storetest.Must[api.Upgrade](t)(b.GetUpgrade(ctx, "u"))
		if u.State != api.UpgradeStopped || u.Counts.Done != 1 || u.Counts.Waiting != 1 || u.Step != 1 || u.FinishedAt.IsZero() {
			t.Errorf("it is %+v", u)
		}
		if resumed := storetest.Must[bool](t)(b.ResumeUpgrade(ctx, "u")); !resumed {
			t.Error("it does not go on")
		}
		if resumed := storetest.Must[bool](t)(b.ResumeUpgrade(ctx, "u")); resumed {
			t.Error("what goes on is resumed")
		}
		if err := b.TakeBackUpgrade(ctx, "u", "user:bob"); err != nil {
			t.Fatal(err)
		}
		if u = storetest.Must[api.Upgrade](t)(b.GetUpgrade(ctx, "u")); !u.Back || u.StoppedBy != "user:bob" || u.State != api.UpgradeRunning {
			t.Errorf("it is %+v", u)
		}
		list := storetest.Must[[]api.Upgrade](t)(b.ListUpgrades(ctx, 10))
		if len(list) != 1 || list[0].Counts.Total != 2 {
			t.Errorf("the list is %+v", list)
		}
	})
}

func TestTwoUpgradesNeverHaveAnAgentAtATime(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		var added, refused atomic.Int64
		var group sync.WaitGroup
		for i := range 6 {
			group.Go(func() {
				err := begin(t, b, fmt.Sprint("u", i), "account.a", fmt.Sprint("account.own", i))
				switch {
				case err == nil:
					added.Add(1)
				case api.CodeOf(err) == api.CodeConflict && strings.Contains(err.Error(), "account.a"):
					refused.Add(1)
				default:
					t.Error(err)
				}
			})
		}
		group.Wait()
		if added.Load() != 1 || refused.Load() != 5 {
			t.Fatalf("%d added, %d refused", added.Load(), refused.Load())
		}
		if err := begin(t, b, "of others", "account.b"); err != nil {
			t.Error(err)
		}
		// One that is over is resumed only while no other has its agents.
		first := storetest.Must[[]api.Upgrade](t)(b.ListUpgrades(ctx, 10))
		for i := range first {
			u, _, err := b.ClaimUpgrade(ctx, "one", time.Hour)
			if err != nil || u == nil {
				t.Fatalf("%d: %v, %v", i, u, err)
			}
			if err := b.EndUpgrade(ctx, u.ID, "one", api.UpgradeFailed, "trouble"); err != nil {
				t.Fatal(err)
			}
		}
		if err := begin(t, b, "later", "account.b"); err != nil {
			t.Fatal(err)
		}
		if _, err := b.ResumeUpgrade(ctx, "of others"); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("resumed beside another one: %v", err)
		}
		if err := b.TakeBackUpgrade(ctx, "of others", "user:ada"); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("taken back beside another one: %v", err)
		}
	})
}

func TestAReleaseHasOneImageAndAnImageOneVersion(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		add := func(version, c, statement string) error {
			return b.AddRelease(ctx, api.AgentRelease{Version: version, Digest: imageDigest(c), Statement: []byte(statement)})
		}
		if err := add("1.4.0", "a", "first"); err != nil {
			t.Fatal(err)
		}
		if err := add("1.4.0", "a", "signed again"); err != nil {
			t.Errorf("signed again: %v", err)
		}
		if err := add("1.4.0", "b", "other"); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("another image for it: %v", err)
		}
		if err := add("1.5.0", "a", "other"); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("another version of its image: %v", err)
		}
		all := storetest.Must[[]api.AgentRelease](t)(b.Releases(ctx))
		if len(all) != 1 || string(all[0].Statement) != "signed again" || all[0].AddedAt.IsZero() {
			t.Errorf("there is %+v", all)
		}
	})
}

func TestTheVersionsOfAgentsAreChangedByOneAtATime(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		none := storetest.Must[api.AgentVersions](t)(b.AgentVersions(ctx))
		if len(none.Rules) != 0 || none.Version == 0 {
			t.Fatalf("at first: %+v", none)
		}
		one := api.AgentVersions{Version: none.Version, Rules: []api.AgentVersionRule{{Release: "1.4.0"}}}
		if kept := storetest.Must[api.AgentVersions](t)(b.SetAgentVersions(ctx, one)); kept.Version == none.Version || kept.Rules[0].Release != "1.4.0" {
			t.Errorf("kept %+v", kept)
		}
		if _, err := b.SetAgentVersions(ctx, one); !errors.Is(err, db.ErrStale) {
			t.Errorf("from an old version: %v", err)
		}
	})
}

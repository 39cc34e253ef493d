package fleet_test

import (
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

var (
	_ gateway.Agents   = (*store.Store)(nil)
	_ gateway.Copies   = (*store.Store)(nil)
	_ gateway.Commands = (*store.Store)(nil)
)

func TestARegistrationTokenCountsOnce(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a := storetest.Must[api.Agent](t)(b.Agents.Create(ctx, api.Agent{Meta: api.Meta{Name: "prod"}}))
		if len(a.UID) != 26 || a.Status.State != api.AgentNever {
			t.Errorf("made %+v", a)
		}
		r := gateway.Registration{PublicKey: "UKEY", SealKey: []byte{1, 2, 3}, ClusterUID: "c", Namespace: "slipway", Version: "v1"}
		register := func(token string) error {
			_, err := b.RegisterAgent(ctx, token, r, b.Clock.Now())
			return err
		}
		if err := register(""); !errors.Is(err, gateway.ErrToken) {
			t.Errorf("no token: %v", err)
		}
		if err := b.SetRegistration(ctx, a.ID, "hash", b.Clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if err := register("other"); !errors.Is(err, gateway.ErrToken) {
			t.Errorf("wrong token: %v", err)
		}
		// Ten at a time: one of them wins.
		var wg sync.WaitGroup
		results := make([]error, 10)
		for i := range results {
			wg.Go(func() { results[i] = register("hash") })
		}
		wg.Wait()
		won := 0
		for _, err := range results {
			if err == nil {
				won++
			} else if !errors.Is(err, gateway.ErrToken) {
				t.Errorf("got %v", err)
			}
		}
		if won != 1 {
			t.Errorf("%d registered with one token", won)
		}
		if err := b.SetRegistration(ctx, a.ID, "late", b.Clock.Now().Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		b.Clock.Move(time.Hour)
		if err := register("late"); !errors.Is(err, gateway.ErrToken) {
			t.Errorf("expired token: %v", err)
		}
		got := storetest.Must[api.Agent](t)(b.Agents.Get(ctx, a.ID))
		if got.SealKey != "AQID" || got.Status.Namespace != "slipway" || got.Status.RegisteredAt.IsZero() || got.Status.ClusterUID != "" {
			t.Errorf("registered %+v", got)
		}
	})
}

func TestAKeyBelongsToOneAgent(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		register := func(name, key string) (gateway.Agent, error) {
			a, err := b.Agents.Get(ctx, "account."+name)
			if err != nil {
				a = storetest.Must[api.Agent](t)(b.Agents.Create(ctx, api.Agent{Meta: api.Meta{Name: name}}))
			}
			if err := b.SetRegistration(ctx, a.ID, name, b.Clock.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
			return b.RegisterAgent(ctx, name, gateway.Registration{PublicKey: key}, b.Clock.Now())
		}
		one := storetest.Must[gateway.Agent](t)(register("one", "K1"))
		if _, err := register("two", "K1"); !errors.Is(err, gateway.ErrKeyTaken) {
			t.Errorf("taken key: %v", err)
		}
		two := storetest.Must[gateway.Agent](t)(register("two", "K2"))
		if err := b.SetNextKey(ctx, two.UID, two.Epoch, "K1"); !errors.Is(err, gateway.ErrKeyTaken) {
			t.Errorf("taken next key: %v", err)
		}
		if err := b.SetNextKey(ctx, two.UID, two.Epoch-1, "K3"); !errors.Is(err, gateway.ErrFenced) {
			t.Errorf("fenced rotation: %v", err)
		}
		if err := b.SetNextKey(ctx, two.UID, two.Epoch, "K3"); err != nil {
			t.Fatal(err)
		}
		if _, err := register("three", "K3"); !errors.Is(err, gateway.ErrKeyTaken) {
			t.Errorf("key that will be taken: %v", err)
		}
		for _, key := range []string{"K2", "K3"} {
			if a, err := b.AgentByKey(ctx, key); err != nil || a.UID != two.UID {
				t.Errorf("by key %s: %+v %v", key, a, err)
			}
		}
		for range 2 {
			if err := b.PromoteKey(ctx, two.UID, "K3"); err != nil {
				t.Errorf("promote: %v", err)
			}
		}
		if err := b.PromoteKey(ctx, two.UID, "K2"); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("promote the old key: %v", err)
		}
		for _, key := range []string{"K2", ""} {
			if _, err := b.AgentByKey(ctx, key); !errors.Is(err, gateway.ErrUnknown) {
				t.Errorf("by key %q: %v", key, err)
			}
		}
		if uid := storetest.Must[string](t)(b.RevokeAgent(ctx, one.ID)); uid != one.UID {
			t.Errorf("revoked %s", uid)
		}
		if _, err := b.AgentByKey(ctx, "K1"); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("by key of a revoked agent: %v", err)
		}
		linked := storetest.Must[[]gateway.Agent](t)(b.LinkedAgents(ctx))
		if len(linked) != 1 || linked[0].UID != two.UID {
			t.Errorf("linked %+v", linked)
		}
		if a := storetest.Must[api.Agent](t)(b.Agents.Get(ctx, one.ID)); a.Status.State != api.AgentRevoked {
			t.Errorf("state %s", a.Status.State)
		}
	})
}

func TestHealthIsToldAsItWasSaved(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		h := gateway.Health{
			State: agentapi.StateDegraded, Since: b.Clock.Now(), LastHeartbeat: b.Clock.Now(),
			Components: []agentapi.Component{{Name: "engine", Status: agentapi.ComponentDegraded, Message: "slow"}},
			Pending:    3, Lag: 31500 * time.Millisecond, Items: 7, Versions: agentapi.Versions{Agent: "v1", Kubernetes: "1.36", Git: "2.4"}, Stale: 2,
			Message: "it lags", Twin: &gateway.Twin{ClusterUID: "c2", Address: "10.0.0.1", At: b.Clock.Now()},
		}
		if err := b.SaveHealth(ctx, a.UID, epoch, h); err != nil {
			t.Fatal(err)
		}
		got := storetest.Must[gateway.Agent](t)(b.AgentByUID(ctx, a.UID))
		if diff := cmp.Diff(h, got.Health); diff != "" {
			t.Errorf("health (-want +got):\n%s", diff)
		}
		status := storetest.Must[api.Agent](t)(b.Agents.Get(ctx, a.ID)).Status
		want := api.AgentStatus{
			State: "Degraded", Since: b.Clock.Now(), Message: "it lags", LastHeartbeatAt: b.Clock.Now(), Version: "v1", Kubernetes: "1.36",
			ClusterUID: "c-prod", Namespace: "slipway", Epoch: epoch, Pending: 3, LagSeconds: 31.5, Stale: 2,
			Components: []api.AgentComponent{{Name: "engine", Status: "Degraded", Message: "slow"}},
			Twin:       &api.AgentTwin{ClusterUID: "c2", Address: "10.0.0.1", LastSeenAt: b.Clock.Now()},
		}
		if diff := cmp.Diff(want, status); diff != "" {
			t.Errorf("status (-want +got):\n%s", diff)
		}
		if err := b.SaveHealth(ctx, a.UID, epoch-1, h); !errors.Is(err, gateway.ErrFenced) {
			t.Errorf("fenced: %v", err)
		}
		// A change by a person leaves what the agent told.
		edited := storetest.Must[api.Agent](t)(b.Agents.Get(ctx, a.ID))
		edited.DisplayName = "Production"
		edited = storetest.Must[api.Agent](t)(b.Agents.Update(ctx, edited))
		if diff := cmp.Diff(want, edited.Status); diff != "" {
			t.Errorf("status after an edit (-want +got):\n%s", diff)
		}
	})
}

func TestACommandIsKeptUntilItsResultIsThere(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		a, epoch := b.Agent(t, "prod", "account")
		storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, a.UID, epoch, 1, []agentapi.Item{storetest.App("shop", "default")}, b.Clock.Now()))
		command := func(id string) gateway.Command {
			return gateway.Command{Command: agentapi.Command{
				ID: id, Agent: a.UID, Kind: agentapi.KindSync, Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "shop"},
				Body: json.RawMessage(`{"prune":true}`), User: "user:ada", Groups: []string{"account.devs"}, Reason: "because",
				Issued: b.Clock.Now(), Deadline: b.Clock.Now().Add(time.Minute), Origin: "req",
			}}
		}
		for _, id := range []string{"c2", "c1", "c3"} {
			if err := b.AddCommand(ctx, command(id)); err != nil {
				t.Fatal(err)
			}
			b.Clock.Move(time.Second)
		}
		if err := b.AddCommand(ctx, command("c1")); !errors.Is(err, gateway.ErrExists) {
			t.Errorf("the same id: %v", err)
		}
		nobody := command("c4")
		nobody.Agent = "nobody"
		if err := b.AddCommand(ctx, nobody); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("no agent: %v", err)
		}
		open := storetest.Must[[]gateway.Command](t)(b.OpenCommands(ctx, a.UID))
		var order []string
		for _, c := range open {
			order = append(order, c.ID)
		}
		if diff := cmp.Diff([]string{"c2", "c1", "c3"}, order); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
		want := command("c2")
		want.Result = agentapi.Result{ID: "c2", Status: agentapi.StatusPending}
		want.Issued, want.Deadline = want.Issued.Add(-3*time.Second), want.Deadline.Add(-3*time.Second)
		if diff := cmp.Diff(want, open[0]); diff != "" {
			t.Errorf("kept (-want +got):\n%s", diff)
		}
		sent := storetest.Must[[]string](t)(b.MarkSent(ctx, a.UID, []string{"c1", "c2", "none"}, b.Clock.Now()))
		if diff := cmp.Diff([]string{"c2", "c1"}, sent); diff != "" {
			t.Errorf("sent (-want +got):\n%s", diff)
		}
		result := agentapi.Result{ID: "c2", Status: agentapi.StatusDone, Message: "ok", Body: json.RawMessage(`{"a":1}`), Finished: b.Clock.Now()}
		if done := storetest.Must[bool](t)(b.FinishCommand(ctx, a.UID, result, true, b.Clock.Now())); done {
			t.Error("a command that was sent is finished as pending")
		}
		for _, first := range []bool{true, false} {
			if done := storetest.Must[bool](t)(b.FinishCommand(ctx, a.UID, result, false, b.Clock.Now())); done != first {
				t.Errorf("finished: %v, want %v", done, first)
			}
		}
		if _, err := b.FinishCommand(ctx, "somebody", result, false, b.Clock.Now()); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("another agent's command: %v", err)
		}
		if sent := storetest.Must[[]string](t)(b.MarkSent(ctx, a.UID, []string{"c2"}, b.Clock.Now())); len(sent) > 0 {
			t.Errorf("sent again: %v", sent)
		}
		got := storetest.Must[gateway.Command](t)(b.GetCommand(ctx, "c2"))
		if diff := cmp.Diff(result, got.Result); diff != "" || got.Body != nil {
			t.Errorf("result, body %s (-want +got):\n%s", got.Body, diff)
		}
		if _, err := b.GetCommand(ctx, "none"); !errors.Is(err, gateway.ErrUnknown) {
			t.Errorf("no command: %v", err)
		}
		if open := storetest.Must[[]gateway.Command](t)(b.OpenCommands(ctx, "")); len(open) != 2 {
			t.Errorf("%d are open", len(open))
		}
		shown := storetest.Must[api.Command](t)(b.ShowCommand(ctx, "c2"))
		wantShown := api.Command{
			ID: "c2", Agent: "account.prod", Kind: "application.sync", Object: api.Ref{Type: "application", ID: "account.prod/argocd/shop", Scope: "account"},
			By: api.Principal{Type: "user", ID: "ada"}, Reason: "because", Status: "done", Message: "ok", CreatedAt: want.Issued,
			Deadline: want.Deadline, FinishedAt: b.Clock.Now(), Result: json.RawMessage(`{"a":1}`),
		}
		if diff := cmp.Diff(wantShown, shown); diff != "" {
			t.Errorf("shown (-want +got):\n%s", diff)
		}
		var listed []string
		cursor := ""
		for {
			page := storetest.Must[api.Page[api.Command]](t)(b.ListCommands(ctx, a.ID, api.ListOptions{Limit: 2, Cursor: cursor}))
			listed = append(listed, storetest.IDs(page, func(c api.Command) string { return c.ID })...)
			if cursor = page.NextCursor; cursor == "" {
				break
			}
		}
		if diff := cmp.Diff([]string{"c3", "c1", "c2"}, listed); diff != "" {
			t.Errorf("listed (-want +got):\n%s", diff)
		}
		if n := storetest.Must[int64](t)(b.DropCommands(ctx, b.Clock.Now().Add(time.Second))); n != 1 {
			t.Errorf("dropped %d", n)
		}
		if err := b.AddCommand(ctx, command("c2")); !errors.Is(err, gateway.ErrExists) {
			t.Errorf("an id that was used long ago: %v", err)
		}
	})
}

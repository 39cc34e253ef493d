package mirror_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

// said is an edit of an application: its state, the phase of its operation, and a condition with what it says.
func said(sync, health, phase, condition string) func(map[string]any) {
	return func(resource map[string]any) {
		meta, _ := resource["metadata"].(map[string]any)
		meta["creationTimestamp"] = "2026-03-01T09:00:00Z"
		status := map[string]any{
			"sync":   map[string]any{"status": sync},
			"health": map[string]any{"status": health, "message": "health of it", "lastTransitionTime": "2026-03-01T10:00:00Z"},
		}
		if phase != "" {
			status["operationState"] = map[string]any{"phase": phase, "message": "operation of it", "finishedAt": "2026-03-01T11:00:00Z"}
		}
		if condition != "" {
			status["conditions"] = []any{map[string]any{"type": condition, "message": "condition of it", "lastTransitionTime": "2026-03-01T10:30:00Z"}}
		}
		resource["status"] = status
	}
}

func TestWhatNeedsAttentionSaysWhatWhereAndSinceWhen(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		storetest.Must[api.Organization](t)(b.Organizations.Create(ctx, api.Organization{Meta: api.Meta{Name: "acme"}}))
		prod, epoch := b.Agent(t, "prod", "account")
		edge, edgeEpoch := b.Agent(t, "edge", "org.acme")
		tell := func() {
			t.Helper()
			storetest.Must[[]gateway.Changed](t)(b.ApplyItems(ctx, prod.UID, epoch, 1, []agentapi.Item{
				storetest.App("source", "default", said("Unknown", "Healthy", "Succeeded", "ComparisonError")),
				storetest.App("degraded", "default", said("Synced", "Degraded", "Succeeded", "")),
				storetest.App("failed", "default", said("OutOfSync", "Healthy", "Failed", "")),
				storetest.App("held", "default", said("OutOfSync", "Healthy", "Succeeded", "Held")),
				storetest.App("drift", "default", said("OutOfSync", "Healthy", "Succeeded", "")),
				storetest.App("new", "default", said("OutOfSync", "Missing", "", "")),
				storetest.App("fine", "default", said("Synced", "Healthy", "Succeeded", "")),
			}, b.Clock.Now()))
		}
		tell()
		began := b.Clock.Now()
		health := func(uid string, epoch int64, state agentapi.State, message string) {
			t.Helper()
			h := gateway.Health{State: state, Since: began, LastHeartbeat: began, Message: message}
			if err := b.SaveHealth(ctx, uid, epoch, h); err != nil {
				t.Fatal(err)
			}
		}
		health(prod.UID, epoch, agentapi.StateDegraded, "git: no git")
		health(edge.UID, edgeEpoch, agentapi.StateConnected, "")
		lost := gateway.Health{State: agentapi.StateDisconnected, Since: began.Add(25 * time.Second), LastHeartbeat: began, Message: "no heartbeat"}
		storetest.Must[bool](t)(b.MarkLost(ctx, edge.UID, edgeEpoch, lost, began))
		everything := func(filter api.AttentionFilter) api.Attention {
			t.Helper()
			return storetest.Must[api.Attention](t)(b.Attention(ctx, storetest.All(api.TypeApplication), storetest.All(api.TypeAgent), filter))
		}
		rows := func(list []api.AttentionItem) (out []string) {
			for _, i := range list {
				out = append(out, fmt.Sprintf("%s %s %s %q %q", i.Kind, i.Name, i.Since.UTC().Format(time.TimeOnly), i.What, i.Message))
			}
			return out
		}
		if got := everything(api.AttentionFilter{}); got.Total != 6 {
			t.Errorf("%d need attention within the first hour, want 6: what drifts for less is none of them: %v", got.Total, rows(got.Items))
		}
		b.Clock.Move(2 * time.Hour)
		got := everything(api.AttentionFilter{})
		since := began.UTC().Format(time.TimeOnly)
		want := []string{
			`SourceError source 10:30:00 "Its source cannot be read or compared" "condition of it"`,
			`Degraded degraded 10:00:00 "Its health is Degraded" "health of it"`,
			`SyncFailed failed 11:00:00 "Its last sync failed" "operation of it"`,
			`Held held 10:30:00 "Its sync is held" "condition of it"`,
			`AgentAway edge ` + since + ` "The agent is away" "no heartbeat"`,
			`AgentDegraded prod ` + since + ` "The agent is connected, and a part of it is not healthy" "git: no git"`,
			`OutOfSync drift ` + since + ` "It is out of sync" ""`,
		}
		if diff := cmp.Diff(want, rows(got.Items)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`NeverDeployed new 09:00:00 "It was never deployed" ""`}, rows(got.NeverDeployed)); diff != "" {
			t.Errorf("apart (-want +got):\n%s", diff)
		}
		var counts []api.FleetCount
		for _, kind := range api.AttentionKinds() {
			counts = append(counts, api.FleetCount{Value: kind, Count: 1})
		}
		if diff := cmp.Diff(counts, got.Counts); diff != "" || got.Total != 7 {
			t.Errorf("counts of %d (-want +got):\n%s", got.Total, diff)
		}
		some := everything(api.AttentionFilter{Limit: 3})
		if diff := cmp.Diff(want[:3], rows(some.Items)); diff != "" || some.Total != 7 {
			t.Errorf("three of %d (-want +got):\n%s", some.Total, diff)
		}
		for name, c := range map[string]struct {
			filter             api.AttentionFilter
			applications, seen rbac.Filter
			want               []string
		}{
			"agents alone":     {api.AttentionFilter{Kinds: []string{api.AttentionAway}}, storetest.All(api.TypeApplication), storetest.All(api.TypeAgent), want[4:5]},
			"of one agent":     {api.AttentionFilter{Agent: edge.ID}, storetest.All(api.TypeApplication), storetest.All(api.TypeAgent), want[4:5]},
			"of one scope":     {api.AttentionFilter{Scope: "org.acme"}, storetest.All(api.TypeApplication), storetest.All(api.TypeAgent), want[4:5]},
			"two kinds":        {api.AttentionFilter{Kinds: []string{api.AttentionHeld, api.AttentionSource}}, storetest.All(api.TypeApplication), storetest.All(api.TypeAgent), []string{want[0], want[3]}},
			"without agents":   {api.AttentionFilter{}, storetest.All(api.TypeApplication), rbac.Filter{Type: api.TypeAgent}, append(append([]string{}, want[:4]...), want[6])},
			"of what one sees": {api.AttentionFilter{}, rbac.Filter{Type: api.TypeApplication}, rbac.Filter{Type: api.TypeAgent}, nil},
		} {
			got := storetest.Must[api.Attention](t)(b.Attention(ctx, c.applications, c.seen, c.filter))
			if diff := cmp.Diff(c.want, rows(got.Items)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
		// With its agent away, a row says of when it is.
		storetest.Must[bool](t)(b.MarkLost(ctx, prod.UID, epoch, lost, began))
		if row := everything(api.AttentionFilter{}).Items[0]; !row.Stale || !row.AgentAway || !row.AsOf.Equal(began) {
			t.Errorf("a row of an agent that is away: %+v", row)
		}
	})
}

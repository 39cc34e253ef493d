package gatewaytest

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

// T is what a case needs of a *testing.T.
type T interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// Store is a store that is tried, and what an administrator does with it.
type Store struct {
	gateway.Agents
	gateway.Copies
	gateway.Commands
	// AddAgent adds an agent with a name that was not used before, and returns its uid.
	AddAgent func(ctx context.Context, name string) (uid string, err error)
	// AddToken adds a one-time token for an agent, known by its hash.
	AddToken func(ctx context.Context, uid, hash string, expires time.Time) error
	// Revoke ends the identity of an agent.
	Revoke func(ctx context.Context, uid string) error
}

// Case is something that every store must do. Each gets a store of its own.
type Case struct {
	Name string
	Run  func(t T, s Store)
}

// Cases returns all of them.
func Cases() []Case {
	return []Case{
		{"a token makes one agent known once", tokens},
		{"a key is that of one agent", keys},
		{"a session ends the one before", sessions},
		{"health is kept as it was reported", keepsHealth},
		{"an agent is lost once", loses},
		{"what is overdue is found", overdue},
		{"batches are stored in order", batches},
		{"what is stale is ignored and comes back", stale},
		{"a result is kept once", results},
		{"an agent sees its own commands only", strangers},
	}
}

// noon is when everything happens.
func noon() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) }

func must[V any](t T) func(V, error) V {
	return func(v V, err error) V {
		t.Helper()
		if err != nil {
			t.Fatalf("%v", err)
		}
		return v
	}
}

func want(t T, what string, err, expected error) {
	t.Helper()
	if !errors.Is(err, expected) {
		t.Errorf("%s: error %v, want %v", what, err, expected)
	}
}

func same(t T, what string, got, expected any) {
	t.Helper()
	if !reflect.DeepEqual(got, expected) {
		t.Errorf("%s: got %+v, want %+v", what, got, expected)
	}
}

// known adds an agent and registers it with a key.
func known(t T, s Store, name, key string) string {
	t.Helper()
	uid := must[string](t)(s.AddAgent(t.Context(), name))
	if err := s.AddToken(t.Context(), uid, "token of "+name, noon().Add(time.Hour)); err != nil {
		t.Fatalf("%v", err)
	}
	must[gateway.Agent](t)(s.RegisterAgent(t.Context(), "token of "+name, registration(key), noon()))
	return uid
}

func registration(key string) gateway.Registration {
	return gateway.Registration{PublicKey: key, SealKey: []byte("seal of " + key), ClusterUID: "cluster", Namespace: "slipway", Version: "1"}
}

// begin begins a session and returns its epoch.
func begin(t T, s Store, uid string) int64 {
	t.Helper()
	return must[gateway.Agent](t)(s.BeginSession(t.Context(), uid, gateway.Session{ClusterUID: "cluster", Namespace: "slipway"}, noon())).Epoch
}

func tokens(t T, s Store) {
	ctx := t.Context()
	uid := must[string](t)(s.AddAgent(ctx, "prod"))
	register := func(token, key string, at time.Time) error {
		_, err := s.RegisterAgent(ctx, token, registration(key), at)
		return err
	}
	want(t, "unknown", register("one", "U1", noon()), gateway.ErrToken)
	if err := s.AddToken(ctx, uid, "one", noon().Add(time.Hour)); err != nil {
		t.Fatalf("%v", err)
	}
	want(t, "expired", register("one", "U1", noon().Add(time.Hour)), gateway.ErrToken)
	before := must[gateway.Agent](t)(s.AgentByUID(ctx, uid))
	same(t, "agents before", len(must[[]gateway.Agent](t)(s.LinkedAgents(ctx))), 0)
	agent := must[gateway.Agent](t)(s.RegisterAgent(ctx, "one", registration("U1"), noon()))
	if agent.UID != uid || agent.PublicKey != "U1" || agent.Epoch != before.Epoch+1 || agent.ClusterUID != "" ||
		!agent.Health.LastHeartbeat.IsZero() {
		t.Errorf("registered: %+v", agent)
	}
	want(t, "used", register("one", "U2", noon()), gateway.ErrToken)
	answered := func(token, key string, at time.Time) error {
		again, err := s.RegisteredWith(ctx, token, key, at)
		if err == nil {
			same(t, "answered again", again.UID, uid)
			same(t, "epoch of the agent that is answered again", again.Epoch, agent.Epoch)
		}
		return err
	}
	want(t, "the same again", answered("one", "U1", noon()), nil)
	want(t, "the same again with another key", answered("one", "U2", noon()), gateway.ErrToken)
	want(t, "the same again with no key", answered("one", "", noon()), gateway.ErrToken)
	want(t, "the same again, but too late", answered("one", "U1", noon().Add(time.Hour)), gateway.ErrToken)
	want(t, "a token that was not issued", answered("two", "U1", noon()), gateway.ErrToken)
	all := must[[]gateway.Agent](t)(s.LinkedAgents(ctx))
	if len(all) != 1 || all[0].UID != uid {
		t.Errorf("agents after: %+v", all)
	}
	if err := s.AddToken(ctx, uid, "two", noon().Add(time.Hour)); err != nil {
		t.Fatalf("%v", err)
	}
	want(t, "an unused token", answered("two", "U1", noon()), gateway.ErrToken)
	want(t, "again", register("two", "U2", noon()), nil)
	want(t, "the key before", answered("one", "U1", noon()), gateway.ErrToken)
	if err := s.Revoke(ctx, uid); err != nil {
		t.Fatalf("%v", err)
	}
	want(t, "after the revocation", answered("two", "U2", noon()), gateway.ErrToken)
	_, err := s.AgentByKey(ctx, "U1")
	want(t, "the key before", err, gateway.ErrUnknown)
}

func keys(t T, s Store) {
	ctx := t.Context()
	one, two := known(t, s, "one", "U1"), known(t, s, "two", "U2")
	find := func(key string) string {
		agent, err := s.AgentByKey(ctx, key)
		if err != nil {
			want(t, key, err, gateway.ErrUnknown)
		}
		return agent.UID
	}
	same(t, "U1", find("U1"), one)
	same(t, "nobody's", find("U9"), "")
	same(t, "none", find(""), "")
	epoch := begin(t, s, one)
	want(t, "key of another", s.SetNextKey(ctx, one, epoch, "U2"), gateway.ErrKeyTaken)
	want(t, "earlier epoch", s.SetNextKey(ctx, one, epoch-1, "U3"), gateway.ErrFenced)
	want(t, "next key", s.SetNextKey(ctx, one, epoch, "U3"), nil)
	want(t, "no next key", s.SetNextKey(ctx, one, epoch, ""), nil)
	if _, err := s.AgentByKey(ctx, "U3"); !errors.Is(err, gateway.ErrUnknown) {
		t.Errorf("a next key that was taken back: %v", err)
	}
	want(t, "next key again", s.SetNextKey(ctx, one, epoch, "U3"), nil)
	same(t, "the next one", find("U3"), one)
	same(t, "the present one", find("U1"), one)
	want(t, "next key of another", s.SetNextKey(ctx, two, begin(t, s, two), "U3"), gateway.ErrKeyTaken)
	want(t, "neither", s.PromoteKey(ctx, one, "U4"), gateway.ErrUnknown)
	for range 2 {
		want(t, "promote", s.PromoteKey(ctx, one, "U3"), nil)
	}
	same(t, "the one before", find("U1"), "")
	same(t, "the present one", find("U3"), one)
	if err := s.AddToken(ctx, two, "again", noon().Add(time.Hour)); err != nil {
		t.Fatalf("%v", err)
	}
	_, err := s.RegisterAgent(ctx, "again", registration("U3"), noon())
	want(t, "registration with the key of another", err, gateway.ErrKeyTaken)
	if err := s.Revoke(ctx, one); err != nil {
		t.Fatalf("%v", err)
	}
	same(t, "revoked", find("U3"), "")
	agent := must[gateway.Agent](t)(s.AgentByUID(ctx, one))
	same(t, "marked as revoked", agent.Revoked, true)
	_, err = s.AgentByUID(ctx, "aaaaaaaaaaaaaaaaaaaaaaaaaa")
	want(t, "nobody", err, gateway.ErrUnknown)
}

func sessions(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	first := begin(t, s, uid)
	second := begin(t, s, uid)
	same(t, "the next epoch", second, first+1)
	want(t, "health of the one before", s.SaveHealth(ctx, uid, first, gateway.Health{State: agentapi.StateConnected}), gateway.ErrFenced)
	_, err := s.ApplyItems(ctx, uid, first, 1, nil, noon())
	want(t, "a batch of the one before", err, gateway.ErrFenced)
	_, err = s.Reconcile(ctx, uid, first, gateway.Reconciliation{}, noon())
	want(t, "an inventory of the one before", err, gateway.ErrFenced)
	same(t, "cluster", must[gateway.Agent](t)(s.AgentByUID(ctx, uid)).ClusterUID, "cluster")
	promoted := must[gateway.Agent](t)(s.BeginSession(ctx, uid, gateway.Session{ClusterUID: "cluster", Generation: 7}, noon()))
	same(t, "the generation", promoted.Generation, int64(7))
	second = promoted.Epoch
	// It began while the other one was promoted.
	_, err = s.BeginSession(ctx, uid, gateway.Session{ClusterUID: "cluster", Generation: 3}, noon())
	want(t, "a session of an earlier generation", err, gateway.ErrFenced)
	same(t, "the epoch", must[gateway.Agent](t)(s.AgentByUID(ctx, uid)).Epoch, second)
	// Who has a token for registration replaces both of them.
	if err := s.AddToken(ctx, uid, "once more", noon().Add(time.Hour)); err != nil {
		t.Fatalf("%v", err)
	}
	again := must[gateway.Agent](t)(s.RegisterAgent(ctx, "once more", registration("U9"), noon()))
	same(t, "the generation of one that registers again", again.Generation, int64(0))
	second = again.Epoch
	if err := s.Revoke(ctx, uid); err != nil {
		t.Fatalf("%v", err)
	}
	_, err = s.BeginSession(ctx, uid, gateway.Session{ClusterUID: "cluster", Namespace: "slipway"}, noon())
	want(t, "a session after the revocation", err, gateway.ErrFenced)
	want(t, "health after the revocation", s.SaveHealth(ctx, uid, second, gateway.Health{State: agentapi.StateConnected}), gateway.ErrFenced)
	_, err = s.BeginSession(ctx, "aaaaaaaaaaaaaaaaaaaaaaaaaa", gateway.Session{}, noon())
	want(t, "a session of no agent", err, gateway.ErrUnknown)
}

func keepsHealth(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	h := gateway.Health{
		State: agentapi.StateDegraded, Since: noon(), LastHeartbeat: noon().Add(time.Second),
		Components: []agentapi.Component{{Name: "git", Status: agentapi.ComponentDegraded, Message: "m"}},
		Pending:    1, Lag: 2 * time.Second, Items: 3, Versions: agentapi.Versions{
			Agent: "1", Kubernetes: "2", Git: "3", Engine: agentapi.EngineArgoCD,
		}, Stale: 4,
		Message: "m", Twin: &gateway.Twin{ClusterUID: "c", Address: "10.0.0.1", At: noon()},
	}
	want(t, "save", s.SaveHealth(ctx, uid, begin(t, s, uid), h), nil)
	got := must[gateway.Agent](t)(s.AgentByUID(ctx, uid)).Health
	if got.Twin == nil {
		t.Fatalf("no twin: %+v", got)
	}
	got.Since, got.LastHeartbeat, got.Twin.At = got.Since.UTC(), got.LastHeartbeat.UTC(), got.Twin.At.UTC()
	same(t, "health", got, h)
}

func loses(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	epoch := begin(t, s, uid)
	want(t, "save", s.SaveHealth(ctx, uid, epoch, gateway.Health{State: agentapi.StateConnected, LastHeartbeat: noon(), Items: 3}), nil)
	lost := gateway.Health{
		State: agentapi.StateDisconnected, Since: noon().Add(time.Minute), Message: "gone", LastHeartbeat: noon().Add(time.Second),
	}
	mark := func(epoch int64, before time.Time) bool {
		return must[bool](t)(s.MarkLost(ctx, uid, epoch, lost, before))
	}
	same(t, "lost in an epoch that is over", mark(epoch-1, noon().Add(time.Hour)), false)
	same(t, "lost although it was heard", mark(epoch, noon().Add(-time.Second)), false)
	same(t, "lost", mark(epoch, noon()), true)
	same(t, "lost again", mark(epoch, noon().Add(time.Hour)), false)
	h := must[gateway.Agent](t)(s.AgentByUID(ctx, uid)).Health
	same(t, "state", h.State, agentapi.StateDisconnected)
	same(t, "message", h.Message, "gone")
	same(t, "items", h.Items, 3)
	same(t, "last heartbeat", h.LastHeartbeat.UTC(), noon().Add(time.Second))
	same(t, "a stranger", must[bool](t)(s.MarkLost(ctx, "aaaaaaaaaaaaaaaaaaaaaaaaaa", 1, lost, noon())), false)
}

func overdue(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	for id, deadline := range map[string]time.Time{"late": noon(), "later": noon().Add(time.Second), "done": noon()} {
		want(t, "add", s.AddCommand(ctx, gateway.Command{Command: agentapi.Command{
			ID: id, Agent: uid, Kind: agentapi.KindSync, User: "user:ann", Issued: noon(), Deadline: deadline,
		}}), nil)
	}
	must[bool](t)(s.FinishCommand(ctx, uid, agentapi.Result{ID: "done", Status: agentapi.StatusDone}, false, noon()))
	found := must[map[string][]string](t)(s.OverdueCommands(ctx, noon()))
	if len(found) != 1 || !slices.Equal(found[uid], []string{"late"}) {
		t.Errorf("overdue: %v", found)
	}
}

func thing(name, hash string) agentapi.Item {
	return agentapi.Item{
		Key:  agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: name},
		Hash: hash, Body: json.RawMessage(`{"kind":"Application","metadata":{"namespace":"argocd","name":"` + name +
			`"},"spec":{"project":"default"}}`),
	}
}

// brief returns what changed, without scopes and labels.
func brief(changed []gateway.Changed) []gateway.Changed {
	var out []gateway.Changed
	for _, c := range changed {
		out = append(out, gateway.Changed{Key: c.Key, Before: c.Before, After: c.After, Removed: c.Removed})
	}
	return out
}

func batches(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	epoch := begin(t, s, uid)
	a, b := thing("a", "1"), thing("b", "1")
	apply := func(seq int64, items ...agentapi.Item) []gateway.Changed {
		t.Helper()
		return brief(must[[]gateway.Changed](t)(s.ApplyItems(ctx, uid, epoch, seq, items, noon())))
	}
	same(t, "new ones", apply(1, b, a), []gateway.Changed{{Key: b.Key, After: "1"}, {Key: a.Key, After: "1"}})
	same(t, "the same again", apply(1, b, a), []gateway.Changed{{Key: b.Key, Before: "1", After: "1"}, {Key: a.Key, Before: "1", After: "1"}})
	same(t, "one changed, one gone", apply(3, thing("a", "2"), agentapi.Item{Key: b.Key, Deleted: true}), []gateway.Changed{
		{Key: a.Key, Before: "1", After: "2"}, {Key: b.Key, Before: "1", Removed: true},
	})
	_, err := s.ApplyItems(ctx, uid, epoch, 2, []agentapi.Item{b}, noon())
	want(t, "an earlier one", err, gateway.ErrStale)
	gone := must[[]gateway.Changed](t)(s.ApplyItems(ctx, uid, epoch, 4, []agentapi.Item{{Key: b.Key, Deleted: true}}, noon()))
	for _, c := range gone {
		if c.Before != "" || c.After != "" || c.Removed {
			t.Errorf("gone already: %+v", c)
		}
	}
	same(t, "entries", must[[]gateway.Entry](t)(s.Entries(ctx, uid)), []gateway.Entry{{Entry: agentapi.Entry{Key: a.Key, Hash: "2"}}})
	epoch = begin(t, s, uid)
	same(t, "the first of the next session", apply(1, b), []gateway.Changed{{Key: b.Key, After: "1"}})
	other := known(t, s, "other", "U2")
	same(t, "entries of another", len(must[[]gateway.Entry](t)(s.Entries(ctx, other))), 0)
}

func stale(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	epoch := begin(t, s, uid)
	a, b, c, nobody := thing("a", "1"), thing("b", "1"), thing("c", "1"), thing("nobody", "1")
	must[[]gateway.Changed](t)(s.ApplyItems(ctx, uid, epoch, 1, []agentapi.Item{a, b, c}, noon()))
	reconcile := func(r gateway.Reconciliation) []gateway.Changed {
		t.Helper()
		return brief(must[[]gateway.Changed](t)(s.Reconcile(ctx, uid, epoch, r, noon())))
	}
	changed := reconcile(gateway.Reconciliation{
		Remove: []agentapi.Key{a.Key, nobody.Key}, MarkStale: []agentapi.Key{b.Key, c.Key}, Unmark: []agentapi.Key{nobody.Key},
	})
	changed = slices.DeleteFunc(changed, func(c gateway.Changed) bool {
		return c.Key == nobody.Key && c.Before == "" && c.After == "" && !c.Removed
	})
	same(t, "what is lost", changed, []gateway.Changed{
		{Key: a.Key, Before: "1", Removed: true}, {Key: b.Key, Before: "1"}, {Key: c.Key, Before: "1"},
	})
	marks := map[string]bool{}
	for _, e := range must[[]gateway.Entry](t)(s.Entries(ctx, uid)) {
		marks[e.Name] = e.Stale
	}
	same(t, "marks", marks, map[string]bool{"b": true, "c": true})
	same(t, "back", reconcile(gateway.Reconciliation{Unmark: []agentapi.Key{b.Key}}), []gateway.Changed{{Key: b.Key, After: "1"}})
	same(t, "sent again", brief(must[[]gateway.Changed](t)(s.ApplyItems(ctx, uid, epoch, 2, []agentapi.Item{c}, noon()))),
		[]gateway.Changed{{Key: c.Key, After: "1"}})
	for _, e := range must[[]gateway.Entry](t)(s.Entries(ctx, uid)) {
		if e.Stale {
			t.Errorf("%s is stale", e.Name)
		}
	}
}

func order(uid, id string) gateway.Command {
	return gateway.Command{Command: agentapi.Command{
		ID: id, Agent: uid, Kind: agentapi.KindSync, User: "user:anna", Groups: []string{"ops"}, Reason: "r", Origin: "o",
		Target: agentapi.Target{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "shop"}, Body: json.RawMessage(`{"prune":true}`),
		Issued: noon(), Deadline: noon().Add(time.Minute),
	}}
}

// ids returns those of commands without a result.
func ids(t T, s Store, uid string) []string {
	t.Helper()
	var out []string
	for _, c := range must[[]gateway.Command](t)(s.OpenCommands(t.Context(), uid)) {
		out = append(out, c.ID+" "+string(c.Result.Status))
	}
	return out
}

func results(t T, s Store) {
	ctx := t.Context()
	uid := known(t, s, "prod", "U1")
	for _, id := range []string{"z", "m", "a"} {
		want(t, "add "+id, s.AddCommand(ctx, order(uid, id)), nil)
	}
	want(t, "add again", s.AddCommand(ctx, order(uid, "z")), gateway.ErrExists)
	same(t, "open", ids(t, s, uid), []string{"z pending", "m pending", "a pending"})
	kept := must[gateway.Command](t)(s.GetCommand(ctx, "z"))
	kept.Issued, kept.Deadline = kept.Issued.UTC(), kept.Deadline.UTC()
	as := order(uid, "z")
	as.Result = agentapi.Result{ID: "z", Status: agentapi.StatusPending}
	same(t, "kept", kept, as)
	sent := must[[]string](t)(s.MarkSent(ctx, uid, []string{"m", "z", "nobody's"}, noon()))
	slices.Sort(sent)
	same(t, "sent", sent, []string{"m", "z"})
	finish := func(id string, status agentapi.Status, pendingOnly bool) bool {
		t.Helper()
		return must[bool](t)(s.FinishCommand(ctx, uid, agentapi.Result{
			ID: id, Status: status, Code: agentapi.CodeConflict, Message: "m", Body: json.RawMessage(`{"a":1}`), Finished: noon(),
		}, pendingOnly, noon()))
	}
	same(t, "expire what was sent", finish("z", agentapi.StatusExpired, true), false)
	same(t, "expire what was not", finish("a", agentapi.StatusExpired, true), true)
	same(t, "the result", finish("z", agentapi.StatusFailed, false), true)
	same(t, "another result", finish("z", agentapi.StatusDone, false), false)
	same(t, "open", ids(t, s, uid), []string{"m sent"})
	same(t, "sent after the result", must[[]string](t)(s.MarkSent(ctx, uid, []string{"m", "z", "a"}, noon())), []string{"m"})
	kept = must[gateway.Command](t)(s.GetCommand(ctx, "z"))
	kept.Result.Finished = kept.Result.Finished.UTC()
	same(t, "kept result", kept.Result, agentapi.Result{
		ID: "z", Status: agentapi.StatusFailed, Code: agentapi.CodeConflict, Message: "m", Body: json.RawMessage(`{"a":1}`), Finished: noon(),
	})
	same(t, "body after the result", len(kept.Body), 0)
	same(t, "a sync is a trial", kept.Trial, false)
	trial := order(uid, "t")
	trial.Trial = true
	want(t, "add a trial", s.AddCommand(ctx, trial), nil)
	same(t, "the result of a trial", finish("t", agentapi.StatusDone, false), true)
	same(t, "a trial after its result", must[gateway.Command](t)(s.GetCommand(ctx, "t")).Trial, true)
}

func strangers(t T, s Store) {
	ctx := t.Context()
	one, two := known(t, s, "one", "U1"), known(t, s, "two", "U2")
	want(t, "add", s.AddCommand(ctx, order(one, "x")), nil)
	want(t, "the id for another agent", s.AddCommand(ctx, order(two, "x")), gateway.ErrExists)
	want(t, "an agent that is none", s.AddCommand(ctx, order("aaaaaaaaaaaaaaaaaaaaaaaaaa", "y")), gateway.ErrUnknown)
	same(t, "sent by another", len(must[[]string](t)(s.MarkSent(ctx, two, []string{"x"}, noon()))), 0)
	_, err := s.FinishCommand(ctx, two, agentapi.Result{ID: "x", Status: agentapi.StatusDone}, false, noon())
	want(t, "a result by another", err, gateway.ErrUnknown)
	same(t, "open of another", len(ids(t, s, two)), 0)
	same(t, "open of all", ids(t, s, ""), []string{"x pending"})
	_, err = s.GetCommand(ctx, "nobody's")
	want(t, "nobody's", err, gateway.ErrUnknown)
}

package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/clock"
)

// tollKey is the key of the toll in the context of what pays it.
type tollKey struct{}

// toll counts the requests of a command, and takes its Lease away after some.
type toll struct {
	renew func(clock.Instant)
	after int

	mu   sync.Mutex
	sent int
	late []string // writes after the Lease was lost
	// wrote are the requests that change something, which dry runs and questions do not.
	wrote []string
}

// pay notes a request that reaches the API server. Reads may be under way side by side.
func (p *toll) pay(req *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.sent++; p.sent > p.after && req.Method != http.MethodGet && !req.URL.Query().Has("dryRun") {
		p.late = append(p.late, req.Method+" "+req.URL.Path)
	}
	if p.sent >= p.after {
		p.lose()
	}
	asks := strings.HasPrefix(req.URL.Path, "/apis/authorization.k8s.io/") || req.Method == http.MethodGet || req.Method == http.MethodHead
	if !asks && !tries(req) {
		p.wrote = append(p.wrote, req.Method+" "+req.URL.Path)
	}
}

// tries reports whether a request changes nothing: deletions say so in their body.
func tries(req *http.Request) bool {
	all := []string{metav1.DryRunAll}
	if req.Method != http.MethodDelete || req.GetBody == nil {
		return slices.Equal(req.URL.Query()["dryRun"], all)
	}
	body, err := req.GetBody()
	if err != nil {
		return false
	}
	defer func() { _ = body.Close() }()
	var options metav1.DeleteOptions
	return json.NewDecoder(body).Decode(&options) == nil && slices.Equal(options.DryRun, all)
}

// lose ends the Lease as for a process that was stopped: no timer has had its turn yet.
func (p *toll) lose() { p.renew(clock.Now().Add(-time.Millisecond)) }

// tolled has each request of a context with a toll pay it.
func tolled(next http.RoundTripper) http.RoundTripper {
	return place.RoundTripper(func(req *http.Request) (*http.Response, error) {
		if p, ok := req.Context().Value(tollKey{}).(*toll); ok {
			p.pay(req)
		}
		return next.RoundTrip(req)
	})
}

// underLease is a context whose Lease is lost after so many requests.
func underLease(t *testing.T, requests int) (context.Context, *toll) {
	t.Helper()
	p := &toll{after: requests}
	ctx, renew := shard.Under(t.Context(), clock.Now().Add(time.Hour))
	if p.renew = renew; requests == 0 {
		p.lose()
	}
	return context.WithValue(ctx, tollKey{}, p), p
}

// change is a command that can write.
type change struct {
	kind   agentapi.Kind
	target agentapi.Target
	body   any
}

// changes are commands of all kinds that an executor of the stand has and that can write.
func (s *stand) changes() []change {
	app, settings := s.app(s.name), configMap("settings")
	raw := func(text string, args ...any) json.RawMessage { return json.RawMessage(fmt.Sprintf(text, args...)) }
	return []change{
		{agentapi.KindSync, app, api.SyncRequest{Labels: []string{"tier=web"}}},
		{agentapi.KindRefresh, app, api.RefreshRequest{}},
		{agentapi.KindTerminate, app, nil},
		{agentapi.KindRollback, app, api.RollbackRequest{}},
		{agentapi.KindUnpin, app, api.UnpinRequest{}},
		{agentapi.KindConfirm, app, api.ConfirmRequest{}},
		{agentapi.KindRestore, app, api.RestoreRequest{}},
		{agentapi.KindRevert, app, api.RevertRequest{}},
		{agentapi.KindAllow, app, api.AllowRequest{Object: api.ObjectName{Kind: "ConfigMap", Name: "settings"}, Until: time.Now().Add(time.Hour)}},
		{agentapi.KindObjectApply, app, agentapi.ObjectApply{Update: true, Object: s.manifest(s.name)}},
		{agentapi.KindObjectPatch, app, agentapi.ObjectPatch{Type: "merge", Patch: raw(`{"metadata":{"labels":{"a":"b"}}}`)}},
		{agentapi.KindObjectDelete, agentapi.Target{Kind: agentapi.ItemArgoProject, Namespace: s.ns, Name: "shop"}, agentapi.ObjectDelete{}},
		{agentapi.KindResourcePatch, app, map[string]any{"resource": settings, "type": "merge", "patch": raw(`{"data":{"size":"3"}}`)}},
		{agentapi.KindResourceDelete, app, map[string]any{"resource": settings}},
		{agentapi.KindResourceAction, app, map[string]any{"resource": api.ResourceRef{Group: "apps", Kind: "Deployment", Name: "web"}, "action": "restart"}},
		{agentapi.KindSettingsApply, agentapi.Target{}, agentapi.SettingChange{
			Type: agentapi.SettingRepository, Name: "other", Fields: map[string]string{"url": s.repo.URL(), "type": "git"}, Judged: &agentapi.Judged{},
		}},
		{agentapi.KindSettingsDelete, agentapi.Target{}, agentapi.SettingChange{Type: agentapi.SettingRepository, Name: "other"}},
		{agentapi.KindAppDelete, app, api.DeleteApplicationRequest{}},
	}
}

// TestNoCommandSendsARequestAfterTheLeaseWasLost takes the Lease away before each request of each command that can write.
func TestNoCommandSendsARequestAfterTheLeaseWasLost(t *testing.T) {
	t.Parallel()
	s := newStandThrough(t, tolled)
	s.create()
	s.synced(api.SyncRequest{})
	run := s.executors()
	tried := map[agentapi.Kind]bool{}
	for _, c := range s.changes() {
		tried[c.kind] = true
		body, err := json.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		cmd := agentapi.Command{ID: "command-1", Agent: standUID, Kind: c.kind, Target: c.target, Body: body, User: "user:anna", Reason: "a test"}
		for requests, more := 0, true; more; requests++ {
			ctx, p := underLease(t, requests)
			_, err := run[c.kind](ctx, cmd)
			p.mu.Lock()
			if len(p.late) > 0 {
				t.Errorf("%s, whose lease was lost after %d requests, sends %q", c.kind, requests, p.late)
			}
			if requests == 0 && !errors.Is(err, shard.ErrLost) {
				t.Errorf("%s without a lease: %v", c.kind, err)
			}
			// The last one needs no more requests than it may send: it is done, or refused for another reason.
			more = p.sent >= requests && errors.Is(err, shard.ErrLost)
			p.mu.Unlock()
		}
	}
	for kind := range run {
		if kind.Nature() == agentapi.Changes && !tried[kind] {
			t.Errorf("%s is not tried", kind)
		}
	}
}

// TestACommandThatOnlyTriesAChangeWritesNothing asks for a dry run of each command. One that succeeds leaves no entry in the audit.
func TestACommandThatOnlyTriesAChangeWritesNothing(t *testing.T) {
	t.Parallel()
	s := newStandThrough(t, tolled)
	s.create()
	s.synced(api.SyncRequest{})
	s.repo.Commit(map[string]string{"web/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: more}\n"}, "second")
	must[any](s, agentapi.KindRefresh, s.app(s.name), api.RefreshRequest{})
	s.await(func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync })
	s.synced(api.SyncRequest{})
	s.edit("settings", `{"data":{"size":"9"}}`)
	s.await(func(app *v1alpha1.Application) bool { return app.Status.Sync.Status == v1alpha1.SyncStatusOutOfSync })
	// A refresh knows of no dry run, and there is no such setting to delete.
	refused := map[agentapi.Kind]bool{agentapi.KindRefresh: true, agentapi.KindSettingsDelete: true}
	run := s.executors()
	for _, c := range s.changes() {
		if c.kind == agentapi.KindSync { // an operation of the Application
			continue
		}
		raw, err := json.Marshal(c.body)
		if err != nil {
			t.Fatal(err)
		}
		fields := map[string]any{}
		if err := json.Unmarshal(raw, &fields); err != nil {
			t.Fatal(err)
		}
		if fields == nil {
			fields = map[string]any{}
		}
		fields["dryRun"] = true
		if raw, err = json.Marshal(fields); err != nil {
			t.Fatal(err)
		}
		if !agentapi.Trial(c.kind, raw) {
			t.Errorf("%s %s is no trial", c.kind, raw)
		}
		ctx, p := underLease(t, 1<<20)
		_, err = run[c.kind](ctx, agentapi.Command{ID: "command-1", Agent: standUID, Kind: c.kind, Target: c.target, Body: raw, User: "user:anna", Reason: "a test"})
		if (err != nil) != refused[c.kind] {
			t.Errorf("a dry run of %s ends with %v", c.kind, err)
		}
		p.mu.Lock()
		if len(p.wrote) > 0 {
			t.Errorf("a dry run of %s writes %q", c.kind, p.wrote)
		}
		p.mu.Unlock()
	}
}

func TestATerminalSendsNothingAfterTheLeaseWasLost(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	pod := s.withPod()
	open := terminalAsk{Resource: pod, Command: []string{"cat"}, Pipe: true}
	ctx, p := underLease(t, 1<<20)
	w, done := newWire(), make(chan error, 1)
	go func() {
		done <- verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, open), w)
	}()
	w.in <- agentapi.Chunk{Data: []byte("typed before")}
	w.await(t, "typed before")
	p.lose()
	w.in <- agentapi.Chunk{Data: []byte("typed after")}
	for limit, open := time.After(patience), true; open; {
		select {
		case <-done:
			open = false
		case <-w.news:
			if strings.Contains(w.text(), "after") {
				t.Fatalf("the container got %q", w.text())
			}
		case <-limit:
			t.Fatal("the terminal stays open")
		}
	}
}

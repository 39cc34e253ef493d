package link

import (
	"context"
	"encoding/pem"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func pemOf(raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw})
}

func TestAnAgentRegistersAndTheServerHasWhatItHas(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 2500)
	a := startAgent(t, s.http.URL, token, c, func(cfg *agentlink.Config) {
		cfg.Transport.Insecure, cfg.Transport.CAFile = false, s.ca()
		cfg.Components = func() []agentapi.Component {
			return []agentapi.Component{{Name: "git", Status: agentapi.ComponentHealthy}}
		}
	})
	s.store.until(t, "the first state", s.settled(uid, c))
	a.Changed(c.put(7, "second"))
	a.Event(agentapi.Event{ID: "e1", At: time.Now(), Type: agentapi.EventSyncStarted, Target: app(7), Automatic: true})
	s.store.until(t, "a change", s.settled(uid, c))
	s.store.until(t, "an event", func() bool { return s.store.Events() == 1 })
	s.store.until(t, "the agent to be connected", s.connected(uid))
	h, _ := s.gateway.Health(uid)
	if h.State != agentapi.StateConnected || h.Versions.Agent != "1.0.0" {
		t.Errorf("the server sees %+v", h)
	}
	secret, err := c.core.Secrets(c.ns).Get(t.Context(), agentlink.SecretIdentity, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for field, value := range secret.Data {
		if (field == "seed" || field == "seal-key") && strings.Contains(a.log.String(), string(value)) {
			t.Errorf("%s is in the log", field)
		}
	}
	if strings.Contains(a.log.String(), token) {
		t.Error("the token is in the log")
	}
	a.stop()
	before := s.store.items.Load()
	b := startAgent(t, s.http.URL, token, c) // the token of its manifest, which was used
	b.log.Await(t, limit, "connected to the server")
	b.Changed(c.put(8, "third"))
	s.store.until(t, "a change after a restart", s.settled(uid, c))
	if n := s.store.items.Load() - before; n != 1 {
		t.Errorf("%d items were sent after a restart, want the one that changed", n)
	}
}

// agreeIn is what is promised: in which time the two ends agree again after a cut. It is checked in a soak, which has the
// machine for itself.
const agreeIn = 2 * time.Second

func TestACutLinkLosesNothingAndOnlyWhatChangedIsSentOnReturn(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 800)
	proxy := newCutter(t, s.http.Listener.Addr().String())
	a := startAgent(t, proxy.url(), token, c)
	s.store.until(t, "the first state", s.settled(uid, c))
	for round := range 5 {
		// Whoever sends another batch has the answer to the one before.
		a.Changed(c.put(799, strconv.Itoa(round)))
		s.store.until(t, "one more change", s.settled(uid, c))
		s.store.items.Store(0)
		outages := a.log.Count("no link to the server")
		proxy.cut()
		for n := range 400 { // a stream of commits that touch ten applications
			a.Changed(c.put(n%10, strconv.Itoa(round)+" "+strconv.Itoa(n)))
			a.Event(agentapi.Event{ID: strconv.Itoa(round*1000 + n), At: time.Now(), Type: agentapi.EventSyncFinished, Target: app(n % 10)})
		}
		a.log.AwaitAgain(t, limit, "no link to the server", outages)
		start := time.Now()
		proxy.restore()
		s.store.until(t, "agreement after a cut", s.settled(uid, c))
		took := time.Since(start)
		s.store.until(t, "all events", func() bool { return s.store.Events() == (round+1)*400 })
		if n := s.store.items.Load(); n > 20 {
			t.Errorf("round %d: %d items were sent for ten that changed", round, n)
		}
		if os.Getenv("SLIPWAY_SOAK_ROUNDS") != "" && took > agreeIn {
			t.Errorf("round %d: they agreed after %s", round, took)
		}
	}
	if st := a.Status(); st.Sessions < 6 || st.Lost != 0 {
		t.Errorf("status %+v", st)
	}
}

// TestALinkThatCarriesNothingIsReplaced drops the end of a connection: both sides have it open, and nothing passes.
func TestALinkThatCarriesNothingIsReplaced(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes as long as an agent waits for answers: make test runs it")
	}
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 10)
	proxy := newCutter(t, s.http.Listener.Addr().String())
	a := startAgent(t, proxy.url(), token, c)
	s.store.until(t, "the first state", s.settled(uid, c))
	before := a.Status().Sessions
	proxy.hush()
	a.Changed(c.put(1, "another"))
	s.store.until(t, "the change of that time", s.settled(uid, c))
	if now := a.Status().Sessions; now <= before {
		t.Errorf("it has had %d sessions, as before", now)
	}
}

func TestAServerThatLostWhatItHadIsFilledAgain(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 300)
	startAgent(t, s.http.URL, token, c)
	s.store.until(t, "the first state", s.settled(uid, c))
	s.stop()
	entries, err := s.store.Entries(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	var lost []agentapi.Item
	for _, e := range entries {
		lost = append(lost, agentapi.Item{Key: e.Key, Deleted: true})
	}
	agent, err := s.store.AgentByUID(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.store.Memory.ApplyItems(t.Context(), uid, agent.Epoch, 1<<40, lost, time.Now()); err != nil {
		t.Fatal(err)
	}
	s.start()
	s.store.until(t, "the server to be filled again", s.settled(uid, c))
}

func TestATwinIsFencedAndSaysSo(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 3)
	first := startAgent(t, s.http.URL, token, c)
	s.store.until(t, "the first state", s.settled(uid, c))
	twin := newCluster(t, "another", 1)
	secret, err := c.core.Secrets(c.ns).Get(t.Context(), agentlink.SecretIdentity, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	secret.ObjectMeta = metav1.ObjectMeta{Name: secret.Name}
	if _, err := twin.core.Secrets(twin.ns).Create(t.Context(), secret, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	second := startAgent(t, s.http.URL, "", twin)
	second.log.Await(t, limit, "TWIN")
	if st := second.Status(); st.State != agentlink.StateTwin {
		t.Errorf("the twin says %+v", st)
	}
	if h, _ := s.gateway.Health(uid); h.Twin == nil || h.Twin.ClusterUID != "another" {
		t.Errorf("the server says of a twin: %+v", h.Twin)
	}
	first.Changed(c.put(0, "second"))
	s.store.until(t, "the first agent to go on", s.settled(uid, c))
	if st := first.Status(); st.State != agentlink.StateConnected {
		t.Errorf("the first says %+v", st)
	}
}

func TestAWipedAgentDeletesNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct{ restarted, told bool }{
		"after a restart":          {restarted: true},
		"while it runs":            {},
		"item by item, as it runs": {told: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startServer(t, newStore())
			uid, token := s.token("account.prod")
			c := newCluster(t, "one", 60)
			a := startAgent(t, s.http.URL, token, c)
			s.store.until(t, "the first state", s.settled(uid, c))
			if tt.restarted {
				a.stop()
			}
			all, _ := c.Keys(agentapi.ItemApplication)
			c.wipe()
			least := len(all)
			switch {
			case tt.restarted:
				startAgent(t, s.http.URL, token, c)
			case tt.told:
				least -= 10 + len(all)/2 // so many of a minute may be believed, however they come
				for _, key := range all {
					a.Changed(key)
				}
			default:
				a.Rescan(agentapi.ItemApplication)
			}
			s.store.until(t, "what is not seen any more to be marked", func() bool {
				entries, err := s.store.Entries(t.Context(), uid)
				stale := 0
				for _, e := range entries {
					if e.Stale {
						stale++
					}
				}
				return err == nil && len(entries) >= least && stale == len(entries)
			})
		})
	}
}

func TestACommandIsExecutedOnceWhoeverIsRestarted(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	var runs atomic.Int32
	begun, hold := make(chan struct{}, 10), make(chan struct{})
	with := func(cfg *agentlink.Config) {
		cfg.Executors = map[agentapi.Kind]agentlink.Executor{
			agentapi.KindSync: func(context.Context, agentapi.Command) (any, error) {
				runs.Add(1)
				begun <- struct{}{}
				<-hold
				return map[string]string{"answer": "done"}, nil
			},
		}
	}
	startAgent(t, s.http.URL, token, c, with)
	s.store.until(t, "the first state", s.settled(uid, c))

	// The server goes away in the middle.
	cmd := command(agentapi.KindSync)
	cmd.ID = "first"
	_ = s.store.AddCommand(t.Context(), gateway.Command{Command: with2(cmd, uid)})
	s.stop()
	s.start()
	<-begun
	s.stop()
	s.start()
	hold <- struct{}{}
	s.store.until(t, "the first command", finished(s, "first", agentapi.StatusDone))

	// So does the agent: another process finds the command begun.
	cmd = command(agentapi.KindSync)
	cmd.ID = "second"
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
		defer cancel()
		_, _ = s.gateway.Commands.Do(ctx, uid, cmd)
	}()
	<-begun
	next := startAgent(t, s.http.URL, token, c, with) // takes over: same cluster
	next.log.Await(t, limit, "connected to the server")
	s.store.until(t, "the second command", finished(s, "second", agentapi.StatusUnknown))
	close(hold)
	if runs.Load() != 2 {
		t.Errorf("two commands were executed %d times", runs.Load())
	}
}

func TestAnAgentThatIsStoppedEndsWhatItDoesAndSaysThatItDoesNotKnow(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	begun := make(chan struct{}, 1)
	a := startAgent(t, s.http.URL, token, c, func(cfg *agentlink.Config) {
		cfg.Executors = map[agentapi.Kind]agentlink.Executor{
			agentapi.KindSync: func(ctx context.Context, _ agentapi.Command) (any, error) {
				begun <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			},
		}
	})
	s.store.until(t, "the first state", s.settled(uid, c))
	cmd := command(agentapi.KindSync)
	cmd.ID = "only"
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), limit)
		defer cancel()
		_, _ = s.gateway.Commands.Do(ctx, uid, cmd)
	}()
	<-begun
	a.stop()
	startAgent(t, s.http.URL, token, c)
	s.store.until(t, "the command", finished(s, "only", agentapi.StatusUnknown))
}

func with2(cmd agentapi.Command, uid string) agentapi.Command {
	cmd.Agent = uid
	return cmd
}

func finished(s *server, id string, status agentapi.Status) func() bool {
	return func() bool {
		c, err := s.store.GetCommand(s.t.Context(), id)
		return err == nil && c.Result.Status == status
	}
}

func TestCommandsAreAuthorisedAgainByTheAgent(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	startAgent(t, s.http.URL, token, c, func(cfg *agentlink.Config) {
		cfg.Policy = func() map[string]string { return map[string]string{"deny": "application.rollback"} }
		cfg.Manages = func(ns string) bool { return ns == "argocd" }
		answer := func(context.Context, agentapi.Command) (any, error) { return "fine", nil }
		cfg.Executors = map[agentapi.Kind]agentlink.Executor{
			agentapi.KindSync: answer, agentapi.KindRollback: answer, agentapi.KindTree: answer,
			agentapi.KindDiff: func(context.Context, agentapi.Command) (any, error) { panic("a fault") },
		}
	})
	s.store.until(t, "the first state", s.settled(uid, c))
	elsewhere := command(agentapi.KindSync)
	elsewhere.Target.Namespace = "kube-system"
	tests := []struct {
		name   string
		cmd    agentapi.Command
		status agentapi.Status
		code   agentapi.Code
	}{
		{"a sync", command(agentapi.KindSync), agentapi.StatusDone, ""},
		{"a read", command(agentapi.KindTree), agentapi.StatusDone, ""},
		{"what the policy denies", command(agentapi.KindRollback), agentapi.StatusRefused, agentapi.CodePolicy},
		{"another namespace", elsewhere, agentapi.StatusRefused, agentapi.CodeForbidden},
		{"what the agent does not know", command(agentapi.KindManifests), agentapi.StatusRefused, agentapi.CodeUnsupported},
		{"what crashes", command(agentapi.KindDiff), agentapi.StatusFailed, agentapi.CodeInternal},
	}
	for _, tt := range tests {
		ctx, cancel := context.WithTimeout(t.Context(), limit)
		got, err := s.gateway.Commands.Do(ctx, uid, tt.cmd)
		cancel()
		if err != nil || got.Status != tt.status || got.Code != tt.code {
			t.Errorf("%s: got %+v, %v", tt.name, got, err)
		}
	}
}

func TestARevokedAgentIsCutAndSaysSo(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	a := startAgent(t, s.http.URL, token, c)
	s.store.until(t, "the first state", s.settled(uid, c))
	if err := s.store.RevokeAgent(t.Context(), uid); err != nil {
		t.Fatal(err)
	}
	s.gateway.Revoke(uid)
	a.log.Await(t, limit, "the server does not know this agent")
	if st := a.Status(); st.State != agentlink.StateRefused || !strings.Contains(st.Message, "make a new token") {
		t.Errorf("status %+v", st)
	}
}

func TestAnAgentChangesItsKey(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	a := startAgent(t, s.http.URL, token, c)
	s.store.until(t, "the first state", s.settled(uid, c))
	old, err := s.store.AgentByUID(t.Context(), uid)
	if err != nil {
		t.Fatal(err)
	}
	seal := a.SealKeys()
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	cmd := command(agentapi.KindRotate)
	cmd.Target = agentapi.Target{}
	got, err := s.gateway.Commands.Do(ctx, uid, cmd)
	if err != nil || got.Status != agentapi.StatusDone {
		t.Fatalf("rotate: %+v, %v", got, err)
	}
	a.log.Await(t, limit, "another key now")
	s.store.until(t, "the next key", func() bool {
		now, err := s.store.AgentByUID(t.Context(), uid)
		return err == nil && now.PublicKey != old.PublicKey && now.NextKey == ""
	})
	if now := a.SealKeys(); len(now) != 2 || now[1] != seal[0] || now[0] == seal[0] {
		t.Error("the seal key is the old one, or the old one is gone")
	}
	a.Changed(c.put(0, "second"))
	s.store.until(t, "a change with the next key", s.settled(uid, c))
	a.stop()
	b := startAgent(t, s.http.URL, token, c)
	b.Changed(c.put(0, "third"))
	s.store.until(t, "a change after a restart", s.settled(uid, c))
}

func TestTheLinkGoesThroughAProxyThatIsAskedByConnect(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 5)
	proxy := testenv.NewProxy(t, "", "")
	startAgent(t, s.http.URL, token, c, func(cfg *agentlink.Config) {
		cfg.Transport = agentlink.Transport{CAFile: s.ca(), Proxy: func(*url.URL) (*url.URL, error) { return proxy.URL(), nil }}
	})
	s.store.until(t, "the first state", s.settled(uid, c))
	if proxy.Used() < 2 { // the registration, and the link
		t.Errorf("the proxy was asked %d times", proxy.Used())
	}
}

func TestAnAgentWithoutATokenSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	c := newCluster(t, "one", 1)
	a := startAgent(t, s.http.URL, "", c)
	a.log.Await(t, limit, "is not registered")
	if st := a.Status(); st.State != agentlink.StateUnregistered {
		t.Errorf("status %+v", st)
	}
	b := startAgent(t, s.http.URL, "sla_wrong", c)
	b.log.Await(t, limit, "does not take the registration token")
	if st := b.Status(); st.State != agentlink.StateRefused {
		t.Errorf("status %+v", st)
	}
	if _, err := c.core.Secrets(c.ns).Get(t.Context(), agentlink.SecretIdentity, metav1.GetOptions{}); err != nil {
		t.Errorf("the keys are not kept for the next try: %v", err)
	}
}

package notice_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
)

// telling is a store with a channel and an agent.
type telling struct {
	*storetest.Shipping
	channel api.NotificationChannel
	news    []string // rules that had new messages
}

func (s *telling) made(rule api.Ref, _ bool) { s.news = append(s.news, string(rule.Scope)+" "+rule.ID) }

// nobody is told which rules have new messages.
func nobody(api.Ref, bool) {}

func newTelling(t *testing.T, b *storetest.Bench) *telling {
	t.Helper()
	s := &telling{Shipping: storetest.NewShipping(t, b)}
	s.channel = storetest.Must[api.NotificationChannel](t)(s.NotificationChannels.Create(t.Context(),
		api.NotificationChannel{Meta: api.Meta{Name: "ops"}, Kind: api.ChannelWebhook, Secret: "ops", URL: "https://hooks.example.org/"}))
	return s
}

// rule makes a rule, and reads what there is before it.
func (s *telling) rule(name string, change func(*api.NotificationRule), events ...string) api.NotificationRule {
	s.T.Helper()
	r := api.NotificationRule{Meta: api.Meta{Name: name}, Channel: s.channel.ID, Events: events}
	if change != nil {
		change(&r)
	}
	r = storetest.Must[api.NotificationRule](s.T)(s.NotificationRules.Create(s.T.Context(), r))
	s.gather(false)
	return r
}

// about is what tells of every event that a rule names, at or below its scope.
func about(r *api.NotificationRule, e *api.NotificationEvent) (title, text string, ok bool) {
	return e.Event, e.Object.ID, slices.Contains(r.Events, e.Event) && r.Scope.Contains(e.Object.Scope)
}

func (s *telling) gather(timed bool) time.Duration {
	s.T.Helper()
	for {
		more, next, err := s.GatherNotifications(s.T.Context(), timed, about, s.made)
		if err != nil {
			s.T.Fatal(err)
		}
		if !more {
			return next
		}
	}
}

// told compares what was told: state, event and object.
func (s *telling) told(when string, want ...string) {
	s.T.Helper()
	s.gather(true)
	page := storetest.Must[api.Page[api.NotificationDelivery]](s.T)(s.ListNotifications(s.T.Context(), storetest.All(api.TypeNotificationRule), api.DeliveryFilter{}))
	got := []string{}
	for _, d := range page.Items {
		got = append(got, d.State+" "+d.Event.Event+" "+d.Event.Object.ID)
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(append([]string{}, want...), got); diff != "" {
		s.T.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

// status is an application in a state.
func status(name, project, sync, health string, held bool) agentapi.Item {
	return storetest.App(name, project, func(r map[string]any) {
		conditions := []any{}
		if held {
			conditions = append(conditions, map[string]any{"type": "Held"})
		}
		r["status"] = map[string]any{"sync": map[string]any{"status": sync}, "health": map[string]any{"status": health}, "conditions": conditions}
	})
}

func TestANotificationIsOfWhatChangedSinceItsRuleWasMade(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		s.Tell(status("old", "shop", "OutOfSync", "Degraded", true), status("fine", "shop", "Synced", "Healthy", false))
		s.rule("all", nil, api.NotifyOutOfSync, api.NotifyDegraded, api.NotifyHeld)
		s.rule("org", func(r *api.NotificationRule) { r.Scope = "org.other" }, api.NotifyOutOfSync)
		s.Clock.Move(time.Second)
		s.told("how things are is no news")
		s.Tell(status("old", "shop", "OutOfSync", "Degraded", true), status("new", "shop", "OutOfSync", "Missing", false))
		s.told("a new application is no news")
		s.Tell(status("fine", "shop", "OutOfSync", "Degraded", true))
		want := []string{"Waiting out-of-sync account.prod/argocd/fine", "Waiting degraded account.prod/argocd/fine", "Waiting held account.prod/argocd/fine"}
		s.told("what changed is news, for those who may see it", want...)
		s.told("once", want...)
		if diff := cmp.Diff([]string{"account account.all"}, s.news); diff != "" {
			s.T.Errorf("rules with new messages (-want +got):\n%s", diff)
		}
		s.Tell(status("fine", "shop", "OutOfSync", "Degraded", false), status("fine", "shop", "OutOfSync", "Degraded", true))
		s.told("what came and went between two readings is not", want...)
		s.Tell(status("fine", "shop", "Synced", "Healthy", false))
		s.told("recovery is none of these events", want...)
		s.Tell(status("fine", "shop", "OutOfSync", "Healthy", false))
		s.told("again", append(want, "Waiting out-of-sync account.prod/argocd/fine")...)
	})
}

func TestOperationsAreToldOnceByHoweverManyServers(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		s.rule("syncs", nil, api.NotifySyncSucceeded, api.NotifySyncFailed)
		s.rule("twice", nil, api.NotifySyncFailed)
		var records []gateway.Record
		for i := range 30 {
			phase := []string{"Succeeded", "Failed", "Error"}[i%3]
			records = append(records, gateway.Record{ID: fmt.Sprint("op", i), LedgerDetail: api.LedgerDetail{LedgerEntry: api.LedgerEntry{
				Namespace: "argocd", Name: fmt.Sprint("app", i), ApplicationUID: fmt.Sprint(i), ArgoProject: "shop", Action: api.LedgerSync, Phase: phase,
				StartedAt: s.Clock.Now(), FinishedAt: s.Clock.Now().Add(time.Second),
			}}})
		}
		records = append(records, gateway.Record{ID: "dry", LedgerDetail: api.LedgerDetail{LedgerEntry: api.LedgerEntry{
			Namespace: "argocd", Name: "dry", ApplicationUID: "dry", Action: api.LedgerDryRun, Phase: "Succeeded",
			StartedAt: s.Clock.Now(), FinishedAt: s.Clock.Now().Add(time.Second),
		}}})
		_, err := s.KeepRecords(t.Context(), s.Agent.UID, s.Epoch, gateway.RecordBatch{Records: records}, s.Clock.Now())
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				if _, _, err := s.GatherNotifications(t.Context(), true, about, nobody); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		page := storetest.Must[api.Page[api.NotificationDelivery]](t)(s.ListNotifications(t.Context(), storetest.All(api.TypeNotificationRule), api.DeliveryFilter{ListOptions: api.ListOptions{Limit: 1000}}))
		if page.Total != 30+20 {
			t.Errorf("%d notifications of 10 syncs and 20 that failed, with a rule for all and one for failures: want 50", page.Total)
		}
		if len(page.Items) > 0 && page.Items[0].Scope != "account" || !strings.HasPrefix(page.Items[0].Event.ID, "ledger/") {
			t.Errorf("unexpected notification %+v", page.Items[0])
		}
	})
}

func TestWhatLastsOrEndsIsToldInTime(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		account := storetest.Must[api.ServiceAccount](t)(s.ServiceAccounts.Create(t.Context(), api.ServiceAccount{Meta: api.Meta{Name: "ci"}}))
		err := s.CreateToken(t.Context(), authn.Token{Hash: "h", Token: api.Token{
			ID: "t-ci", Name: "ci", Owner: api.Principal{Type: api.PrincipalServiceAccount, ID: account.ID}, ExpiresAt: s.Clock.Now().Add(10 * 24 * time.Hour),
		}}, authn.Grounds{})
		if err != nil {
			t.Fatal(err)
		}
		s.rule("late", func(r *api.NotificationRule) { r.After, r.Before = "2h", "48h" }, api.NotifyDrift, api.NotifyToken, api.NotifyCertificate)
		s.rule("others", func(r *api.NotificationRule) { r.After, r.Selector = "2h", "team=none" }, api.NotifyDrift, api.NotifyToken)
		s.Clock.Move(time.Second)
		s.Tell(status("web", "shop", "OutOfSync", "Healthy", false), certificate("git.example.org", s.Clock.Now().Add(5*24*time.Hour)), certificate("gone.example.org", s.Clock.Now().Add(-time.Hour)))
		if next := s.gather(true); next < 2*time.Hour-time.Second || next > 2*time.Hour+time.Second {
			t.Errorf("the drift is due in %s, want 2h", next)
		}
		s.told("too early")
		s.Clock.Move(2*time.Hour + time.Second)
		drift := "Waiting drift account.prod/argocd/web"
		s.told("after two hours", drift)
		s.Tell(status("web", "shop", "OutOfSync", "Degraded", false))
		s.told("once for each drift", drift)
		s.Tell(status("web", "shop", "Synced", "Healthy", false))
		s.Clock.Move(time.Hour)
		s.Tell(status("web", "shop", "OutOfSync", "Healthy", false))
		s.Clock.Move(3 * time.Hour)
		s.told("a new drift", drift, drift)
		s.Tell(status("web", "shop", "Synced", "Healthy", false))
		s.Clock.Move(3 * 24 * time.Hour)
		cert := "Waiting certificate.expiring account.prod/argocd/git.example.org"
		s.told("two days before the end of the certificate", drift, drift, cert)
		s.Tell(certificate("git.example.org", s.Clock.Now().Add(30*24*time.Hour)))
		s.Clock.Move(5*24*time.Hour + time.Hour)
		s.told("two days before the end of the token", drift, drift, cert, "Waiting token.expiring t-ci")
	})
}

func TestManyCertificatesThatEndAreToldSomeAtATime(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		s.rule("late", func(r *api.NotificationRule) { r.Before = "48h" }, api.NotifyCertificate)
		s.rule("others", func(r *api.NotificationRule) { r.Before, r.Scope = "48h", "account" }, api.NotifyCertificate)
		var list []agentapi.Item
		for i := range 700 {
			list = append(list, certificate(fmt.Sprintf("git%03d.example.org", i), s.Clock.Now().Add(24*time.Hour)))
		}
		s.Tell(list...)
		const atOnce = 500 // of a rule
		count := func() int64 {
			page := storetest.Must[api.Page[api.NotificationDelivery]](t)(s.ListNotifications(t.Context(), storetest.All(api.TypeNotificationRule), api.DeliveryFilter{Rule: "account.late"}))
			return page.Total
		}
		more, _, err := s.GatherNotifications(t.Context(), true, about, nobody)
		if err != nil || !more || count() != atOnce {
			t.Errorf("one reading tells of %d, and of more: %t, %v", count(), more, err)
		}
		s.gather(true)
		if count() != 700 {
			t.Errorf("all readings tell of %d of 700", count())
		}
		// Those that no rule tells of hold nobody up.
		s.Clock.Move(time.Second)
		for range 3 {
			more, _, err = s.GatherNotifications(t.Context(), true, func(*api.NotificationRule, *api.NotificationEvent) (title, text string, ok bool) {
				return "", "", false
			}, nobody)
			if err != nil || more {
				t.Fatalf("there is more: %t, %v", more, err)
			}
		}
	})
}

func certificate(host string, ends time.Time) agentapi.Item {
	body, _ := json.Marshal(agentapi.Setting{Fields: map[string]string{"serverName": host, "notAfter": ends.UTC().Format(time.RFC3339)}})
	return agentapi.Item{Key: agentapi.Key{Kind: agentapi.ItemCertificate, Namespace: "argocd", Name: host}, Hash: agentapi.Hash(body), Body: body}
}

func TestAnAgentThatIsAwayForLongIsTold(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		s.rule("away", func(r *api.NotificationRule) { r.After = "10m" }, api.NotifyDisconnected)
		s.rule("services", func(r *api.NotificationRule) { r.Services = []string{"account.none"} }, api.NotifyDisconnected)
		now := s.Clock.Now()
		health := gateway.Health{State: agentapi.StateDisconnected, Since: now, LastHeartbeat: now, Message: "no heartbeat"}
		if _, err := s.MarkLost(t.Context(), s.Agent.UID, s.Epoch, health, now.Add(time.Hour)); err != nil {
			t.Fatal(err)
		}
		if next := s.gather(true); next < 10*time.Minute || next > 10*time.Minute+time.Second {
			t.Errorf("due in %s, want 10m", next)
		}
		s.told("too early")
		s.Clock.Move(11 * time.Minute)
		s.told("after ten minutes", "Waiting agent.disconnected account.prod")
		s.Clock.Move(time.Hour)
		s.told("once", "Waiting agent.disconnected account.prod")
	})
}

func TestARuleIsQuietForAsLongAsItSays(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		s.rule("calm", func(r *api.NotificationRule) { r.Repeat = "1h" }, api.NotifyDegraded)
		s.Tell(status("one", "shop", "Synced", "Healthy", false), status("two", "shop", "Synced", "Healthy", false))
		flap := func(name string) {
			s.Clock.Move(time.Minute)
			s.Tell(status(name, "shop", "Synced", "Degraded", false))
			s.gather(true)
			s.Clock.Move(time.Minute)
			s.Tell(status(name, "shop", "Synced", "Healthy", false))
			s.gather(true)
		}
		s.gather(true)
		for range 3 {
			flap("one")
		}
		flap("two")
		const one, two = "degraded account.prod/argocd/one", "degraded account.prod/argocd/two"
		s.told("within the hour", "Waiting "+one, "Quiet "+one, "Quiet "+one, "Waiting "+two)
		s.Clock.Move(time.Hour)
		flap("one")
		s.told("after it", "Waiting "+one, "Quiet "+one, "Quiet "+one, "Waiting "+two, "Waiting "+one)
	})
}

func TestWhatAKilledServerWasSendingIsSentWhenItIsBuried(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		ctx := t.Context()
		s.rule("all", nil, api.NotifyDegraded)
		s.Tell(status("web", "shop", "Synced", "Healthy", false))
		s.gather(true)
		s.Tell(status("web", "shop", "Synced", "Degraded", false))
		s.gather(true)
		me := work.Server{ID: "me"}
		for _, id := range []string{"killed", "me"} {
			storetest.Must[[]work.Server](t)(b.KeepServer(ctx, work.Server{ID: id}, storetest.Life))
		}
		claim := func(holder string) (id string, there bool) {
			t.Helper()
			d, there, err := s.ClaimNotification(ctx, s.channel.ID, holder, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			return d.ID, there
		}
		id, there := claim("killed")
		if _, again := claim("me"); !there || again {
			t.Fatalf("one has it %t, two %t", there, again)
		}
		if n := storetest.Must[int64](t)(b.BuryServers(ctx, me, storetest.Life)); n != 0 {
			t.Fatalf("%d are buried that live", n)
		}
		if _, there := claim("me"); there {
			t.Error("what a server sends that lives is sent by another one")
		}
		if n := storetest.Must[int64](t)(b.BuryServers(ctx, me, 0)); n != 1 {
			t.Fatalf("%d are buried", n)
		}
		if due, _, err := s.DueChannels(ctx); err != nil || len(due) != 1 {
			t.Errorf("nothing is to be sent: %v, %v", due, err)
		}
		if got, there := claim("me"); !there || got != id {
			t.Error("what a killed server was sending waits on")
		}
		// One that is alone has nobody who is buried.
		if err := b.StandAlone(ctx, "after"); err != nil {
			t.Fatal(err)
		}
		if got, there := claim("after"); !there || got != id {
			t.Error("what the one before was sending waits on")
		}
	})
}

func TestAMessageIsClaimedByOneAndComesBackWhenItIsLost(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		ctx := t.Context()
		s.rule("all", nil, api.NotifyDegraded)
		s.Tell(status("web", "shop", "Synced", "Healthy", false))
		s.gather(true)
		s.Tell(status("web", "shop", "Synced", "Degraded", false))
		s.gather(true)
		due, _, err := s.DueChannels(ctx)
		if err != nil || !slices.Equal(due, []string{s.channel.ID}) {
			t.Fatalf("due %v, %v", due, err)
		}
		claim := func(holder string, hold time.Duration) (api.NotificationDelivery, bool) {
			t.Helper()
			d, there, err := s.ClaimNotification(ctx, s.channel.ID, holder, hold)
			if err != nil {
				t.Fatal(err)
			}
			return d, there
		}
		// One that was killed at once: its claim is over when it is made.
		d, there := claim("killed", 0)
		if !there || d.Attempts != 1 {
			t.Fatalf("claimed %v %+v", there, d)
		}
		if d, there = claim("one", time.Hour); !there || d.Attempts != 2 {
			t.Fatalf("claimed after a kill: %v %+v", there, d)
		}
		if _, there := claim("two", time.Hour); there {
			t.Error("two have the same message")
		}
		if _, err := s.ResendNotification(ctx, d.ID); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("send again what is on its way: %v", err)
		}
		if err := s.EndNotification(ctx, d.ID, "killed", api.DeliverySent, "", 0, nil); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[api.NotificationDelivery](t)(s.GetNotification(ctx, d.ID)); got.State != api.DeliveryWaiting {
			t.Errorf("whoever lost a message says that it is %s", got.State)
		}
		if err := s.EndNotification(ctx, d.ID, "one", api.DeliveryWaiting, "no answer", time.Hour, []string{"a", "b"}); err != nil {
			t.Fatal(err)
		}
		due, next, err := s.DueChannels(ctx)
		if err != nil || len(due) != 0 || next < 50*time.Minute || next > time.Hour {
			t.Errorf("due %v in %s, %v: want in an hour", due, next, err)
		}
		if got := storetest.Must[api.NotificationDelivery](t)(s.ResendNotification(ctx, d.ID)); got.State != api.DeliveryWaiting || got.Attempts != 0 || got.Message != "" {
			t.Errorf("to be sent again: %+v", got)
		}
		if d, there = claim("two", time.Hour); !there || !slices.Equal(d.Taken, []string{"a", "b"}) {
			t.Errorf("what is to be sent again: there %t, and %q have it", there, d.Taken)
		}
		if err := s.EndNotification(ctx, d.ID, "two", api.DeliverySent, "", 0, []string{"a", "b", "c"}); err != nil {
			t.Fatal(err)
		}
		if got := storetest.Must[api.NotificationDelivery](t)(s.GetNotification(ctx, d.ID)); got.State != api.DeliverySent || got.FinishedAt.IsZero() {
			t.Errorf("sent: %+v", got)
		}
		storetest.Must[api.NotificationDelivery](t)(s.ResendNotification(ctx, d.ID))
		if d, there = claim("three", time.Hour); !there || len(d.Taken) > 0 {
			t.Errorf("all have it and get it again: there %t, and %q are left out", there, d.Taken)
		}
	})
}

func TestARuleReachesAChannelOfItsScopeOrOneAroundIt(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		ctx := t.Context()
		own := storetest.Must[api.NotificationChannel](t)(s.NotificationChannels.Create(ctx, api.NotificationChannel{
			Meta: api.Meta{Name: "own", Scope: "org.acme"}, Kind: "slack", Secret: "own", Options: map[string]string{"color": "good"},
		}))
		for _, c := range []struct {
			scope api.Scope
			want  bool
		}{{"org.acme", true}, {"project.acme.shop", true}, {"account", false}, {"org.other", false}} {
			_, err := s.NotificationRules.Create(ctx, api.NotificationRule{Meta: api.Meta{Name: "r", Scope: c.scope}, Channel: own.ID, Events: []string{api.NotifyHeld}})
			if (err == nil) != c.want {
				t.Errorf("a rule at %s with a channel of org.acme: %v", c.scope, err)
			}
		}
		if err := s.NotificationChannels.Delete(ctx, own.ID, api.DeleteOptions{}); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("delete a channel that rules use: %v", err)
		}
		if err := s.Organizations.Delete(ctx, "acme", api.DeleteOptions{Force: true}); err != nil {
			t.Errorf("delete an organization with its channels: %v", err)
		}
		if _, err := s.NotificationChannels.Get(ctx, own.ID); api.CodeOf(err) != api.CodeNotFound {
			t.Errorf("the channel of an organization that is gone: %v", err)
		}
	})
}

func TestAReadingEndsHoweverManyAgentsBringMuch(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		s := newTelling(t, b)
		other := &storetest.Shipping{Bench: b, T: t}
		other.Agent, other.Epoch = b.Agent(t, "stage", "account")
		const each = 500
		bring := func(health string) {
			t.Helper()
			for _, agent := range []*storetest.Shipping{s.Shipping, other} {
				var items []agentapi.Item
				for i := range each {
					items = append(items, status(fmt.Sprint("app", i), "shop", "Synced", health, false))
				}
				agent.Tell(items...)
			}
		}
		bring("Healthy")
		s.rule("all", nil, api.NotifyDegraded)
		s.Clock.Move(time.Second)
		bring("Degraded")
		total := func() int64 {
			t.Helper()
			return storetest.Must[api.Page[api.NotificationDelivery]](t)(s.ListNotifications(t.Context(), storetest.All(api.TypeNotificationRule), api.DeliveryFilter{})).Total
		}
		more, _, err := s.GatherNotifications(t.Context(), false, about, nobody)
		if err != nil || !more || total() != each {
			t.Errorf("one reading told %d, and says that there is more: %v, %v; want %d", total(), more, err, each)
		}
		if s.gather(false); total() != 2*each {
			t.Errorf("all of them told %d, want %d", total(), 2*each)
		}
	})
}

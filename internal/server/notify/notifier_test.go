package notify_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/notify"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// storage is a store under the names of a Notifier.
type storage struct{ *store.Store }

func (s storage) NotificationChannel(ctx context.Context, id string) (api.NotificationChannel, error) {
	return s.NotificationChannels.Get(ctx, id)
}

// tokens is how many API tokens end soon, each of which both rules tell.
const tokens = 20

// TestTwoServersSendOnceAndAChannelThatHangsDelaysNoOther runs two notifiers on one database, of which one channel takes
// nothing for as long as the other is not through.
func TestTwoServersSendOnceAndAChannelThatHangsDelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, url := range map[string]func(*testing.T) string{
		"SQLite":     func(t *testing.T) string { return filepath.Join(t.TempDir(), "slipway.db") },
		"PostgreSQL": func(t *testing.T) string { return testenv.Postgres(t) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := store.Open(t.Context(), db.Config{URL: url(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			fill(t, s)
			ctx, cancel := context.WithCancel(t.Context())
			var mu sync.Mutex
			sent, done := map[string]int{}, make(chan struct{})
			send := func(ctx context.Context, c *api.NotificationChannel, d *api.NotificationDelivery) error {
				if c.Name == "hangs" {
					select {
					case <-done:
					case <-ctx.Done():
						return ctx.Err()
					}
				}
				mu.Lock()
				defer mu.Unlock()
				sent[d.ID]++
				if c.Name == "works" && len(sent) == tokens {
					close(done)
				}
				return nil
			}
			var servers sync.WaitGroup
			for _, holder := range []string{"one", "two"} {
				n := notify.New(notify.Config{Storage: storage{s}, Send: send, Holder: holder})
				servers.Go(func() { n.Run(ctx) })
			}
			defer servers.Wait()
			defer cancel()
			deadline := time.After(2 * time.Minute)
			tick := time.NewTicker(20 * time.Millisecond)
			defer tick.Stop()
			for all := int64(0); all < 2*tokens; {
				select {
				case <-deadline:
					t.Fatalf("%d of %d messages are sent", all, 2*tokens)
				case <-tick.C:
				}
				every := rbac.Filter{Type: api.TypeNotificationRule, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
				page, err := s.ListNotifications(t.Context(), every, api.DeliveryFilter{State: api.DeliverySent})
				if err != nil {
					t.Fatal(err)
				}
				all = page.Total
			}
			mu.Lock()
			defer mu.Unlock()
			for id, n := range sent {
				if n != 1 {
					t.Errorf("message %s was sent %d times", id, n)
				}
			}
			if len(sent) != 2*tokens {
				t.Errorf("%d messages were sent, want %d", len(sent), 2*tokens)
			}
		})
	}
}

// fill makes a channel that works and one that hangs, a rule for each, and tokens that end soon.
func fill(t *testing.T, s *store.Store) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	_, err := s.Migrate(ctx, false)
	must(err)
	account, err := s.ServiceAccounts.Create(ctx, api.ServiceAccount{Meta: api.Meta{Name: "ci"}})
	must(err)
	for i := range tokens {
		id := "t" + string(rune('a'+i))
		must(s.CreateToken(ctx, authn.Token{Hash: id, Token: api.Token{
			ID: id, Name: id, Owner: api.Principal{Type: api.PrincipalServiceAccount, ID: account.ID}, ExpiresAt: time.Now().Add(time.Hour),
		}}, authn.Grounds{}))
	}
	channels(t, s, "hangs", "works")
}

// channels makes channels, each with a rule that tells of every token.
func channels(t *testing.T, s *store.Store, names ...string) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range names {
		c, err := s.NotificationChannels.Create(ctx, api.NotificationChannel{Meta: api.Meta{Name: name}, Kind: api.ChannelWebhook, Secret: name})
		must(err)
		_, err = s.NotificationRules.Create(ctx, api.NotificationRule{Meta: api.Meta{Name: name}, Channel: c.ID, Events: []string{api.NotifyToken}})
		must(err)
	}
}

// absent is a storage that cannot be told what came of attempts, so many times.
type absent struct {
	storage
	times atomic.Int32
}

func (a *absent) EndNotification(ctx context.Context, id, holder, state, message string, again time.Duration, taken []string) error {
	if a.times.Add(-1) >= 0 {
		return errors.New("the database is away")
	}
	return a.storage.EndNotification(ctx, id, holder, state, message, again, taken)
}

func TestWhatWasTakenWhileTheDatabaseIsAwayIsNotSentAgain(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), db.Config{URL: filepath.Join(t.TempDir(), "slipway.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill(t, s)
	away := &absent{storage: storage{s}}
	away.times.Store(3)
	var mu sync.Mutex
	sent := map[string]int{}
	n := notify.New(notify.Config{Storage: away, Holder: "one", Send: func(_ context.Context, _ *api.NotificationChannel, d *api.NotificationDelivery) error {
		mu.Lock()
		defer mu.Unlock()
		sent[d.ID]++
		return nil
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	defer running.Wait()
	defer cancel()
	// This is less than it takes until a message counts as lost: a minute.
	limit, stop := context.WithTimeout(t.Context(), 50*time.Second)
	defer stop()
	every := rbac.Filter{Type: api.TypeNotificationRule, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for done := int64(0); done < 2*tokens; <-tick.C {
		page, err := s.ListNotifications(limit, every, api.DeliveryFilter{State: api.DeliverySent})
		if err != nil {
			t.Fatalf("%d of %d messages are said to be sent: %v", done, 2*tokens, err)
		}
		done = page.Total
	}
	mu.Lock()
	defer mu.Unlock()
	for id, n := range sent {
		if n != 1 {
			t.Errorf("message %s was sent %d times", id, n)
		}
	}
}

func TestWhoIsToldOfARuleFindsItsMessagesAsTheyAre(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), db.Config{URL: filepath.Join(t.TempDir(), "slipway.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill(t, s)
	every := rbac.Filter{Type: api.TypeNotificationRule, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	told := make(chan api.Ref, 1000)
	n := notify.New(notify.Config{
		Storage: storage{s}, Holder: "one", Told: func(_ context.Context, rule api.Ref) { told <- rule },
		Send: func(context.Context, *api.NotificationChannel, *api.NotificationDelivery) error { return nil },
	})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { n.Run(ctx) })
	defer running.Wait()
	defer cancel()
	limit := time.After(time.Minute)
	for sent := int64(0); sent < 2*tokens; {
		select {
		case rule := <-told:
			if rule.Type != api.TypeNotificationRule || rule.ID == "" || rule.Scope == "" {
				t.Fatalf("told of %+v", rule)
			}
		case <-limit:
			t.Fatalf("%d of %d messages are sent, and nothing more is told", sent, 2*tokens)
		}
		page, err := s.ListNotifications(t.Context(), every, api.DeliveryFilter{State: api.DeliverySent})
		if err != nil {
			t.Fatal(err)
		}
		sent = page.Total
	}
}

func TestWhoTriesAChannelThatHangsHoldsUpNoMessage(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), db.Config{URL: filepath.Join(t.TempDir(), "slipway.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill(t, s)
	tried, sent := make(chan struct{}, 100), make(chan struct{}, 100)
	n := notify.New(notify.Config{Storage: storage{s}, Holder: "one", Send: func(ctx context.Context, _ *api.NotificationChannel, d *api.NotificationDelivery) error {
		if d.Event.Event == api.NotifyToken {
			sent <- struct{}{}
			return nil
		}
		tried <- struct{}{}
		<-ctx.Done()
		return ctx.Err()
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	for range 40 {
		running.Go(func() {
			n.Try(ctx, &api.NotificationChannel{Meta: api.Meta{ID: "account.hangs", Scope: api.ScopeAccount}}, time.Now())
		})
	}
	limit := time.After(time.Minute)
	wait := func(what string, c chan struct{}, times int) {
		t.Helper()
		for range times {
			select {
			case <-c:
			case <-limit:
				t.Fatal(what)
			}
		}
	}
	wait("nobody tries the channel", tried, 8)
	running.Go(func() { n.Run(ctx) })
	wait("messages are held up", sent, 2*tokens)
}

// TestHoweverManyChannelsHangTheOthersAreServed has more channels hang than messages may be sent at a time that are taken at
// once.
func TestHoweverManyChannelsHangTheOthersAreServed(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), db.Config{URL: filepath.Join(t.TempDir(), "slipway.db")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	fill(t, s)
	var more []string
	for i := range 31 {
		more = append(more, fmt.Sprint("hangs-", i))
	}
	channels(t, s, more...)
	hang, sent, over := make(chan struct{}, 100), make(chan struct{}, 100), make(chan struct{})
	n := notify.New(notify.Config{Storage: storage{s}, Holder: "one", Send: func(ctx context.Context, c *api.NotificationChannel, _ *api.NotificationDelivery) error {
		if c.Name == "works" {
			sent <- struct{}{}
			return nil
		}
		select {
		case hang <- struct{}{}:
		default:
		}
		select { // for longer than the test waits for the others
		case <-ctx.Done():
		case <-over:
		}
		return errors.New("it hangs")
	}})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	defer close(over)
	running.Go(func() { n.Run(ctx) })
	limit := time.After(30 * time.Second) // an attempt may take longer
	for i := range tokens {
		select {
		case <-sent:
		case <-limit:
			t.Fatalf("%d of %d messages of a channel that works were sent while %d others hung", i, tokens, len(hang))
		}
	}
}

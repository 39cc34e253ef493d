package notify_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/notify"
)

// box is a storage in which things happen, and which has messages for one channel.
type box struct {
	mu       sync.Mutex
	happened int
	away     int // so many readings fail
	waiting  int
	sent     int
}

func (b *box) happen() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.happened++
}

// GatherNotifications implements notify.Storage.
func (b *box) GatherNotifications(
	_ context.Context, _ bool, _ func(*api.NotificationRule, *api.NotificationEvent) (string, string, bool), made func(api.Ref, bool),
) (bool, time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.away > 0 {
		b.away--
		return false, -1, errors.New("the database is away")
	}
	if b.happened > 0 {
		made(api.Ref{ID: "rule"}, true)
	}
	b.waiting, b.happened = b.waiting+b.happened, 0
	return false, -1, nil
}

// DueChannels implements notify.Storage.
func (b *box) DueChannels(context.Context) ([]string, time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == 0 {
		return nil, -1, nil
	}
	return []string{"channel"}, -1, nil
}

// ClaimNotification implements notify.Storage.
func (b *box) ClaimNotification(context.Context, string, string, time.Duration) (api.NotificationDelivery, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.waiting == 0 {
		return api.NotificationDelivery{}, false, nil
	}
	b.waiting--
	return api.NotificationDelivery{ID: "d"}, true, nil
}

// EndNotification implements notify.Storage.
func (b *box) EndNotification(context.Context, string, string, string, string, time.Duration, []string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent++
	return nil
}

// NotificationChannel implements notify.Storage.
func (b *box) NotificationChannel(context.Context, string) (api.NotificationChannel, error) {
	return api.NotificationChannel{}, nil
}

// TestNewsOfWhichNobodyWokeTheNotifierAreFoundBySweepsAndCount has things happen without a call of Wake, or with one that is
// late.
func TestNewsOfWhichNobodyWokeTheNotifierAreFoundBySweepsAndCount(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		happens func(n *notify.Notifier, b *box)
		others  bool
		missed  int
	}{
		"it is not woken": {func(_ *notify.Notifier, b *box) { b.happen() }, false, 1},
		"it is woken": {func(n *notify.Notifier, b *box) {
			b.happen()
			n.Wake()
		}, false, 0},
		"it is woken in vain, since the database is away": {func(n *notify.Notifier, b *box) {
			b.happen()
			b.away = 1
			n.Wake()
		}, false, 0},
		"another server may have ended without a word": {func(_ *notify.Notifier, b *box) { b.happen() }, true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				b := &box{happened: 1} // from before the start
				missed := 0
				n := notify.New(notify.Config{
					Storage: b, Holder: "one", Missed: func() { missed++ }, Alone: func() bool { return !test.others },
					Send: func(context.Context, *api.NotificationChannel, *api.NotificationDelivery) error { return nil },
				})
				done := make(chan struct{})
				go func() {
					defer close(done)
					n.Run(ctx)
				}()
				<-time.After(10 * time.Second)
				b.mu.Lock()
				if b.sent != 1 {
					t.Errorf("%d messages of what was there at the start are sent", b.sent)
				}
				b.mu.Unlock()
				test.happens(n, b)
				<-time.After(2 * time.Minute)
				cancel()
				<-done
				if b.sent != 2 || missed != test.missed {
					t.Errorf("%d messages are sent, %d times missed, want 2 and %d", b.sent, missed, test.missed)
				}
			})
		})
	}
}

// TestAMessageOfWhichTheSenderWasNotWokenIsSent puts a message there that no reading of news has made.
func TestAMessageOfWhichTheSenderWasNotWokenIsSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		b := &box{}
		n := notify.New(notify.Config{
			Storage: b, Holder: "one",
			Send: func(context.Context, *api.NotificationChannel, *api.NotificationDelivery) error { return nil },
		})
		done := make(chan struct{})
		go func() {
			defer close(done)
			n.Run(ctx)
		}()
		<-time.After(time.Second)
		b.mu.Lock()
		b.waiting++
		b.mu.Unlock()
		<-time.After(time.Minute)
		cancel()
		<-done
		if b.sent != 1 {
			t.Errorf("%d messages are sent", b.sent)
		}
	})
}

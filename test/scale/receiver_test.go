package scale

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/notify"
)

// receiver is whom notifications are sent to, by webhooks.
type receiver struct {
	url     string
	secrets string // the servers' directory

	mu    sync.Mutex
	taken map[string]int    // by delivery
	about map[string]string // deliveries, by what happened
	wrong []string
}

func newReceiver(t *testing.T) *receiver {
	t.Helper()
	r := &receiver{secrets: t.TempDir(), taken: map[string]int{}, about: map[string]string{}}
	if err := os.WriteFile(filepath.Join(r.secrets, "account.hook"), []byte("a-key-that-signs"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, q *http.Request) {
		raw, err := io.ReadAll(io.LimitReader(q.Body, 1<<20))
		if err != nil {
			return // the server was killed while it sent
		}
		r.take(q.Header.Get(notify.HeaderDelivery), raw)
	}))
	t.Cleanup(s.Close)
	r.url = s.URL + "/"
	return r
}

func (r *receiver) take(delivery string, raw []byte) {
	var body api.WebhookBody
	err := json.Unmarshal(raw, &body)
	r.mu.Lock()
	defer r.mu.Unlock()
	before, known := r.about[body.Event.ID]
	if err != nil || body.Delivery != delivery || known && before != delivery {
		r.wrong = append(r.wrong, fmt.Sprintf("delivery %s of %s, which %q was about: %v", delivery, body.Event.ID, before, err))
	}
	r.taken[delivery]++
	r.about[body.Event.ID] = delivery
}

// untold says which entries of the ledger the receiver was not told of; empty for none.
func (r *receiver) untold(entries map[string][]string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var missing []string
	for _, list := range entries {
		for _, id := range list {
			if r.about["ledger/"+id] == "" {
				missing = append(missing, id)
			}
		}
	}
	if len(missing) == 0 {
		return ""
	}
	return fmt.Sprintf("it was not told of %d: %v", len(missing), missing)
}

// tell has the receiver told of each sync.
func (w *world) tell() {
	w.t.Helper()
	channel, err := w.admin.NotificationChannels().Create(w.t.Context(),
		api.NotificationChannel{Meta: api.Meta{Name: "hook"}, Kind: api.ChannelWebhook, Secret: "hook", URL: w.receiver.url}, false)
	if err != nil {
		w.t.Fatal(err)
	}
	_, err = w.admin.NotificationRules().Create(w.t.Context(),
		api.NotificationRule{Meta: api.Meta{Name: "syncs"}, Channel: channel.ID, Events: []string{api.NotifySyncSucceeded}}, false)
	if err != nil {
		w.t.Fatal(err)
	}
}

// ledger are the ids of all entries, by the command that they came from.
func (w *world) ledger(ctx context.Context) (map[string][]string, error) {
	entries := map[string][]string{}
	for cursor := ""; ; {
		page, err := w.admin.Ledger(ctx, api.LedgerFilter{ListOptions: api.ListOptions{Limit: api.MaxLimit, Cursor: cursor}})
		if err != nil {
			return nil, err
		}
		for _, e := range page.Items {
			entries[e.Command] = append(entries[e.Command], e.ID)
		}
		if cursor = page.NextCursor; cursor == "" {
			return entries, nil
		}
	}
}

// checkLedger looks for operations that are not in the ledger, or twice.
func (w *world) checkLedger() {
	w.t.Helper()
	var entries map[string][]string
	await(w.t, "the ledger", func(ctx context.Context) (problem string) {
		var err error
		if entries, err = w.ledger(ctx); err != nil {
			return err.Error()
		}
		for id := range w.done {
			if len(entries[id]) == 0 {
				problem = "it has nothing of command " + id
			}
		}
		return problem
	})
	for id, list := range entries {
		if len(list) != 1 || !w.done[id] {
			w.t.Errorf("command %s, which is done: %v, is in the ledger %d times", id, w.done[id], len(list))
		}
	}
	w.t.Logf("%d commands, each in the ledger once", len(entries))
}

// checkNotifications looks for syncs that the receiver was not told of, or in two messages. One message may come again
// where a server was killed after the receiver had it and before the database: one for each such kill.
func (w *world) checkNotifications(kills int) {
	w.t.Helper()
	entries, err := w.ledger(w.t.Context())
	if err != nil {
		w.t.Fatal(err)
	}
	if os.Getenv("SLIPWAY_SOAK_ROUNDS") == "" {
		w.forgetKilled()
	}
	// That no message waits says nothing of entries that became none yet: servers read news a moment after it was kept.
	await(w.t, "syncs that the receiver is to be told of", func(context.Context) string { return w.receiver.untold(entries) })
	await(w.t, "notifications that wait", func(ctx context.Context) string {
		for _, state := range []string{api.DeliveryWaiting, api.DeliveryDead, api.DeliveryQuiet} {
			page, err := w.admin.Deliveries(ctx, api.DeliveryFilter{State: state})
			if err != nil {
				return err.Error()
			}
			if page.Total > 0 {
				return fmt.Sprintf("%d are %s, one %+v", page.Total, state, page.Items[0])
			}
		}
		return ""
	})
	w.receiver.mu.Lock()
	defer w.receiver.mu.Unlock()
	for _, problem := range w.receiver.wrong {
		w.t.Errorf("the receiver got %s", problem)
	}
	again := 0
	for _, n := range w.receiver.taken {
		again += n - 1
	}
	if again > kills {
		w.t.Errorf("%d messages came again, more than servers were killed", again)
	}
	w.t.Logf("%d notifications, %d of which came again after one of %d kills", len(w.receiver.taken), again, kills)
}

// forgetKilled takes from servers that were killed what they were sending, as a minute does that there is not.
func (w *world) forgetKilled() {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.database.URL())
	if err != nil {
		w.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) }()
	_, err = conn.Exec(w.t.Context(), "UPDATE notification_delivery SET held_until = 0 WHERE holder <> '' AND holder NOT IN (SELECT id FROM server)")
	if err != nil {
		w.t.Fatal(err)
	}
}

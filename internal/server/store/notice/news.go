package notice

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"fmt"
	"maps"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/history"
	"github.com/slipway-gitops/slipway/internal/server/store/mirror"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	// mostRules is how many rules count, mostNews how much one transaction reads of each kind of news, mostWaiting how many
	// messages of a rule wait at a time: what is more is kept, and not sent.
	mostRules, mostNews, mostWaiting = 1000, 500, 1000
	// placeNews is the row of notification_place that a reader of news locks, placeLedger the one of the ledger.
	placeNews, placeLedger = "news", "ledger"
)

// told makes the message of a rule about an event; false where the rule is not
// about it. It must not wait for anything.
type told = func(rule *api.NotificationRule, event *api.NotificationEvent) (title, text string, ok bool)

// GatherNotifications reads what happened since it was read last, and keeps the
// messages that follow in the same transaction: what happened is reported
// once, whenever a server is killed and however many there are. With timed it also
// looks for what has lasted long enough, or ends soon. made is called for each
// rule that has new messages, when they are kept; news says that there are some
// of what happened. It returns whether there is
// more to read, and in how long something will have lasted long enough; less
// than zero for never.
func (s *Notices) GatherNotifications(ctx context.Context, timed bool, tell told,
	made func(rule api.Ref, news bool),
) (more bool, next time.Duration, err error) {
	idle, err := s.noRules(ctx)
	if err != nil || idle {
		return false, -1, err
	}
	var rules, fresh map[string]api.Scope
	err = s.db.Write(ctx, func(t db.Tx) error {
		n := &news{Tx: t, tell: tell, waiting: map[string]int{}, made: map[string]api.Scope{}, next: -1}
		err := n.gather(ctx, timed)
		more, next, rules, fresh = n.more, n.next, n.made, n.fresh
		return err
	})
	if err != nil {
		return false, -1, fmt.Errorf("gather notifications: %w", err)
	}
	for id, scope := range rules {
		_, news := fresh[id]
		made(api.Ref{Type: api.TypeNotificationRule, ID: id, Scope: scope}, news)
	}
	return more, next, nil
}

// noRules reports whether there is nothing to send, and nothing to forget.
func (s *Notices) noRules(ctx context.Context) (bool, error) {
	var rules, places int64
	err := s.db.Read(ctx, func(t db.Tx) error {
		return t.One(ctx, "SELECT (SELECT COUNT(*) FROM notification_rule WHERE paused = 0), (SELECT COUNT(*) FROM notification_place)",
			nil, &rules, &places)
	})
	if err != nil {
		return false, fmt.Errorf("look for notification rules: %w", err)
	}
	return rules == 0 && places == 0, nil
}

// news is one reading.
type news struct {
	db.Tx
	tell    told
	rules   []*api.NotificationRule
	waiting map[string]int       // messages of rules that wait
	made    map[string]api.Scope // rules that have new messages
	fresh   map[string]api.Scope // those of them that have some of what happened
	seen    int                  // applications that were found changed
	more    bool
	next    time.Duration
}

func (n *news) gather(ctx context.Context, timed bool) error {
	if n.Postgres() { // SQLite has one writer, and this is it
		if err := n.place(ctx, placeNews, 0); err != nil {
			return err
		}
	}
	var err error
	n.rules, err = NotificationRules().Query(ctx, n.Tx, " WHERE paused = 0 ORDER BY id LIMIT ?", mostRules)
	if err != nil {
		return err
	}
	if len(n.rules) == 0 { // a new rule gets what happens from then on
		if err := n.Run(ctx, "DELETE FROM notification_place"); err != nil {
			return err
		}
		return n.Run(ctx, "DELETE FROM notification_seen")
	}
	if err := n.ledger(ctx); err != nil {
		return fmt.Errorf("read the ledger: %w", err)
	}
	if err := n.applications(ctx); err != nil {
		return fmt.Errorf("read applications: %w", err)
	}
	n.fresh = maps.Clone(n.made)
	if timed {
		return n.timed(ctx)
	}
	return nil
}

// place notes up to where something was read.
func (n *news) place(ctx context.Context, id string, number int64) error {
	return n.Run(ctx, "INSERT INTO notification_place (id, number) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET number = excluded.number", id,
		number)
}

// told keeps the messages about an event of all rules that apply to it.
func (n *news) told(ctx context.Context, e *api.NotificationEvent) error {
	for _, rule := range n.rules {
		if e.At.Before(rule.CreatedAt) { // a rule is about what happens from then on
			continue
		}
		if _, err := n.add(ctx, rule, e); err != nil {
			return err
		}
	}
	return nil
}

// add keeps the message of one rule about an event, and reports whether it is
// new.
func (n *news) add(ctx context.Context, rule *api.NotificationRule, e *api.NotificationEvent) (bool, error) {
	title, text, ok := n.tell(rule, e)
	if !ok {
		return false, nil
	}
	d := api.NotificationDelivery{
		ID: deliveryID(rule, e), Rule: rule.ID, Scope: rule.Scope, Channel: rule.Channel, State: api.DeliveryWaiting, Event: *e,
		Title: title, Text: text,
	}
	if _, counted := n.waiting[rule.ID]; !counted {
		var waiting int
		if err := n.One(ctx, "SELECT COUNT(*) FROM notification_delivery WHERE id = ? AND state = ?", []any{rule.ID, api.DeliveryWaiting},
			&waiting); err != nil {
			return false, err
		}
		n.waiting[rule.ID] = waiting
	}
	if n.waiting[rule.ID] >= mostWaiting {
		d.State, d.Message = api.DeliveryQuiet,
			fmt.Sprintf("%d notifications of this rule wait already: narrow the rule, or see why its channel does not take them", mostWaiting)
	}
	if repeat := span(rule.Repeat, 0); repeat > 0 {
		var before int64
		err := n.One(ctx,
			`SELECT COUNT(*) FROM notification_delivery WHERE id = ? AND event = ? AND object_id = ? AND state <> ? AND created_at > ?
				AND delivery <> ?`,
			[]any{rule.ID, e.Event, e.Object.ID, api.DeliveryQuiet, n.Now - repeat.Microseconds(), d.ID}, &before)
		if err != nil {
			return false, err
		}
		if before > 0 {
			d.State, d.Message = api.DeliveryQuiet, "the rule sent this within the last "+rule.Repeat
		}
	}
	clock, err := n.Clock(ctx)
	if err != nil {
		return false, err
	}
	added, err := addMessage(ctx, n.Tx, d, clock)
	if added {
		n.made[rule.ID] = rule.Scope
	}
	if added && d.State == api.DeliveryWaiting {
		n.waiting[rule.ID]++
	}
	return added, err
}

// deliveryID is the same for a rule and an event at all times.
func deliveryID(rule *api.NotificationRule, e *api.NotificationEvent) string {
	sum := sha256.Sum256([]byte(rule.ID + "\n" + strconv.FormatInt(db.Micros(rule.CreatedAt), 10) + "\n" + e.ID))
	return hex.EncodeToString(sum[:16])
}

// span is a duration of a rule, which was checked when it was stored.
func span(text string, standard time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return d
	}
	return standard
}

// ledger reports operations. Entries get their numbers in the order in which
// they are there to be read.
func (n *news) ledger(ctx context.Context) error {
	var from, to int64
	err := n.One(ctx, "SELECT number FROM notification_place WHERE id = ?", []any{placeLedger}, &from)
	if db.IsNotFound(err) {
		if err := n.One(ctx, "SELECT COALESCE(MAX(number), 0) FROM ledger_entry", nil, &to); err != nil {
			return err
		}
		return n.place(ctx, placeLedger, to)
	}
	if err != nil {
		return err
	}
	type operation struct {
		history.LedgerBody
		uid string
	}
	query := "SELECT " + history.LedgerColumns +
		", ledger_entry.agent, ledger_entry.number FROM ledger_entry WHERE number > ? ORDER BY number LIMIT ?"
	found, err := db.Collect(ctx, n.Tx, query, []any{from, mostNews}, func(row db.Row, o *operation) error {
		return history.ScanLedger(row.With(&o.uid, &to), &o.LedgerBody)
	})
	if err != nil || len(found) == 0 {
		return err
	}
	n.more = n.more || len(found) == mostNews
	for i := range found {
		events := operationEvents(&found[i].LedgerEntry)
		if len(events) == 0 {
			continue
		}
		e := events[0]
		key := agentapi.Key{Kind: agentapi.ItemApplication, Namespace: e.Namespace, Name: e.Name}
		err := n.One(ctx, "SELECT labels, sync FROM item WHERE agent = ? AND entry = ?", []any{found[i].uid, key.String()},
			db.Decode(&e.Labels), &e.Sync)
		if err != nil && !db.IsNotFound(err) {
			return err
		}
		for _, more := range events {
			more.Labels, more.Sync = e.Labels, e.Sync
			if err := n.told(ctx, more); err != nil {
				return err
			}
		}
	}
	return n.place(ctx, placeLedger, to)
}

// operationEvents are what an entry of the ledger says.
func operationEvents(e *api.LedgerEntry) []*api.NotificationEvent {
	if e.Action == api.LedgerDryRun {
		return nil
	}
	out := &api.NotificationEvent{
		ID: "ledger/" + e.ID, Event: api.NotifySyncFailed, At: e.FinishedAt,
		Object: api.Ref{Type: api.TypeApplication, ID: api.ItemID(e.Agent, e.Namespace, e.Name), Scope: e.Scope},
		Name:   e.Name, Namespace: e.Namespace, Agent: e.Agent, Service: e.Service, Environment: e.Environment, Health: e.Health,
		Action: e.Action, Automatic: e.Automatic, Actor: e.Actor, Revision: e.Revision, Message: e.Message, Ledger: e.ID,
	}
	if e.Phase == "Succeeded" {
		out.Event = api.NotifySyncSucceeded
	}
	if e.Commit != nil {
		out.Author, out.Subject = e.Commit.Author, e.Commit.Subject
	}
	list := []*api.NotificationEvent{out}
	also := func(what string) {
		more := *out
		more.ID, more.Event = what+"/"+e.ID, what
		list = append(list, &more)
	}
	switch {
	case e.Phase != "Succeeded":
	case e.Action == api.LedgerDelete:
		also(api.NotifyDeleted)
	case e.Options != nil && e.Options.Repair:
		also(api.NotifyReverted)
	}
	return list
}

// applications reports changes of applications since their agents' editions
// that were read last.
func (n *news) applications(ctx context.Context) error {
	type place struct {
		agent                 string
		edition, dropped, was int64
	}
	query := `SELECT e.agent, e.edition, e.dropped, COALESCE(p.number, -1) FROM item_edition e LEFT JOIN notification_place p ON p.id = e.agent
		WHERE (p.number IS NULL OR p.number < e.edition) AND EXISTS (SELECT 1 FROM agent WHERE agent.uid = e.agent) ORDER BY e.agent`
	places, err := db.Collect(ctx, n.Tx, query, nil, func(row db.Row, p *place) error {
		return row.Scan(&p.agent, &p.edition, &p.dropped, &p.was)
	})
	if err != nil {
		return err
	}
	// Any of them comes first, so that one which brings much all the time holds up none for ever.
	rand.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, p := range places {
		if n.seen >= mostNews { // where many bring much at a time, this transaction still ends
			n.more = true
			return nil
		}
		if p.was < 0 {
			// How things are when they are read first is no news.
			_, err := n.Exec(ctx, `INSERT INTO notification_seen (agent, entry, sync, health, held)
				SELECT agent, entry, sync, health, held FROM item WHERE agent = ? AND kind = ? ON CONFLICT (agent, entry) DO NOTHING`, p.agent,
				api.KindApplication)
			if err != nil {
				return err
			}
		}
		if p.was >= 0 && p.dropped > p.was {
			_, err := n.Exec(ctx, `DELETE FROM notification_seen WHERE agent = ?
				AND NOT EXISTS (SELECT 1 FROM item WHERE item.agent = notification_seen.agent AND item.entry = notification_seen.entry)`, p.agent)
			if err != nil {
				return err
			}
		}
		full, err := n.changed(ctx, p.agent, p.was)
		if err != nil {
			return err
		}
		if full { // what was seen is kept, so the rest is found next
			n.more = true
			continue
		}
		if err := n.place(ctx, p.agent, p.edition); err != nil {
			return err
		}
	}
	return nil
}

// appState is what rules look at of an application.
type appState struct {
	entry     string
	edition   int64
	event     api.NotificationEvent
	held      int64
	changedAt time.Time
	// As it was seen last; none where it is new.
	seenSync, seenHealth sql.NullString
	seenHeld             sql.NullInt64
}

// changed reports the applications of an agent that are not as they were seen
// last, and reports whether there may be more.
func (n *news) changed(ctx context.Context, uid string, edition int64) (full bool, err error) {
	query := "SELECT " + appColumns + `, item.entry, item.edition, item.held, item.changed_at, s.sync, s.health, s.held FROM item
		LEFT JOIN notification_seen s ON s.agent = item.agent AND s.entry = item.entry
		WHERE item.agent = ? AND item.kind = ? AND item.edition > ?
			AND (s.entry IS NULL OR s.sync <> item.sync OR s.health <> item.health OR s.held <> item.held)
		ORDER BY item.entry LIMIT ?`
	found, err := db.Collect(ctx, n.Tx, query, []any{uid, api.KindApplication, edition, mostNews}, func(row db.Row, a *appState) error {
		return row.Scan(append(scanApp(&a.event), &a.entry, &a.edition, &a.held, db.Instant(&a.changedAt), &a.seenSync,
			&a.seenHealth, &a.seenHeld)...)
	})
	if err != nil {
		return false, err
	}
	for _, a := range found {
		for _, e := range a.events(uid) {
			if e.Message, err = n.reason(ctx, uid, a.entry, e.Event); err != nil {
				return false, err
			}
			if err := n.told(ctx, e); err != nil {
				return false, err
			}
		}
		_, err := n.Exec(ctx, `INSERT INTO notification_seen (agent, entry, sync, health, held) VALUES (?, ?, ?, ?, ?)
			ON CONFLICT (agent, entry) DO UPDATE SET sync = excluded.sync, health = excluded.health, held = excluded.held`,
			uid, a.entry, a.event.Sync, a.event.Health, a.held)
		if err != nil {
			return false, err
		}
	}
	n.seen += len(found)
	return len(found) == mostNews, nil
}

// events are what became of an application; nothing for one that is new.
func (a *appState) events(uid string) (list []*api.NotificationEvent) {
	if !a.seenSync.Valid {
		return nil
	}
	add := func(what string) {
		e := a.event
		e.ID, e.Event, e.At = fmt.Sprintf("%s/%s/%s/%d", what, uid, a.entry, a.edition), what, a.changedAt
		list = append(list, &e)
	}
	if a.event.Sync == mirror.OutOfSync && a.seenSync.String != mirror.OutOfSync {
		add(api.NotifyOutOfSync)
	}
	if a.event.Health == "Degraded" && a.seenHealth.String != "Degraded" {
		add(api.NotifyDegraded)
	}
	if a.event.Health == "Healthy" && a.seenHealth.String == "Degraded" {
		add(api.NotifyHealthy)
	}
	if a.held != 0 && a.seenHeld.Int64 == 0 {
		add(api.NotifyHeld)
	}
	return list
}

// reason is what an application says of why it became so: why its sync is held or what is wrong with it. The message of its last
// operation, which may have succeeded long before, says nothing of that.
func (n *news) reason(ctx context.Context, uid, entry, event string) (string, error) {
	if event != api.NotifyHeld && event != api.NotifyDegraded {
		return "", nil
	}
	var body string
	query := "SELECT item.body FROM item WHERE item.agent = ? AND item.kind = ? AND item.entry = ?"
	if err := n.One(ctx, query, []any{uid, api.KindApplication, entry}, &body); err != nil {
		return "", err
	}
	var t mirror.Trouble
	_ = strict.Decode([]byte(body), &t, strict.Foreign) // what has a wrong type says nothing
	if event == api.NotifyDegraded {
		return legible.Prefix(t.Status.Health.Message, mirror.LongestReport), nil
	}
	message, _ := t.Condition(mirror.ConditionHeld)
	if message == "" {
		message, _ = t.Condition(mirror.ConditionDeletion)
	}
	return legible.Prefix(message, mirror.LongestReport), nil
}

// appColumns are what an event says of an application.
const appColumns = "item.id, item.scope, item.namespace, item.name, item.agent_id, item.labels, item.service, item.environment, " +
	"item.sync, item.health, item.revision"

func scanApp(e *api.NotificationEvent) []any {
	e.Object.Type = api.TypeApplication
	return []any{
		&e.Object.ID, (*string)(&e.Object.Scope), &e.Namespace, &e.Name, &e.Agent, db.Decode(&e.Labels), &e.Service, &e.Environment,
		&e.Sync, &e.Health, &e.Revision,
	}
}

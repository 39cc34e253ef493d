package notice

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/fleet"
	"github.com/slipway-gitops/slipway/internal/server/store/mirror"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Defaults of rules for how long something has to last, or how long before
// its end it is reported.
const (
	standardAfter  = time.Hour
	standardBefore = 7 * 24 * time.Hour
)

// untold is a condition: a rule has reported no event of an object since a
// time. It takes the rule and the event.
func untold(object, since string) string {
	return "NOT EXISTS (SELECT 1 FROM notification_delivery d WHERE d.id = ? AND d.event = ? AND d.object_id = " + object +
		" AND d.created_at > " + since + ")"
}

// timed reports what has lasted long enough or ends soon, and returns
// when something will.
func (n *news) timed(ctx context.Context) error {
	for _, rule := range n.rules {
		selector, err := readSelector(rule.Selector)
		if err != nil {
			continue // it was checked when it was stored
		}
		for _, event := range rule.Events {
			switch event {
			case api.NotifyDrift:
				err = n.drift(ctx, rule, selector)
			case api.NotifyDisconnected:
				err = n.away(ctx, rule, selector)
			case api.NotifyConnected:
				err = n.back(ctx, rule, selector)
			case api.NotifyToken:
				err = n.tokens(ctx, rule)
			case api.NotifyCertificate:
				err = n.certificates(ctx, rule, selector)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func readSelector(text string) (rbac.Selector, error) {
	if text == "" {
		return nil, nil
	}
	return rbac.ParseSelector(text)
}

// reach is what of a table a rule is about.
func reach(table db.Guarded, rule *api.NotificationRule, selector rbac.Selector) *db.Where {
	w := &db.Where{}
	w.Within(table.Name+".scope", rule.Scope)
	if len(selector) > 0 {
		condition, args := db.CompileSelector(table, selector)
		w.And(condition, args...)
	}
	return w
}

// due notes when something happens, in microseconds; 0 for never.
func (n *news) due(at int64) {
	if at == 0 {
		return
	}
	// A moment later, so that it has happened by then.
	if wait := time.Duration(at-n.Now)*time.Microsecond + time.Millisecond; n.next < 0 || wait < n.next {
		n.next = max(wait, 0)
	}
}

// lasting reports rows whose time, a column, is longer ago than the rule allows.
func (n *news) lasting(
	ctx context.Context, rule *api.NotificationRule, event, table, column string, w *db.Where, columns string,
	scan func(*api.NotificationEvent) []any,
) error {
	after := span(rule.After, standardAfter)
	limit := n.Now - after.Microseconds()
	var first int64
	query := "SELECT COALESCE(MIN(" + column + "), 0) FROM " + table + w.String() + " AND " + column + " > ?"
	if err := n.One(ctx, query, append(slices.Clone(w.Args), limit), &first); err != nil {
		return err
	}
	if first != 0 {
		n.due(first + after.Microseconds())
	}
	w.And(column+" <> 0 AND "+column+" <= ?", limit)
	w.And(untold(table+".id", column), rule.ID, event)
	query = "SELECT " + columns + ", " + column + " FROM " + table + w.String() + " ORDER BY " + column + " LIMIT ?"
	return n.all(ctx, rule, query, w.Args, func(row db.Row, e *api.NotificationEvent) error {
		err := row.Scan(append(scan(e), db.Instant(&e.Since))...)
		e.Event, e.ID = event, event+"/"+e.Object.ID+"/"+e.Since.Format(time.RFC3339Nano)
		return err
	})
}

// all keeps the messages of a rule about what a query finds now. Where one was new and the query gave as much as it may, there is
// more.
func (n *news) all(ctx context.Context, rule *api.NotificationRule, query string, args []any,
	scan func(db.Row, *api.NotificationEvent) error,
) error {
	var found []*api.NotificationEvent
	err := n.Each(ctx, query, append(args, mostNews), func(row db.Row) error {
		e := &api.NotificationEvent{At: db.Moment(n.Now)}
		found = append(found, e)
		return scan(row, e)
	})
	if err != nil {
		return err
	}
	fresh := false
	for _, e := range found {
		added, err := n.add(ctx, rule, e)
		if err != nil {
			return err
		}
		fresh = fresh || added
	}
	n.more = n.more || fresh && len(found) == mostNews
	return nil
}

// drift reports applications that have been out of sync for long.
func (n *news) drift(ctx context.Context, rule *api.NotificationRule, selector rbac.Selector) error {
	w := reach(mirror.ItemsOf(api.KindApplication), rule, selector)
	w.And("item.kind = ?", api.KindApplication)
	w.Among("item.service", rule.Services)
	w.Among("item.environment", rule.Environments)
	return n.lasting(ctx, rule, api.NotifyDrift, "item", "item.drift_since", w, appColumns, scanApp)
}

// away reports agents that have been disconnected for long.
func (n *news) away(ctx context.Context, rule *api.NotificationRule, selector rbac.Selector) error {
	if ofApplications(rule) {
		return nil
	}
	w := reach(fleet.AgentKind().Guarded(), rule, selector)
	w.And("agent.state = ? AND agent.revoked = 0", api.AgentDisconnected)
	columns := "agent.id, agent.scope, agent.name, agent.id, agent.labels, agent.message"
	return n.lasting(ctx, rule, api.NotifyDisconnected, "agent", "agent.state_since", w, columns, func(e *api.NotificationEvent) []any {
		e.Object.Type = api.TypeAgent
		return []any{&e.Object.ID, (*string)(&e.Object.Scope), &e.Name, &e.Agent, db.Decode(&e.Labels), &e.Message}
	})
}

// back reports agents that are connected again after a long time: once for each
// such time, and not for one that was over before the rule was made.
func (n *news) back(ctx context.Context, rule *api.NotificationRule, selector rbac.Selector) error {
	if ofApplications(rule) {
		return nil
	}
	w := reach(fleet.AgentKind().Guarded(), rule, selector)
	after := span(rule.After, standardAfter).Microseconds()
	w.And("agent.revoked = 0 AND agent.back_at >= ? AND agent.back_at - agent.lost_at >= ?", db.Micros(rule.CreatedAt), after)
	w.And(untold("agent.id", "agent.back_at - 1"), rule.ID, api.NotifyConnected)
	query := "SELECT id, scope, name, id, labels, lost_at, back_at FROM agent" + w.String() + " ORDER BY back_at LIMIT ?"
	return n.all(ctx, rule, query, w.Args, func(row db.Row, e *api.NotificationEvent) error {
		e.Event, e.Object.Type = api.NotifyConnected, api.TypeAgent
		err := row.Scan(&e.Object.ID, (*string)(&e.Object.Scope), &e.Name, &e.Agent, db.Decode(&e.Labels),
			db.Instant(&e.Since), db.Instant(&e.At))
		e.ID = e.Event + "/" + e.Object.ID + "/" + e.At.Format(time.RFC3339Nano)
		return err
	})
}

// ofApplications reports whether a rule names what only applications have.
func ofApplications(rule *api.NotificationRule) bool {
	return len(rule.Services) > 0 || len(rule.Environments) > 0
}

// tokens reports API tokens that end soon. They have no labels.
func (n *news) tokens(ctx context.Context, rule *api.NotificationRule) error {
	if rule.Selector != "" || ofApplications(rule) {
		return nil
	}
	before := span(rule.Before, standardBefore).Microseconds()
	w := reach(db.Guarded{Name: "token", Of: api.TypeToken, Kind: api.TypeToken}, rule, nil)
	var first int64
	if err := n.One(ctx, "SELECT COALESCE(MIN(expires_at), 0) FROM token"+w.String()+" AND expires_at > ?",
		append(slices.Clone(w.Args), n.Now+before), &first); err != nil {
		return err
	}
	if first != 0 {
		n.due(first - before)
	}
	w.And("expires_at > ? AND expires_at <= ?", n.Now, n.Now+before)
	w.And(untold("token.id", "token.expires_at - ?"), rule.ID, api.NotifyToken, before)
	query := "SELECT id, scope, name, owner_id, expires_at FROM token" + w.String() + " ORDER BY expires_at LIMIT ?"
	return n.all(ctx, rule, query, w.Args, func(row db.Row, e *api.NotificationEvent) error {
		e.Event, e.Object.Type = api.NotifyToken, api.TypeToken
		err := row.Scan(&e.Object.ID, (*string)(&e.Object.Scope), &e.Name, &e.Actor, db.Instant(&e.ExpiresAt))
		e.ID = endID(e)
		return err
	})
}

// endID is what an event about the end of something is known by.
func endID(e *api.NotificationEvent) string {
	return e.Event + "/" + e.Object.ID + "/" + e.ExpiresAt.Format(time.RFC3339Nano)
}

// certificates reports certificates for repositories that end soon. Their end
// is in the body only, so all are looked at, some at a time; those that were
// reported are left out before the limit.
func (n *news) certificates(ctx context.Context, rule *api.NotificationRule, selector rbac.Selector) error {
	if ofApplications(rule) {
		return nil
	}
	fresh := 0
	for after, more := "", true; more; more = after != "" {
		found, last, err := n.endingCertificates(ctx, rule, selector, after)
		if err == nil {
			found, err = n.untoldOf(ctx, rule, found)
		}
		if err != nil {
			return err
		}
		for _, e := range found {
			if fresh == mostNews { // the rest is found next, behind those that are reported by then
				n.more = true
				return nil
			}
			added, err := n.add(ctx, rule, e)
			if err != nil {
				return err
			}
			if added {
				fresh++
			}
		}
		after = last
	}
	return nil
}

// endingCertificates looks at certificates whose ids come after one. It returns
// the last that it looked at where there may be more.
func (n *news) endingCertificates(
	ctx context.Context, rule *api.NotificationRule, selector rbac.Selector, after string,
) (found []*api.NotificationEvent, last string, err error) {
	before := span(rule.Before, standardBefore).Microseconds()
	w := reach(mirror.ItemsOf(api.KindCertificate), rule, selector)
	w.And("item.kind = ? AND item.id > ?", api.KindCertificate, after)
	seen := 0
	query := "SELECT id, scope, namespace, name, agent_id, labels, body FROM item" + w.String() + " ORDER BY id LIMIT ?"
	err = n.Each(ctx, query, append(w.Args, mostNews), func(row db.Row) error {
		e := &api.NotificationEvent{Event: api.NotifyCertificate, At: db.Moment(n.Now), Object: api.Ref{Type: api.TypeCert}}
		var body string
		if err := row.Scan(&e.Object.ID, (*string)(&e.Object.Scope), &e.Namespace, &e.Name, &e.Agent, db.Decode(&e.Labels), &body); err != nil {
			return err
		}
		if seen++; seen == mostNews {
			last = e.Object.ID
		}
		var setting agentapi.Setting
		_ = strict.Decode([]byte(body), &setting, strict.Foreign) // what cannot be read has no end
		ends, err := time.Parse(time.RFC3339, setting.Fields["notAfter"])
		if err != nil {
			return nil //nolint:nilerr // a known host has no end
		}
		e.ExpiresAt, e.Message = ends, setting.Fields["subject"]
		e.ID = endID(e)
		switch at := db.Micros(ends); {
		case at > n.Now+before:
			n.due(at - before)
		case at > n.Now:
			found = append(found, e)
		}
		return nil
	})
	return found, last, err
}

// untoldOf leaves out of events those that a rule has reported.
func (n *news) untoldOf(ctx context.Context, rule *api.NotificationRule,
	events []*api.NotificationEvent,
) ([]*api.NotificationEvent, error) {
	ids := make([]string, len(events))
	for i, e := range events {
		ids[i] = deliveryID(rule, e)
	}
	var found []string
	if err := n.EachOf(ctx, "SELECT delivery FROM notification_delivery WHERE delivery IN (LIST)", nil, ids, db.Texts(&found)); err != nil {
		return nil, err
	}
	told := db.Set(found)
	return slices.DeleteFunc(events, func(e *api.NotificationEvent) bool { return told[deliveryID(rule, e)] }), nil
}

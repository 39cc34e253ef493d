package fleet

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/hosting"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// namespaceName is how much of an agent's name is in that of its namespace.
const namespaceName = 40

// host keeps that servers run an agent.
func hostAgent(ctx context.Context, t db.Tx, a *api.Agent) error {
	h := a.Hosted
	if h == nil {
		return nil
	}
	namespace := h.Namespace
	if namespace == "" {
		// With the uid, so that a later agent of that name does not find what this one has left.
		namespace = "slipway-" + strings.Trim(a.Name[:min(len(a.Name), namespaceName)], "-.") + "-" + a.UID[:10]
	}
	_, err := t.Exec(ctx,
		`INSERT INTO hosted_agent (agent, cluster, namespace, state, state_since, message, server, restarts, holder, held_until)
		VALUES (?, ?, ?, ?, ?, '', '', 0, '', 0)`, a.UID, h.Cluster, namespace, api.HostWaiting, t.Now)
	if errors.Is(err, db.ErrExists) {
		return db.Invalid("hosted.cluster",
			"cluster %s takes one agent, and has it in namespace %s: ask the operator of the server for another cluster", h.Cluster, namespace)
	}
	if err != nil {
		return fmt.Errorf("keep that agent is hosted: %w", err)
	}
	return nil
}

// hosted adds how agents are run that servers run.
func hosted(ctx context.Context, t db.Tx, agents []*api.Agent) error {
	byUID, args := map[string]*api.Agent{}, []any{}
	for _, a := range agents {
		byUID[a.UID] = a
		args = append(args, a.UID)
	}
	now, until := int64(0), map[*api.Hosting]int64{}
	query := "SELECT agent, cluster, namespace, state, state_since, message, server, restarts, held_until FROM hosted_agent WHERE agent IN (" +
		db.Marks(len(args)) + ")"
	err := t.Each(ctx, query, args, func(row db.Row) error {
		var uid string
		var held int64
		h := &api.Hosting{}
		err := row.Scan(&uid, &h.Cluster, &h.Namespace, &h.State, db.Instant(&h.Since), &h.Message, &h.Server, &h.Restarts, &held)
		byUID[uid].Hosted, until[h] = h, held
		return err
	})
	if err != nil || len(until) == 0 {
		return err
	}
	if now, err = t.Clock(ctx); err != nil {
		return err
	}
	for h, held := range until {
		if held <= now {
			*h = api.Hosting{
				Cluster: h.Cluster, Namespace: h.Namespace, State: api.HostWaiting, Since: h.Since,
				Message: "no server runs it: the directory of --hosted-dir of one must hold " + h.Cluster + ".kubeconfig",
			}
		}
	}
	return nil
}

// HostedAgents returns the agents that servers run.
func (s *Hosted) HostedAgents(ctx context.Context) ([]hosting.Agent, error) {
	list, err := db.Read(ctx, s.db, func(t db.Tx) ([]hosting.Agent, error) {
		query := `SELECT agent.id, agent.uid, cluster, hosted_agent.namespace, public_key, revoked, registration_hash,
			registration_expires, heartbeat_at
			FROM hosted_agent JOIN agent ON agent.uid = hosted_agent.agent ORDER BY agent.id`
		return db.Collect(ctx, t, query, nil, func(row db.Row, a *hosting.Agent) error {
			var key, hash string
			var revoked, expires int64
			err := row.Scan(&a.ID, &a.UID, &a.Cluster, &a.Namespace, &key, &revoked, &hash, &expires, db.Instant(&a.HeardAt))
			a.Registered, a.Revoked = key != "", revoked != 0
			a.Invited = hash != "" && !strings.HasPrefix(hash, usedToken) && expires > t.Now
			return err
		})
	})
	if err != nil {
		return nil, fmt.Errorf("list hosted agents: %w", err)
	}
	return list, nil
}

// ClaimHosted takes an agent for a while, and reports whether it did. SQLite
// has one server, so who has it there is one that has ended.
func (s *Hosted) ClaimHosted(ctx context.Context, uid, holder string, hold time.Duration) (mine bool, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		query, args := "UPDATE hosted_agent SET holder = ?, held_until = ? WHERE agent = ?", []any{holder, now + hold.Microseconds(), uid}
		if t.Postgres() {
			query, args = query+" AND (held_until <= ? OR holder = ?)", append(args, now, holder)
		}
		n, err := t.Exec(ctx, query, args...)
		mine = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("claim hosted agent: %w", err)
	}
	return mine, nil
}

// ReleaseHosted gives an agent back.
func (s *Hosted) ReleaseHosted(ctx context.Context, uid, holder string) error {
	return s.db.Run(ctx, "UPDATE hosted_agent SET held_until = 0 WHERE agent = ? AND holder = ?", uid, holder)
}

// KeepHosted keeps how an agent is that holder has.
func (s *Hosted) KeepHosted(ctx context.Context, uid, holder string, how api.Hosting) error {
	return s.db.Run(ctx, "UPDATE hosted_agent SET state = ?, state_since = ?, message = ?, server = ?, restarts = ? "+
		"WHERE agent = ? AND holder = ?",
		how.State, how.Since, how.Message, how.Server, how.Restarts, uid, holder)
}

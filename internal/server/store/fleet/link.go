package fleet

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// RegisterAgent gives the agent that a one-time token is for its keys, and
// consumes the token in the same transaction.
func (s *Agents) RegisterAgent(ctx context.Context, tokenHash string, r gateway.Registration,
	now time.Time,
) (agent gateway.Agent, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		if tokenHash == "" {
			return gateway.ErrToken
		}
		var uid string
		err := t.One(ctx, "UPDATE agent SET registration_hash = ? WHERE registration_hash = ? AND registration_expires > ? RETURNING uid",
			[]any{usedToken + tokenHash, tokenHash, now}, &uid)
		if db.IsNotFound(err) {
			return gateway.ErrToken
		}
		if err != nil {
			return fmt.Errorf("consume registration token: %w", err)
		}
		if err := keyFree(ctx, t, uid, r.PublicKey); err != nil {
			return err
		}
		_, err = t.Exec(ctx, `UPDATE agent SET public_key = ?, next_key = '', seal_key = ?, revoked = 0, namespace = ?, program = ?,
			registered_at = ?, heartbeat_at = 0, epoch = epoch + 1, seq = 0, generation = 0 WHERE uid = ?`,
			r.PublicKey, base64.StdEncoding.EncodeToString(r.SealKey), r.Namespace, r.Version, now, uid)
		if err != nil {
			return taken(err)
		}
		agent, err = findAgent(ctx, t, "uid = ?", uid)
		return err
	})
	return agent, err
}

// keyFree checks that a key is no other agent's.
func keyFree(ctx context.Context, t db.Tx, uid, key string) error {
	var others int64
	err := t.One(ctx, "SELECT COUNT(*) FROM agent WHERE uid <> ? AND (public_key = ? OR next_key = ?)", []any{uid, key, key}, &others)
	if err == nil && others > 0 {
		return gateway.ErrKeyTaken
	}
	return err
}

// taken makes a broken unique index an ErrKeyTaken: two registered at a time.
func taken(err error) error {
	if db.IsExists(err) {
		return gateway.ErrKeyTaken
	}
	return err
}

// agent reads what the gateway needs.
func findAgent(ctx context.Context, t db.Tx, condition string, args ...any) (gateway.Agent, error) {
	var a gateway.Agent
	var revoked, lag, upgrades int64
	var components, twin string
	h := &a.Health
	err := t.One(ctx, `SELECT uid, id, public_key, next_key, revoked, engine, cluster_uid, generation, epoch, state, state_since,
		heartbeat_at, components, pending, lag, items, program, kubernetes, git, engine_told, image, upgrades, no_upgrade, stale, message, twin
		FROM agent WHERE `+condition, args,
		&a.UID, &a.ID, &a.PublicKey, &a.NextKey, &revoked, (*string)(&a.Engine), &a.ClusterUID, &a.Generation, &a.Epoch, &h.State,
		db.Instant(&h.Since), db.Instant(&h.LastHeartbeat), &components, &h.Pending, &lag, &h.Items, &h.Versions.Agent, &h.Versions.Kubernetes,
		&h.Versions.Git, (*string)(&h.Versions.Engine), &h.Versions.Image, &upgrades, &h.Versions.NoUpgrade, &h.Stale, &h.Message, &twin)
	if db.IsNotFound(err) {
		return a, gateway.ErrUnknown
	}
	if err != nil {
		return a, fmt.Errorf("read agent: %w", err)
	}
	h.Versions.Upgrades = upgrades != 0
	a.Revoked, h.Lag = revoked != 0, time.Duration(lag)*time.Millisecond
	if err := db.Decode(&h.Components).Scan(components); err != nil {
		return a, fmt.Errorf("read components of agent %s: %w", a.ID, err)
	}
	var seen *api.AgentTwin
	if err := db.Decode(&seen).Scan(twin); err != nil {
		return a, fmt.Errorf("read twin of agent %s: %w", a.ID, err)
	}
	if seen != nil {
		h.Twin = &gateway.Twin{ClusterUID: seen.ClusterUID, Address: seen.Address, At: seen.LastSeenAt}
	}
	return a, nil
}

func (s *Agents) readAgent(ctx context.Context, condition string, args ...any) (gateway.Agent, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (gateway.Agent, error) { return findAgent(ctx, t, condition, args...) })
}

// AgentByKey finds the agent whose present or next key it is, unless it is revoked.
func (s *Agents) AgentByKey(ctx context.Context, publicKey string) (gateway.Agent, error) {
	if publicKey == "" {
		return gateway.Agent{}, gateway.ErrUnknown
	}
	return s.readAgent(ctx, "revoked = 0 AND (public_key = ? OR next_key = ?)", publicKey, publicKey)
}

// AgentByUID finds an agent, revoked or not.
func (s *Agents) AgentByUID(ctx context.Context, uid string) (gateway.Agent, error) {
	return s.readAgent(ctx, "uid = ?", uid)
}

// LinkedAgents returns every agent that has a public key and is not revoked.
func (s *Agents) LinkedAgents(ctx context.Context) ([]gateway.Agent, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (list []gateway.Agent, err error) {
		uids, err := db.Column[string](ctx, t, "SELECT uid FROM agent WHERE revoked = 0 AND public_key <> '' ORDER BY id")
		for _, uid := range uids {
			a, err := findAgent(ctx, t, "uid = ?", uid)
			if err != nil {
				return nil, err
			}
			list = append(list, a)
		}
		return list, err
	})
}

// BeginSession gives an agent a new epoch and keeps what the session says.
func (s *Agents) BeginSession(ctx context.Context, uid string, session gateway.Session, _ time.Time) (agent gateway.Agent, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		set := `epoch = epoch + 1, seq = 0, cluster_uid = ?, namespace = ?, namespaced = ?, instance = ?, program = ?, kubernetes = ?, git = ?,
			engine_told = ?, image = ?, upgrades = ?, no_upgrade = ?,
			generation = ?`
		args := []any{
			session.ClusterUID, session.Namespace, session.Namespaced, session.Instance,
			session.Versions.Agent, session.Versions.Kubernetes, session.Versions.Git, string(session.Versions.Engine),
			session.Versions.Image, session.Versions.Upgrades, session.Versions.NoUpgrade, session.Generation,
		}
		if session.SealKey != nil {
			set += ", seal_key = ?"
			args = append(args, base64.StdEncoding.EncodeToString(session.SealKey))
		}
		n, err := t.Exec(ctx, "UPDATE agent SET "+set+" WHERE uid = ? AND revoked = 0 AND generation <= ?",
			append(args, uid, session.Generation)...)
		if err != nil {
			return fmt.Errorf("begin session of agent: %w", err)
		}
		if agent, err = findAgent(ctx, t, "uid = ?", uid); err == nil && n == 0 {
			return gateway.ErrFenced
		}
		return err
	})
	return agent, err
}

// SaveHealth keeps how an agent is.
func (s *Agents) SaveHealth(ctx context.Context, uid string, epoch int64, h gateway.Health) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		var twin *api.AgentTwin
		if h.Twin != nil {
			twin = &api.AgentTwin{ClusterUID: h.Twin.ClusterUID, Address: h.Twin.Address, LastSeenAt: h.Twin.At}
		}
		state := h.State
		if state == "" {
			state = agentapi.StateNever
		}
		set := `state = ?, state_since = ?, heartbeat_at = ?, components = ?, pending = ?, lag = ?, items = ?,
			program = ?, kubernetes = ?, git = ?, engine_told = ?, image = ?, upgrades = ?, no_upgrade = ?, stale = ?, message = ?, twin = ?`
		args := []any{
			string(state), h.Since, h.LastHeartbeat, db.Encode(h.Components), h.Pending, h.Lag.Milliseconds(), h.Items,
			h.Versions.Agent, h.Versions.Kubernetes, h.Versions.Git, string(h.Versions.Engine), h.Versions.Image,
			h.Versions.Upgrades, h.Versions.NoUpgrade, h.Stale, h.Message, db.Encode(twin),
		}
		if state != agentapi.StateDisconnected && state != agentapi.StateNever {
			// What it was before is still in the row: it comes back with this one.
			set += `, lost_at = CASE WHEN state = ? THEN state_since ELSE lost_at END, back_at = CASE WHEN state = ? THEN ? ELSE back_at END`
			args = append(args, string(agentapi.StateDisconnected), string(agentapi.StateDisconnected), h.Since)
		}
		n, err := t.Exec(ctx, "UPDATE agent SET "+set+" WHERE uid = ? AND epoch = ? AND revoked = 0", append(args, uid, epoch)...)
		return fenced(n, err)
	})
}

// MarkLost keeps that an agent is disconnected, unless its epoch is another one,
// it was heard after before, or it is stored already. It reports whether it did.
func (s *Agents) MarkLost(ctx context.Context, uid string, epoch int64, h gateway.Health, before time.Time) (done bool, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(ctx, `UPDATE agent SET state = ?, state_since = ?, message = ?,
			heartbeat_at = CASE WHEN heartbeat_at < ? THEN ? ELSE heartbeat_at END
			WHERE uid = ? AND epoch = ? AND revoked = 0 AND state <> ? AND heartbeat_at <= ?`,
			string(h.State), h.Since, h.Message, h.LastHeartbeat, h.LastHeartbeat, uid, epoch, string(h.State), before)
		done = n > 0
		return err
	})
	if err != nil {
		return false, fmt.Errorf("keep that an agent is disconnected: %w", err)
	}
	return done, nil
}

// fenced makes a change of no row an ErrFenced.
func fenced(rows int64, err error) error {
	if err == nil && rows == 0 {
		return gateway.ErrFenced
	}
	return err
}

// SetNextKey keeps the key that an agent will have, or with "" that it will have none.
func (s *Agents) SetNextKey(ctx context.Context, uid string, epoch int64, publicKey string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		if publicKey != "" {
			if err := keyFree(ctx, t, uid, publicKey); err != nil {
				return err
			}
		}
		n, err := t.Exec(ctx, "UPDATE agent SET next_key = ? WHERE uid = ? AND epoch = ? AND revoked = 0", publicKey, uid, epoch)
		return fenced(n, taken(err))
	})
}

// PromoteKey makes the next key the present one.
func (s *Agents) PromoteKey(ctx context.Context, uid, publicKey string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		if publicKey == "" {
			return gateway.ErrUnknown
		}
		n, err := t.Exec(ctx, "UPDATE agent SET public_key = next_key, next_key = '' WHERE uid = ? AND next_key = ?", uid, publicKey)
		if err != nil || n > 0 {
			return err
		}
		_, err = findAgent(ctx, t, "uid = ? AND public_key = ?", uid, publicKey)
		return err
	})
}

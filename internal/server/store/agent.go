package store

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Agents keeps agents, and tells what is known of them.
func (s *Store) Agents() Entities[api.Agent] { return Entities[api.Agent]{s.DB, agents()} }

func agents() *entity[api.Agent] {
	return &entity[api.Agent]{
		table: "agent", noun: "agent", kind: api.TypeAgent,
		meta: func(a *api.Agent) *api.Meta { return &a.Meta },
		id:   func(a *api.Agent) string { return a.Scope.ID(a.Name) },
		columns: func(a *api.Agent) []column {
			return []column{{"namespaced", a.Namespaced, &a.Namespaced}, {"auto_create", a.AutoCreate, &a.AutoCreate}, {"engine", a.Engine, &a.Engine}}
		},
		fixed: agentColumns,
		sorts: agentSorts(),
		prepare: func(ctx context.Context, t db.Tx, a, before *api.Agent) error {
			if before == nil {
				a.UID, a.SealKey = newUID(), ""
				a.Status = api.AgentStatus{State: api.AgentNever, Since: db.Moment(t.Now)}
			}
			return nil
		},
		fill: hosted,
		written: func(ctx context.Context, t db.Tx, a, before *api.Agent) error {
			if before != nil {
				return nil
			}
			return hostAgent(ctx, t, a)
		},
		references: agentReferences,
		release: func(ctx context.Context, t db.Tx, a *api.Agent) error {
			// Rows that are tied to the agent go with it; labels of items are not tied.
			_, err := t.Exec(ctx, "DELETE FROM label WHERE EXISTS (SELECT 1 FROM item WHERE item.agent = ? AND item.kind = label.type AND item.id = label.id)", a.UID)
			if err == nil {
				_, err = t.Exec(ctx, "DELETE FROM item_edition WHERE agent = ?", a.UID)
			}
			return err
		},
	}
}

// agentColumns are what an agent tells of itself. It is written by methods of
// the link only.
func agentColumns(a *api.Agent) []column {
	st := &a.Status
	revoked := db.Number64(func(n int64) {
		if n != 0 {
			st.State = api.AgentRevoked
		}
	})
	return []column{
		{"uid", a.UID, &a.UID},
		{"seal_key", a.SealKey, &a.SealKey},
		{"state", st.State, &st.State},
		{"revoked", 0, revoked},
		{"state_since", st.Since, db.Instant(&st.Since)},
		{"message", st.Message, &st.Message},
		{"heartbeat_at", st.LastHeartbeatAt, db.Instant(&st.LastHeartbeatAt)},
		{"registered_at", st.RegisteredAt, db.Instant(&st.RegisteredAt)},
		{"program", st.Version, &st.Version},
		{"kubernetes", st.Kubernetes, &st.Kubernetes},
		{"engine_told", "", engineTold(func(e agentapi.Engine) {
			st.Engine, st.Unsupported = string(e), nil
			for _, l := range e.Lacks() {
				st.Unsupported = append(st.Unsupported, api.AgentLack{Command: string(l.Kind), Message: l.Why})
			}
		})},
		{"cluster_uid", st.ClusterUID, &st.ClusterUID},
		{"namespace", st.Namespace, &st.Namespace},
		{"epoch", st.Epoch, &st.Epoch},
		{"pending", st.Pending, &st.Pending},
		{"lag", 0, db.Number64(func(ms int64) { st.LagSeconds = float64(ms) / 1000 })},
		{"components", db.Encode(st.Components), db.Decode(&st.Components)},
		{"stale", st.Stale, &st.Stale},
		{"twin", "", db.Decode(&st.Twin)},
	}
}

// engineTold is what Scan hands the engine to that an agent has told of.
type engineTold func(agentapi.Engine)

// Scan reads a word; none is that of an agent that has not said anything.
func (f engineTold) Scan(value any) error {
	word, ok := value.(string)
	if !ok {
		return fmt.Errorf("read engine: it is a %T", value)
	}
	if word != "" {
		f(agentapi.Engine(word).Known())
	}
	return nil
}

func agentSorts() map[string]string {
	sorts := entitySorts("agent")
	sorts["state"], sorts["lastHeartbeatAt"] = "agent.state", "agent.heartbeat_at"
	return sorts
}

// newUID is a random name that is a word in NATS subjects: 26 characters.
func newUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
}

// agentReferences are mappings and applications.
func agentReferences(ctx context.Context, t db.Tx, a *api.Agent) ([]api.Ref, error) {
	var found []api.Ref
	query := "SELECT argo_project FROM mapping WHERE agent = ? ORDER BY argo_project LIMIT 100"
	err := t.Each(ctx, query, []any{a.ID}, func(rows *sql.Rows) error {
		var argoProject string
		err := rows.Scan(&argoProject)
		found = append(found, api.Ref{Type: "mapping", ID: a.ID + "/" + argoProject})
		return err
	})
	if err != nil {
		return nil, err
	}
	inUse, err := refs(ctx, t, "environment", api.TypeEnvironment, "id IN (SELECT environment FROM environment_cluster WHERE agent = ?)", a.ID)
	if err != nil {
		return nil, err
	}
	found = append(found, inUse...)
	query = "SELECT id, scope FROM item WHERE agent = ? AND kind = ? ORDER BY id LIMIT 100"
	err = t.Each(ctx, query, []any{a.UID, api.KindApplication}, func(rows *sql.Rows) error {
		ref := api.Ref{Type: api.TypeApplication}
		err := rows.Scan(&ref.ID, (*string)(&ref.Scope))
		found = append(found, ref)
		return err
	})
	return found, err
}

// SetRegistration keeps the hash of a one-time token with which an agent may
// register its keys, in place of the one before.
func (s *Store) SetRegistration(ctx context.Context, id, tokenHash string, expires time.Time) error {
	return s.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(ctx, "UPDATE agent SET registration_hash = ?, registration_expires = ? WHERE id = ?", tokenHash, expires, id)
		if err == nil && n == 0 {
			return db.NotFound("agent", id)
		}
		return err
	})
}

// RevokeAgent makes the keys and the registration token of an agent worth
// nothing, and returns its uid: whoever calls this cuts its connections next.
func (s *Store) RevokeAgent(ctx context.Context, id string) (uid string, err error) {
	err = s.Write(ctx, func(t db.Tx) error {
		err := t.One(ctx, "UPDATE agent SET revoked = 1, registration_hash = '', state_since = ? WHERE id = ? RETURNING uid",
			[]any{t.Now, id}, &uid)
		if db.IsNotFound(err) {
			return db.NotFound("agent", id)
		}
		return err
	})
	return uid, err
}

// AgentUID returns the uid of an agent.
func (s *Store) AgentUID(ctx context.Context, id string) (uid string, err error) {
	err = s.Read(ctx, func(t db.Tx) error {
		err := t.One(ctx, "SELECT uid FROM agent WHERE id = ?", []any{id}, &uid)
		if db.IsNotFound(err) {
			return db.NotFound("agent", id)
		}
		return err
	})
	return uid, err
}

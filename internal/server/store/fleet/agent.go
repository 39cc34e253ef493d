package fleet

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/entity"
)

// Agents keeps agents, and returns what is known of them.
type Agents struct {
	entity.Entities[api.Agent]
	db *db.DB
}

func newAgents(d *db.DB) *Agents { return &Agents{entity.Of(d, AgentKind()), d} }

// AgentKind describes how agents are kept.
func AgentKind() *entity.Kind[api.Agent] {
	return &entity.Kind[api.Agent]{
		Table: "agent", Noun: "agent", Kind: api.TypeAgent,
		Columns: func(a *api.Agent) []entity.Column {
			return []entity.Column{
				{Name: "namespaced", Value: a.Namespaced, Into: &a.Namespaced},
				{Name: "auto_create", Value: a.AutoCreate, Into: &a.AutoCreate},
				{Name: "engine", Value: a.Engine, Into: &a.Engine},
			}
		},
		Fixed: agentColumns,
		Sorts: map[string]string{"state": "agent.state", "lastHeartbeatAt": "agent.heartbeat_at"},
		Prepare: func(ctx context.Context, t db.Tx, a, before *api.Agent) error {
			if before == nil {
				a.UID, a.SealKey = newUID(), ""
				a.Status = api.AgentStatus{State: api.AgentNever, Since: db.Moment(t.Now)}
			}
			return nil
		},
		Fill: hosted,
		Written: func(ctx context.Context, t db.Tx, a, before *api.Agent) error {
			if before != nil {
				return nil
			}
			return hostAgent(ctx, t, a)
		},
		References: agentReferences,
		Release: func(ctx context.Context, t db.Tx, a *api.Agent) error {
			// Rows that are tied to the agent go with it; labels of items are not tied.
			_, err := t.Exec(ctx,
				"DELETE FROM label WHERE EXISTS (SELECT 1 FROM item WHERE item.agent = ? AND item.kind = label.type AND item.id = label.id)", a.UID)
			if err == nil {
				_, err = t.Exec(ctx, "DELETE FROM item_edition WHERE agent = ?", a.UID)
			}
			return err
		},
	}
}

// agentColumns are what an agent reports about itself. It is written by methods of
// the link only.
func agentColumns(a *api.Agent) []entity.Column {
	st := &a.Status
	revoked := db.Number64(func(n int64) {
		if n != 0 {
			st.State = api.AgentRevoked
		}
	})
	return []entity.Column{
		{Name: "uid", Value: a.UID, Into: &a.UID},
		{Name: "seal_key", Value: a.SealKey, Into: &a.SealKey},
		{Name: "state", Value: st.State, Into: &st.State},
		{Name: "revoked", Value: 0, Into: revoked},
		{Name: "state_since", Value: st.Since, Into: db.Instant(&st.Since)},
		{Name: "message", Value: st.Message, Into: &st.Message},
		{Name: "heartbeat_at", Value: st.LastHeartbeatAt, Into: db.Instant(&st.LastHeartbeatAt)},
		{Name: "registered_at", Value: st.RegisteredAt, Into: db.Instant(&st.RegisteredAt)},
		{Name: "program", Value: st.Version, Into: &st.Version},
		{Name: "kubernetes", Value: st.Kubernetes, Into: &st.Kubernetes},
		{Name: "engine_told", Value: "", Into: engineTold(func(e agentapi.Engine) {
			st.Engine, st.Unsupported = string(e), nil
			for _, l := range e.Lacks() {
				st.Unsupported = append(st.Unsupported, api.AgentLack{Command: string(l.Kind), Message: l.Why})
			}
		})},
		{Name: "image", Value: st.Image, Into: &st.Image},
		{Name: "upgrades", Value: 0, Into: db.Number64(func(n int64) { st.Upgrades = n != 0 })},
		{Name: "no_upgrade", Value: st.NoUpgrade, Into: &st.NoUpgrade},
		{Name: "cluster_uid", Value: st.ClusterUID, Into: &st.ClusterUID},
		{Name: "namespace", Value: st.Namespace, Into: &st.Namespace},
		{Name: "epoch", Value: st.Epoch, Into: &st.Epoch},
		{Name: "pending", Value: st.Pending, Into: &st.Pending},
		{Name: "lag", Value: 0, Into: db.Number64(func(ms int64) { st.LagSeconds = float64(ms) / 1000 })},
		{Name: "components", Value: db.Encode(st.Components), Into: db.Decode(&st.Components)},
		{Name: "stale", Value: st.Stale, Into: &st.Stale},
		{Name: "twin", Value: "", Into: db.Decode(&st.Twin)},
	}
}

// engineTold is what Scan hands the engine to that an agent has reported.
type engineTold func(agentapi.Engine)

// Scan reads a word; none is that of an agent that has not reported anything.
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

// newUID is a random name that is a word in NATS subjects: 26 characters.
func newUID() string {
	var random [16]byte
	_, _ = rand.Read(random[:]) // never fails
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random[:]))
}

// agentReferences are mappings and applications.
func agentReferences(ctx context.Context, t db.Tx, a *api.Agent) ([]api.Ref, error) {
	found, err := MappingRefs(ctx, t, "agent = ?", a.ID)
	if err != nil {
		return nil, err
	}
	inUse, err := entity.Refs(ctx, t, "environment", api.TypeEnvironment,
		"id IN (SELECT environment FROM environment_cluster WHERE agent = ?)", a.ID)
	if err != nil {
		return nil, err
	}
	applications, err := entity.Refs(ctx, t, "item", api.TypeApplication, "agent = ? AND kind = ?", a.UID, api.KindApplication)
	return slices.Concat(found, inUse, applications), err
}

// MappingRefs names the mappings that a condition is true of, as many as are ever asked for.
func MappingRefs(ctx context.Context, t db.Tx, condition string, args ...any) (found []api.Ref, err error) {
	query := "SELECT agent, argo_project FROM mapping WHERE " + condition + " ORDER BY agent, argo_project LIMIT 100"
	err = t.Each(ctx, query, args, db.Pair(func(agent, argoProject string) {
		found = append(found, api.Ref{Type: "mapping", ID: agent + "/" + argoProject})
	}))
	return found, err
}

// SetRegistration keeps the hash of a one-time token with which an agent may
// register its keys, in place of the one before.
func (s *Agents) SetRegistration(ctx context.Context, id, tokenHash string, expires time.Time) error {
	return s.db.Change(ctx, "agent", id, "UPDATE agent SET registration_hash = ?, registration_expires = ? WHERE id = ?",
		tokenHash, expires, id)
}

// RevokeAgent makes the keys and the registration token of an agent worth
// nothing, and returns its uid: the caller cuts its connections next.
func (s *Agents) RevokeAgent(ctx context.Context, id string) (uid string, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		err := t.One(ctx, "UPDATE agent SET revoked = 1, registration_hash = '', state_since = ? WHERE id = ? RETURNING uid",
			[]any{t.Now, id}, &uid)
		return db.Missing(err, "agent", id)
	})
	return uid, err
}

// AgentUID returns the uid of an agent.
func (s *Agents) AgentUID(ctx context.Context, id string) (uid string, err error) {
	err = s.db.One(ctx, "SELECT uid FROM agent WHERE id = ?", []any{id}, &uid)
	return uid, db.Missing(err, "agent", id)
}

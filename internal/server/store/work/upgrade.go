package work

import (
	"context"
	"fmt"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// Upgrades keeps upgrades of agents, each of which one server has at a time.
type Upgrades struct{ db *db.DB }

// upgradeBody is what the column body holds.
type upgradeBody struct {
	Request api.UpgradeRequest `json:"request"`
	Steps   int                `json:"steps"`
}

// AddUpgrade keeps an upgrade with its agents. token is the id of the token that it was asked for with; "" for none. Two
// upgrades never have an agent under way at a time.
func (s *Upgrades) AddUpgrade(ctx context.Context, u api.Upgrade, token string, targets []api.UpgradeTarget) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		if err := free(ctx, t, u.ID, targets); err != nil {
			return err
		}
		_, err := t.Exec(ctx, `INSERT INTO agent_upgrade (id, scope, by_type, by_id, token, body, state, message, stopped_by, back, created_at,
			resumed_at, finished_at, holder, held_until) VALUES (`+db.Marks(15)+")", u.ID, string(u.Request.Scope), u.By.Type, u.By.ID, token,
			db.Encode(upgradeBody{u.Request, u.Steps}), api.UpgradeRunning, "", "", 0, t.Now, 0, 0, "", 0)
		if err != nil {
			return fmt.Errorf("keep upgrade: %w", err)
		}
		rows := make([][]any, len(targets))
		for i := range targets {
			rows[i] = []any{u.ID, targets[i].Place, targets[i].Agent, targets[i].State, db.Encode(targets[i])}
		}
		return t.Insert(ctx, "agent_upgrade_target (upgrade, place, agent, state, body)", rows, "")
	})
}

// free checks that no other upgrade that goes on has one of some agents.
func free(ctx context.Context, t db.Tx, id string, targets []api.UpgradeTarget) error {
	if t.Postgres() { // two that are added at a time would not see each other
		if err := t.Run(ctx, "LOCK TABLE agent_upgrade IN EXCLUSIVE MODE"); err != nil {
			return err
		}
	}
	agents := make([]string, len(targets))
	for i := range targets {
		agents[i] = targets[i].Agent
	}
	var other, agent string
	err := t.EachOf(ctx, `SELECT upgrade, agent FROM agent_upgrade_target WHERE upgrade <> ? AND upgrade IN
		(SELECT id FROM agent_upgrade WHERE finished_at = 0) AND agent IN (LIST)`, []any{id}, agents,
		func(row db.Row) error { return row.Scan(&other, &agent) })
	if err == nil && other != "" {
		return &db.Refusal{Kind: db.ErrExists, Said: api.Error{
			Code:    api.CodeConflict,
			Message: fmt.Sprintf("upgrade %s has agent %s under way: wait until it is over, or stop it", other, agent),
		}}
	}
	return err
}

const upgradeColumns = "id, scope, by_type, by_id, body, state, message, stopped_by, back, created_at, resumed_at, finished_at"

func scanUpgrade(row db.Row, u *api.Upgrade) error {
	var body upgradeBody
	var scope string
	var back int64
	err := row.Scan(&u.ID, &scope, &u.By.Type, &u.By.ID, db.Decode(&body), &u.State, &u.Message, &u.StoppedBy, &back,
		db.Instant(&u.CreatedAt), db.Instant(&u.ResumedAt), db.Instant(&u.FinishedAt))
	u.Request, u.Steps, u.Back = body.Request, body.Steps, back != 0
	u.Request.Scope = api.Scope(scope)
	return err
}

// counted adds how far an upgrade is.
func counted(ctx context.Context, t db.Tx, u *api.Upgrade) error {
	targets, err := upgradeTargets(ctx, t, u.ID)
	u.Step = u.Steps
	found := false
	for i := range targets {
		u.Counts.Count(targets[i].State)
		if state := targets[i].State; !found && state != api.UpgradeTargetDone && state != api.UpgradeTargetSkipped {
			u.Step, found = targets[i].Step, true
		}
	}
	return err
}

// GetUpgrade reads an upgrade with how far it is.
func (s *Upgrades) GetUpgrade(ctx context.Context, id string) (api.Upgrade, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.Upgrade, error) {
		u, err := db.Only(ctx, t, "SELECT "+upgradeColumns+" FROM agent_upgrade WHERE id = ?", []any{id}, scanUpgrade)
		if err != nil {
			return u, db.Missing(err, "upgrade", id)
		}
		err = counted(ctx, t, &u)
		return u, err
	})
}

// ListUpgrades lists upgrades, the newest first.
func (s *Upgrades) ListUpgrades(ctx context.Context, limit int) ([]api.Upgrade, error) {
	return db.Read(ctx, s.db, func(t db.Tx) ([]api.Upgrade, error) {
		list, err := db.Collect(ctx, t, "SELECT "+upgradeColumns+" FROM agent_upgrade ORDER BY created_at DESC, id DESC LIMIT ?", []any{limit},
			scanUpgrade)
		for i := range list {
			if err == nil {
				err = counted(ctx, t, &list[i])
			}
		}
		return list, err
	})
}

func upgradeTargets(ctx context.Context, t db.Tx, id string) ([]api.UpgradeTarget, error) {
	return db.Collect(ctx, t, "SELECT body FROM agent_upgrade_target WHERE upgrade = ? ORDER BY place", []any{id},
		func(row db.Row, v *api.UpgradeTarget) error { return row.Scan(db.Decode(v)) })
}

// UpgradeTargets reads the agents of an upgrade, in their order.
func (s *Upgrades) UpgradeTargets(ctx context.Context, id string) ([]api.UpgradeTarget, error) {
	return db.Read(ctx, s.db, func(t db.Tx) ([]api.UpgradeTarget, error) { return upgradeTargets(ctx, t, id) })
}

// ClaimUpgrade takes the oldest upgrade for a while that is not over and that no server has, with its token; nil for none.
func (s *Upgrades) ClaimUpgrade(ctx context.Context, holder string, hold time.Duration) (u *api.Upgrade, token string, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		u, token = nil, ""
		query := "SELECT id, token FROM agent_upgrade WHERE finished_at = 0 AND (held_until <= ? OR held_until > ?) " +
			"ORDER BY created_at, id LIMIT 1"
		if t.Postgres() {
			query += " FOR UPDATE SKIP LOCKED"
		}
		var id string
		if err := t.One(ctx, query, []any{now, now + db.LongestPause.Microseconds()}, &id, &token); err != nil {
			if db.IsNotFound(err) {
				return nil
			}
			return err
		}
		err := t.Run(ctx, "UPDATE agent_upgrade SET holder = ?, held_until = ? WHERE id = ?", holder, now+hold.Microseconds(), id)
		if err != nil {
			return err
		}
		found, err := db.Only(ctx, t, "SELECT "+upgradeColumns+" FROM agent_upgrade WHERE id = ?", []any{id}, scanUpgrade)
		if err == nil {
			u = &found
		}
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("claim an upgrade: %w", err)
	}
	return u, token, nil
}

// HoldUpgrade keeps an upgrade that was claimed for a while longer, and reads it again; ErrLost where another server has it.
func (s *Upgrades) HoldUpgrade(ctx context.Context, id, holder string, hold time.Duration) (u *api.Upgrade, err error) {
	err = s.db.Timed(ctx, func(t db.Tx, now int64) error {
		n, err := t.Exec(ctx, "UPDATE agent_upgrade SET held_until = ? WHERE id = ? AND holder = ? AND finished_at = 0",
			now+hold.Microseconds(), id, holder)
		if err != nil {
			return err
		}
		if n == 0 {
			return ErrLost
		}
		found, err := db.Only(ctx, t, "SELECT "+upgradeColumns+" FROM agent_upgrade WHERE id = ?", []any{id}, scanUpgrade)
		u = &found
		return err
	})
	return u, err
}

// held runs a change of an upgrade that a server has.
func (s *Upgrades) held(ctx context.Context, id, holder string, do func(db.Tx) error) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		n, err := t.Exec(ctx, "UPDATE agent_upgrade SET holder = ? WHERE id = ? AND holder = ? AND finished_at = 0", holder, id, holder)
		if err == nil && n == 0 {
			return ErrLost
		}
		if err != nil {
			return err
		}
		return do(t)
	})
}

// KeepUpgrade writes agents of an upgrade, if it is still the holder's.
func (s *Upgrades) KeepUpgrade(ctx context.Context, id, holder string, changed []api.UpgradeTarget) error {
	return s.held(ctx, id, holder, func(t db.Tx) error {
		for i := range changed {
			err := t.Run(ctx, "UPDATE agent_upgrade_target SET state = ?, body = ? WHERE upgrade = ? AND place = ?", changed[i].State,
				db.Encode(changed[i]), id, changed[i].Place)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// EndUpgrade ends an upgrade, if it is still the holder's.
func (s *Upgrades) EndUpgrade(ctx context.Context, id, holder, state, message string) error {
	return s.held(ctx, id, holder, func(t db.Tx) error {
		return t.Run(ctx, "UPDATE agent_upgrade SET state = ?, message = ?, finished_at = ?, held_until = 0 WHERE id = ?", state, message,
			t.Now, id)
	})
}

// ReleaseUpgrade gives an upgrade back, for any server to go on with after a while.
func (s *Upgrades) ReleaseUpgrade(ctx context.Context, id, holder string, after time.Duration) error {
	return s.db.Timed(ctx, func(t db.Tx, now int64) error {
		return t.Run(ctx, "UPDATE agent_upgrade SET held_until = ?, holder = '' WHERE id = ? AND holder = ?",
			now+after.Microseconds(), id, holder)
	})
}

// StopUpgrade notes that an upgrade is to begin nothing more.
func (s *Upgrades) StopUpgrade(ctx context.Context, id, by string) error {
	return s.db.Run(ctx, "UPDATE agent_upgrade SET stopped_by = ? WHERE id = ? AND finished_at = 0 AND stopped_by = ''", by, id)
}

// ResumeUpgrade has an upgrade go on that was stopped or failed. It reports whether there was something to go on with.
func (s *Upgrades) ResumeUpgrade(ctx context.Context, id string) (resumed bool, err error) {
	err = s.db.Write(ctx, func(t db.Tx) error {
		targets, err := upgradeTargets(ctx, t, id)
		if err != nil {
			return err
		}
		if err := free(ctx, t, id, targets); err != nil {
			return err
		}
		n, err := t.Exec(ctx, `UPDATE agent_upgrade SET state = ?, message = '', stopped_by = '', resumed_at = ?, finished_at = 0, held_until = 0,
			holder = '' WHERE id = ? AND state IN (?, ?) AND back = 0
			AND EXISTS (SELECT 1 FROM agent_upgrade_target WHERE upgrade = ? AND state = ?)`, api.UpgradeRunning, t.Now, id,
			api.UpgradeStopped, api.UpgradeFailed, id, api.UpgradeTargetWaiting)
		resumed = n > 0
		return err
	})
	return resumed, err
}

// TakeBackUpgrade has all agents of an upgrade go back to what they ran.
func (s *Upgrades) TakeBackUpgrade(ctx context.Context, id, by string) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		targets, err := upgradeTargets(ctx, t, id)
		if err != nil {
			return err
		}
		if err := free(ctx, t, id, targets); err != nil {
			return err
		}
		return t.Run(ctx, `UPDATE agent_upgrade SET state = ?, message = '', stopped_by = ?, back = 1, finished_at = 0
			WHERE id = ? AND back = 0`, api.UpgradeRunning, by, id)
	})
}

// DropUpgrades forgets upgrades that ended before a time.
func (s *Upgrades) DropUpgrades(ctx context.Context, before time.Time) error {
	return s.db.Run(ctx, "DELETE FROM agent_upgrade WHERE finished_at <> 0 AND finished_at < ?", before)
}

// AddRelease keeps a version of the agent. A statement that names another image for a version that is known is refused.
func (s *Upgrades) AddRelease(ctx context.Context, r api.AgentRelease) error {
	return s.db.Write(ctx, func(t db.Tx) error {
		var digest string
		err := t.One(ctx, "SELECT digest FROM agent_release WHERE version = ?", []any{r.Version}, &digest)
		switch {
		case db.IsNotFound(err):
			err = t.Run(ctx, "INSERT INTO agent_release (version, digest, body, added_at) VALUES (?, ?, ?, ?)", r.Version, r.Digest,
				db.Encode(r), t.Now)
		case err == nil && digest != r.Digest:
			return &db.Refusal{Kind: db.ErrExists, Said: api.Error{
				Code:    api.CodeConflict,
				Message: fmt.Sprintf("version %s has another image already, %s: give this one another version", r.Version, digest),
			}}
		case err == nil: // signed once more, with another key or another minimum
			err = t.Run(ctx, "UPDATE agent_release SET body = ? WHERE version = ?", db.Encode(r), r.Version)
		}
		if db.IsExists(err) {
			return &db.Refusal{Kind: db.ErrExists, Said: api.Error{
				Code: api.CodeConflict, Message: "the image " + r.Digest + " is another version already",
			}}
		}
		return err
	})
}

// Releases lists the versions of the agent, the last added first.
func (s *Upgrades) Releases(ctx context.Context) ([]api.AgentRelease, error) {
	return db.Read(ctx, s.db, func(t db.Tx) ([]api.AgentRelease, error) {
		return db.Collect(ctx, t, "SELECT body, added_at FROM agent_release ORDER BY added_at DESC, version DESC LIMIT 1000", nil,
			func(row db.Row, r *api.AgentRelease) error { return row.Scan(db.Decode(r), db.Instant(&r.AddedAt)) })
	})
}

// settingAgentVersions is the row of api.AgentVersions.
const settingAgentVersions = "agent-versions"

// AgentVersions reads which version agents should run.
func (s *Upgrades) AgentVersions(ctx context.Context) (api.AgentVersions, error) {
	return db.Read(ctx, s.db, func(t db.Tx) (api.AgentVersions, error) { return agentVersions(ctx, t) })
}

func agentVersions(ctx context.Context, t db.Tx) (v api.AgentVersions, err error) {
	var version int64
	err = t.One(ctx, "SELECT value, version FROM setting WHERE id = ?", []any{settingAgentVersions}, db.Decode(&v), &version)
	v.Version = version
	if v.Rules == nil {
		v.Rules = []api.AgentVersionRule{}
	}
	return v, err
}

// SetAgentVersions says which version agents should run. ErrStale where the version is another one than what is kept; 0 is any.
func (s *Upgrades) SetAgentVersions(ctx context.Context, v api.AgentVersions) (api.AgentVersions, error) {
	err := s.db.Write(ctx, func(t db.Tx) error {
		query, args := "UPDATE setting SET value = ?, version = version + 1 WHERE id = ?", []any{db.Encode(v), settingAgentVersions}
		if v.Version != 0 {
			query, args = query+" AND version = ?", append(args, v.Version)
		}
		n, err := t.Exec(ctx, query, args...)
		if err != nil {
			return fmt.Errorf("change the versions of agents: %w", err)
		}
		present, err := agentVersions(ctx, t)
		if err == nil && n == 0 {
			return db.Stale("the versions of agents", "", v.Version, present.Version)
		}
		v = present
		return err
	})
	return v, err
}

package server

import (
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/job"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
	"github.com/slipway-gitops/slipway/internal/server/wave"
	"github.com/slipway-gitops/slipway/internal/statement"
)

// maxReleaseKeys bounds the file of --release-keys.
const maxReleaseKeys = 64 << 10

// releaseKeys reads --release-keys; nothing where there is none.
func (c *Config) releaseKeys() (text string, keys []crypto.PublicKey, err error) {
	if c.ReleaseKeys == "" {
		return "", nil, nil
	}
	info, err := os.Stat(c.ReleaseKeys)
	if err != nil {
		return "", nil, fmt.Errorf("read --release-keys: %w", err)
	}
	if info.Size() > maxReleaseKeys {
		return "", nil, fmt.Errorf("read --release-keys: %s has %d bytes, more than %d", c.ReleaseKeys, info.Size(), maxReleaseKeys)
	}
	raw, err := os.ReadFile(c.ReleaseKeys)
	if err != nil {
		return "", nil, fmt.Errorf("read --release-keys: %w", err)
	}
	if keys, err = statement.ParseKeys(raw); err != nil {
		return "", nil, fmt.Errorf("read --release-keys: %w", err)
	}
	return string(raw), keys, nil
}

// upgrades is the store under the names of the interface, and wakes who runs them.
type upgrades struct {
	*store.Store
	runner *wave.Runner
	keys   []crypto.PublicKey
}

// AddStatement keeps the releases of a signed statement. A server with keys of its own takes only what one of them signed; the
// agents judge it by theirs.
func (u *upgrades) AddStatement(ctx context.Context, raw []byte, by api.Principal) ([]api.AgentRelease, error) {
	read := statement.Read
	if len(u.keys) > 0 {
		read = func(raw []byte) (statement.Statement, error) { return statement.Verify(raw, u.keys) }
	}
	s, err := read(raw)
	if err != nil {
		return nil, &api.Error{Code: api.CodeInvalid, Field: "body.statement", Message: err.Error()}
	}
	for _, r := range s.Releases {
		added := api.AgentRelease{Version: r.Version, Digest: r.Digest, Minimum: r.Minimum, Statement: raw, AddedBy: by}
		if err := u.AddRelease(ctx, added); err != nil {
			return nil, err
		}
	}
	all, err := u.Releases(ctx)
	return slices.DeleteFunc(all, func(r api.AgentRelease) bool {
		_, added := s.Find(r.Digest)
		return !added
	}), err
}

// AddUpgrade keeps an upgrade, and has it begin.
func (u *upgrades) AddUpgrade(ctx context.Context, made api.Upgrade, token string, targets []api.UpgradeTarget) error {
	err := u.Store.AddUpgrade(ctx, made, token, targets)
	if err == nil {
		u.runner.Wake()
	}
	return err
}

// Change stops an upgrade, has it go on, or takes it back.
func (u *upgrades) Change(ctx context.Context, id string, what api.UpgradeChange, by string) error {
	defer u.runner.Wake()
	switch what {
	case api.UpgradeStop:
		return u.StopUpgrade(ctx, id, by)
	case api.UpgradeBack:
		return u.TakeBackUpgrade(ctx, id, by)
	case api.UpgradeResume:
		resumed, err := u.ResumeUpgrade(ctx, id)
		if err == nil && !resumed {
			return api.Errorf(api.CodeConflict, "the upgrade was neither stopped nor failed, or no agent of it waits: start another one")
		}
		return err
	}
	return api.Errorf(api.CodeInvalid, "%.40q is nothing that an upgrade can do", string(what))
}

// newUpgrader runs upgrades of agents.
func (s *Server) newUpgrader() *wave.Runner {
	return wave.New(wave.Config{
		Storage: s.store, Doer: &upgrader{bulk: bulk{
			store: s.store, gateway: s.gateway, policies: &policies{store: s.store}, audit: s.audit, log: s.log, now: s.cfg.Now,
		}},
		Holder: s.member.me.ID, Log: s.log, Now: s.cfg.Now, Lost: func(err error) bool { return errors.Is(err, work.ErrLost) },
		Changed: func(ctx context.Context, u *api.Upgrade) {
			s.events.Publish(ctx, api.Event{
				Type: api.TypeAgent + "." + api.EventChanged, At: s.cfg.Now().UTC(),
				Object: api.Ref{Type: api.TypeAgent, ID: u.ID, Scope: u.Request.Scope},
			})
		},
	})
}

// upgrader looks at agents of upgrades, and gives them their commands.
type upgrader struct{ bulk }

// troubles are why applications count as failed.
func troubles() []string { return []string{"Degraded", "SyncFailed", "SourceError"} }

// Sight implements wave.Doer.
func (u *upgrader) Sight(ctx context.Context, agents []string) (map[string]wave.Sight, error) {
	out := make(map[string]wave.Sight, len(agents))
	every := rbac.Filter{Type: api.TypeApplication, Terms: []rbac.Term{{Scope: api.ScopeAccount, All: true}}}
	for _, id := range agents {
		a, err := u.store.Agents.Get(ctx, id)
		if api.CodeOf(err) == api.CodeNotFound {
			out[id] = wave.Sight{Gone: true}
			continue
		}
		if err != nil {
			return nil, err
		}
		failed, err := u.store.FleetIDs(ctx, every, api.FleetFilter{Agent: id, Attention: troubles()}, api.MaxJobTargets)
		if err != nil {
			return nil, err
		}
		s := wave.Sight{Image: a.Status.Image, Version: a.Status.Version, Failed: len(failed), Cannot: a.Status.NoUpgrade}
		switch a.Status.State {
		case api.AgentConnected:
			s.Connected = true
		case api.AgentDegraded:
			s.Connected, s.Trouble = true, a.Status.Message
			if s.Trouble == "" {
				s.Trouble = "it is degraded"
			}
		}
		out[id] = s
	}
	return out, nil
}

// Do implements wave.Doer.
func (u *upgrader) Do(ctx context.Context, o wave.Order) error {
	timeout := time.Duration(o.Upgrade.Request.Timeout) * time.Second
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	entry := api.AuditEntry{
		At: u.now().UTC(), Actor: o.Upgrade.By, RequestID: o.Upgrade.ID, Reason: o.Upgrade.Request.Reason, Action: "agent.upgrade.apply",
		Outcome: api.OutcomeSucceeded,
	}
	body := agentapi.Upgrade{Digest: o.Target.Digest, Within: o.Upgrade.Request.Timeout, AllowDowngrade: o.Upgrade.Request.AllowDowngrade}
	if o.Target.State == api.UpgradeTargetReturning {
		entry.Action, body = "agent.upgrade.return", agentapi.Upgrade{Back: true, Digest: o.Target.Digest}
	}
	a, err := u.store.Agents.Get(limited, o.Target.Agent)
	if err != nil {
		return err
	}
	entry.Object = api.Ref{Type: api.TypeAgent, ID: a.ID, Scope: a.Scope}
	entry.Message = fmt.Sprintf("asked to run %s (%s) instead of %s", o.Target.Version, o.Target.Digest, o.Target.From)
	if body.Back {
		entry.Message = "asked to run again what it ran before " + o.Target.Version + ": " + o.Target.Message
	}
	// It is written first: of an agent that changes what it runs, the server may never hear an answer.
	if err := u.audit.RecordOnce(limited, "upgrade/"+o.Target.Command, entry); err != nil {
		return fmt.Errorf("record the upgrade of an agent: %w", err)
	}
	err = u.command(limited, o, &a, body, timeout)
	var no *wave.Refusal
	if ctx.Err() != nil || !errors.As(err, &no) {
		return err
	}
	entry.Outcome, entry.Message = api.OutcomeFailed, no.Why
	if fault := u.audit.RecordOnce(limited, "upgrade/"+o.Target.Command+"/refused", entry); fault != nil {
		u.log.Error("audit", "action", entry.Action, "object", entry.Object.ID, "err", fault)
	}
	return err
}

// command gives the agent its command, with the present rights of the user that asked for the upgrade.
func (u *upgrader) command(ctx context.Context, o wave.Order, a *api.Agent, body agentapi.Upgrade, timeout time.Duration) error {
	who, err := u.subject(ctx, job.Work{Job: &api.Job{By: o.Upgrade.By}, Token: o.Token})
	var gone refusal
	if errors.As(err, &gone) {
		return &wave.Refusal{Why: gone.Error()}
	}
	if err != nil {
		return err
	}
	policy, err := u.policies.Policy(ctx)
	if err != nil {
		return err
	}
	object := rbac.Object{Type: api.TypeAgent, Scope: a.Scope, ID: a.ID, Labels: a.Labels}
	// What a person began is taken back whatever became of their rights.
	if can := policy.Can(who, api.PermAgentEdit, object); !can.Allowed && !body.Back {
		return &wave.Refusal{Why: can.Why}
	}
	if !body.Back {
		if body.Statement, err = u.statement(ctx, o.Target.Digest); err != nil {
			return err
		}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("write command: %w", err)
	}
	result, err := u.gateway.Commands.Do(ctx, a.UID, agentapi.Command{
		ID: o.Target.Command, Kind: agentapi.KindUpgrade, User: o.Upgrade.By.Type + ":" + o.Upgrade.By.ID, Groups: who.Groups,
		Reason: o.Upgrade.Request.Reason, Origin: o.Upgrade.ID, Body: raw, Issued: u.now().UTC(), Deadline: u.now().Add(timeout).UTC(),
	})
	return u.judge(result, err)
}

// judge says what came of a command. An agent that ended in the middle may have done it: what it runs says more.
func (u *upgrader) judge(result agentapi.Result, err error) error {
	var said *agentapi.Error
	switch {
	case errors.As(err, &said):
		return &wave.Refusal{Why: said.Message}
	case err != nil:
		return err
	case result.Status == agentapi.StatusRefused, result.Status == agentapi.StatusFailed && result.Code != agentapi.CodeInterrupted:
		return &wave.Refusal{Why: result.Message}
	}
	return nil
}

// statement is what names an image.
func (u *upgrader) statement(ctx context.Context, digest string) ([]byte, error) {
	all, err := u.store.Releases(ctx)
	for _, r := range all {
		if r.Digest == digest {
			return r.Statement, nil
		}
	}
	if err == nil {
		err = &wave.Refusal{Why: "the release with the image " + digest + " is gone"}
	}
	return nil, err
}

package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/dora"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/job"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/work"
	"github.com/slipway-gitops/slipway/internal/strict"
)

const (
	// followEvery is how often an operation of a job is looked at until it is over.
	followEvery = time.Second
	// jobCommandTime is how long an agent that is not connected may come back and begin.
	jobCommandTime = 5 * time.Minute
	// lastLook is how long an application is looked at at least whose time is over when a server gets it.
	lastLook = 15 * time.Second
	// requestInfo is the name under which an operation has the id of its request, see api.OperationAnswer.
	requestInfo = "slipway-request"
)

// fleet is the store under the names of the interface.
type fleet struct {
	*store.Store
	now func() time.Time
}

// DORA measures the deliveries of a time.
func (f *fleet) DORA(ctx context.Context, visible rbac.Filter, filter api.DORAFilter) (api.DORAReport, error) {
	list, err := f.ListDeliveries(ctx, visible, filter.LedgerFilter, dora.Lookback)
	if err != nil {
		return api.DORAReport{}, err
	}
	return dora.Report(list, filter.From, filter.To, f.now(), filter.Group, filter.Week), nil
}

// ServiceLevels says how long the deliveries of a time took.
func (f *fleet) ServiceLevels(ctx context.Context, visible rbac.Filter, filter api.LedgerFilter) (api.ServiceLevels, error) {
	list, err := f.ListDeliveries(ctx, visible, filter, dora.Lookback)
	if err != nil {
		return api.ServiceLevels{}, err
	}
	return dora.Levels(list, filter.From, filter.To, f.now()), nil
}

// jobs is the store under the names of the interface, and wakes who runs them.
type jobs struct {
	*store.Store
	runner *job.Runner
}

// AddJob keeps a job, and has it begin.
func (j *jobs) AddJob(ctx context.Context, made api.Job, token string, applications []string) error {
	err := j.Store.AddJob(ctx, made, token, applications)
	if err == nil {
		j.runner.Wake()
	}
	return err
}

// StopBulk has a job begin nothing more: immediately if this server runs it, otherwise when that one looks next.
func (j *jobs) StopBulk(ctx context.Context, id, by string) (bool, error) {
	was, err := j.Store.StopBulk(ctx, id, by)
	if was {
		j.runner.Stop(id, by)
	}
	return was, err
}

// newRunner runs the jobs that people ask for.
func (s *Server) newRunner() *job.Runner {
	doer := &bulk{
		store: s.store, gateway: s.gateway, policies: &policies{store: s.store}, audit: s.audit, log: s.log, now: s.cfg.Now,
	}
	return job.New(job.Config{
		Storage: s.store, Doer: counted{doer, s.metrics.worked}, Holder: s.member.me.ID, Log: s.log, Now: s.cfg.Now,
		Lost: func(err error) bool { return errors.Is(err, work.ErrLost) },
		Changed: func(ctx context.Context, j api.Job) {
			data, err := json.Marshal(j)
			if err != nil {
				data = nil // of plain values: it cannot
			}
			s.events.Publish(ctx, api.Event{
				Type: api.TypeJob + "." + api.EventChanged, At: s.cfg.Now().UTC(), Data: data,
				Object: api.Ref{Type: api.TypeJob, ID: j.ID, Scope: api.ScopeAccount},
			})
		},
	})
}

// bulk does what a job wants with one application.
type bulk struct {
	store    *store.Store
	gateway  *gateway.Gateway
	policies *policies
	audit    *audit.Recorder
	log      *slog.Logger
	now      func() time.Time
}

// refusal says why an application is left alone.
type refusal struct{ error }

// errUnanswered says that the agent of an application had not answered when its time was over.
var errUnanswered = errors.New("the agent did not answer")

// Do does it, and follows the operation until it is over.
func (b *bulk) Do(ctx context.Context, w job.Work) (state, message string, err error) {
	seconds := w.Job.Request.Timeout
	if seconds <= 0 {
		seconds = api.DefaultJobTimeout
	}
	// Whichever server has it, an application has as long as was asked for; one whose time ran out while no server had the job
	// is still checked, for it may have ended long ago.
	whole := time.Duration(seconds) * time.Second
	limited, cancel := context.WithTimeout(ctx, max(w.Target.StartedAt.Add(whole).Sub(b.now()), min(whole, lastLook)))
	defer cancel()
	message, err = b.do(limited, w)
	var no refusal
	switch {
	case err == nil:
		state = api.TargetDone
	case ctx.Err() != nil:
		return "", "", ctx.Err() // another server goes on with it
	case errors.As(err, &no):
		state, message = api.TargetRefused, no.Error()
	case errors.Is(err, errUnanswered):
		state, message = api.TargetFailed, fmt.Sprintf("%s within %s: see whether it is connected; it may still do it when it is back, until %s",
			err, whole,
			w.Target.StartedAt.Add(jobCommandTime).UTC().Format(time.RFC3339))
	case limited.Err() != nil:
		state, message = api.TargetFailed, fmt.Sprintf("it was not over after %s: see the application, the agent goes on with it", whole)
	case unable(err):
		return "", "", err
	default:
		state, message = api.TargetFailed, err.Error()
	}
	return state, message, nil
}

// unable reports whether it is this server that cannot go on, for a fault of its own or of the database.
func unable(err error) bool {
	return errors.Is(err, db.ErrAway) || api.CodeOf(err) == api.CodeInternal
}

func (b *bulk) do(ctx context.Context, w job.Work) (string, error) {
	request := w.Target.Request
	var answer api.OperationAnswer
	if request == "" {
		result, err := b.command(ctx, w)
		if errors.Is(ctx.Err(), context.DeadlineExceeded) && err != nil {
			return "", errUnanswered
		}
		if err != nil {
			return "", err
		}
		if err := strict.Decode(result, &answer, strict.Foreign); err != nil {
			return "", nil //nolint:nilerr // an agent of another version, which did it anyway
		}
		if answer.Request == "" {
			if w.Job.Request.Action == api.JobRollback && answer.Changed { // it has auto-sync, and goes there automatically
				return b.arrive(ctx, w.Target.Application, &answer)
			}
			return answer.Message, nil // a refresh has nothing to follow, nor has what is as wanted already
		}
		if err := w.Began(answer.Request); err != nil {
			return "", err
		}
		request = answer.Request
	}
	return b.follow(ctx, w.Target.Application, request, answer.Version)
}

// permission is what an action takes.
func jobPermission(action string) api.Permission {
	if action == api.JobSync || action == api.JobRollback {
		return api.PermApplicationSync
	}
	return api.PermApplicationView
}

// jobCommand is the command of an action.
func jobCommand(r *api.JobRequest) (agentapi.Kind, any) {
	switch r.Action {
	case api.JobSync:
		var body api.SyncRequest
		if r.Sync != nil {
			body = *r.Sync
		}
		body.Reason = r.Reason
		return agentapi.KindSync, body
	case api.JobRollback:
		var body api.RollbackRequest
		if r.Rollback != nil {
			body = *r.Rollback
		}
		body.Reason = r.Reason
		return agentapi.KindRollback, body
	}
	return agentapi.KindRefresh, api.RefreshRequest{Hard: r.Action == api.JobHardRefresh, Reason: r.Reason}
}

// notThere says the same of an application that is gone and of one that may not be seen.
func notThere() error {
	return refusal{errors.New("there is no such application any more, or you may not see it")}
}

// command asks the agent, if the user of the job may do it now.
func (b *bulk) command(ctx context.Context, w job.Work) (json.RawMessage, error) {
	agent, namespace, name, err := api.ParseItemID(w.Target.Application)
	if err != nil {
		return nil, refusal{err}
	}
	app, err := b.store.GetApplication(ctx, agent, namespace, name)
	if err != nil {
		if api.CodeOf(err) == api.CodeNotFound {
			return nil, notThere()
		}
		return nil, err
	}
	who, err := b.subject(ctx, w)
	if err != nil {
		return nil, err
	}
	kind, body := jobCommand(&w.Job.Request)
	object := api.Ref{Type: api.TypeApplication, ID: w.Target.Application, Scope: app.Scope}
	entry := api.AuditEntry{
		At: b.now().UTC(), Actor: w.Job.By, RequestID: w.Job.ID, Action: string(kind), Object: object, Reason: w.Job.Request.Reason,
		Outcome: api.OutcomeSucceeded,
	}
	policy, err := b.policies.Policy(ctx)
	if err != nil {
		return nil, err
	}
	thing := rbac.Object{Type: api.TypeApplication, Scope: app.Scope, ID: app.ID, Labels: app.Labels}
	if can := policy.Can(who, jobPermission(w.Job.Request.Action), thing); !can.Allowed {
		entry.Outcome, entry.Message = api.OutcomeDenied, can.Why
		if err := b.note(ctx, w, entry); err != nil {
			return nil, err // not a refusal: it is reported again, with its entry
		}
		if !policy.Can(who, api.PermApplicationView, thing).Allowed {
			return nil, notThere()
		}
		return nil, refusal{errors.New(can.Why)}
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write command: %w", err)
	}
	uid, err := b.store.AgentUID(ctx, agent)
	if err != nil {
		if unable(err) {
			return nil, err
		}
		return nil, refusal{err}
	}
	result, err := b.gateway.Commands.Do(ctx, uid, agentapi.Command{
		ID: w.Command, Kind: kind, User: w.Job.By.Type + ":" + w.Job.By.ID, Groups: who.Groups, Reason: w.Job.Request.Reason, Origin: w.Job.ID,
		Traceparent: w.Job.Traceparent,
		Target:      agentapi.Target{Kind: agentapi.ItemApplication, Namespace: namespace, Name: name},
		Judged:      &agentapi.JudgedProject{There: app.ArgoProject},
		Body:        raw, Issued: b.now().UTC(), Deadline: b.now().Add(jobCommandTime).UTC(),
	})
	if err != nil {
		err = readable(err)
	} else {
		err = refused(result)
	}
	return result.Body, b.answered(ctx, w, entry, err)
}

// answered writes what came of a command into the audit, and returns what to go on with. The agent does a command once and
// its result is kept, so where this server cannot go on the next one gets the same answer, and writes it.
func (b *bulk) answered(ctx context.Context, w job.Work, entry api.AuditEntry, err error) error {
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	switch {
	case err == nil:
	case late:
		entry.Outcome, entry.Message = api.OutcomeFailed, "the agent did not answer in time"
	case ctx.Err() != nil, unable(err):
		return err
	case api.CodeOf(err) == api.CodeForbidden:
		entry.Outcome, entry.Message = api.OutcomeDenied, err.Error()
	default:
		entry.Outcome, entry.Message = api.OutcomeFailed, err.Error()
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), auditTime)
	defer cancel()
	fault := b.note(ctx, w, entry)
	if fault == nil {
		return err
	}
	if late { // its time is over: it is not looked at again
		b.log.Error("audit", "action", entry.Action, "object", entry.Object.ID, "err", fault)
		return err
	}
	return fault
}

// note writes the entry of the audit of an application, once, whichever server does it.
func (b *bulk) note(ctx context.Context, w job.Work, entry api.AuditEntry) error {
	if err := b.audit.RecordOnce(ctx, "job/"+w.Command, entry); err != nil {
		return fmt.Errorf("record what a job does: %w", err)
	}
	return nil
}

// subject is the user of the job, with their present rights. A token that is gone takes its jobs along.
func (b *bulk) subject(ctx context.Context, w job.Work) (rbac.Subject, error) {
	by := w.Job.By
	gone := func(err error) error {
		if api.CodeOf(err) == api.CodeNotFound {
			return refusal{fmt.Errorf("%s %s, the author of this request, is gone", by.Type, by.ID)}
		}
		return err
	}
	var out rbac.Subject
	disabled := false
	switch by.Type {
	case api.PrincipalUser:
		user, err := b.store.AuthUser(ctx, by.ID)
		if err != nil {
			return out, gone(err)
		}
		disabled = user.Disabled
		out = rbac.Subject{UserID: by.ID, Groups: user.Groups}
	case api.PrincipalServiceAccount:
		account, groups, err := b.store.AuthServiceAccount(ctx, by.ID)
		if err != nil {
			return out, gone(err)
		}
		disabled = account.Disabled
		out = rbac.Subject{ServiceAccountID: by.ID, Groups: groups}
	default:
		return out, refusal{fmt.Errorf("a %s cannot have jobs", by.Type)}
	}
	if disabled {
		return out, refusal{fmt.Errorf("%s %s, the author of this request, is disabled", by.Type, by.ID)}
	}
	if w.Token == "" {
		return out, nil
	}
	token, err := b.store.GetToken(ctx, w.Token)
	if api.CodeOf(err) == api.CodeNotFound || err == nil && !token.ExpiresAt.IsZero() && !b.now().Before(token.ExpiresAt) {
		return out, refusal{errors.New("the token that this was asked for with is gone or has expired")}
	}
	out.Ceiling = authn.CeilingOf(token)
	return out, err
}

package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
)

const (
	// tidyEvery is how often what expired is removed, settleEvery how often commands are looked for that are overdue and
	// that no server has a timer for.
	tidyEvery, settleEvery = 5 * time.Minute, 30 * time.Second
	// jobRemoval names the job that removes what is older than its time.
	jobRemoval = "removal"
	// longAway is for how long no server may have looked before its clock is doubted, and doubted how long people have then to
	// correct it. What is removed does not come back, and a clock that is a year ahead makes all of it old.
	longAway, doubted = 14 * 24 * time.Hour, 24 * time.Hour
)

// later is the error of a job that is to be done after a while, in place of its usual one.
type later struct {
	after time.Duration
	why   string
}

// Error implements error.
func (l later) Error() string { return l.why }

// tidyOnce removes what expired.
func (s *Server) tidyOnce(ctx context.Context) error { return s.authn.Clean(ctx) }

// removeOnce removes what is older than the time that the settings give it. It waits for a day first where the database does not
// say when the last removal was, as at the first start, and where that was long ago or the clock says so. A clock that is ahead
// by less than that is not noticed: what is removed is then younger by as much.
func (s *Server) removeOnce(ctx context.Context) error {
	due, err := s.store.JobDue(ctx, jobRemoval)
	if err != nil {
		return err
	}
	if due.IsZero() {
		return later{
			doubted, fmt.Sprintf("when the last cleanup was is not known, so nothing is removed for %s; correct the clock if it is wrong", doubted),
		}
	}
	if late := s.cfg.Now().Sub(due); late > longAway {
		return later{doubted, fmt.Sprintf("the last cleanup was due %d days ago, or the clock is ahead: nothing is removed for %s; "+
			"correct the clock if it is wrong", int(late.Hours()/24), doubted)}
	}
	settings, err := s.store.Settings(ctx)
	if err != nil {
		return err
	}
	var errs []error
	if days := settings.AuditRetentionDays; days > 0 {
		_, err := s.audit.Prune(ctx, audit.Retention{For: time.Duration(days) * 24 * time.Hour})
		errs = append(errs, err)
	}
	if days := settings.CommandRetentionDays; days > 0 {
		before := s.cfg.Now().Add(-time.Duration(days) * 24 * time.Hour)
		_, err := s.store.DropCommands(ctx, before)
		errs = append(errs, err, s.store.DropJobs(ctx, before))
	}
	errs = append(errs, s.pruneLedger(ctx, settings), s.dropNotifications(ctx))
	return errors.Join(errs...)
}

// publish notifies watchers.
func (s *Server) publish(ctx context.Context, e api.Event) { s.events.Publish(ctx, e) }

// notify publishes what agents changed.
func (s *Server) notify(c gateway.Change) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if c.Heard || len(c.Items) == 0 && !c.Agent {
		return
	}
	id, labels, scope := s.agentOf(ctx, c.UID)
	if id == "" {
		return
	}
	if c.Agent {
		s.events.Publish(ctx, api.Event{
			Type: api.TypeAgent + "." + api.EventChanged, Object: api.Ref{Type: api.TypeAgent, ID: id, Scope: scope}, Labels: labels,
		})
	}
	if what := map[gateway.Turn]string{gateway.TurnAway: api.EventAway, gateway.TurnBack: api.EventBack}[c.Turn]; what != "" {
		// Without labels: it is also for those who see applications of the agent, and not the agent.
		s.events.Publish(ctx, api.Event{Type: api.TypeAgent + "." + what, Object: api.Ref{Type: api.TypeAgent, ID: id, Scope: scope}})
	}
	for _, item := range c.Items {
		what := api.EventChanged
		if item.Removed {
			what = api.EventDeleted
		}
		kind := string(item.Key.Kind)
		s.events.Publish(ctx, api.Event{
			Type: kind + "." + what, Labels: item.Labels, Traceparent: item.Traceparent,
			Object: api.Ref{Type: kind, ID: api.ItemID(id, item.Key.Namespace, item.Key.Name), Scope: api.Scope(item.Scope)},
		})
	}
}

// agentOf finds the id of an agent, and its scope.
func (s *Server) agentOf(ctx context.Context, uid string) (string, map[string]string, api.Scope) {
	known, err := s.store.AgentByUID(ctx, uid)
	if err != nil {
		return "", nil, ""
	}
	a, err := s.store.Agents.Get(ctx, known.ID)
	if err != nil {
		return "", nil, ""
	}
	return a.ID, a.Labels, a.Scope
}

// agentCA is what agents need to trust the server: its own certificate, if it is self-signed.
func (s *Server) agentCA() (string, error) {
	if !s.cfg.SelfSigned {
		return "", nil
	}
	raw, err := os.ReadFile(s.cfg.TLSCert)
	if err != nil {
		return "", fmt.Errorf("read certificate: %w", err)
	}
	return string(raw), nil
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// longestAway is how long an operation waits at most until it tries an API server again that was away.
const longestAway = 10 * time.Second

// away reports whether an API server could not be reached, or was gone before it answered: then it is not known whether
// the request was carried out, which is no failure of what was asked. A server that hangs is none of these.
func away(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) {
		return false
	}
	var dial *net.OpError
	if errors.As(err, &dial) && dial.Op == "dial" {
		return true
	}
	var request *url.Error
	return errors.As(err, &request) && !request.Timeout() || errors.Is(err, io.ErrUnexpectedEOF)
}

// awaitServer has an operation wait for an API server that is away. What is not known to be done is looked at again, and
// done then.
func (r *run) awaitServer(u *underway, err error) plan.Move {
	u.away++
	m := r.again(u, fmt.Sprintf("the cluster does not answer, the operation goes on when it does: %v", err))
	r.wakeIn(min(longestAway, confirmPause<<min(u.away-1, 4)))
	return m
}

// record notes what came of tasks. An API server that was away before it answered is an error: what it may have done, or
// not, is not noted, so that its turn comes again.
func (r *run) record(
	op *plan.Operation, u *underway, m plan.Move, d decide.Decision, place map[plan.ID]plan.Task, original map[object.Key]diff.Change, outcomes []apply.Outcome,
) (unanswered error) {
	for _, out := range outcomes {
		if away(out.Err) {
			unanswered = out.Err
			continue
		}
		t := place[plan.ID{Key: out.Change.Key, Phase: out.Change.Phase}]
		if m.Verb == plan.Try && out.Err == nil && !d.DryRun {
			continue
		}
		op.Record(t, stateOf(t, out))
		if m.Verb == plan.Try {
			continue
		}
		r.didTask(u, t, out.Err)
		if rec, ok, _ := r.target.Live.Get(t.Key); ok && out.Err == nil {
			u.written[t.ID()] = written{version: rec.Version, at: r.engine.Now()}
		}
		if out.Err == nil && t.Deletes() {
			r.pruned[t.Key] = true
			u.pruned = append(u.pruned, plan.Task{Change: original[t.Key], Last: t.Last})
		}
	}
	return unanswered
}

func stateOf(t plan.Task, out apply.Outcome) plan.State {
	out.Message = clip(out.Message)
	switch {
	case out.Err != nil:
		return plan.State{Code: v1alpha1.ResultSyncFailed, Phase: v1alpha1.OperationFailed, Message: out.Message}
	case t.Deletes():
		return plan.State{Code: v1alpha1.ResultPruned, Phase: v1alpha1.OperationSucceeded, Message: out.Message}
	}
	return plan.State{Code: v1alpha1.ResultSynced, Phase: v1alpha1.OperationRunning, Message: out.Message}
}

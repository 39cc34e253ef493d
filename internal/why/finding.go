package why

import (
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cause"
)

// found is the finding about one of some objects of the Application; nil where there is none.
func (t *teller) found(objects ...api.ObjectName) *api.Finding {
	for i := range t.Findings {
		if f := &t.Findings[i]; slices.Contains(objects, f.Of) && !t.used[f.Of] {
			return f
		}
	}
	return nil
}

// blame makes a finding about one of its objects the first thing that a reason says. The earlier text of the reason follows.
func (t *teller) blame(r Reason) Reason {
	f := t.found(r.Objects...)
	if f == nil {
		return r
	}
	t.used[f.Of] = true
	return blamed(r, f)
}

func blamed(r Reason, f *api.Finding) Reason {
	r.Why = strings.TrimSuffix(r.What+": "+r.Why, ": ")
	r.What, r.Finding = f.What, f
	if f.Next != "" {
		r.Next = f.Next + "; " + r.Next
	}
	if !f.Since.IsZero() {
		r.Since = f.Since
	}
	return r
}

// refused blames the message with which the API server refused the first object of an operation, where it says why.
func (t *teller) refused(r Reason, op *v1alpha1.OperationState) Reason {
	if r.Finding != nil || op.SyncResult == nil {
		return r
	}
	for _, o := range op.SyncResult.Resources {
		if o.Status != v1alpha1.ResultSyncFailed || o.Message == "" {
			continue
		}
		d := cause.Refusal(o.Message)
		if d.Code == cause.Refused && d.What == o.Message {
			return r // its words are in the message of the operation
		}
		name := api.ObjectName{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}
		f := cause.Denied(name, d, o.Message)
		return blamed(r, &f)
	}
	return r
}

// failing reports findings about objects whose health is good, or that no reason above is about.
func (t *teller) failing() {
	for i := range t.Findings {
		f := &t.Findings[i]
		if f.Minor || t.used[f.Of] {
			continue
		}
		t.used[f.Of] = true
		t.add("", Reason{
			Code: Failing, What: f.What, Why: fmt.Sprintf("%s is healthy, and does not do what it is for",
				objectText(f.Of.Group, f.Of.Kind, f.Of.Namespace, f.Of.Name)),
			Since: f.Since, Next: f.Next, Finding: f, Objects: []api.ObjectName{f.Of}, Actions: t.back(),
		})
	}
}

// order puts what fails in the cluster before what follows from it, or is only a choice of its owner. What keeps Git from being
// read, or waits for a person, stays in front.
func (t *teller) order() {
	rank := func(r Reason) int {
		switch r.Code {
		case NotFound, Deleting, Skipped, Unseen, Denied, CannotFetch, Unverified, CannotRender, CannotCompare, HeldByGuard, HeldByWindow, Held,
			WaitingForConfirm, Terminating:
			return 0
		}
		if r.Finding != nil && !r.Finding.Minor {
			return 1
		}
		return 2
	}
	if slices.ContainsFunc(t.reasons, func(r Reason) bool { return r.Finding != nil && !r.Finding.Minor }) {
		slices.SortStableFunc(t.reasons, func(a, b Reason) int { return rank(a) - rank(b) })
	}
}

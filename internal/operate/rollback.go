package operate

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// minRevision is how many characters of a revision must be given to distinguish it from others.
const minRevision = 7

// CheckRollback finds what makes no sense in a request, before anything is asked of a cluster.
func CheckRollback(req api.RollbackRequest) error {
	switch {
	case req.ID != nil && req.Revision != "":
		return faultf(Invalid, "give an id or a revision, not both")
	case req.ID != nil && *req.ID < 0:
		return faultf(Invalid, "%d is no id of a deployment: they count from 0", *req.ID)
	case req.Revision != "" && len(req.Revision) < minRevision:
		return faultf(Invalid, "revision %s is too short; give at least %d characters", req.Revision, minRevision)
	}
	return checkReason(req.Reason)
}

// RollbackInfo marks an operation that goes back to an earlier deployment.
const RollbackInfo = v1alpha1.InfoRollback

// Rollback pins an Application to an earlier deployment. One with auto-sync goes there automatically; any other one is
// asked to.
func Rollback(app *v1alpha1.Application, req api.RollbackRequest, who Who, now time.Time) (Change, error) {
	if err := CheckRollback(req); err != nil {
		return Change{}, err
	}
	pin, err := newPin(app, &req, who, now)
	if err != nil {
		return Change{}, err
	}
	verb := "going back to"
	if req.DryRun {
		verb = "would go back to"
	}
	c := nothing("%s deployment %d, %s; the present revision in Git (%s) is in quarantine", verb, pin.ID,
		Revisions(pin.Revisions), Revisions(pin.Quarantine.Revisions))
	c.Pin = pin
	c.Answer.Deployment, c.Answer.Revisions, c.Answer.Quarantine = new(pin.ID), pin.Revisions, pin.Quarantine.Revisions
	if req.DryRun {
		return c, nil
	}
	text, err := mark.Write(v1alpha1.AnnotationRollback, pin)
	if err != nil {
		return Change{}, err
	}
	patch := annotate(app, map[string]any{v1alpha1.AnnotationRollback: text})
	if app.Spec.SyncPolicy.AutomatedEnabled() {
		return c.with(patch), nil
	}
	if err := mayOperate(app); err != nil {
		return Change{}, err
	}
	sync := &v1alpha1.SyncOperation{Prune: true}
	if app.Spec.MultipleSources() {
		sync.Sources, sync.Revisions = pin.Sources, pin.Revisions
	} else {
		sync.Source, sync.Revision = &pin.Sources[0], pin.Revisions[0]
	}
	c.Operation = newOperation(app, sync, who, pin.Reason)
	c.Operation.Info = append(c.Operation.Info, v1alpha1.Info{Name: RollbackInfo, Value: v1alpha1.OptionTrue})
	return c.with(patch), nil
}

// newPin makes the pin to the deployment that a request chooses.
func newPin(app *v1alpha1.Application, req *api.RollbackRequest, who Who, now time.Time) (*v1alpha1.Pin, error) {
	had, err := mark.ReadPin(app)
	if err != nil {
		return nil, err
	}
	entry, err := choose(app, req, had)
	if err != nil {
		return nil, err
	}
	p := &v1alpha1.Pin{ID: entry.ID, By: who.Name, Request: who.ID, Reason: req.Reason, At: stamp(now)}
	p.Sources, p.Revisions = Deployed(entry)
	if len(p.Revisions) == 0 || len(p.Revisions) != len(p.Sources) || slices.Contains(p.Revisions, "") {
		return nil, faultf(Conflict, "deployment %d of application %s does not record its revisions; "+
			"choose another one of `slipway app history %s`",
			entry.ID, app.Name, app.Name)
	}
	p.Quarantine.Revisions = revisionsOf(app.Status.Sync.Revision, app.Status.Sync.Revisions)
	if had != nil {
		// While it is pinned, its status speaks of the pin.
		p.Quarantine = had.Quarantine
	}
	switch {
	case len(p.Quarantine.Revisions) == 0:
		return nil, faultf(Conflict, "the present revision in Git is not known, so nothing could be put into quarantine; "+
			"`slipway app refresh %s` reads it, or shows why it cannot", app.Name)
	case slices.Equal(p.Quarantine.Revisions, p.Revisions) && sameSources(p.Sources, app.Spec.EffectiveSources()):
		return nil, faultf(Conflict, "deployment %d of application %s is the present revision in Git; "+
			"choose another one of `slipway app history %s`",
			entry.ID, app.Name, app.Name)
	}
	return p, nil
}

// choose finds the deployment to go back to: the one that is named, or the newest that is not the present one.
func choose(app *v1alpha1.Application, req *api.RollbackRequest, had *v1alpha1.Pin) (*v1alpha1.RevisionHistory, error) {
	history := app.Status.History
	if req.ID != nil || req.Revision != "" {
		for i := len(history) - 1; i >= 0; i-- {
			_, at := Deployed(&history[i])
			if req.ID != nil && *req.ID == history[i].ID ||
				req.Revision != "" && slices.ContainsFunc(at, func(r string) bool { return strings.HasPrefix(r, req.Revision) }) {
				return &history[i], nil
			}
		}
		what := "deployment of " + req.Revision
		if req.ID != nil {
			what = "deployment " + strconv.FormatInt(*req.ID, 10)
		}
		return nil, faultf(Missing, "application %s has no %s; `slipway app history %s` lists those that it has", app.Name, what, app.Name)
	}
	// What was tried last is what the user wants to leave, whether it came to a deployment or not.
	var sources []v1alpha1.ApplicationSource
	var at []string
	if op := app.Status.OperationState; op != nil && op.SyncResult != nil && Whole(op.Operation.Sync) {
		at = revisionsOf(op.SyncResult.Revision, op.SyncResult.Revisions)
		if sources = op.SyncResult.Sources; len(sources) == 0 {
			sources = []v1alpha1.ApplicationSource{op.SyncResult.Source}
		}
	}
	if len(at) == 0 && len(history) > 0 {
		sources, at = Deployed(&history[len(history)-1])
	}
	before, says := int64(-1), revisionsOf(app.Status.Sync.Revision, app.Status.Sync.Revisions)
	if had != nil {
		before, at, sources, says = had.ID, had.Revisions, had.Sources, had.Quarantine.Revisions
	}
	for i := len(history) - 1; i >= 0; i-- {
		from, then := Deployed(&history[i])
		same := slices.Equal(then, at) && sameSources(from, sources)
		inGit := slices.Equal(then, says) && sameSources(from, app.Spec.EffectiveSources())
		if (before < 0 || history[i].ID < before) && !same && !inGit {
			return &history[i], nil
		}
	}
	return nil, faultf(Missing, "application %s has no earlier deployment to go back to; `slipway app history %s` lists those that it has",
		app.Name, app.Name)
}

// Whole reports whether an operation was a deployment: of everything, from Git, and in earnest.
func Whole(op *v1alpha1.SyncOperation) bool {
	return op == nil || len(op.Resources) == 0 && len(op.Manifests) == 0 && !op.DryRun
}

// Deployed returns what a deployment was made of.
func Deployed(h *v1alpha1.RevisionHistory) ([]v1alpha1.ApplicationSource, []string) {
	if len(h.Sources) > 0 {
		return h.Sources, h.Revisions
	}
	return []v1alpha1.ApplicationSource{h.Source}, revisionsOf(h.Revision, h.Revisions)
}

func revisionsOf(one string, several []string) []string {
	if len(several) == 0 && one != "" {
		return []string{one}
	}
	return several
}

// sameSources compares sources by their content.
func sameSources(a, b []v1alpha1.ApplicationSource) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Revisions prints revisions as people read them.
func Revisions(several []string) string {
	short := make([]string, len(several))
	for i, r := range several {
		short[i] = legible.Revision(r, 10)
	}
	return strings.Join(short, ",")
}

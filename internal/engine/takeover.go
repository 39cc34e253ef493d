package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/prepare"
)

// takeover is an object that others have written and whose content is as wanted. Only the owners of its fields change: it is
// no sync, so no hook runs, nothing is replaced, and the history has no entry.
type takeover struct {
	*apply.Takeover
	key  object.Key
	hash uint64
}

const (
	// takeoversAtATime bounds the takeovers of one Application that are under way; the limiter of the client goes before.
	takeoversAtATime = 16
	// takeoverPause is how long an object that was changed during its takeover is left alone.
	takeoverPause = time.Second
)

// settleOwners compares an object that others have written by its content alone, and notes that it is to be taken over
// where that is equal.
func (c *comparison) settleOwners(
	ctx context.Context, w wantedObject, rec live.Record, res live.Resource, now map[string]any, m object.Manifest, how apply.How,
) (bool, error) {
	if m.Version != res.Version {
		var err error
		if now, err = c.readAs(ctx, m); apierrors.IsNotFound(err) {
			return false, nil // it was deleted since: the watch will report it
		} else if err != nil {
			return false, fmt.Errorf("compare %s: %w", w.key, err)
		}
	}
	over, err := c.takeoverOf(ctx, rec, res, now, m, how)
	if over == nil || err != nil {
		return false, err
	}
	c.takeovers = append(c.takeovers, takeover{Takeover: over, key: w.key, hash: w.hash})
	return true, nil
}

// takeoverOf returns how an object changes hands whose content is as wanted; nil where it is not, or not the Application's
// yet. Ignored fields keep their live values.
func (r *rendering) takeoverOf(
	ctx context.Context, rec live.Record, res live.Resource, now map[string]any, m object.Manifest, how apply.How,
) (*apply.Takeover, error) {
	if rec.App != r.instance && (rec.App != "" || !prepare.IsDefinition(m.Key)) {
		return nil, nil //nolint:nilnil // it would be marked, which is another change
	}
	m, err := r.lean(m, now)
	if err != nil {
		return nil, err
	}
	if m, err = r.keep(m, now, how); err != nil {
		return nil, err
	}
	then, over, err := r.target.Foretell(ctx, res, now, m, how)
	if apply.Retriable(err) {
		return nil, fmt.Errorf("compare %s: %s", m.Key, apply.Explain(m.Key, err)) // no answer is no difference
	}
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // what is refused differs; the sync says why
	}
	rules := r.ignore.For(m.Key).Of(now)
	if len(diff.FieldChanges(rules.Strip(diff.Declared(now)), rules.Strip(diff.Declared(then)))) > 0 {
		return nil, nil //nolint:nilnil // it differs
	}
	return over, nil
}

// unmarked is an object without a mark that was found to be as wanted, as long as it and its manifest are the same.
type unmarked struct {
	version, hash, rules uint64
	health               health.Result
	assessed             bool
}

// settleUnmarked compares a definition that has no mark, at a version that is known of it, by its content. It is marked when it
// is written the next time.
func (c *comparison) settleUnmarked(ctx context.Context, w wantedObject, version uint64, s *state) (bool, error) {
	one := unmarked{version: version, hash: w.hash, rules: c.ignore.For(w.key).ID()}
	known, ok := c.kept.unmarked[w.key]
	one.health, one.assessed = known.health, known.assessed
	if ok && known == one && !c.req.Hard {
		s.health, s.assessed = known.health, known.assessed
		return true, nil
	}
	if err := c.load(ctx); err != nil {
		return false, err
	}
	have, err := c.readAs(ctx, c.manifests[w.key])
	if apierrors.IsNotFound(err) {
		return false, nil // it was deleted since: the watch will report it
	}
	if err != nil {
		return false, fmt.Errorf("compare %s: %w", w.key, err)
	}
	one.health, one.assessed = c.target.Live.Assess(have)
	s.health, s.assessed = one.health, one.assessed
	same, err := c.settle(ctx, w, live.Record{})
	if same && err == nil {
		if c.kept.unmarked == nil {
			c.kept.unmarked = map[object.Key]unmarked{}
		}
		c.kept.unmarked[w.key] = one
	}
	return same, err
}

// lean returns a manifest without the marks that its object may lack.
func (r *rendering) lean(m object.Manifest, have map[string]any) (object.Manifest, error) {
	tracking := r.target.Live.Tracking
	app, _ := tracking.Owner(have, m.Key)
	bare := app == "" && prepare.IsDefinition(m.Key)
	if tracking.Method != v1alpha1.TrackingLabel && !bare {
		return m, nil
	}
	want, err := m.Decode()
	if err != nil {
		return m, err
	}
	if bare {
		want = tracking.Unmark(want)
	} else {
		want = tracking.Lean(want, have)
	}
	out, err := object.NewManifest(want)
	out.Sum = m.Hash()
	return out, err
}

func ownership(key object.Key, over *apply.Takeover) (*forecast.Ownership, error) {
	patch, err := over.Patch()
	return &forecast.Ownership{Key: key, From: over.From(), Patch: patch}, err
}

// takeOver has what was found to be as wanted change hands. An object that cannot is left as it is: it is compared by its
// content the next time as well, and a condition says why.
func (c *comparison) takeOver(ctx context.Context) {
	if len(c.takeovers) == 0 {
		return
	}
	errs := make([]error, len(c.takeovers))
	var g errgroup.Group
	g.SetLimit(takeoversAtATime)
	for i, t := range c.takeovers {
		g.Go(func() error {
			errs[i] = c.target.TakeOver(ctx, t.Takeover, t.hash)
			return nil
		})
	}
	_ = g.Wait() // errs has the errors
	var lines []string
	for i, t := range c.takeovers {
		switch err := errs[i]; {
		case err == nil:
			c.takenOver++
		case errors.Is(err, apply.ErrMoved), apierrors.IsNotFound(err), apply.Retriable(err), ctx.Err() != nil:
			c.wakeIn(takeoverPause)
		default:
			lines = append(lines, "its content is as wanted, but its fields keep their owners: "+apply.Explain(t.key, err))
		}
	}
	c.takeovers = nil
	c.warn(v1alpha1.ConditionSyncError, lines)
}

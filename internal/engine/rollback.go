package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/supply"
)

// unpin looks whether Git has moved past what is in quarantine. Until it has, the sources are those of the pin.
func (in *inputs) unpin(ctx context.Context) {
	if in.Pin == nil {
		return
	}
	moved, err := in.movedPast(ctx, in.Pin.Quarantine)
	if moved && len(in.pinned) > 0 { // what has begun keeps its revision
		in.wakeIn(unpinPause)
		in.notices = append(in.notices, v1alpha1.ApplicationCondition{
			Type: v1alpha1.ConditionPinned, Message: decide.PinText(in.Pin) + "; Git has moved past it, and it ends with the operation under way",
		})
		return
	}
	if err == nil && moved {
		in.Released, in.Pin = in.Pin, nil
		in.Sources = in.app.Spec.EffectiveSources()
		return
	}
	text := decide.PinText(in.Pin) + "; the revision in Git (" + decide.Short(in.Pin.Quarantine.Revisions) +
		") is in quarantine until a commit changes what this application renders; `slipway app unpin " + in.app.Name + "` ends it"
	if err != nil {
		text += "; the present revision in Git is not trusted, or cannot be rendered: " + err.Error()
	}
	in.notices = append(in.notices, v1alpha1.ApplicationCondition{Type: v1alpha1.ConditionPinned, Message: text})
}

// unpinPause is how often to look whether an operation is over that keeps a pin which Git has moved past.
const unpinPause = 2 * time.Second

// movedPast reports whether the specification renders something else than it did at the revisions in quarantine.
func (in *inputs) movedPast(ctx context.Context, q v1alpha1.Quarantine) (bool, error) {
	spec := in.app.Spec.EffectiveSources()
	now, fetched, err := in.fetchAll(ctx, spec, nil)
	if err != nil {
		return false, err
	}
	if !slices.Equal(now, q.Revisions) { // a commit that is not trusted ends no rollback
		if _, err := in.trust.Signers(ctx, spec, fetched); err != nil {
			return false, err
		}
	}
	if len(q.Revisions) != len(spec) || slices.Equal(now, q.Revisions) {
		return len(q.Revisions) != len(spec), nil
	}
	fresh, err := in.digest(ctx, spec, fetched)
	if err != nil {
		return false, err
	}
	_, fetched, err = in.fetchAll(ctx, spec, q.Revisions)
	if err != nil {
		return true, nil //nolint:nilerr // the commit is gone from Git, so Git is past it
	}
	bad, err := in.digest(ctx, spec, fetched)
	if err != nil {
		return true, nil //nolint:nilerr // it could not even be rendered, and what is there now can
	}
	return fresh != bad, nil
}

// digest stands for everything that sources render. The results are remembered, so asking again costs little.
func (in *inputs) digest(ctx context.Context, sources []v1alpha1.ApplicationSource, fetched []Fetched) (string, error) {
	requests, err := in.requestsFor(ctx, sources, fetched)
	if err != nil {
		return "", err
	}
	h := xxhash.New()
	for i, q := range requests {
		if q.Source.IsRef() {
			continue
		}
		result, _, err := in.engine.Renderer.Render(ctx, q, fetched[i].Scope)
		if err != nil {
			return "", err
		}
		for _, m := range result.Objects {
			_, _ = h.WriteString(m.Key.String())
			_, _ = h.Write(m.JSON)
		}
	}
	return strconv.FormatUint(h.Sum64(), 16), nil
}

// gathered says what stopped a turn that lacks something from elsewhere.
func gathered(err error) error {
	var forbidden *supply.ForbiddenError
	if errors.As(err, &forbidden) {
		return at(StagePermit, &ProjectError{err})
	}
	var unverified *supply.UnverifiedError
	if errors.As(err, &unverified) {
		return at(StageVerify, err)
	}
	return at(StageFetch, err)
}

// requestsFor describes the rendering of sources, and fetches what they need besides.
func (in *inputs) requestsFor(ctx context.Context, sources []v1alpha1.ApplicationSource, fetched []Fetched) ([]render.Request, error) {
	version, apis, err := in.target.Live.Capabilities(ctx)
	if err != nil {
		return nil, &StageError{Stage: StageLive, Err: aboutCluster(err)}
	}
	var settings render.Settings
	if in.engine.Settings != nil {
		settings = in.engine.Settings()
	}
	out := make([]render.Request, 0, len(sources))
	for i, src := range sources {
		out = append(out, render.Request{
			App:       render.App{Name: in.app.Name, Namespace: in.app.Namespace, Project: in.app.Spec.ProjectName()},
			Source:    src,
			Tree:      fetched[i].Tree,
			Refs:      supply.Refs(sources, fetched),
			Namespace: in.app.Spec.Destination.Namespace,
			Cluster:   render.Capabilities{KubeVersion: version, APIVersions: apis},
			Settings:  settings,
		})
	}
	return out, gathered(in.order.Gather(ctx, out, func(i int) string { return fetched[i].Scope }))
}

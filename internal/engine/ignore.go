package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ignoring is what does not count as a difference, and what is wrong with how it was said.
type ignoring struct {
	*diff.Ignore
	wrong []error
}

// ignoring reads the rules of the Application, unless those at hand were made of the same.
func (r *run) ignoring() *ignoring {
	var settings *diff.Settings
	if r.engine.Differences != nil {
		settings = r.engine.Differences()
	}
	given := r.app.Spec.IgnoreDifferences
	if r.memory != nil && r.memory.ignore != nil && r.memory.ignore.Made(given, settings) {
		return r.memory.ignore
	}
	ignore, wrong := diff.NewIgnore(given, settings)
	return &ignoring{Ignore: ignore, wrong: wrong}
}

// warnIgnoring tells of rules that are not in force. All others are.
func (r *run) warnIgnoring() {
	var lines []string
	for _, err := range append(r.ignore.wrong, r.ignore.Problems()...) {
		lines = append(lines, "not in force: "+err.Error())
	}
	r.warn(v1alpha1.ConditionUnsupported, lines)
}

// judge makes an object be compared by the rules that are in force for it, and returns its record.
func (r *run) judge(key object.Key, rec live.Record, tracked bool) live.Record {
	rules := r.ignore.For(key)
	if rules.ID() == rec.Rules.ID() {
		return rec
	}
	judged := r.target.Live.Judge(key, rules)
	if !tracked {
		return rec
	}
	return judged
}

// respect gives the manifests of changes the live values of what does not count, where the operation asks for it.
func (r *run) respect(ctx context.Context, changes []diff.Change, d Decision) (map[object.Key]object.Manifest, error) {
	if !object.AppOptions(r.options(d)).Respect.Is() {
		return nil, nil
	}
	out := map[object.Key]object.Manifest{}
	for _, c := range changes {
		rules := r.ignore.For(c.Key)
		m, wanted := r.manifests[c.Key]
		if rules == nil || !wanted || c.Verb == diff.Delete || !r.exists(c.Key) {
			continue
		}
		res, err := r.target.Live.Find(ctx, c.Key.GroupKind(), m.Version)
		if err != nil {
			return nil, err
		}
		have, err := r.target.Client.Get(ctx, res, c.Key)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s for what is to stay in it: %w", c.Key, err)
		}
		want, err := m.Decode()
		if err != nil {
			return nil, err
		}
		kept, err := object.NewManifest(rules.Respect(want, have, live.Manager))
		if err != nil {
			return nil, err
		}
		kept.Sum = m.Hash()
		out[c.Key] = kept
	}
	return out, nil
}

package engine

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/decide"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// ignoring is what is ignored in comparisons, and which rules of that are wrong.
type ignoring struct {
	*diff.Ignore
	wrong []error
}

// ignoring reads the rules of the Application, unless those at hand were made of the same.
func (in *inputs) ignoring() *ignoring {
	var settings *diff.Settings
	if in.engine.Differences != nil {
		settings = in.engine.Differences()
	}
	given := in.app.Spec.IgnoreDifferences
	if w := in.kept.wanted; w != nil && w.ignore != nil && w.ignore.Made(given, settings) {
		return w.ignore
	}
	ignore, wrong := diff.NewIgnore(given, settings)
	return &ignoring{Ignore: ignore, wrong: wrong}
}

// faults names the rules that are not in force. All others are.
func (i *ignoring) faults() []string {
	var lines []string
	for _, err := range append(i.wrong, i.Problems()...) {
		lines = append(lines, "not in force: "+err.Error())
	}
	return lines
}

// judge makes an object be compared by the rules that are in force for it, and returns its record.
func (c *comparison) judge(key object.Key, rec live.Record, tracked bool) live.Record {
	rules := c.ignore.For(key)
	if rules.ID() == rec.Rules.ID() {
		return rec
	}
	judged := c.target.Live.Judge(key, rules)
	if !tracked {
		return rec
	}
	return judged
}

// respect gives the manifests of changes the live values of ignored fields: where the operation asks for it, and
// in objects that others have written and we have not. Those change their manager, and that changes no ignored field.
func (r *rendering) respect(ctx context.Context, changes []diff.Change,
	op *v1alpha1.SyncOperation,
) (map[object.Key]object.Manifest, error) {
	app := object.AppOptions(decide.OptionsOf(r.app, op))
	manager := r.app.Annotations[v1alpha1.AnnotationClientSideApplyMigrationManager]
	options := r.objectOptions()
	out := map[object.Key]object.Manifest{}
	for _, c := range changes {
		m, wanted := r.manifests[c.Key]
		if r.ignore.For(c.Key) == nil || !wanted || c.Verb == diff.Delete || !r.exists(c.Key) {
			continue
		}
		rec, tracked, _ := r.target.Live.Get(c.Key)
		if !app.Respect.Is() && tracked && !rec.Fields.Empty() && !rec.Inherits && manager == "" {
			continue // it is ours
		}
		have, err := r.readAs(ctx, m)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s for what is to stay in it: %w", c.Key, err)
		}
		how := apply.How{App: app, Manager: manager}
		if own := options[c.Key]; own != nil {
			how.Own = *own
		}
		if !app.Respect.Is() && !apply.TakesOver(have, how) {
			continue
		}
		if out[c.Key], err = r.keep(m, have, how); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// readAs reads the live object of a manifest at the version of the manifest: fields of other versions may have other names.
func (r *rendering) readAs(ctx context.Context, m object.Manifest) (map[string]any, error) {
	res, err := r.target.Live.Find(ctx, m.Key.GroupKind(), m.Version)
	if err != nil {
		return nil, err
	}
	res.Version = m.Version
	return r.target.Client.Get(ctx, res, m.Key)
}

// keep returns a manifest with the live values of ignored fields.
func (r *rendering) keep(m object.Manifest, have map[string]any, how apply.How) (object.Manifest, error) {
	rules := r.ignore.For(m.Key)
	if rules == nil {
		return m, nil
	}
	want, err := m.Decode()
	if err != nil {
		return m, err
	}
	kept, err := object.NewManifest(rules.RespectOwned(want, have, apply.Passing(have, how)))
	kept.Sum = m.Hash()
	return kept, err
}

package verb

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

func (v *looks) diff(ctx context.Context, cmd agentapi.Command, req api.DiffRequest) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	changes, rules, warnings, err := v.compare(ctx, app, req)
	if err != nil {
		return nil, err
	}
	out := api.DiffAnswer{Warnings: warnings}
	options := inspect.Options{Mask: rules.Mask}
	if req.Drift {
		allowed, err := mark.ReadAllowances(app)
		if err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
		out.Items, err = inspect.Drifted(changes, allowed, options, v.Now())
		if err != nil {
			return nil, err
		}
	} else if out.Items, err = inspect.Describe(changes, options); err != nil {
		return nil, err
	}
	part, err := pageOfDiffs(out.Items, req.Cursor)
	out.Items, out.NextCursor, out.Warnings = part.items, part.next, append(out.Warnings, part.warnings...)
	return out, err
}

// compare finds what a sync would change, or what drifted since the last one.
func (v *core) compare(ctx context.Context, app *v1alpha1.Application,
	req api.DiffRequest,
) ([]inspect.Change, inspect.Rules, []string, error) {
	rules, wrong := inspect.NewRules(app, v.Settings.Config(place.ConfigArgoCD), live.Manager)
	rules.All, rules.Blind = req.Ignored, req.Revision != ""
	var warnings []string
	for _, err := range wrong {
		warnings = append(warnings, "not in force: "+err.Error())
	}
	as := revised(operate.Effective(app), req.Revision)
	if req.Drift {
		sources, revisions, err := operate.Standing(app)
		if err != nil {
			return nil, rules, nil, err
		}
		as = operate.AsDeployed(app, sources, revisions)
	}
	wish, err := v.Engine.Manifests(ctx, as)
	if err != nil {
		return nil, rules, nil, err
	}
	warnings = append(warnings, blindNote(rules, wish.Objects)...)
	changes, err := v.differing(ctx, app, wish, rules)
	for _, err := range rules.Problems() {
		warnings = append(warnings, "not in force: "+err.Error())
	}
	return changes, rules, warnings, err
}

// differing finds how what is live differs from what is wanted.
func (v *core) differing(ctx context.Context, app *v1alpha1.Application, wish engine.Wish, rules inspect.Rules) ([]inspect.Change, error) {
	p, err := v.site(ctx, app)
	if err != nil {
		return nil, err
	}
	changes, err := v.tryAll(ctx, p, wish, rules)
	if err != nil {
		return nil, err
	}
	extra, err := p.readAll(ctx, keysOf(inspect.Extra(app, wish.Objects)))
	if err != nil {
		return nil, err
	}
	permits := v.Engine.Permits(app)
	for key, obj := range extra {
		// Any user who may write the Application can write its status: what is not its own is not shown.
		owner, _ := p.cluster.Tracking.Owner(obj, key)
		if owner == p.instance && !p.cluster.Excludes(key.GroupKind()) && permits(key, "") == nil {
			changes = append(changes, *rules.Deleted(key, obj))
		}
	}
	return changes, nil
}

// tryAll lets the API server try every wanted object out; hooks are not kept and so not compared.
func (v *core) tryAll(ctx context.Context, p *site, wish engine.Wish, rules inspect.Rules) ([]inspect.Change, error) {
	objects, err := operate.Lasting(wish.Objects)
	if err != nil {
		return nil, err
	}
	found := make([]*inspect.Change, len(objects))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, m := range objects {
		g.Go(func() (err error) {
			found[i], err = v.tryOut(ctx, p, m, rules)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var out []inspect.Change
	for _, c := range found {
		if c != nil {
			out = append(out, *c)
		}
	}
	return out, nil
}

// tryOut returns what applying m would change; nil for nothing.
func (v *core) tryOut(ctx context.Context, p *site, m object.Manifest, rules inspect.Rules) (*inspect.Change, error) {
	want, err := m.Decode()
	if err != nil {
		return nil, err
	}
	obj, err := p.readOne(ctx, versioned{m.Key, m.Version})
	if err != nil {
		return nil, err
	}
	if obj == nil {
		return rules.Created(m.Key, want), nil
	}
	if owner, _ := p.cluster.Tracking.Owner(obj, m.Key); owner != p.instance {
		rules = rules.ForOthers() // it would become the Application's, and is not yet
	}
	if c := unchangeable(m.Key, obj, rules); c != nil {
		return c, nil
	}
	res, err := p.cluster.Find(ctx, m.Key.GroupKind(), m.Version)
	if err != nil {
		return nil, err
	}
	answer, err := p.d.Target.Client.Apply(ctx, res, m, true)
	if err != nil && isSecret(m.Key) && ctx.Err() == nil {
		return &inspect.Change{
			Key: m.Key, Refused: "the API server refuses it (its words are left out: they can quote the Secret); check type, data and stringData",
		}, nil
	}
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) {
		return &inspect.Change{Key: m.Key, Refused: err.Error()}, nil // one object must not hide the others
	}
	if err != nil {
		return nil, fmt.Errorf("try out %s: %w", m.Key, err)
	}
	return rules.Compare(m.Key, obj, answer), nil
}

// unchangeable is the Change of an immutable Secret where values are not compared: that the API server takes one without
// changes, and no other, would reveal it.
func unchangeable(key object.Key, live map[string]any, rules inspect.Rules) *inspect.Change {
	if fixed, _ := live["immutable"].(bool); !rules.Blind || !isSecret(key) || !fixed {
		return nil
	}
	return &inspect.Change{
		Key: key, Refused: "it is immutable, and its values are not compared here: if they differ, the API server refuses the change",
	}
}

// blindNote is the note where the values of Secrets are not compared.
func blindNote(rules inspect.Rules, wanted []object.Manifest) []string {
	if !rules.Blind || !slices.ContainsFunc(wanted, func(m object.Manifest) bool { return object.MayHoldSecret(m.JSON) }) {
		return nil
	}
	return []string{inspect.BlindNote}
}

// isSecret reports whether an object is a Secret.
func isSecret(k object.Key) bool { return k.IsSecret() }

func (v *looks) manifests(ctx context.Context, cmd agentapi.Command, req api.ManifestsRequest) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	var out api.ManifestsAnswer
	if !req.Live {
		wish, err := v.Engine.Manifests(ctx, revised(operate.Effective(app), req.Revision))
		if err != nil {
			return nil, err
		}
		out.Revisions = wish.Revisions
		items, err := inspect.Manifests(wish.Objects, v.mask())
		if err != nil {
			return nil, err
		}
		keys := make([]object.Key, len(wish.Objects))
		for i, m := range wish.Objects {
			keys[i] = m.Key
		}
		part, err := pageOfManifests(items, keys, req.Cursor)
		out.Items, out.NextCursor, out.Warnings = part.items, part.next, part.warnings
		return out, err
	}
	p, err := v.site(ctx, app)
	if err != nil {
		return nil, err
	}
	resources := v.permitted(app)
	found, unread, err := p.readSome(ctx, keysOf(resources))
	if err != nil {
		return nil, err
	}
	var items []json.RawMessage
	var keys []object.Key
	for i := range resources {
		key := inspect.KeyOf(&resources[i])
		obj := found[key]
		if owner, _ := p.cluster.Tracking.Owner(obj, key); obj == nil || owner != p.instance {
			continue
		}
		raw, err := inspect.ShownJSON(obj, v.mask())
		if err != nil {
			return nil, err
		}
		items, keys = append(items, raw), append(keys, key)
	}
	part, err := pageOfManifests(items, keys, req.Cursor)
	out.Items, out.NextCursor, out.Warnings = part.items, part.next, append(unread, part.warnings...)
	return out, err
}

// mask names the annotations whose values are hidden.
func (v *core) mask() []string {
	settings, _ := diff.ParseSettings(v.Settings.Config(place.ConfigArgoCD))
	return settings.Mask
}

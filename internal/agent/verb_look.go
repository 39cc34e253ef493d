package agent

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/operate"
)

func (v *verbs) diff(ctx context.Context, cmd agentapi.Command) (any, error) {
	req, err := bodyOf[api.DiffRequest](cmd)
	if err != nil {
		return nil, err
	}
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
		allowed, err := operate.ReadAllowances(app)
		if err != nil {
			out.Warnings = append(out.Warnings, err.Error())
		}
		out.Items, err = inspect.Drifted(changes, allowed, options, v.now())
		return out, err
	}
	out.Items, err = inspect.Describe(changes, options)
	return out, err
}

// compare finds what a sync would change, or what drifted since the last one.
func (v *verbs) compare(ctx context.Context, app *v1alpha1.Application, req api.DiffRequest) ([]inspect.Change, inspect.Rules, []string, error) {
	rules, wrong := inspect.NewRules(app, v.settings.config(configArgoCD), live.Manager)
	rules.All = req.Ignored
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
	wish, err := v.engine.Manifests(ctx, as)
	if err != nil {
		return nil, rules, nil, err
	}
	p, err := v.place(ctx, app)
	if err != nil {
		return nil, rules, nil, err
	}
	changes, err := v.tryAll(ctx, p, wish, rules)
	if err != nil {
		return nil, rules, nil, err
	}
	extra, err := v.readAll(ctx, p, keysOf(inspect.Extra(app, wish.Objects)))
	if err != nil {
		return nil, rules, nil, err
	}
	permits := v.engine.Permits(app)
	for key, obj := range extra {
		// Anybody who may write the Application can write its status: what is not its own is not shown.
		if owner, _ := p.cluster.Tracking.Owner(obj, key); owner == p.instance && permits(key, "") == nil {
			changes = append(changes, *rules.Deleted(key, obj))
		}
	}
	for _, err := range rules.Problems() {
		warnings = append(warnings, "not in force: "+err.Error())
	}
	return changes, rules, warnings, nil
}

// tryAll lets the API server try every wanted object out; hooks are not kept and so not compared.
func (v *verbs) tryAll(ctx context.Context, p *place, wish engine.Wish, rules inspect.Rules) ([]inspect.Change, error) {
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
func (v *verbs) tryOut(ctx context.Context, p *place, m object.Manifest, rules inspect.Rules) (*inspect.Change, error) {
	want, err := m.Decode()
	if err != nil {
		return nil, err
	}
	obj, err := v.readOne(ctx, p, versioned{m.Key, m.Version})
	if err != nil {
		return nil, err
	}
	if obj == nil {
		return rules.Created(m.Key, want), nil
	}
	res, err := p.cluster.Find(ctx, m.Key.GroupKind(), m.Version)
	if err != nil {
		return nil, err
	}
	answer, err := p.d.target.Client.Apply(ctx, res, m, true)
	if err != nil && isSecret(m.Key) && ctx.Err() == nil {
		return &inspect.Change{Key: m.Key, Refused: "the API server refuses it (its words are left out: they can quote the Secret); check type, data and stringData"}, nil
	}
	if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) || apierrors.IsForbidden(err) {
		return &inspect.Change{Key: m.Key, Refused: err.Error()}, nil // one object must not hide the others
	}
	if err != nil {
		return nil, fmt.Errorf("try out %s: %w", m.Key, err)
	}
	return rules.Compare(m.Key, obj, answer), nil
}

// isSecret reports whether an object is a Secret.
func isSecret(k object.Key) bool { return k.Group == "" && k.Kind == "Secret" }

func (v *verbs) tree(ctx context.Context, cmd agentapi.Command) (any, error) {
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	p, err := v.place(ctx, app)
	if err != nil {
		return nil, err
	}
	roots, warnings, err := v.family(ctx, p, v.permitted(app))
	return api.TreeAnswer{Items: roots, Warnings: warnings}, err
}

// permitted are the objects of a status that the project lets the Application have.
func (v *verbs) permitted(app *v1alpha1.Application) []v1alpha1.ResourceStatus {
	permits := v.engine.Permits(app)
	var out []v1alpha1.ResourceStatus
	for i := range app.Status.Resources {
		if permits(inspect.KeyOf(&app.Status.Resources[i]), "") == nil {
			out = append(out, app.Status.Resources[i])
		}
	}
	return out
}

// family reads the tree below objects. What may not be listed is left out and named in warnings.
func (v *verbs) family(ctx context.Context, p *place, resources []v1alpha1.ResourceStatus) ([]*api.TreeNode, []string, error) {
	kinds, namespaces := inspect.Heirs(resources)
	var mu sync.Mutex
	var listed []map[string]any
	var warnings []string
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for _, kind := range kinds {
		res, err := p.cluster.Find(ctx, kind, "")
		if unknownKind(err) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		for _, namespace := range namespaces {
			g.Go(func() error {
				objects, err := v.list(ctx, p, res, namespace)
				mu.Lock()
				defer mu.Unlock()
				listed = append(listed, objects...)
				if apierrors.IsForbidden(err) {
					warnings = append(warnings, fmt.Sprintf("may not list %s in namespace %s; the tree is without them", kind, namespace))
					return nil
				}
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, nil, err
	}
	var judge inspect.Judge
	if assessor, _ := v.clusters.scripts.get(); assessor != nil {
		judge = assessor.Judge
	}
	return inspect.Tree(resources, listed, judge), warnings, nil
}

func (v *verbs) list(ctx context.Context, p *place, res live.Resource, namespace string) ([]map[string]any, error) {
	const page = 500
	var out []map[string]any
	opts := metav1.ListOptions{Limit: page}
	for {
		got, err := of(p.read, res, res.Version, namespace).List(ctx, opts)
		if err != nil {
			return nil, fmt.Errorf("list %s in namespace %s: %w", res.Plural, namespace, err)
		}
		for i := range got.Items {
			out = append(out, got.Items[i].Object)
		}
		if len(out) > inspect.MaxObjects {
			return nil, refusedAs(agentapi.CodeTooLarge, "namespace %s has more than %d %s: too many for a tree", namespace, inspect.MaxObjects, res.Plural)
		}
		if opts.Continue = got.GetContinue(); opts.Continue == "" {
			return out, nil
		}
	}
}

func (v *verbs) manifests(ctx context.Context, cmd agentapi.Command) (any, error) {
	req, err := bodyOf[api.ManifestsRequest](cmd)
	if err != nil {
		return nil, err
	}
	app, err := v.application(ctx, cmd)
	if err != nil {
		return nil, err
	}
	var out api.ManifestsAnswer
	if !req.Live {
		wish, err := v.engine.Manifests(ctx, revised(operate.Effective(app), req.Revision))
		if err != nil {
			return nil, err
		}
		out.Revisions = wish.Revisions
		out.Items, err = inspect.Manifests(wish.Objects, v.mask())
		return out, err
	}
	p, err := v.place(ctx, app)
	if err != nil {
		return nil, err
	}
	resources := v.permitted(app)
	found, unread, err := v.readSome(ctx, p, keysOf(resources))
	if err != nil {
		return nil, err
	}
	out.Warnings = unread
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
		out.Items = append(out.Items, raw)
	}
	return out, nil
}

// mask names the annotations whose values are hidden.
func (v *verbs) mask() []string {
	settings, _ := diff.ParseSettings(v.settings.config(configArgoCD))
	return settings.Mask
}

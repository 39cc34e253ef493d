package verb

import (
	"context"
	"fmt"
	"strings"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/apply"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// verbError is the error of an object that could not be synced.
const verbError = "error"

// showManifests adds the objects as rendered, masked.
func (p *preview) showManifests(objects []object.Manifest) {
	size := 0
	for _, m := range objects {
		raw, err := inspect.Manifests([]object.Manifest{m}, p.v.mask())
		if err != nil {
			p.Warnings = append(p.Warnings, err.Error())
			continue
		}
		if size += len(raw[0]); size > maxPreviewObjs {
			p.Warnings = append(p.Warnings, fmt.Sprintf("the manifests are larger than %d MiB: only a part of them is returned", maxPreviewObjs>>20))
			return
		}
		p.Manifests = append(p.Manifests, raw...)
	}
}

// stage is what objects are tried out on.
type stage struct {
	place  *site
	wish   engine.Wish
	rules  inspect.Rules
	app    object.Options
	mig    string
	wanted map[object.Key]bool
	// missing is the namespace of the destination where it is not there.
	missing string
}

// compare finds what a sync would do to each object.
func (p *preview) compare(ctx context.Context, wish engine.Wish) error {
	at, err := p.stage(ctx, wish)
	if err != nil {
		return err
	}
	tried := wish.Objects
	if len(tried) > maxPreviewObjects {
		tried = tried[:maxPreviewObjects]
		p.Warnings = append(p.Warnings, fmt.Sprintf("there are %d objects: only the first %d were looked at",
			len(wish.Objects), maxPreviewObjects))
	}
	found := make([]api.PreviewObject, len(tried))
	g, trying := errgroup.WithContext(ctx)
	g.SetLimit(readers)
	for i, m := range tried {
		g.Go(func() (err error) {
			found[i], err = p.v.foresee(trying, at, m)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	gone, err := p.deleted(ctx, at)
	if err != nil {
		return err
	}
	first, err := p.namespace(ctx, at)
	if err != nil {
		return err
	}
	found = append(first, found...)
	for _, err := range at.rules.Problems() {
		p.problem("spec.ignoreDifferences", api.ProblemWarning, "not in force: %v", err)
	}
	p.tell(append(found, gone...))
	return nil
}

// namespace says what a sync would do to the destination namespace, before all else; nothing where it leaves it as it is.
func (p *preview) namespace(ctx context.Context, at *stage) ([]api.PreviewObject, error) {
	m, verb, denied := at.wish.Namespace(ctx)
	if verb == diff.Keep {
		return nil, denied
	}
	out := api.PreviewObject{ObjectName: api.ObjectName{Kind: m.Key.Kind, Name: m.Key.Name}, Verb: string(verb)}
	if denied != nil {
		out.Verb, out.Error = verbError, apply.Explain(m.Key, denied)
		return []api.PreviewObject{out}, nil
	}
	if verb != diff.Create {
		return []api.PreviewObject{out}, nil // it is brought to its labels and annotations
	}
	want, err := m.Decode()
	if err != nil {
		return nil, err
	}
	if err := p.v.describe(&out, at.rules.Created(m.Key, want), at); err != nil {
		return nil, err
	}
	return []api.PreviewObject{out}, nil
}

func (p *preview) stage(ctx context.Context, wish engine.Wish) (*stage, error) {
	where, err := p.v.site(ctx, p.app)
	if err != nil {
		return nil, err
	}
	out := &stage{
		place: where, wish: wish, wanted: map[object.Key]bool{}, mig: p.app.Annotations[v1alpha1.AnnotationClientSideApplyMigrationManager],
	}
	out.rules, _ = inspect.NewRules(p.app, p.v.Settings.Config(place.ConfigArgoCD), live.Manager) // the error has been reported
	if p.app.Spec.SyncPolicy != nil {
		out.app = object.AppOptions(p.app.Spec.SyncPolicy.SyncOptions)
	}
	out.rules.Blind = true // the request contains the desired state
	p.Warnings = append(p.Warnings, blindNote(out.rules, wish.Objects)...)
	for _, m := range wish.Objects {
		out.wanted[m.Key] = true
	}
	if where.who.Denial != "" {
		p.problem("spec.project", api.ProblemError, "%s", where.who.Denial)
	}
	namespace := object.Key{Kind: "Namespace", Name: p.app.Spec.Destination.Namespace}
	if namespace.Name == "" || out.wanted[namespace] {
		return out, nil
	}
	obj, err := where.readOne(ctx, versioned{namespace, "v1"})
	if err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	if obj == nil && err == nil {
		out.missing = namespace.Name
		if !out.app.Namespace.Is() {
			p.problem("spec.destination.namespace", api.ProblemWarning,
				"namespace %s does not exist: create it, or set the sync option CreateNamespace=true", namespace.Name)
		}
	}
	return out, nil
}

// foresee says what a sync would do to one object.
func (v *looks) foresee(ctx context.Context, at *stage, m object.Manifest) (api.PreviewObject, error) {
	want, err := m.Decode()
	if err != nil {
		return api.PreviewObject{}, err
	}
	hook := plan.ReadHook(want)
	out := api.PreviewObject{
		ObjectName: api.ObjectName{Group: m.Key.Group, Kind: m.Key.Kind, Namespace: m.Key.Namespace, Name: m.Key.Name},
		Wave:       hook.Wave, Verb: string(diff.Create),
	}
	if hook.Is { // each sync makes it again
		var types []string
		for _, t := range hook.Types {
			types = append(types, string(t))
		}
		out.Hook = strings.Join(types, ",")
		err := v.describe(&out, at.rules.Created(m.Key, want), at)
		return out, err
	}
	have, err := at.place.readOne(ctx, versioned{m.Key, m.Version})
	switch {
	case refusedOne(err):
		out.Verb, out.Error = verbError, fmt.Sprintf("%s cannot be read: %v", m.Key, err)
		return out, nil
	case err != nil:
		return out, err
	case have != nil:
		return v.foreseeChange(ctx, at, m, have, out)
	}
	if err := v.describe(&out, at.rules.Created(m.Key, want), at); err != nil {
		return out, err
	}
	res, err := at.place.cluster.Find(ctx, m.Key.GroupKind(), m.Version)
	if unknownKind(err) || at.comesLater(m.Key.Namespace) {
		return out, nil // its definition or its namespace comes with the sync, before it
	}
	if err != nil {
		return out, err
	}
	_, err = at.wish.Target.Try(ctx, res, m, at.how(want))
	if err != nil && ctx.Err() != nil {
		return out, err
	}
	if err != nil {
		out.Verb, out.Diff, out.Error = verbError, "", apply.Explain(m.Key, err)
	}
	return out, nil
}

// comesLater reports whether a namespace is not there yet: nothing can be tried out in it.
func (s *stage) comesLater(namespace string) bool {
	return namespace != "" && (namespace == s.missing || s.wanted[object.Key{Kind: "Namespace", Name: namespace}])
}

// how is how a sync would apply an object.
func (s *stage) how(want map[string]any) apply.How {
	return apply.How{App: s.app, Own: object.OptionsOf(want), Manager: s.mig}
}

// foreseeChange is foresee for an object that is there. The account that would sync it needs the right: as the account that the
// project names, where it names one. Only then is anything reported about the object.
func (v *looks) foreseeChange(ctx context.Context, at *stage, m object.Manifest, have map[string]any,
	out api.PreviewObject,
) (api.PreviewObject, error) {
	out.Verb = string(diff.Update)
	owner, _ := at.place.cluster.Tracking.Owner(have, m.Key)
	if owner != "" && owner != at.place.instance && v.Engine.Exists != nil && v.Engine.Exists(owner) {
		out.Verb, out.Error = verbError, fmt.Sprintf("%s belongs to Application %s: remove it from one of the two sources", m.Key, owner)
		return out, nil
	}
	res, err := at.place.cluster.Find(ctx, m.Key.GroupKind(), m.Version)
	if err != nil {
		return out, err
	}
	want, err := m.Decode()
	if err != nil {
		return out, err
	}
	if c := unchangeable(m.Key, have, at.rules); c != nil {
		out.Error = c.Refused
		return out, nil
	}
	answer, err := at.wish.Target.Predict(ctx, res, have, m, at.how(want))
	switch {
	case err != nil && ctx.Err() != nil:
		return out, err
	case err != nil:
		out.Verb, out.Error = verbError, apply.Explain(m.Key, err)
		return out, nil
	case owner != at.place.instance && isSecret(m.Key):
		return out, nil // it would become the Application's; what is in it, and whether it is equal, is not reported before
	}
	change := at.rules.Compare(m.Key, have, answer)
	if change == nil {
		out.Verb = string(diff.Keep)
		return out, nil
	}
	err = v.describe(&out, change, at)
	return out, err
}

// describe adds the difference as people see it.
func (v *looks) describe(out *api.PreviewObject, change *inspect.Change, at *stage) error {
	list, err := inspect.Describe([]inspect.Change{*change}, inspect.Options{Mask: at.rules.Mask})
	if err != nil {
		return err
	}
	out.Verb, out.Diff = list[0].Verb, list[0].Diff
	return nil
}

// deleted are the objects that the Application has and would not have any more.
func (p *preview) deleted(ctx context.Context, at *stage) ([]api.PreviewObject, error) {
	if p.existing == nil {
		return nil, nil
	}
	if was := p.existing.Spec.Destination; was != p.app.Spec.Destination {
		p.Warnings = append(p.Warnings,
			"the destination is another one: what the application has at the former one stays there, or is deleted according to sync options")
	}
	var out []api.PreviewObject
	extra := inspect.Extra(p.existing, at.wish.Objects)
	if len(extra) > maxPreviewObjects {
		extra = extra[:maxPreviewObjects]
		p.Warnings = append(p.Warnings,
			fmt.Sprintf("more than %d objects are not wanted any more: only the first were looked at", maxPreviewObjects))
	}
	found, unread, err := at.place.readSome(ctx, keysOf(extra))
	if err != nil {
		return nil, err
	}
	p.Warnings = append(p.Warnings, unread...)
	permits := p.v.Engine.Permits(p.app)
	for i := range extra {
		key := inspect.KeyOf(&extra[i])
		obj := found[key]
		// Any user who may write the Application can write its status: what is not its own is not shown.
		if owner, _ := at.place.cluster.Tracking.Owner(obj, key); obj == nil || owner != at.place.instance ||
			at.place.cluster.Excludes(key.GroupKind()) || permits(key, "") != nil {
			continue
		}
		one := api.PreviewObject{
			ObjectName: api.ObjectName{Group: key.Group, Kind: key.Kind, Namespace: key.Namespace, Name: key.Name}, Wave: object.WaveOf(obj),
		}
		if err := p.v.describe(&one, at.rules.Deleted(key, obj), at); err != nil {
			return nil, err
		}
		out = append(out, one)
	}
	return out, nil
}

// tell counts objects, and cuts what is too long to be sent.
func (p *preview) tell(objects []api.PreviewObject) {
	size, cut := 0, 0
	for _, o := range objects {
		switch {
		case o.Verb == verbError:
			p.Counts.Error++
		case o.Hook != "":
			p.Counts.Hooks++
		case o.Verb == string(diff.Create):
			p.Counts.Create++
		case o.Verb == string(diff.Update):
			p.Counts.Update++
		case o.Verb == string(diff.Delete):
			p.Counts.Delete++
		default:
			p.Counts.Unchanged++
		}
		if len(o.Diff) > maxPreviewDiff {
			o.Diff = legible.Prefix(o.Diff, maxPreviewDiff) + "\n… the rest is left out\n"
		}
		if size += len(o.Diff); size > maxPreviewDiffs {
			cut++
			o.Diff = ""
		}
		p.Objects = append(p.Objects, o)
	}
	if cut > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("the differences are too long: those of %d objects are left out", cut))
	}
	if p.Counts.Delete > 0 {
		policy := p.app.Spec.SyncPolicy
		if policy == nil || policy.Automated == nil || policy.Automated.Prune == nil || !*policy.Automated.Prune {
			p.Warnings = append(p.Warnings, "what is not wanted any more is deleted only by a sync that prunes")
		}
	}
	if p.Counts.Error > 0 {
		p.problem("", api.ProblemError, "%d objects could not be synced: each of them has the reason", p.Counts.Error)
	}
}

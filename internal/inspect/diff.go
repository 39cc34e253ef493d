// Package inspect makes what people are shown of an Application's objects: differences per field with manager and
// time, the tree of objects, and manifests, with secrets masked. It is pure: its caller reads the objects.
package inspect

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Rules say what counts as a difference and what is hidden.
type Rules struct {
	Ignore  *diff.Ignore // nil: everything counts
	Mask    []string     // annotations whose values are hidden
	Manager string       // field manager that objects are applied by
	All     bool         // also ignored differences
	// Blind says that values of Secrets are not compared: the request contains the desired state, and the answer would
	// reveal whether a guess is right. Which keys there are is.
	Blind bool
}

// BlindNote is the note about a blind comparison.
const BlindNote = "the values of Secrets are not compared, since what is compared is not what the application is set to: " +
	"only which keys they have is"

// ForOthers are the rules for an object that is not the Application's.
func (r Rules) ForOthers() Rules {
	r.Blind = true
	return r
}

// NewRules reads what an Application and the data of the ConfigMap argocd-cm say about differences. What is wrong is not in
// force, and is returned.
func NewRules(app *v1alpha1.Application, settings map[string]string, manager string) (Rules, []error) {
	parsed, wrong := diff.ParseSettings(settings)
	ignore, more := diff.NewIgnore(app.Spec.IgnoreDifferences, parsed)
	return Rules{Ignore: ignore, Mask: parsed.Mask, Manager: manager}, append(wrong, more...)
}

// Problems are rules that turned out to be wrong when they met an object.
func (r Rules) Problems() []error {
	if r.Ignore == nil {
		return nil
	}
	return r.Ignore.Problems()
}

func (r Rules) options() diff.CompareOptions { return diff.CompareOptions{Manager: r.Manager} }

// Change is one object before and after. Before is nil for an object that would be created, After for one that would
// be deleted.
type Change struct {
	Key    object.Key
	Before map[string]any
	After  map[string]any

	// Live is the object with its managed fields, which list the manager of each field; nil where that is not known.
	Live map[string]any
	// Ignored are both sides with ignored fields; nil where all counts.
	Ignored *diff.Result
	// Refused is why the API server does not take what is wanted; "" where it does.
	Refused string
}

// Extra are the objects of an Application that are not wanted (any more), hooks left out.
func Extra(app *v1alpha1.Application, wanted []object.Manifest) []v1alpha1.ResourceStatus {
	keys := map[object.Key]bool{}
	for _, m := range wanted {
		keys[m.Key] = true
	}
	var out []v1alpha1.ResourceStatus
	for i := range app.Status.Resources {
		if r := &app.Status.Resources[i]; !r.Hook && !keys[KeyOf(r)] {
			out = append(out, *r)
		}
	}
	return out
}

// KeyOf is the identity of a resource in a status.
func KeyOf(r *v1alpha1.ResourceStatus) object.Key {
	return object.Key{Group: r.Group, Kind: r.Kind, Namespace: r.Namespace, Name: r.Name}
}

// Created is the Change of an object that is wanted and not there.
func (r Rules) Created(key object.Key, want map[string]any) *Change {
	return &Change{Key: key, After: diff.Normalize(want, r.options())}
}

// Deleted is the Change of an object that is there and not wanted.
func (r Rules) Deleted(key object.Key, live map[string]any) *Change {
	return &Change{Key: key, Before: diff.Normalize(live, r.options())}
}

// Compare is the Change that the API server's answer to a dry run of an apply shows; nil for none. Live needs its managed
// fields.
func (r Rules) Compare(key object.Key, live, answer map[string]any) *Change {
	if r.Blind {
		live, answer = object.WithoutSecrets(live), object.WithoutSecrets(answer)
	}
	full := diff.CompareDryRun(live, answer, r.options())
	rest := full
	if r.Ignore != nil {
		rest = full.Less(r.Ignore.For(key).Of(live))
	}
	if !rest.Modified && (!r.All || !full.Modified) {
		return nil
	}
	c := &Change{Key: key, Before: rest.Normalized, After: rest.Predicted, Live: live}
	if r.All {
		c.Ignored = &full
	}
	return c
}

// counts reports whether anything differs that counts.
func (c *Change) counts() bool {
	return c.Ignored == nil || c.Before == nil || c.After == nil || len(diff.FieldChanges(c.Before, c.After)) > 0
}

// context is how many unchanged lines are shown around a change.
const context = 3

// Options say how changes are described.
type Options struct {
	Mask  []string // annotations whose values are hidden
	Color bool     // in the unified diffs
}

// Describe returns what people see of changes, in the order of their keys.
func Describe(changes []Change, o Options) ([]api.ObjectDiff, error) {
	changes = slices.Clone(changes)
	slices.SortStableFunc(changes, func(a, b Change) int { return a.Key.Compare(b.Key) })
	out := make([]api.ObjectDiff, 0, len(changes))
	for i := range changes {
		d, err := describe(&changes[i], o)
		if err != nil {
			return nil, err
		}
		out = append(out, d)
	}
	return out, nil
}

func describe(c *Change, o Options) (api.ObjectDiff, error) {
	out := api.ObjectDiff{ObjectName: nameOf(c.Key), Verb: string(diff.Update), Error: c.Refused}
	switch {
	case c.Refused != "":
		return out, nil
	case c.Before == nil:
		out.Verb = string(diff.Create)
	case c.After == nil:
		out.Verb = string(diff.Delete)
	case !c.counts():
		out.Verb = string(diff.Keep)
	}
	after, before := diff.Mask(c.After, c.Before, o.Mask)
	var err error
	out.Diff, err = diff.Unified(before, after, diff.Text{
		From: "live " + c.Key.String(), To: "desired " + c.Key.String(), Context: context, Color: o.Color,
	})
	if err != nil {
		return out, fmt.Errorf("compare %s: %w", c.Key, err)
	}
	if c.Live != nil && before != nil && after != nil {
		out.Fields = fields(c, before, after, o)
	}
	return out, nil
}

func nameOf(k object.Key) api.ObjectName {
	return api.ObjectName{Group: k.Group, Kind: k.Kind, Namespace: k.Namespace, Name: k.Name}
}

// fields lists what differs, and on request ignored differences. Before and after are masked.
func fields(c *Change, before, after map[string]any, o Options) []api.FieldDiff {
	var out []api.FieldDiff
	counts := map[string]bool{}
	add := func(changes []diff.FieldChange, ignored bool) {
		for _, f := range changes {
			path := f.Path.String()
			if counts[path] {
				continue
			}
			counts[path] = true
			row := api.FieldDiff{Path: path, Live: f.Live, Wanted: f.Wanted, Ignored: ignored}
			if owners := diff.Owners(c.Live, f.Path); len(owners) > 0 {
				row.Manager, row.Operation = owners[0].Manager, owners[0].Operation
				row.Subresource, row.Since = owners[0].Subresource, owners[0].Since
				for _, other := range owners[1:] {
					row.Others = append(row.Others, api.FieldOwner(other))
				}
			}
			out = append(out, row)
		}
	}
	add(diff.FieldChanges(before, after), false)
	if c.Ignored != nil {
		after, before := diff.Mask(c.Ignored.Predicted, c.Ignored.Normalized, o.Mask)
		add(diff.FieldChanges(before, after), true)
	}
	return out
}

// Drifted lists what differs from what was deployed: changes whose wanted side is the deployment. What the deployment did
// not have is none of it. Expired allowances are ignored.
func Drifted(changes []Change, allowed []v1alpha1.Allowance, o Options, now time.Time) ([]api.ObjectDiff, error) {
	changes = slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.After == nil && c.Refused == "" })
	list, err := Describe(changes, o)
	for i := range list {
		for _, a := range allowed {
			about := api.ObjectName{Group: a.Group, Kind: a.Kind, Namespace: a.Namespace, Name: a.Name}
			longer := list[i].Allowed == nil || a.Until.After(list[i].Allowed.Until)
			if about == list[i].ObjectName && a.Until.After(now) && longer {
				list[i].Allowed = &api.AllowedDrift{Until: a.Until, By: a.By, Reason: a.Reason}
			}
		}
	}
	return list, err
}

package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// Step carries out the changes of one wave, whatever their order: creations and updates kind by kind, so that each
// finds what it needs, and all of them are tried; then deletions in the reverse order of kinds, of which none is tried
// after a failure. The result has one outcome for each change that was tried.
//
// A dry run is of all changes of an operation together. It says nothing about objects whose kind or namespace comes with
// the same operation: those are skipped.
func (t Target) Step(ctx context.Context, changes []diff.Change, o Options) []Outcome {
	var writes, deletions []diff.Change
	for _, c := range changes {
		switch c.Verb {
		case diff.Create, diff.Update:
			writes = append(writes, c)
		case diff.Delete:
			deletions = append(deletions, c)
		case diff.Keep:
		}
	}
	count := newCounter(len(writes)+len(deletions), o.Progress)
	coming := &coming{changes: changes, options: o}
	var outcomes []Outcome
	failed := false
	for _, group := range byRank(writes, 1) {
		done := t.step(ctx, group, o, count)
		for i := range done {
			if o.DryRun {
				coming.excuse(&done[i])
			}
			failed = failed || done[i].Err != nil
		}
		outcomes = append(outcomes, done...)
	}
	if failed && !o.DryRun {
		return outcomes
	}
	for _, group := range byRank(deletions, -1) {
		outcomes = append(outcomes, t.step(ctx, group, o, count)...)
	}
	return outcomes
}

// byRank splits changes into groups of kinds that do not need each other; direction -1 reverses their order.
func byRank(changes []diff.Change, direction int) [][]diff.Change {
	slices.SortFunc(changes, func(a, b diff.Change) int {
		return cmp.Or(direction*cmp.Compare(plan.Rank(a.Key.GroupKind()), plan.Rank(b.Key.GroupKind())), a.Key.Compare(b.Key))
	})
	var groups [][]diff.Change
	for len(changes) > 0 {
		rank := plan.Rank(changes[0].Key.GroupKind())
		n := slices.IndexFunc(changes, func(c diff.Change) bool { return plan.Rank(c.Key.GroupKind()) != rank })
		if n < 0 {
			n = len(changes)
		}
		groups, changes = append(groups, changes[:n:n]), changes[n:]
	}
	return groups
}

// coming knows what an operation makes that other objects of it need.
type coming struct {
	changes []diff.Change
	options Options
	once    sync.Once
	kinds   map[object.Kind]bool
}

// excuse turns the failure of a dry run into a skip where the object lacks only what the same operation makes.
func (f *coming) excuse(out *Outcome) {
	var unknown *live.UnknownKindError
	switch {
	case out.Err == nil:
		return
	case errors.As(out.Err, &unknown) && (f.defines(unknown.Kind) || f.mayBeMissing(out.Change.Key)):
		*out = Outcome{Change: out.Change, Message: messageUnknownKind, Skipped: true}
	case apierrors.IsNotFound(out.Err) && f.makes(out.Change.Key.Namespace):
		*out = Outcome{Change: out.Change, Message: messageNoNamespace, Skipped: true}
	}
}

func (f *coming) mayBeMissing(key object.Key) bool {
	if f.options.How == nil {
		return false
	}
	how := f.options.How(key)
	return how.Own.Over(how.App).SkipDryRun.Is()
}

// makes reports whether the operation makes a namespace.
func (f *coming) makes(namespace string) bool {
	return slices.Contains(f.options.Namespaces, namespace) || slices.ContainsFunc(f.changes, func(c diff.Change) bool {
		return c.Verb != diff.Delete && c.Key == object.Key{Kind: "Namespace", Name: namespace}
	})
}

// defines reports whether the operation brings the definition of a kind.
func (f *coming) defines(kind object.Kind) bool {
	f.once.Do(func() {
		f.kinds = map[object.Kind]bool{}
		for _, c := range f.changes {
			if c.Verb == diff.Delete || c.Key.Kind != "CustomResourceDefinition" {
				continue
			}
			m, ok := f.options.Manifest(c.Key)
			if !ok {
				continue
			}
			obj, err := m.Decode()
			if err != nil {
				continue
			}
			spec := object.Dict(obj, "spec")
			f.kinds[object.Kind{Group: object.Text(spec, "group"), Kind: object.Text(object.Dict(spec, "names"), "kind")}] = true
		}
	})
	return f.kinds[kind]
}

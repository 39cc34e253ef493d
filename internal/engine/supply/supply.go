// Package supply fetches what sources need besides their own trees (package need finds it): charts that they depend on, remote
// bases, files by URL. The same credentials and the same rules of the project count for it as for the sources.
package supply

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/need"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Sources turns a source into its tree.
type Sources interface {
	// Fetch resolves targetRevision and returns the tree at it. What was
	// learned from the repository before since is ignored; a zero since takes what is known.
	Fetch(ctx context.Context, project string, src v1alpha1.ApplicationSource, since time.Time) (Fetched, error)
}

// Fetched is a source at a resolved revision.
type Fetched struct {
	Tree source.Tree
	// Digest is that of what was fetched, for an artifact; "" for a tree of Git, whose revision stands for its content.
	Digest string
	Scope  string // users who may see it: repository and credential; results are cached per scope
	// Notices are what users of the Application should know of a source that works.
	Notices []v1alpha1.ApplicationCondition
}

// Needs fetches what sources need.
type Needs interface {
	// Locate returns the need with the address that it is fetched from, where it names a configured repository.
	Locate(project string, n need.Need) (need.Need, error)
	// FetchNeed resolves a need and returns the tree at that revision. since is as for Sources.
	FetchNeed(ctx context.Context, project string, n need.Need, since time.Time) (Fetched, error)
	// Heed hears of what an Application needs: it has a turn when that moves. all says that the list is complete.
	Heed(app *v1alpha1.Application, needs []Needed, all bool)
}

// Needed is a need as it was resolved.
type Needed struct {
	need.Need
	Resolved string // commit, version of the chart, or digest of the file; "" where it could not be resolved
}

// ForbiddenError says that the project does not permit the address of a need.
type ForbiddenError struct{ Err error }

// Error prints the cause.
func (e *ForbiddenError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ForbiddenError) Unwrap() error { return e.Err }

// UnverifiedError says that the project asks for a signature of a need that it does not have.
type UnverifiedError struct{ Err error }

// Error prints the cause.
func (e *UnverifiedError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UnverifiedError) Unwrap() error { return e.Err }

// Order is what one turn asks for. What it resolves once stays for the turn.
type Order struct {
	Needs   Needs // nil: nothing is fetched
	Find    func(ctx context.Context, req render.Request, scope string) ([]need.Need, error)
	App     *v1alpha1.Application
	Permits func(address, chart string) error // whether the project permits them, as those of a source
	// Verify returns who signed what a need was resolved to; "" where the project does not ask. It has the address that the need is
	// fetched from.
	Verify func(ctx context.Context, n need.Need, f Fetched) (signer string, err error)
	Since  time.Time
	Sealed bool // nothing is decrypted
	// Had is what an earlier turn needed; where Held, an operation has begun with it and goes on with it.
	Had  Record
	Held bool

	resolved map[string]Needed // by key
	trees    map[string]source.Tree
	signers  map[string]string // by key
}

// Gather fetches what requests for sources need, until nothing is missing, and puts it into them. scope gives the scope of each.
func (o *Order) Gather(ctx context.Context, requests []render.Request, scope func(i int) string) (err error) {
	if o.Needs != nil {
		defer func() { o.Needs.Heed(o.App, o.List(), err == nil) }()
	}
	for i := range requests {
		if err := o.gather(ctx, &requests[i], scope(i)); err != nil {
			if unverified := (*UnverifiedError)(nil); len(requests) > 1 && !errors.As(err, &unverified) {
				err = fmt.Errorf("source %d of %d: %w", i+1, len(requests), err)
			}
			return err
		}
	}
	return nil
}

func (o *Order) gather(ctx context.Context, req *render.Request, scope string) error {
	for range need.MaxRounds + 1 {
		all, err := o.Find(ctx, *req, scope)
		if err != nil {
			return err
		}
		missing := need.Missing(all, req.Needs)
		if len(missing) == 0 {
			return nil
		}
		trees := make(map[string]source.Tree, len(req.Needs)+len(missing))
		maps.Copy(trees, req.Needs)
		for _, n := range missing {
			trees[n.Key()], err = o.fetch(ctx, n)
			if unverified := (*UnverifiedError)(nil); errors.As(err, &unverified) {
				return fmt.Errorf("%w (%s)", err, n.By) // which check failed comes first
			}
			if err != nil {
				return fmt.Errorf("%s: %w", n.By, err)
			}
		}
		req.Needs = trees
	}
	return fmt.Errorf("remote bases are nested deeper than %d; copy some of them into the repository", need.MaxRounds)
}

var errNothing = errors.New("nothing is fetched here; copy it into the repository")

// fetch fetches one need, if the project permits its address as it permits repositories.
func (o *Order) fetch(ctx context.Context, n need.Need) (source.Tree, error) {
	key := n.Key()
	if tree := o.trees[key]; tree != nil {
		return tree, nil
	}
	if o.Needs == nil {
		return nil, errNothing
	}
	from, err := o.Needs.Locate(o.App.Spec.ProjectName(), n)
	if err != nil {
		return nil, err
	}
	if err := o.Permits(from.URL, from.Name); err != nil {
		return nil, &ForbiddenError{err}
	}
	if o.resolved == nil {
		o.resolved, o.trees, o.signers = map[string]Needed{}, map[string]source.Tree{}, map[string]string{}
	}
	o.resolved[key] = Needed{Need: n}
	asked := from
	if had := o.Had.needed[key]; o.Held && had.Resolved != "" && n.Kind != need.File {
		from.Revision = had.Resolved
	}
	fetched, err := o.Needs.FetchNeed(ctx, o.App.Spec.ProjectName(), from, o.Since)
	if err != nil {
		return nil, err
	}
	if o.Verify != nil {
		signer, err := o.Verify(ctx, asked, fetched)
		if err != nil {
			return nil, &UnverifiedError{err}
		}
		o.signers[key] = signer
	}
	o.trees[key], _ = source.Seal(fetched.Tree, fetched.Scope, o.Sealed)
	o.resolved[key] = Needed{Need: n, Resolved: fetched.Tree.Revision()}
	return o.trees[key], nil
}

// List returns what was asked for, in a fixed order.
func (o *Order) List() []Needed {
	if o == nil {
		return nil
	}
	out := slices.Collect(maps.Values(o.resolved))
	slices.SortFunc(out, func(a, b Needed) int { return strings.Compare(a.Key(), b.Key()) })
	return out
}

// Signers says who signed what requests need, as far as the project asks; each once, in a fixed order.
func (o *Order) Signers(requests []render.Request) []string {
	var out []string
	for _, q := range requests {
		for key := range q.Needs {
			if signer := o.signers[key]; signer != "" && !slices.Contains(out, signer) {
				out = append(out, signer)
			}
		}
	}
	slices.Sort(out)
	return out
}

// Record is what a rendering needed.
type Record struct {
	needed map[string]Needed
	at     []string // revisions of the sources
	// Moved describes what stands for something else than it did at an earlier rendering of the same revisions of the sources: the
	// objects may have changed without a commit to them.
	Moved []string
}

// Record returns what the turn needed, for the turns to come. revisions are those of its sources.
func (o *Order) Record(revisions []string) Record {
	r := Record{needed: o.resolved, at: revisions}
	if !slices.Equal(revisions, o.Had.at) {
		return r
	}
	for _, now := range o.List() {
		if had := o.Had.needed[now.Key()].Resolved; had != "" && now.Resolved != "" && had != now.Resolved {
			r.Moved = append(r.Moved, fmt.Sprintf("%s (%s) moved from %s to %s while the source stayed at its revision; "+
				"name a commit, a version or a lock to prevent that", now.Need, now.By, legible.Revision(had, 12), legible.Revision(now.Resolved, 12)))
		}
	}
	if r.Moved == nil {
		r.Moved = o.Had.Moved
	}
	return r
}

// Refs finds the trees that sources refer to by name.
func Refs(sources []v1alpha1.ApplicationSource, fetched []Fetched) map[string]source.Tree {
	if len(sources) < 2 {
		return nil
	}
	refs := map[string]source.Tree{}
	for i, src := range sources {
		if src.Ref != "" {
			refs[src.Ref] = fetched[i].Tree
		}
	}
	return refs
}

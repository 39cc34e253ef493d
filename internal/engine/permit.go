package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/project"
)

// Projects knows the rules of projects.
type Projects interface {
	// Rules returns the rules of a project. The error says that there is no such project, or what is wrong with it, and
	// what to do.
	Rules(name string) (*project.Rules, error)
}

// ProjectError says that an Application's project does not permit what the Application asks for, or that there is no
// such project.
type ProjectError struct{ Err error }

// Error prints the cause.
func (e *ProjectError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *ProjectError) Unwrap() error { return e.Err }

// grant is what objects were checked against: equal grants permit the same.
type grant struct {
	rules   *project.Rules
	cluster project.Cluster
}

// permit asks the project before anything of the Application is read: for the namespace that it is in, for its
// repositories, and for its destination.
func (r *run) permit() error {
	defer r.lap(StagePermit)
	if err := r.consult(); err != nil {
		return err
	}
	if err := r.grant.rules.Keepable(); err != nil {
		return &ProjectError{err}
	}
	if err := r.grant.rules.PermitsNamespace(r.app.Namespace, r.engine.Namespace); err != nil {
		return &ProjectError{err}
	}
	sources := r.sources
	if r.rollback != nil || r.operation() != nil { // they are looked at, too
		sources = append(slices.Clone(sources), r.app.Spec.EffectiveSources()...)
	}
	for i, src := range sources {
		if err := r.grant.rules.PermitsSource(src.RepoURL); err != nil {
			if len(r.sources) > 1 && i < len(r.sources) {
				err = fmt.Errorf("source %d of %d: %w", i+1, len(r.sources), err)
			}
			return &ProjectError{err}
		}
	}
	if err := r.grant.rules.PermitsDestination(r.grant.cluster, r.app.Spec.Destination.Namespace); err != nil {
		return &ProjectError{err}
	}
	return nil
}

// unmistakable asks whether the objects of an Application can be told from those of every other.
func (e *Engine) unmistakable(ctx context.Context, app *v1alpha1.Application) error {
	if e.Namesake == nil {
		return nil
	}
	why, err := e.Namesake(ctx, app)
	if err == nil && why != "" {
		err = errors.New(why)
	}
	return err
}

// consult finds the rules, and what they need to know of the destination.
func (r *run) consult() error {
	rules, err := r.engine.Projects.Rules(r.app.Spec.ProjectName())
	if err != nil {
		return &ProjectError{err}
	}
	cluster, err := r.engine.Clusters.Identify(r.app.Spec.ProjectName(), r.app.Spec.Destination)
	if err != nil {
		return aboutCluster(err)
	}
	r.grant = grant{rules: rules, cluster: cluster}
	return nil
}

// windows are the sync windows of the Application.
func (r *run) windows() project.Windows {
	if r.grant.rules == nil {
		return project.Windows{}
	}
	return r.grant.rules.Windows(project.AppFacts{
		Name: r.app.Name, Namespace: r.app.Spec.Destination.Namespace, Cluster: r.grant.cluster,
	})
}

// permits asks the project for one object.
func (r *run) permits(key object.Key) error {
	if err := r.grant.rules.PermitsResource(key.Group, key.Kind, key.Name, key.Namespace != ""); err != nil {
		return err
	}
	if key.Namespace == "" {
		return nil
	}
	if err := r.grant.rules.PermitsDestination(r.grant.cluster, key.Namespace); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// outside reports whether an object is beyond what the project permits. It is not touched then, not even where it says
// that it is the Application's: an Application must not get at more by deleting than by applying. Where no project is
// known, nothing is outside, so that an Application can be deleted after its project.
func (r *run) outside(key object.Key) bool {
	return r.grant.rules != nil && r.permits(key) != nil
}

// warnProject says what is wrong with the project, besides what stops its Applications.
func (r *run) warnProject() {
	if r.grant.rules == nil {
		return
	}
	var lines []string
	for _, err := range r.grant.rules.Faults() {
		lines = append(lines, fmt.Sprintf("project %q: %v", r.grant.rules.Name(), err))
	}
	r.warn(v1alpha1.ConditionProject, lines)
}

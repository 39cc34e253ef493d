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
// such project; or that the cluster's Secret does not permit it.
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
func (in *inputs) permit() error {
	defer in.lap(StagePermit)
	if err := in.consult(); err != nil {
		return err
	}
	if err := in.rules.PermitsNamespace(in.app.Namespace, in.engine.Namespace); err != nil {
		return &ProjectError{err}
	}
	sources := in.Sources
	if in.Pin != nil || in.operation() != nil { // they are looked at, too
		sources = append(slices.Clone(sources), in.app.Spec.EffectiveSources()...)
	}
	for i, src := range sources {
		if err := in.rules.PermitsChart(src.RepoURL, src.Chart); err != nil {
			if len(in.Sources) > 1 && i < len(in.Sources) {
				err = fmt.Errorf("source %d of %d: %w", i+1, len(in.Sources), err)
			}
			return &ProjectError{err}
		}
	}
	if err := in.rules.PermitsDestination(in.cluster, in.app.Spec.Destination.Namespace); err != nil {
		return &ProjectError{err}
	}
	return nil
}

// distinct returns an error where the objects of an Application cannot be distinguished from those of another one.
func (e *Engine) distinct(ctx context.Context, app *v1alpha1.Application) error {
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
func (in *inputs) consult() error {
	cluster, unknown := in.engine.Clusters.Identify(in.app.Spec.ProjectName(), in.app.Spec.Destination)
	in.grant = grant{cluster: cluster} // its limits hold without a project too
	rules, err := in.engine.Projects.Rules(in.app.Spec.ProjectName())
	if err != nil {
		return &ProjectError{err}
	}
	if unknown != nil {
		return aboutCluster(unknown)
	}
	in.rules = rules
	return nil
}

// windows are the sync windows of an Application.
func (g grant) windows(app *v1alpha1.Application) project.Windows {
	if g.rules == nil {
		return project.Windows{}
	}
	return g.rules.Windows(project.AppFacts{Name: app.Name, Namespace: app.Spec.Destination.Namespace, Cluster: g.cluster})
}

// permits asks the project and the limits of the cluster for one object.
func (g grant) permits(key object.Key) error {
	if err := g.cluster.Limits.Permits(key); err != nil {
		return err
	}
	if err := g.rules.PermitsResource(key.Group, key.Kind, key.Name, key.Namespace != ""); err != nil {
		return err
	}
	if key.Namespace == "" {
		return nil
	}
	if err := g.rules.PermitsDestination(g.cluster, key.Namespace); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// outside reports whether an object is beyond what the project or the cluster's Secret permits. It is not touched then, not even
// where it says that it is the Application's: an Application must not get at more by deleting than by applying. Where no project
// is known, it permits everything, so that an Application can be deleted after its project.
func (g grant) outside(key object.Key) bool {
	return g.beyond(key) != nil
}

// beyond says why an object is outside.
func (g grant) beyond(key object.Key) error {
	if g.rules == nil {
		return g.cluster.Limits.Permits(key)
	}
	return g.permits(key)
}

// faults says what is wrong with the project, besides what stops its Applications.
func (g grant) faults() []string {
	if g.rules == nil {
		return nil
	}
	var lines []string
	for _, err := range g.rules.Faults() {
		lines = append(lines, fmt.Sprintf("project %q: %v", g.rules.Name(), err))
	}
	return lines
}

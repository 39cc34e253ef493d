package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Bounds of previews.
const (
	previewLimit      = 50 * time.Second
	maxPreviews       = 6    // under way at a time: the agent's own work goes on beside them
	maxProjectsOwn    = 4    // of these, of one project
	maxPreviewObjects = 1000 // that are tried out
	maxPreviewDiff    = 64 << 10
	maxPreviewDiffs   = 6 << 20 // all of them together
	maxPreviewObjs    = 6 << 20 // manifests, all of them together
	maxProblems       = 100
)

// preview is one preview under way.
type preview struct {
	api.Preview
	v        *looks
	cmd      agentapi.Command
	req      agentapi.Preview
	app      *v1alpha1.Application // as it would be; nil where that is not known
	existing *v1alpha1.Application // as it is; nil where there is none
}

func (v *looks) preview(ctx context.Context, cmd agentapi.Command, req agentapi.Preview) (any, error) {
	if cmd.Target.Kind != agentapi.ItemApplication {
		return nil, command.Refuse(agentapi.CodeInvalid, "%s is about an application, not %.40q", cmd.Kind, cmd.Target.Kind)
	}
	ctx, cancel := context.WithTimeout(ctx, previewLimit)
	defer cancel()
	p := &preview{v: v, cmd: cmd, req: req}
	p.Problems, p.Objects, p.Revisions = []api.PreviewProblem{}, []api.PreviewObject{}, []string{}
	p.Quick = req.Quick
	if err := p.check(ctx); err != nil {
		return nil, err
	}
	if !req.Quick && p.app != nil && !p.wrong() {
		project := p.app.Spec.ProjectName()
		if !v.previews.take(project) {
			return nil, &agentapi.Error{
				Code: agentapi.CodeBusy, RetryAfter: 2, Message: "the agent is busy with other previews: try again in a moment",
			}
		}
		defer v.previews.give(project)
		if err := p.predict(ctx); err != nil {
			p.late(ctx, err)
		}
	}
	p.Valid = !p.wrong()
	return p.Preview, nil
}

// places are those of previews under way. A project that takes long has a share of them, never all.
type places struct {
	mu  sync.Mutex
	all int
	own map[string]int // by project
}

func (p *places) take(project string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.all >= maxPreviews || p.own[project] >= maxProjectsOwn {
		return false
	}
	if p.own == nil {
		p.own = map[string]int{}
	}
	p.all++
	p.own[project]++
	return true
}

func (p *places) give(project string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all--
	if p.own[project]--; p.own[project] == 0 {
		delete(p.own, project)
	}
}

// late says that a part of the answer is missing.
func (p *preview) late(ctx context.Context, err error) {
	if ctx.Err() != nil {
		p.problem("", api.ProblemError, "the preview was not ready within %s: the repository, the rendering or the cluster takes too long",
			previewLimit)
		return
	}
	p.problem("", api.ProblemError, "%v", err)
}

// problem notes what is wrong.
func (p *preview) problem(field, level, format string, args ...any) {
	if len(p.Problems) < maxProblems {
		p.Problems = append(p.Problems, api.PreviewProblem{Field: field, Level: level, Message: redact.Addresses(fmt.Sprintf(format, args...))})
	}
}

// wrong reports whether something stands in the way.
func (p *preview) wrong() bool {
	for _, one := range p.Problems {
		if one.Level == api.ProblemError {
			return true
		}
	}
	return false
}

// check finds what is wrong with the resource itself, its name, and what its project says. It asks nothing but the API server
// that keeps Applications.
func (p *preview) check(ctx context.Context) error {
	in, d, err := p.v.declaration(p.cmd)
	if err != nil {
		return err
	}
	want, err := readDeclared(p.req.Object, d, p.cmd.Target)
	if err != nil {
		return err
	}
	p.decode(want, true)
	have, err := in.Get(ctx, p.cmd.Target.Name, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err) && p.req.Update:
		return command.Refuse(agentapi.CodeNotFound, "application %s does not exist: it may have been deleted in the meantime", p.cmd.Target.Name)
	case err != nil && !apierrors.IsNotFound(err):
		return fmt.Errorf("read application %s: %w", p.cmd.Target.Name, err)
	case err == nil && !p.req.Update:
		p.problem("metadata.name", api.ProblemError,
			"there is an application %s in namespace %s already: choose another name, or change that one", p.cmd.Target.Name, p.cmd.Target.Namespace)
	case err == nil:
		if err := p.known(have); err != nil {
			return err
		}
	}
	if err == nil == p.req.Update {
		if err := p.try(ctx, want, d); err != nil {
			return err
		}
	}
	if p.app != nil {
		p.checkFields()
		p.checkProject()
	}
	return nil
}

// known takes the Application that is there. The server checked the caller's rights on it by the project that it knows.
func (p *preview) known(have *unstructured.Unstructured) error {
	raw, err := have.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode application %s: %w", have.GetName(), err)
	}
	if p.existing, _, err = registry.Decode(raw); err != nil {
		return fmt.Errorf("read application %s: %w; correct its fields", have.GetName(), err)
	}
	if got := p.existing.Spec.ProjectName(); p.req.Project != "" && got != p.req.Project {
		return command.Refuse(agentapi.CodeConflict,
			"application %s has come to another project: read it again and repeat the change", have.GetName())
	}
	return nil
}

// decode reads an Application; what no type of ours has is reported once.
func (p *preview) decode(obj map[string]any, tell bool) {
	raw, err := json.Marshal(obj)
	if err == nil {
		var unknown []string
		var app *v1alpha1.Application
		if app, unknown, err = registry.Decode(raw); err == nil {
			p.app = app
		}
		for _, field := range unknown {
			if tell {
				p.problem(field, api.ProblemWarning, "this field is not known here: it has no effect")
			}
		}
	}
	if err != nil && tell {
		p.problem(fieldIn(err), api.ProblemError, "%v", err)
	}
}

// fieldIn finds the field that a decoder complains of; "" where it names none.
func fieldIn(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return wrong.Field
	}
	_, rest, ok := strings.Cut(err.Error(), "Go struct field ")
	if !ok {
		return ""
	}
	name, _, _ := strings.Cut(rest, " ")
	_, field, _ := strings.Cut(name, ".")
	return field
}

// try has the API server check the resource, as it would when it is written, and takes what would come of it.
func (p *preview) try(ctx context.Context, want map[string]any, d declared) error {
	in, _, err := p.v.declaration(p.cmd)
	if err != nil {
		return err
	}
	var base map[string]any
	if len(p.req.Base) > 0 && string(p.req.Base) != "null" {
		if base, err = readDeclared(p.req.Base, d, p.cmd.Target); err != nil {
			return fmt.Errorf("base: %w", err)
		}
	}
	got, err := declare(ctx, in, want, base,
		judgedApply{agentapi.ObjectApply{Create: !p.req.Update, Update: p.req.Update, DryRun: true}, p.cmd.Judged, d})
	if err == nil {
		p.decode(got.Object, false)
		return nil
	}
	var status apierrors.APIStatus
	switch {
	case apierrors.IsInvalid(err) && errors.As(err, &status) && status.Status().Details != nil && len(status.Status().Details.Causes) > 0:
		for _, cause := range status.Status().Details.Causes {
			p.problem(cause.Field, api.ProblemError, "%.500s", cause.Message)
		}
	case apierrors.IsNotFound(err):
		p.problem("metadata.namespace", api.ProblemError, "%v: choose a namespace that is there", err)
	case apierrors.IsInvalid(err), apierrors.IsBadRequest(err), apierrors.IsForbidden(err), apierrors.IsAlreadyExists(err):
		p.problem("", api.ProblemError, "the API server does not take it: %.1000s", err.Error())
	default:
		var known *agentapi.Error
		if errors.As(err, &known) {
			p.problem("", api.ProblemError, "%s", known.Message)
			return nil
		}
		return fmt.Errorf("have the API server check application %s: %w", p.cmd.Target.Name, err)
	}
	return nil
}

// checkProject asks the project, before anything is read with the agent's credentials.
func (p *preview) checkProject() {
	app := p.app
	rules, err := p.v.Engine.Projects.Rules(app.Spec.ProjectName())
	if err != nil {
		p.problem("spec.project", api.ProblemError, "%v", err)
		return
	}
	if err := rules.PermitsNamespace(app.Namespace, p.v.Namespace); err != nil {
		p.problem("metadata.namespace", api.ProblemError, "%v", err)
	}
	for i, src := range app.Spec.EffectiveSources() {
		if err := rules.PermitsChart(src.RepoURL, src.Chart); err != nil && src.RepoURL != "" {
			p.problem(p.source(i)+".repoURL", api.ProblemError, "%v", err)
		}
	}
	cluster, err := p.v.Engine.Clusters.Identify(app.Spec.ProjectName(), app.Spec.Destination)
	if err != nil {
		p.problem("spec.destination", api.ProblemError, "%v", err)
		return
	}
	if err := rules.PermitsDestination(cluster, app.Spec.Destination.Namespace); err != nil {
		p.problem("spec.destination", api.ProblemError, "%v", err)
	}
}

// source is the field of a source.
func (p *preview) source(i int) string {
	switch spec := &p.app.Spec; {
	case spec.SourceHydrator != nil:
		return "spec.sourceHydrator"
	case len(spec.Sources) > 0:
		return fmt.Sprintf("spec.sources[%d]", i)
	}
	return "spec.source"
}

// manifests renders the sources. What is decrypted for the Application as it is stored is decrypted for no other specification:
// the author of one can have a template print it in another form.
func (p *preview) manifests(ctx context.Context) (engine.Wish, error) {
	if p.existing != nil && p.existing.Spec.ProjectName() == p.app.Spec.ProjectName() &&
		equality.Semantic.DeepEqual(p.existing.Spec.EffectiveSources(), p.app.Spec.EffectiveSources()) {
		return p.v.Engine.Manifests(ctx, p.app)
	}
	return p.v.Engine.ManifestsSealed(ctx, p.app)
}

// predict reads the sources, renders them, and has the destination try out what comes of it. That the project permits it
// was asked before, and is asked again by the engine.
func (p *preview) predict(ctx context.Context) error {
	if err := p.checkSources(ctx); err != nil || p.wrong() {
		return err
	}
	wish, err := p.manifests(ctx)
	var denied *engine.ProjectError
	switch {
	case err != nil && ctx.Err() != nil:
		return err
	case errors.As(err, &denied):
		p.problem("spec.project", api.ProblemError, "%v", err)
		return nil
	case err != nil:
		n := 1
		_, _ = fmt.Sscanf(err.Error(), "source %d of", &n) // the engine says which of several
		p.problem(p.source(n-1), api.ProblemError, "%v", err)
		return nil
	}
	p.Revisions = append(p.Revisions, wish.Revisions...)
	if p.req.Manifests {
		p.showManifests(wish.Objects)
	}
	return p.compare(ctx, wish)
}

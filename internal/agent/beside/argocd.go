// Package beside is what an agent does beside an Argo CD: it leaves the work to it, or only reports what it would do itself.
package beside

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/link"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/report"
	"github.com/slipway-gitops/slipway/internal/agent/status"
)

// ArgoCD has an Argo CD beside the agent work on the Applications. It sends requests in the fields and the annotation
// that Argo CD's own server uses, and reports what Argo CD writes into the status.
type ArgoCD struct {
	Config

	mu    sync.Mutex
	asked map[registry.Name]time.Time // since when an Application has something asked of it that Argo CD has not taken up
	// leaving are Applications as they were when their deletion began.
	leaving map[registry.Name]*v1alpha1.Application

	deployed statusObjects
}

// Config is what it takes to work beside an Argo CD.
type Config struct {
	Rest      *rest.Config
	Namespace string // of the agent
	Log       *slog.Logger
	// These are there once something is watched.
	Clusters func() *place.Clusters
	Linked   func() *report.Source // nil without a server
	Ledger   func() *report.Ledger // the same
}

// NewArgoCD has an Argo CD work on the Applications.
func NewArgoCD(c Config) *ArgoCD {
	return &ArgoCD{
		Config: c, asked: map[registry.Name]time.Time{}, leaving: map[registry.Name]*v1alpha1.Application{}, deployed: newStatusObjects(),
	}
}

// Engine is the name that it has in reports to a server.
func (d *ArgoCD) Engine() agentapi.Engine { return agentapi.EngineArgoCD }

// Prepare makes sure that there is an Argo CD. Nothing of it is made or changed.
func (d *ArgoCD) Prepare(context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(d.Rest)
	if err != nil {
		return fmt.Errorf("make discovery client: %w", err)
	}
	served, err := client.ServerResourcesForGroupVersion(v1alpha1.GroupVersion().String())
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("look for Argo CD's resources: %w", err)
	}
	have := map[string]bool{}
	if err == nil {
		for _, r := range served.APIResources {
			have[r.Name] = true
		}
	}
	for _, resource := range []string{v1alpha1.ResourceApplications, v1alpha1.ResourceApplicationSets, v1alpha1.ResourceAppProjects} {
		if !have[resource] {
			return fmt.Errorf("the cluster has no %s.%s: --engine argocd is for a cluster with an Argo CD, which it leaves as it is; "+
				"install Argo CD, or leave --engine out", resource, v1alpha1.Group)
		}
	}
	d.Ledger().MakeBeside()
	return nil
}

// Alone has nothing to make sure of: this agent works on nothing.
func (d *ArgoCD) Alone(context.Context, *errgroup.Group) error { return nil }

// Wants has nothing to do: the engine that works on the Application sees it too.
func (d *ArgoCD) Wants(registry.Name) {}

// Moved hears of a change of an Application.
func (d *ArgoCD) Moved(old, fresh *v1alpha1.Application) {
	d.note(old, fresh)
	d.place(old, fresh)
	if fresh != nil {
		d.Ledger().Observed(old, fresh)
	}
	if gone := d.left(old, fresh); gone != nil {
		d.Ledger().DeletedBeside(gone)
	}
}

// left returns an Application that is gone with its objects, as it was when its deletion began; nil for any other.
func (d *ArgoCD) left(old, fresh *v1alpha1.Application) *v1alpha1.Application {
	d.mu.Lock()
	defer d.mu.Unlock()
	if fresh != nil {
		id := registry.NameOf(fresh)
		if known := d.leaving[id]; fresh.DeletionTimestamp == nil || known != nil && known.UID != fresh.UID {
			delete(d.leaving, id)
		}
		if finalizer, _ := status.Cascade(fresh); fresh.DeletionTimestamp != nil && finalizer != "" && d.leaving[id] == nil {
			d.leaving[id] = fresh
		}
		return nil
	}
	id := registry.NameOf(old)
	defer delete(d.leaving, id)
	return d.leaving[id]
}

// note remembers since when Argo CD is asked for something.
func (d *ArgoCD) note(old, fresh *v1alpha1.Application) {
	app := fresh
	if app == nil {
		app = old
	}
	id := registry.NameOf(app)
	d.mu.Lock()
	defer d.mu.Unlock()
	switch since, known := d.asked[id]; {
	case fresh == nil || !waits(fresh):
		delete(d.asked, id)
	case !known || since.IsZero():
		d.asked[id] = time.Now()
	}
}

// waits reports whether something is asked of Argo CD that it has not begun with.
func waits(app *v1alpha1.Application) bool {
	if app.Annotations[v1alpha1.AnnotationSkipReconcile] == "true" {
		return false
	}
	op := app.Status.OperationState
	return app.Annotations[v1alpha1.AnnotationRefresh] != "" || app.Operation != nil && (op == nil || op.Phase.Completed())
}

// Work begins nothing: Argo CD does.
func (d *ArgoCD) Work(context.Context, *errgroup.Group) {}

// Health says whether Argo CD takes up what it is asked.
func (d *ArgoCD) Health() agentapi.Component {
	c := agentapi.Component{Name: "argocd", Status: agentapi.ComponentHealthy}
	d.mu.Lock()
	defer d.mu.Unlock()
	late, longest := 0, time.Duration(0)
	for _, since := range d.asked {
		if waited := time.Since(since); waited > registry.Late {
			late++
			longest = max(longest, waited)
		}
	}
	if late > 0 {
		c.Status = agentapi.ComponentDegraded
		c.Message = fmt.Sprintf("Argo CD has not taken up what %d applications were asked for, the first for %s: "+
			"see whether its application controller runs", late, longest.Round(time.Second))
	}
	return c
}

// Refine says what Argo CD, or the agent beside it, cannot do.
func (d *ArgoCD) Refine(run map[agentapi.Kind]link.Executor) {
	for kind, beside := range map[agentapi.Kind]func(any, error, string) (any, error){
		agentapi.KindDiff: diffBeside, agentapi.KindPreview: previewBeside,
	} {
		plain := run[kind]
		run[kind] = func(ctx context.Context, cmd agentapi.Command) (any, error) {
			out, err := plain(ctx, cmd)
			return beside(out, err, cmd.Target.Name)
		}
	}
}

// previewBeside says once that the agent may not try objects out. That is no fault of the Application.
func previewBeside(out any, err error, _ string) (any, error) {
	answer, ok := out.(api.Preview)
	if err != nil || !ok {
		return out, err
	}
	untried := 0
	for i := range answer.Objects {
		if o := &answer.Objects[i]; strings.Contains(o.Error, cannotPatch) {
			o.Error = "it was not tried out: the agent beside Argo CD has no right to patch, which a dry run takes"
			untried++
		}
	}
	if untried > 0 && untried == answer.Counts.Error {
		answer.Problems = slices.DeleteFunc(answer.Problems,
			func(one api.PreviewProblem) bool { return one.Field == "" && one.Level == api.ProblemError })
		answer.Valid = !slices.ContainsFunc(answer.Problems, func(one api.PreviewProblem) bool { return one.Level == api.ProblemError })
		answer.Warnings = append(answer.Warnings, "objects were not tried out: give the agent's service account the right to patch, "+
			"with which nothing is changed, to see what a sync would do to them")
	}
	return answer, nil
}

// cannotPatch is in the words of an API server that misses the right to patch; admission says no in other words.
const cannotPatch = "cannot patch resource"

// diffBeside reports once that the agent may not read objects or try them out: to compare takes the rights to get and to patch, with
// which nothing is changed, and the agent is not installed with them. It is not the user who lacks a permission.
func diffBeside(out any, err error, app string) (any, error) {
	refused := ""
	if answer, ok := out.(api.DiffAnswer); err == nil && ok {
		for _, item := range answer.Items {
			if strings.Contains(item.Error, cannotPatch) {
				refused = item.Error
			}
		}
	} else if apierrors.IsForbidden(err) {
		refused = err.Error()
	}
	if refused == "" {
		return out, err
	}
	return nil, command.Refuse(agentapi.CodeUnsupported, "the agent beside Argo CD cannot compare application %s: "+
		"it needs the rights to get and patch each object, "+
		"for dry runs (%s). Grant them to its service account, or use `slipway app get %s`, "+
		"which names the objects that Argo CD finds different, and "+
		"`argocd app diff %s`", app, refused, app, app)
}

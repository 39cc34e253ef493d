package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/strict"
	"github.com/slipway-gitops/slipway/internal/why"
)

type whyOptions struct {
	*connect.Common
	name string
	file string
	logs bool
}

func newWhyCmd(common *connect.Common) *cobra.Command {
	o := whyOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "why NAME | -f FILE",
		Short: "Explain the state of an application, since when, and what would change it",
		Long: "Show on one screen the state of an application, the reason, since when, and which command or commit would\n" +
			"change it. The most important reason comes first. Where an object is not well, its pods, claims and Events are read, and the\n" +
			"first thing that fails is named with what shows it. --logs adds the last lines of containers that fail: these may hold\n" +
			"anything, and take the right to read logs. With -f the answer is made from a file that holds the Application, and its\n" +
			"AppProject if sync windows matter; then no cluster is read. Exit code 1 when there is no such application.",
		Example: "  slipway app why web\n  slipway app why web --logs\n  slipway app why web -o json\n  kubectl -n argocd get application web " +
			"-o yaml | slipway app why -f -",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.name = args[0]
			}
			return whyRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "manifest `file` with the Application as it is in a cluster, - for standard input")
	cmd.Flags().BoolVar(&o.logs, "logs", false, "add the last lines of containers that fail")
	return cmd
}

func whyRun(ctx context.Context, o whyOptions) error {
	if (o.name == "") == (o.file == "") {
		return iostream.Usagef("give the application's name, or a manifest with -f")
	}
	if o.logs && o.file != "" {
		return iostream.Usagef("--logs reads a cluster: leave out -f")
	}
	now := time.Now()
	answer, status, err := o.answer(ctx, now)
	if err != nil {
		return err
	}
	for _, warning := range answer.Warnings {
		o.Sayf("warning: %s", warning)
	}
	if o.Output != iostream.Table {
		err = o.Print(o.Output, answer)
	} else {
		_, err = io.WriteString(o.Out, why.Text(answer, now)+why.RevisionText(status, now))
	}
	if err == nil && len(answer.Reasons) > 0 && answer.Reasons[0].Code == string(why.NotFound) {
		return &iostream.ExitError{Code: iostream.CodeError}
	}
	return err
}

// answer asks the server, or makes the answer from a cluster or a file.
func (o *whyOptions) answer(ctx context.Context, now time.Time) (api.Why, api.RevisionStatus, error) {
	if o.file != "" {
		facts, err := o.read()
		return explained(facts, err)
	}
	facts := why.Facts{Name: o.name, Namespace: o.Namespace, Now: now}
	server, err := o.Server()
	if err != nil {
		return api.Why{}, api.RevisionStatus{}, err
	}
	if server == nil {
		err := o.fromCluster(ctx, &facts)
		return explained(facts, err)
	}
	app, err := server.Application(ctx, o.name)
	if err != nil {
		return api.Why{}, api.RevisionStatus{}, err
	}
	answer, err := app.Why(ctx, o.logs)
	if err != nil {
		return api.Why{}, api.RevisionStatus{}, server.Explain(err)
	}
	status, err := app.RevisionStatus(ctx)
	if err != nil {
		answer.Warnings = append(answer.Warnings, fmt.Sprintf("the revisions are not known: %v", server.Explain(err)))
	}
	return answer, status, nil
}

func explained(facts why.Facts, err error) (api.Why, api.RevisionStatus, error) {
	if err != nil || facts.App == nil {
		return why.Explain(facts).API(), api.RevisionStatus{}, err
	}
	return why.Explain(facts).API(), why.Revisions(facts), nil
}

// fromCluster takes the facts from a cluster, with what fails there.
func (o *whyOptions) fromCluster(ctx context.Context, facts *why.Facts) error {
	cluster, err := o.Connect()
	if err != nil {
		return err
	}
	app, err := cluster.Apps.Get(ctx, o.name)
	if apierrors.IsNotFound(err) && missing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	facts.App = &app.Application
	facts.Project, facts.ProjectError, err = readProject(ctx, cluster, app.Spec.ProjectName())
	if err != nil {
		o.Sayf("warning: sync windows are not looked at: %v", err)
	}
	facts.Findings, err = findings(ctx, cluster, &app.Application, o)
	if err != nil {
		o.Sayf("warning: the objects in the cluster are not looked at: %v", err)
	}
	return nil
}

// missing distinguishes an Application that does not exist from a cluster that knows no Applications.
func missing(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name != ""
}

// read takes the facts from a file.
func (o *whyOptions) read() (why.Facts, error) {
	facts := why.Facts{Namespace: o.Namespace, Now: time.Now()}
	docs, err := manifest.Read(o.file, o.In)
	if err != nil {
		return facts, err
	}
	projects := map[string]*v1alpha1.AppProject{}
	for _, doc := range docs {
		switch doc["kind"] {
		case v1alpha1.KindApplication:
			if facts.App != nil {
				return facts, fmt.Errorf("%s holds more than one Application; give one at a time", o.file)
			}
			facts.App = &v1alpha1.Application{}
			err = manifest.Into(doc, facts.App)
		case v1alpha1.KindAppProject:
			p := &v1alpha1.AppProject{}
			err = manifest.Into(doc, p)
			projects[p.Name] = p
		}
		if err != nil {
			return facts, fmt.Errorf("read %s: %w", o.file, err)
		}
	}
	if facts.App == nil {
		return facts, fmt.Errorf("%s holds no Application", o.file)
	}
	if p := projects[facts.App.Spec.ProjectName()]; p != nil {
		facts.Project, facts.ProjectError = project.New(p)
	}
	return facts, nil
}

// readProject reads the rules of a project, with those that it inherits. wrong is what is wrong with the project itself.
func readProject(ctx context.Context, cluster *connect.Cluster, name string) (rules *project.Rules, wrong, err error) {
	p, err := oneProject(ctx, cluster, name)
	if apierrors.IsNotFound(err) {
		if name == v1alpha1.DefaultProject {
			return nil, nil, nil // the agent has one of its own
		}
		return nil, fmt.Errorf("project %q does not exist in namespace %s", name, cluster.Apps.Namespace()), nil
	}
	if err != nil {
		return nil, nil, connect.Explain(err)
	}
	settings, err := readSettings(ctx, cluster)
	if err != nil {
		return nil, nil, connect.Explain(fmt.Errorf("read ConfigMap %s: %w", configSettings, err))
	}
	globals, err := project.ParseGlobals(settings["globalProjects"])
	if err != nil {
		return nil, nil, err
	}
	var inherited []*v1alpha1.AppProject
	for _, g := range globals {
		if !g.Selects(p.Name, p.Labels) {
			continue
		}
		from, err := oneProject(ctx, cluster, g.Project)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, nil, connect.Explain(err)
		}
		inherited = append(inherited, from)
	}
	rules, wrong = project.New(p, inherited...)
	return rules, wrong, nil
}

func oneProject(ctx context.Context, cluster *connect.Cluster, name string) (*v1alpha1.AppProject, error) {
	obj, err := cluster.Dynamic.Resource(v1alpha1.Resource(v1alpha1.ResourceAppProjects)).Namespace(cluster.Apps.Namespace()).
		Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", name, err)
	}
	unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("read project %s: %w", name, err)
	}
	p := &v1alpha1.AppProject{}
	if err := strict.Decode(raw, p, strict.Foreign); err != nil { // it is in the cluster already
		return nil, fmt.Errorf("read project %s: %w", name, err)
	}
	return p, nil
}

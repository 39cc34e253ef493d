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
	"github.com/slipway-gitops/slipway/internal/cli/access"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/project"
	"github.com/slipway-gitops/slipway/internal/strict"
	"github.com/slipway-gitops/slipway/internal/why"
)

type whyOptions struct {
	*access.Common
	name string
	file string
}

func newWhyCmd(common *access.Common) *cobra.Command {
	o := whyOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "why NAME | -f FILE",
		Short: "Say why an application is as it is, since when, and what would change that",
		Long: "Say on one screen in what state an application is, for what reason, since when, and which command or commit would\n" +
			"change it. The most important reason comes first. With -f it is told from a file that holds the Application, and\n" +
			"its AppProject where sync windows matter. Exit code 1 when there is no such application.",
		Example: "  slipway app why web\n  slipway app why web -o json\n  kubectl -n argocd get application web -o yaml | slipway app why -f -",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.name = args[0]
			}
			return whyRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "manifest `file` with the Application as it is in a cluster, - for standard input")
	return cmd
}

func whyRun(ctx context.Context, o whyOptions) error {
	if (o.name == "") == (o.file == "") {
		return iostream.Usagef("give the application's name, or a manifest with -f")
	}
	facts, err := o.facts(ctx)
	if err != nil {
		return err
	}
	answer := why.Explain(facts)
	if o.Output != iostream.Table {
		err = o.Print(o.Output, answer)
	} else {
		_, err = io.WriteString(o.Out, answer.Text(facts.Now))
	}
	if err == nil && facts.App == nil {
		return &iostream.ExitError{Code: iostream.CodeError}
	}
	return err
}

func (o *whyOptions) facts(ctx context.Context) (why.Facts, error) {
	if o.file != "" {
		return o.read()
	}
	facts := why.Facts{Name: o.name, Namespace: o.Namespace, Now: time.Now()}
	site, err := o.Site()
	if err != nil {
		return facts, err
	}
	app, err := site.Get(ctx, o.name)
	if apierrors.IsNotFound(err) && missing(err) {
		return facts, nil
	}
	if err != nil {
		return facts, err
	}
	facts.App = &app.Application
	if server, ok := site.(*access.Server); ok {
		facts.Project, facts.ProjectError, err = knownProject(ctx, server, app)
		if err != nil {
			o.Sayf("warning: sync windows are not looked at: %v", err)
		}
		return facts, nil
	}
	cluster, err := o.Connect()
	if err != nil {
		return facts, err
	}
	facts.Project, facts.ProjectError, err = readProject(ctx, cluster, app.Spec.ProjectName())
	if err != nil {
		o.Sayf("warning: sync windows are not looked at: %v", err)
	}
	return facts, nil
}

// missing tells an Application that does not exist from a cluster that knows no Applications.
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
func readProject(ctx context.Context, cluster *access.Cluster, name string) (rules *project.Rules, wrong, err error) {
	p, err := oneProject(ctx, cluster, name)
	if apierrors.IsNotFound(err) {
		if name == v1alpha1.DefaultProject {
			return nil, nil, nil // the agent has one of its own
		}
		return nil, fmt.Errorf("project %q does not exist in namespace %s", name, cluster.Apps.Namespace()), nil
	}
	if err != nil {
		return nil, nil, access.Explain(err)
	}
	settings, err := readSettings(ctx, cluster)
	if err != nil {
		return nil, nil, access.Explain(fmt.Errorf("read ConfigMap %s: %w", configSettings, err))
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
			return nil, nil, access.Explain(err)
		}
		inherited = append(inherited, from)
	}
	rules, wrong = project.New(p, inherited...)
	return rules, wrong, nil
}

// knownProject reads the rules of a project from a server's copy. What it inherits is not known there.
func knownProject(ctx context.Context, server *access.Server, app access.Application) (rules *project.Rules, wrong, err error) {
	item, err := server.Client.ArgoProjects().Item(ctx, api.Target{Agent: app.Agent, Namespace: app.Namespace, Name: app.Spec.ProjectName()})
	if err != nil {
		return nil, nil, server.Explain(err)
	}
	p := &v1alpha1.AppProject{}
	if err := strict.Decode(item.Resource, p, strict.Foreign); err != nil {
		return nil, nil, fmt.Errorf("read project %s: %w", item.Name, err)
	}
	rules, wrong = project.New(p)
	return rules, wrong, nil
}

func oneProject(ctx context.Context, cluster *access.Cluster, name string) (*v1alpha1.AppProject, error) {
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

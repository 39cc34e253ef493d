package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
)

type createOptions struct {
	*connect.Common
	file    string
	upsert  bool
	dryRun  bool
	preview bool
	diffs   bool // with preview
	spec    specFlags
}

func newCreateCmd(common *connect.Common) *cobra.Command {
	o := createOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "create NAME | -f FILE",
		Short: "Create an application from flags or from a manifest",
		Long: "Create an application from flags or from a manifest. --preview shows its effect before it is created: whether its\n" +
			"fields are right, and what a sync would do to each object. Nothing is written then. Exit code 1 when it could not be synced.",
		Example: "  slipway app create web --repo https://git.example.com/demo.git --path apps/web \\\n" +
			"    --dest-namespace web --create-namespace --auto-sync --prune --self-heal\n" +
			"  slipway app create blog --repo https://git.example.com/charts.git --path blog --helm-set replicas=2\n" +
			"  slipway app create -f applications.yaml --upsert\n" +
			"  slipway app create -f applications.yaml --upsert --preview --diff",
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.spec.name = args[0]
			}
			return createRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVarP(&o.file, "file", "f", "", "manifest `file` with one or more Applications, - for standard input")
	cmd.Flags().BoolVar(&o.upsert, "upsert", false, "if the application exists, replace its spec, and add labels and annotations")
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "only validate the application at the API server, and do not create it")
	cmd.Flags().BoolVar(&o.preview, "preview", false, "through a server, show the effect of a sync on each object, and create nothing")
	cmd.Flags().BoolVar(&o.diffs, "diff", false, "with --preview, also print the differences of the objects")
	cmd.MarkFlagsMutuallyExclusive("preview", "dry-run")
	for _, name := range o.spec.addFlags(cmd.Flags()) {
		cmd.MarkFlagsMutuallyExclusive("file", name)
	}
	return cmd
}

func createRun(ctx context.Context, o createOptions) error {
	objects, err := o.applications()
	if err != nil {
		return err
	}
	if o.diffs && !o.preview {
		return iostream.Usagef("--diff is for a --preview")
	}
	site, err := o.Site()
	if err != nil {
		return err
	}
	namespace := o.Namespace
	if _, atServer := site.(*connect.Server); atServer {
		namespace = o.ChosenNamespace()
	}
	if err := manifest.Place(objects, namespace); err != nil {
		return err
	}
	if o.preview {
		return previewRun(ctx, o, objects)
	}
	made := make([]connect.Application, 0, len(objects))
	for _, obj := range objects {
		app, err := site.Create(ctx, obj, o.upsert, o.dryRun)
		if err != nil {
			return err
		}
		made = append(made, app)
	}
	if o.Output != iostream.Table {
		if len(made) == 1 {
			return o.Print(o.Output, made[0].Raw.Object)
		}
		return o.Print(o.Output, items(made))
	}
	for _, app := range made {
		if o.dryRun {
			o.Sayf("application %s would be created", app.Name)
		} else {
			o.Sayf("application %s %s", app.Name, verb(app))
		}
	}
	return nil
}

// verb says what a write did: an object that was made just now is at its first generation and has no status.
func verb(app connect.Application) string {
	if app.Raw.GetGeneration() <= 1 {
		return "created"
	}
	return "configured"
}

// applications returns the Applications to create, as flags or a file describe them.
func (o *createOptions) applications() ([]*unstructured.Unstructured, error) {
	switch {
	case o.file == "" && o.spec.name == "":
		return nil, iostream.Usagef("give the application's name, or a manifest with -f")
	case o.file == "":
		obj, err := o.spec.application()
		if err != nil {
			return nil, err
		}
		return []*unstructured.Unstructured{obj}, nil
	case o.spec.name != "":
		return nil, iostream.Usagef("give a name or -f, not both: the manifest has the name")
	}
	docs, err := manifest.Read(o.file, o.In)
	if err != nil {
		return nil, err
	}
	out := make([]*unstructured.Unstructured, 0, len(docs))
	for i, doc := range docs {
		obj := &unstructured.Unstructured{Object: doc}
		if obj.GetKind() != v1alpha1.KindApplication || obj.GetAPIVersion() != v1alpha1.GroupVersion().String() {
			return nil, fmt.Errorf("document %d of %s is a %s %s, not an Application of %s; create other kinds with kubectl",
				i+1, o.file, obj.GetAPIVersion(), obj.GetKind(), v1alpha1.GroupVersion())
		}
		if obj.GetName() == "" {
			return nil, fmt.Errorf("document %d of %s has no metadata.name; give it one", i+1, o.file)
		}
		out = append(out, obj)
	}
	return out, nil
}

package offline

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/desire"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

type renderOptions struct {
	*connect.Common
	app         string
	name        string
	repos       []string
	keys        []string // files with private keys
	kubeVersion string
	apiVersions []string
}

func newRenderCmd(common *connect.Common) *cobra.Command {
	o := renderOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "render --app FILE --repo DIR",
		Short: "Print what an application wants, from files alone",
		Long: "Render the sources of an Application from local directories and print the objects as YAML documents, or as one\n" +
			"JSON list with -o json. It fetches nothing and reads no cluster. Secrets are printed as they are.",
		Example: "  slipway render --app app.yaml --repo .\n" +
			"  slipway render --app app.yaml --repo . --repo https://charts.example.com=unpacked/blog -o json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return renderRun(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.app, "app", "", "`file` with the Application, - for standard input")
	flags.StringVar(&o.name, "name", "", "`name` of the Application, where the file has several objects")
	flags.StringArrayVar(&o.repos, "repo", nil, "`[URL=]DIR`: files of all sources, or of those of one repository; repeat for several")
	flags.StringArrayVar(&o.keys, "sops-key", nil,
		"`file` with private keys for files that SOPS has encrypted, NAME.agekey or NAME.asc; repeat for several")
	flags.StringVar(&o.kubeVersion, "kube-version", "v1.36.0", "Kubernetes `version` that charts see")
	flags.StringSliceVar(&o.apiVersions, "api-versions", nil, "API `versions` that charts see, as group/version or group/version/Kind")
	return cmd
}

func renderRun(ctx context.Context, o renderOptions) error {
	if o.app == "" || len(o.repos) == 0 {
		return iostream.Usagef("give the Application with --app and its repository with --repo")
	}
	app, err := readApplication(o)
	if err != nil {
		return err
	}
	local, err := desire.OpenLocal(o.repos)
	if err != nil {
		return err
	}
	defer local.Close()
	if err := local.DecryptWith(o.keys); err != nil {
		return err
	}
	objects, err := desire.Render(ctx, app, local, "", render.Capabilities{KubeVersion: o.kubeVersion, APIVersions: o.apiVersions})
	if err != nil {
		return fmt.Errorf("render %s: %w", app.Name, err)
	}
	return desire.Print(o.Common, objects)
}

// readApplication finds the one Application of a file, or the named one.
func readApplication(o renderOptions) (*v1alpha1.Application, error) {
	docs, err := manifest.Read(o.app, o.In)
	if err != nil {
		return nil, err
	}
	var found *v1alpha1.Application
	for _, doc := range docs {
		if doc["kind"] != v1alpha1.KindApplication {
			continue
		}
		var app v1alpha1.Application
		if err := manifest.Into(doc, &app); err != nil {
			return nil, fmt.Errorf("read application in %s: %w", o.app, err)
		}
		if o.name != "" && app.Name != o.name {
			continue
		}
		if found != nil {
			return nil, iostream.Usagef("%s holds several Applications; choose one with --name", o.app)
		}
		found = &app
	}
	if found == nil {
		return nil, fmt.Errorf("%s holds no Application%s", o.app, named(o.name))
	}
	return found, nil
}

func named(name string) string {
	if name == "" {
		return ""
	}
	return " called " + name
}

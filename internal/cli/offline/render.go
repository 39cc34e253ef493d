package offline

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/desire"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/manifest"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/outward"
)

type renderOptions struct {
	*connect.Common
	app         string
	name        string
	repos       []string
	keys        []string // files with private keys
	plugins     string   // directory with declarations
	offline     bool     // nothing is fetched
	credentials string   // file with repository Secrets
	docker      string   // config.json of Docker
	outbound    outward.Flags
	kubeVersion string
	apiVersions []string
}

func newRenderCmd(common *connect.Common) *cobra.Command {
	o := renderOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "render --app FILE [--repo DIR]",
		Short: "Print what an application wants, without a cluster",
		Long: "Render the sources of an Application and print the objects as YAML documents, or as one JSON list with -o json.\n" +
			"It takes sources from the directories of --repo, and fetches others, and charts, remote bases and value files that they\n" +
			"need. --offline fetches nothing. No credential is used but those of --credentials and --docker-config. It reads no\n" +
			"cluster. Secrets are printed as they are.",
		Example: "  slipway render --app app.yaml --repo .\n" +
			"  slipway render --app app.yaml --repo . --repo https://charts.example.com=unpacked/blog -o json\n" +
			"  slipway render --app app.yaml --credentials repositories.yaml --docker-config ~/.docker/config.json",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return renderRun(cmd.Context(), o) },
	}
	flags := cmd.Flags()
	flags.StringVar(&o.app, "app", "", "`file` with the Application, - for standard input")
	flags.StringVar(&o.name, "name", "", "`name` of the Application, where the file has several objects")
	flags.StringArrayVar(&o.repos, "repo", nil, "`[URL=]DIR`: files of all sources, or of those of one repository; repeat for several")
	flags.StringArrayVar(&o.keys, "sops-key", nil,
		"`file` with private keys for files that SOPS has encrypted, NAME.agekey or NAME.asc; repeat for several")
	flags.BoolVar(&o.offline, "offline", false, "fetch nothing: what --repo does not name is an error")
	flags.StringVar(&o.credentials, "credentials", os.Getenv(desire.CredentialsVariable),
		"`file` with repository Secrets, as the agent reads them, for what is fetched (default $"+desire.CredentialsVariable+")")
	flags.StringVar(&o.docker, "docker-config", "", "config.json of Docker, a `file` with credentials for registries")
	flags.StringVar(&o.plugins, "plugins", "", "`directory` with declarations (plugin.yaml) of config management plugins to run, confined")
	o.outbound.Register(flags)
	flags.StringVar(&o.kubeVersion, "kube-version", "v1.36.0", "Kubernetes `version` that charts see")
	flags.StringSliceVar(&o.apiVersions, "api-versions", nil, "API `versions` that charts see, as group/version or group/version/Kind")
	return cmd
}

func renderRun(ctx context.Context, o renderOptions) error {
	if o.app == "" {
		return iostream.Usagef("give the Application with --app")
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
	if !o.offline {
		policy, err := o.outbound.Policy()
		if err != nil {
			return iostream.Usagef("%s", err)
		}
		remote, err := desire.Elsewhere{Project: app.Spec.ProjectName(), Credentials: o.credentials, Docker: o.docker, Policy: policy}.Open()
		if err != nil {
			return err
		}
		defer remote.Close()
		local.Elsewhere = remote
	}
	objects, err := desire.Render(ctx, app, local, desire.Options{
		Cluster: render.Capabilities{KubeVersion: o.kubeVersion, APIVersions: o.apiVersions}, Plugins: o.plugins,
	})
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

package app

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// served finds the application at a server, for commands that only a server has.
func served(ctx context.Context, common *connect.Common, name string) (*connect.Server, client.Application, error) {
	server, err := common.Server()
	if err != nil {
		return nil, client.Application{}, err
	}
	if server == nil {
		return nil, client.Application{}, iostream.NotLoggedInf("this goes through a server: sign in with `slipway login URL`, " +
			"or give --server (KUBECONFIG and --kubeconfig are a cluster); kubectl does it without one")
	}
	app, err := server.Application(ctx, name)
	return server, app, err
}

// refOf reads what the command line calls an object.
func refOf(text string) (api.ResourceRef, error) {
	o, err := operate.ParseObject(text)
	if err != nil {
		return api.ResourceRef{}, iostream.Usagef("%w", err)
	}
	return api.ResourceRef{Group: o.Group, Kind: o.Kind, Namespace: o.Namespace, Name: o.Name}, nil
}

// place fills in the namespace of an object that was named without: that of the destination, unless the object has none.
func place(ctx context.Context, server *connect.Server, name string, ref *api.ResourceRef) error {
	if ref.Namespace != "" {
		return nil
	}
	app, err := server.Get(ctx, name)
	if err != nil {
		return err
	}
	ref.Namespace = app.Spec.Destination.Namespace
	for _, r := range app.Status.Resources {
		if r.Group == ref.Group && r.Kind == ref.Kind && r.Name == ref.Name {
			ref.Namespace, ref.Version = r.Namespace, r.Version
			return nil
		}
	}
	return nil
}

func newEventsCmd(common *connect.Common) *cobra.Command {
	return &cobra.Command{
		Use: "events NAME [OBJECT]", Short: "List the Kubernetes Events of an application itself or of an object, through a server",
		Args: cobra.RangeArgs(1, 2),
		Example: "  slipway app events web\n  slipway app events web apps/Deployment:web\n  slipway app events web " +
			"Pod:shop/web-5d9c7b6d4f-x2x9z -o json",
		ValidArgsFunction: completeObjects(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			do := onObject
			if len(args) == 1 {
				do = onItself
			}
			return do(cmd.Context(), common, args, func(ctx context.Context, app client.Application, ref api.ResourceRef) error {
				found, err := app.Events(ctx, ref)
				if err != nil {
					return err
				}
				return noun.PrintList(common, found.Events, []string{
					"LAST", "TYPE", "REASON", "COUNT", "FROM", "MESSAGE",
				}, func(e *api.ResourceEvent) []string {
					return []string{noun.Time(e.Last), e.Type, e.Reason, fmt.Sprint(e.Count), e.Source, e.Message}
				}, "no events")
			})
		},
	}
}

// onItself does something with the Application itself.
func onItself(ctx context.Context, common *connect.Common, args []string,
	do func(context.Context, client.Application, api.ResourceRef) error,
) error {
	server, app, err := served(ctx, common, args[0])
	if err != nil {
		return err
	}
	t, err := server.Target(ctx, args[0])
	if err != nil {
		return err
	}
	return server.Explain(do(ctx, app, api.ResourceRef{
		Group: v1alpha1.Group, Version: v1alpha1.Version, Kind: v1alpha1.KindApplication, Namespace: t.Namespace, Name: t.Name,
	}))
}

// onObject does something with one object of an application at a server.
func onObject(ctx context.Context, common *connect.Common, args []string,
	do func(context.Context, client.Application, api.ResourceRef) error,
) error {
	ref, err := refOf(args[1])
	if err != nil {
		return err
	}
	server, app, err := served(ctx, common, args[0])
	if err != nil {
		return err
	}
	if err := place(ctx, server, args[0], &ref); err != nil {
		return err
	}
	return server.Explain(do(ctx, app, ref))
}

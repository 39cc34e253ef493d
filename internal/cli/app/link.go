package app

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
	"github.com/slipway-gitops/slipway/internal/cli/service"
)

type linkOptions struct {
	*connect.Common
	name, service, environment, reason string
	remove, given                      bool
}

func newLinkCmd(common *connect.Common) *cobra.Command {
	o := linkOptions{Common: common}
	cmd := &cobra.Command{
		Use: "link NAME", Short: "Link an application to a service and an environment; without flags, show the links", Args: cobra.ExactArgs(1),
		Long: "Link an application to a service and an environment of the server, by id or name. Labels of the Application\n" +
			"(" + api.LabelService + ", " + api.LabelEnvironment +
			") count before a link, and a link before the environment of the application's cluster.\n" +
			"A link stays when the application is deleted and recreated. Without both flags, the effective links are shown.",
		Example: "  slipway app link checkout --service checkout --environment production\n  slipway app link checkout\n  slipway " +
			"app link checkout --remove",
		RunE: func(cmd *cobra.Command, args []string) error {
			o.name, o.given = args[0], cmd.Flags().Changed("service") || cmd.Flags().Changed("environment")
			return linkRun(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&o.service, "service", "", "`service` that it runs, by id or name")
	cmd.Flags().StringVar(&o.environment, "environment", "", "`environment` that it belongs to, by id or name")
	cmd.Flags().BoolVar(&o.remove, "remove", false, "remove its manual link")
	cmd.Flags().StringVar(&o.reason, "reason", "", "why, for the audit")
	return cmd
}

func linkRun(ctx context.Context, o linkOptions) error {
	if o.remove && o.given {
		return iostream.Usagef("--remove forgets both, leave out --service and --environment")
	}
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	t, err := s.Target(ctx, o.name)
	if err != nil {
		return err
	}
	app := s.Client.Because(o.reason).Application(t)
	id := "application " + api.ItemID(t.Agent, t.Namespace, t.Name)
	if o.remove {
		if err := app.DeleteLink(ctx); err != nil {
			return s.Explain(err)
		}
		return noun.Done(o.Common, id, "linked to nothing by hand any more", false, nil)
	}
	have, err := app.Link(ctx)
	if err != nil {
		return s.Explain(err)
	}
	if !o.given {
		return noun.Print(o.Common, have)
	}
	var link api.ApplicationLink
	if have.Link != nil { // what is not given stays
		link = *have.Link
	}
	if o.service != "" {
		if link.Service, err = service.Service(ctx, s, o.service); err != nil {
			return err
		}
	}
	if o.environment != "" {
		if link.Environment, err = service.Environment(ctx, s, o.environment); err != nil {
			return err
		}
	}
	now, err := app.SetLink(ctx, link)
	if err != nil {
		return s.Explain(err)
	}
	if o.Output == iostream.Table {
		for _, note := range []struct{ what, want, got string }{
			{"service", link.Service, now.Service}, {"environment", link.Environment, now.Environment},
		} {
			if note.want != "" && note.want != note.got {
				o.Sayf("its label sets %s %s, which takes precedence over the link", note.what, note.got)
			}
		}
	}
	return noun.Done(o.Common, id, "linked", false, now)
}

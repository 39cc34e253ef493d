package service

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/cli/noun"
)

type instanceOptions struct {
	*connect.Common
	api.InstanceFilter
	app string
}

func newInstanceCmd(common *connect.Common) *cobra.Command {
	cmd := &cobra.Command{
		Use: "instance", Aliases: []string{"instances"}, Short: "The pods of applications, as their agents see them now",
		Example: "  slipway instance list --service checkout",
	}
	o := instanceOptions{Common: common}
	list := &cobra.Command{
		Use: "list", Aliases: []string{"ls"}, Short: "List the pods of applications", Args: cobra.NoArgs,
		Example: "  slipway instance list --service checkout --environment production\n  slipway instance list --unready\n  slipway instance " +
			"list --app account.prod/argocd/shop",
		RunE: func(cmd *cobra.Command, _ []string) error { return instanceRun(cmd.Context(), o) },
	}
	flags := list.Flags()
	flags.StringVar(&o.Service, "service", "", "only those of this `service`, by id or name")
	flags.StringVar(&o.Environment, "environment", "", "only those of this `environment`, by id or name")
	flags.StringVar(&o.app, "app", "", "only those of this `application`")
	flags.StringVar(&o.InstanceFilter.Agent, "agent", "", "only those of this `agent`, by id or name")
	flags.BoolVar(&o.Unready, "unready", false, "only those that are not ready")
	cmd.AddCommand(list)
	return cmd
}

// pod is an instance and what it is of.
type pod struct {
	api.Instance
	of *api.Instances
}

func instanceRun(ctx context.Context, o instanceOptions) error {
	s, err := o.MustServer()
	if err != nil {
		return err
	}
	if o.Service, err = Service(ctx, s, o.Service); err != nil {
		return err
	}
	if o.Environment, err = Environment(ctx, s, o.Environment); err != nil {
		return err
	}
	if o.InstanceFilter.Agent, err = Agent(ctx, s, o.InstanceFilter.Agent); err != nil {
		return err
	}
	if o.app != "" {
		t, err := s.Target(ctx, o.app)
		if err != nil {
			return err
		}
		o.Application = api.ItemID(t.Agent, t.Namespace, t.Name)
	}
	all, err := s.Client.AllInstances(ctx, o.InstanceFilter)
	if err != nil {
		return s.Explain(err)
	}
	const nothing = "no instances that you may see"
	if o.Output != iostream.Table {
		return noun.PrintList(o.Common, all, nil, nil, nothing)
	}
	var pods []pod
	for i := range all {
		for _, instance := range all[i].Instances {
			if !o.Unready || !instance.Ready {
				pods = append(pods, pod{instance, &all[i]})
			}
		}
		if more := all[i].Total - int64(len(all[i].Instances)); more > 0 {
			o.Sayf("%s has %d more pods", all[i].Application, more)
		}
	}
	header := []string{"APPLICATION", "SERVICE", "ENVIRONMENT", "POD", "READY", "PHASE", "OWNER", "NODE", "STARTED", "IMAGES"}
	now := time.Now()
	return noun.PrintList(o.Common, pods, header, func(p *pod) []string {
		return []string{
			p.of.Application, p.of.Service, p.of.Environment, p.Namespace + "/" + p.Pod, strconv.FormatBool(p.Ready), p.Phase, p.Owner, p.Node,
			noun.Ago(p.StartedAt, now), strings.Join(p.Images, ", "),
		}
	}, nothing)
}

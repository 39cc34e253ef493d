package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
	"github.com/slipway-gitops/slipway/internal/cli/family"
	"github.com/slipway-gitops/slipway/internal/cli/iostream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/podlog"
)

type logsOptions struct {
	*connect.Common
	api.Logs
	name, object string
	since        time.Duration
}

func newLogsCmd(common *connect.Common) *cobra.Command {
	o := logsOptions{Common: common}
	cmd := &cobra.Command{
		Use:   "logs NAME [OBJECT]",
		Short: "Print the output of pods",
		Long: "Print the output of all pods of an application, or of a pod, or of all pods of an object such as a Deployment, named as\n" +
			"[GROUP/]KIND:[NAMESPACE/]NAME. Where there are several containers, each line begins with POD/CONTAINER; at most 50 are read\n" +
			"at the same time. With --follow and no object, it adds pods that start later.\n" +
			"A terminal shows escape sequences of the output, such as colors, in place of obeying them; a file or a pipe gets all bytes.\n" +
			"At a server, the agent reads its cluster; nothing else needs access to it.",
		Example: "  slipway app logs web --follow\n  slipway app logs web apps/Deployment:web --since 10m\n" +
			"  slipway app logs web Pod:shop/web-5d9c7b6d4f-x2x9z --search error\n" +
			"  slipway app logs web apps/Deployment:web --container proxy --previous --tail 100",
		Args: cobra.RangeArgs(1, 2), ValidArgsFunction: completeObjects(common),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.name = args[0]; len(args) > 1 {
				o.object = args[1]
			}
			return logsRun(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.StringVarP(&o.Container, "container", "c", "", "`name` of one container (default all)")
	flags.BoolVarP(&o.Follow, "follow", "f", false, "go on with what comes")
	flags.BoolVar(&o.Previous, "previous", false, "from the previous instance of the container")
	flags.DurationVar(&o.since, "since", 0, "how far back, such as 10m (default all)")
	flags.Int64Var(&o.Tail, "tail", 0, "how many lines at the end, of each container (default all)")
	flags.StringVar(&o.Search, "search", "", "only lines that contain this `text`")
	flags.BoolVar(&o.Invert, "invert", false, "only lines that do not contain the text of --search")
	flags.BoolVar(&o.IgnoreCase, "ignore-case", false, "ignore the case of --search")
	flags.BoolVar(&o.Timestamps, "timestamps", false, "prefix each line with its time")
	return cmd
}

func logsRun(ctx context.Context, o logsOptions) error {
	if o.since < 0 || o.Tail < 0 {
		return iostream.Usagef("--since and --tail cannot be negative")
	}
	if o.Invert && o.Search == "" {
		return iostream.Usagef("--invert is about --search: add it")
	}
	if o.IgnoreCase && o.Search == "" {
		return iostream.Usagef("--ignore-case is about --search: add it")
	}
	if o.object != "" {
		var err error
		if o.Resource, err = refOf(o.object); err != nil {
			return err
		}
	}
	o.Since = int64(o.since.Round(time.Second) / time.Second)
	server, err := o.Server()
	if err != nil {
		return err
	}
	if server == nil {
		return o.atCluster(ctx)
	}
	app, err := server.Application(ctx, o.name)
	if err != nil {
		return err
	}
	if o.object != "" {
		if err := place(ctx, server, o.name, &o.Resource); err != nil {
			return err
		}
	}
	lines, err := app.Logs(ctx, o.Logs)
	if err != nil {
		return server.Explain(err)
	}
	defer func() { _ = lines.Close() }() // its end shows when it is read
	_, err = io.Copy(o.Out, lines)
	var said *client.Error
	switch {
	case err == nil || ctx.Err() != nil:
		return nil
	case errors.As(err, &said):
		return err
	}
	return fmt.Errorf("the output ended early: %w; call again with --since", err)
}

// atCluster reads the logs without a server.
func (o *logsOptions) atCluster(ctx context.Context) error {
	cluster, app, err := connectToOwn(ctx, o.Common, o.name)
	if err != nil {
		return err
	}
	core, err := typedcorev1.NewForConfig(cluster.Config)
	if err != nil {
		return fmt.Errorf("make client for logs: %w", err)
	}
	r := podlog.Reader{Core: core, Of: "application " + o.name}
	if o.object != "" {
		key := ownKey(app, o.Resource)
		r.Of = key.String()
		r.Pods = func(ctx context.Context) ([]corev1.Pod, error) {
			return podsBelow(ctx, cluster, core, app.Status.Resources, r.Of, key)
		}
	} else {
		namespaces := inspect.Namespaces(app.Status.Resources)
		r.Later = append([]string{}, namespaces...)
		r.Pods = func(ctx context.Context) ([]corev1.Pod, error) {
			now, err := cluster.Apps.Get(ctx, o.name) // it may have other objects in the meantime, or be gone
			if err != nil {
				return nil, err
			}
			var roots []object.Key
			for i := range now.Status.Resources {
				roots = append(roots, inspect.KeyOf(&now.Status.Resources[i]))
			}
			return podsBelow(ctx, cluster, core, now.Status.Resources, r.Of, roots...)
		}
	}
	err = r.Copy(ctx, o.Out, o.Logs)
	if errors.Is(ctx.Err(), context.Canceled) {
		err = nil // the reader has seen enough
	}
	var said *agentapi.Error
	if errors.As(err, &said) {
		return errors.New(said.Message)
	}
	return connect.Explain(err)
}

// ownKey is the object of an application that was named, perhaps without its namespace.
func ownKey(app *v1alpha1.Application, ref api.ResourceRef) object.Key {
	key := object.Key{Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: ref.Name}
	if key.Namespace != "" {
		return key
	}
	key.Namespace = app.Spec.Destination.Namespace
	for i := range app.Status.Resources {
		if k := inspect.KeyOf(&app.Status.Resources[i]); k.Group == ref.Group && k.Kind == ref.Kind && k.Name == ref.Name {
			return k
		}
	}
	return key
}

// podsBelow reads the pods that belong to objects of an application.
func podsBelow(ctx context.Context, cluster *connect.Cluster, core typedcorev1.CoreV1Interface, resources []v1alpha1.ResourceStatus,
	of string, owners ...object.Key,
) ([]corev1.Pod, error) {
	roots, _, err := family.Read(ctx, cluster, resources)
	if err != nil {
		return nil, err
	}
	var keys []object.Key
	for _, owner := range owners {
		keys = append(keys, inspect.Below(roots, owner, object.Kind{Kind: "Pod"})...)
	}
	return podlog.Read(ctx, keys, of, core)
}

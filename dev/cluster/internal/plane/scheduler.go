package plane

import (
	"context"
	"fmt"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// RunScheduler assigns pods to nodes with the given kubeconfig until ctx is
// done.
func RunScheduler(ctx context.Context, kubeconfig string) error {
	opts := options.NewOptions()
	if err := parse("kube-scheduler", *opts.Flags, schedulerArguments(kubeconfig)); err != nil {
		return err
	}
	config, scheduler, err := app.Setup(ctx, opts)
	if err != nil {
		return fmt.Errorf("configure kube-scheduler: %w", err)
	}
	// Run always returns an error, also when it was asked to stop.
	if err := app.Run(ctx, config, scheduler); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run kube-scheduler: %w", err)
	}
	return nil
}

func schedulerArguments(kubeconfig string) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--profiling=false",
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
	}
}

package plane

import (
	"context"
	"fmt"

	"k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/pki"
)

// RunControllerManager runs the controllers with the given kubeconfig until ctx
// is done.
func RunControllerManager(ctx context.Context, kubeconfig string, keys pki.Store) error {
	s, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return fmt.Errorf("configure kube-controller-manager: %w", err)
	}
	known, disabled, aliases := app.KnownControllers(), app.ControllersDisabledByDefault(), app.ControllerAliases()
	if err := parse("kube-controller-manager", s.Flags(known, disabled, aliases), managerArguments(kubeconfig, keys)); err != nil {
		return err
	}
	config, err := s.Config(ctx, known, disabled, aliases)
	if err != nil {
		return fmt.Errorf("configure kube-controller-manager: %w", err)
	}
	if err := app.Run(ctx, config.Complete()); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run kube-controller-manager: %w", err)
	}
	return nil
}

func managerArguments(kubeconfig string, keys pki.Store) []string {
	return []string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--profiling=false",
		"--root-ca-file=" + keys.CertPath(pki.CA),
		"--service-account-private-key-file=" + keys.KeyPath(pki.ServiceAccount),
		"--cluster-signing-cert-file=" + keys.CertPath(pki.CA),
		"--cluster-signing-key-file=" + keys.KeyPath(pki.CA),
		"--kube-api-qps=2000",
		"--kube-api-burst=4000",
		"--concurrent-deployment-syncs=20",
		"--concurrent-replicaset-syncs=20",
		"--concurrent-statefulset-syncs=10",
		"--concurrent-job-syncs=20",
		"--concurrent-namespace-syncs=20",
		"--concurrent-gc-syncs=20",
		"--concurrent-serviceaccount-token-syncs=10",
		// Simulated nodes renew their leases seldom, to cost nothing when idle.
		"--node-monitor-grace-period=40m",
		"--node-monitor-period=1m",
	}
}

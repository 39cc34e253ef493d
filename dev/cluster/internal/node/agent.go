// Package node simulates the nodes of a cluster and the pods on them with KWOK:
// pods become ready immediately, pods of jobs complete, and no container runs.
package node

import (
	"context"
	"fmt"
	"io"
	"net/http"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	"sigs.k8s.io/kwok/pkg/client/clientset/versioned"
	"sigs.k8s.io/kwok/pkg/kwok/controllers"
	"sigs.k8s.io/kwok/pkg/log"
	"sigs.k8s.io/kwok/pkg/utils/client"
)

const (
	// identity holds the leases of the nodes. It is the same in every life of a
	// cluster, so that a restart takes the leases over without waiting.
	identity = "devcluster"
	// leaseSeconds is long because only one process ever claims the nodes.
	leaseSeconds = 1200
)

// Agent plays the kubelets of all simulated nodes.
type Agent struct {
	// Kubeconfig is the path of the credentials to use.
	Kubeconfig string
	// Port is the one of the node API on 127.0.0.1.
	Port int
	// Log takes KWOK's log as JSON lines.
	Log io.Writer
}

// Run plays nodes and pods until ctx is done.
func (a Agent) Run(ctx context.Context) error {
	ctx = log.NewContext(ctx, log.NewLogger(a.Log, log.LevelWarn))
	config, err := a.controllerConfig()
	if err != nil {
		return fmt.Errorf("configure kwok: %w", err)
	}
	controller, err := controllers.NewController(config)
	if err != nil {
		return fmt.Errorf("configure kwok: %w", err)
	}
	if err := controller.Start(ctx); err != nil && ctx.Err() == nil {
		return fmt.Errorf("run kwok: %w", err)
	}
	<-ctx.Done()
	return nil
}

func (a Agent) controllerConfig() (controllers.Config, error) {
	var none controllers.Config
	byKind, err := stages()
	if err != nil {
		return none, err
	}
	clients, err := client.NewClientset("", a.Kubeconfig)
	if err != nil {
		return none, err
	}
	restConfig, err := clients.ToRESTConfig()
	if err != nil {
		return none, err
	}
	restConfig.Wrap(func(next http.RoundTripper) http.RoundTripper { return lasting{next} })
	dynamicClient, err := clients.ToDynamicClient()
	if err != nil {
		return none, err
	}
	mapper, err := clients.ToRESTMapper()
	if err != nil {
		return none, err
	}
	restClient, err := rest.RESTClientFor(restConfig)
	if err != nil {
		return none, err
	}
	typed, err := kubernetes.NewForConfig(restConfig)
	if err != nil {
		return none, err
	}
	kwokClient, err := versioned.NewForConfig(restConfig)
	if err != nil {
		return none, err
	}
	return controllers.Config{
		Clock:                         clock.RealClock{},
		ID:                            identity,
		DynamicClient:                 dynamicClient,
		RESTClient:                    restClient,
		RESTMapper:                    mapper,
		TypedClient:                   typed,
		TypedKwokClient:               kwokClient,
		ImpersonatingDynamicClient:    clients.ToImpersonatingDynamicClient(),
		ImpersonatingTypedClient:      clients.ToImpersonatingTypedClient(),
		ManageNodesWithLabelSelector:  simulatedLabel + "=" + simulatedValue,
		CIDR:                          podRange,
		NodeIP:                        nodeAddress,
		NodePort:                      a.Port,
		FuncMap:                       templateFunctions(),
		LocalStages:                   byKind,
		PodPlayStageParallelism:       8,
		NodePlayStageParallelism:      4,
		NodeLeaseParallelism:          2,
		NodeLeaseDurationSeconds:      leaseSeconds,
		PodsOnNodeSyncParallelism:     2,
		EnablePodsOnNodeSyncListPager: true,
	}, nil
}

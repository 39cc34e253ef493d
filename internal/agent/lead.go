package agent

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"

	"github.com/slipway-gitops/slipway/internal/agent/shard"
)

// leader is this agent as one that leads.
func (c *Config) leader() *shard.Leader {
	return &shard.Leader{REST: c.REST, Namespace: c.Namespace, Identity: c.Identity, Labels: c.leaseLabels(), Times: shard.TimesOf(c.LeaseDuration), Log: c.Log}
}

// lead runs f while this agent leads, once the API server answers.
func (a *Agent) lead(ctx context.Context, f func(context.Context) error) error {
	if err := a.awaitServer(ctx); err != nil {
		if ctx.Err() != nil {
			return nil //nolint:nilerr // stopped while waiting
		}
		return err
	}
	if a.cfg.Shadow {
		return f(ctx) // a lease is written, and whoever writes nothing is in nobody's way
	}
	if err := a.persist(ctx, namespaceMade, a.cfg.ensureNamespace); err != nil {
		return err
	}
	return a.cfg.leader().Lead(ctx, f)
}

// leaseLabels tell other agents on the cluster that objects of this one have more in their mark than a name.
func (c *Config) leaseLabels() map[string]string {
	if c.Installation == "" {
		return map[string]string{labelInstallation: ""} // there may have been one
	}
	return map[string]string{labelInstallation: strconv.FormatUint(hashOf([]byte(c.Installation)), 16)}
}

// awaitServer waits until the API server answers. The election would find that out too, but asks only now and then.
func (a *Agent) awaitServer(ctx context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make discovery client: %w", err)
	}
	backoff := wait.Backoff{Duration: 100 * time.Millisecond, Factor: 1.5, Jitter: 0.1, Steps: math.MaxInt32, Cap: 2 * time.Second}
	// Not by ExponentialBackoffWithContext, which gives up when the pause reaches its cap.
	return backoff.DelayFunc().Until(ctx, true, true, func(ctx context.Context) (bool, error) {
		err := client.RESTClient().Get().AbsPath("/readyz").Timeout(5 * time.Second).Do(ctx).Error()
		if err != nil && !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err) {
			a.log.Debug("the API server is not ready", "err", err)
			return false, nil
		}
		return true, nil
	})
}

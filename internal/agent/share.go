package agent

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	coordination "k8s.io/client-go/kubernetes/typed/coordination/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
)

// leader is this agent as one that leads.
func (c *Config) leader() *shard.Leader {
	return &shard.Leader{
		REST: c.REST, Namespace: c.Namespace, Identity: c.Identity, Labels: c.leaseLabels(), Times: shard.TimesOf(c.LeaseDuration), Log: c.Log,
	}
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
		return f(ctx) // a lease is written, and a replica that writes nothing disturbs no other
	}
	if err := a.persist(ctx, namespaceMade, a.cfg.ensureNamespace); err != nil {
		return err
	}
	return a.cfg.leader().Lead(ctx, f)
}

// leaseLabels show other agents on the cluster that objects of this one have more in their mark than a name.
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

// addShards prepares to work on a part of the Applications, where there are several.
func (a *Agent) addShards() error {
	if a.cfg.Shards <= 1 {
		return nil
	}
	leases, err := coordination.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client for leases: %w", err)
	}
	a.shards = shard.New(shard.Config{
		N: a.cfg.Shards, Identity: a.cfg.Identity, Times: shard.TimesOf(a.cfg.LeaseDuration), Leases: leases.Leases(a.cfg.Namespace),
		Log: a.log.With("component", "shards"), Taken: a.shardsTaken, Begun: a.shardsBegun, Given: a.shardGiven,
	})
	return nil
}

// reconcileShare is what each of several replicas does that share the Applications: all watch everything, each works on its
// shards, and one speaks with the server.
func (a *Agent) reconcileShare(ctx context.Context) error {
	err := a.awaitServer(ctx)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // stopped while waiting
	}
	if err != nil {
		return err
	}
	if err := a.persist(ctx, namespaceMade, a.cfg.ensureNamespace); err != nil {
		return err
	}
	return a.reconcile(ctx)
}

// speak keeps the link while this replica leads: for all Applications, regardless of the replica that works on them. Those who do
// hear of what the server asks for as of any change of an Application.
func (a *Agent) speak(ctx context.Context) error {
	if a.link == nil {
		<-ctx.Done()
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	a.linked.ToServer(ctx)
	a.watchForLink(ctx, g)
	a.runLink(ctx, g)
	return g.Wait()
}

// shardsTaken begins to work on shards. What the one before wrote last may not have been seen yet, and a hook that it began
// must not run twice: so all Applications are read once more, before any of them has a turn.
func (a *Agent) shardsTaken(ctx context.Context, taken []int) error {
	watched, counts, err := a.applicationNamespaces()
	if err != nil {
		return err
	}
	for _, ns := range watched {
		list, err := a.apps.In(ns).List(ctx, metav1.ListOptions{})
		if err != nil {
			return fmt.Errorf("list Applications: %w", err)
		}
		for i := range list.Items {
			if !counts(list.Items[i].GetNamespace()) {
				continue
			}
			raw, err := list.Items[i].MarshalJSON()
			if err != nil {
				return fmt.Errorf("read Application: %w", err)
			}
			if app, unknown, err := registry.Decode(raw); err == nil { // the watch says what cannot be read
				a.registry.Seen(app, unknown)
			}
		}
	}
	a.eachIn(taken, func(_ registry.Name, app *v1alpha1.Application) {
		a.engine.Unsettle(ctx, app) // another one may have applied something else in the meantime
	})
	return nil
}

// shardsBegun gives all Applications of shards a turn.
func (a *Agent) shardsBegun(taken []int) {
	a.eachIn(taken, func(id registry.Name, _ *v1alpha1.Application) { a.queue.Add(id) })
}

// eachIn calls f for every Application of some shards.
func (a *Agent) eachIn(some []int, f func(registry.Name, *v1alpha1.Application)) {
	a.registry.Each(func(id registry.Name, app *v1alpha1.Application) {
		if a.shards.Has(some, id) {
			f(id, app)
		}
	})
}

// shardGiven forgets what is known of Applications that another replica works on from here on.
func (a *Agent) shardGiven(shard int) {
	a.eachIn([]int{shard}, func(id registry.Name, app *v1alpha1.Application) {
		a.engine.Forget(context.Background(), app)
		a.sources.Unfollow(id)
		a.registry.Reset(id)
	})
}

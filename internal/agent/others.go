package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/project"
)

const (
	// labelInstallation is on the Lease of an agent that has --installation-id, with a hash of it.
	labelInstallation = "slipway.io/installation"
	// selectController finds application controllers of Argo CD, as its manifests, its chart and its operator label them.
	selectController = "app.kubernetes.io/part-of=argocd,app.kubernetes.io/component=application-controller"
	// othersEvery is the time between two looks for other engines in the cluster.
	othersEvery = time.Minute
)

// takenError means that another engine works on the Applications of this agent.
type takenError struct{ why string }

// Error says so, and what to do.
func (e *takenError) Error() string { return e.why }

// others knows the other engines that work on Applications in the cluster that holds this agent's: application controllers of
// Argo CD, and agents in other namespaces. What the agent may not read is not there for it.
type others struct {
	home      string // namespace of this agent
	client    dynamic.Interface
	narrow    bool // the agent looks at its own namespace only
	apps      func(namespace string) dynamic.ResourceInterface
	clusters  *place.Clusters
	namespace func() (counts func(string) bool, err error) // where this agent's Applications are
	log       *slog.Logger

	mu       sync.Mutex
	unmarked []string                // namespaces of others whose objects carry no installation id
	asked    map[types.UID]time.Time // Applications that had no namesake then
}

func (a *Agent) addOthers() error {
	client, err := dynamic.NewForConfig(a.cfg.REST)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	a.others = &others{
		home: a.cfg.Namespace, narrow: a.cfg.Namespaced, client: client, apps: a.apps.In, clusters: a.clusters, asked: map[types.UID]time.Time{},
		namespace: func() (func(string) bool, error) { _, counts, err := a.applicationNamespaces(); return counts, err },
		log:       a.log,
	}
	return nil
}

// look finds out who there is. It fails where an Argo CD works on the Applications that this agent would work on.
func (o *others) look(ctx context.Context) error {
	counts, err := o.namespace()
	if err != nil {
		return err
	}
	var unmarked []string
	for _, kind := range []string{"StatefulSet", "Deployment"} {
		controllers, err := o.list(ctx, schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: strings.ToLower(kind) + "s"},
			metav1.ListOptions{LabelSelector: selectController})
		if err != nil {
			return fmt.Errorf("look for an Argo CD: %w", err)
		}
		for i := range controllers {
			c := &controllers[i]
			if replicas, said, _ := unstructured.NestedInt64(c.Object, "spec", "replicas"); said && replicas == 0 {
				continue // it was stopped
			}
			if why := o.shares(ctx, c.GetNamespace(), counts); why != "" {
				return &takenError{fmt.Sprintf("%s: its %s %s/%s is not scaled to 0, and two engines on the same applications fight: "+
					"stop it (kubectl -n %s scale %s/%s --replicas=0), or start this agent with --engine argocd, which leaves the work to it, "+
					"or with --shadow, which looks on", why, kind, c.GetNamespace(), c.GetName(),
					c.GetNamespace(), strings.ToLower(kind), c.GetName())}
			}
			unmarked = append(unmarked, c.GetNamespace())
		}
	}
	leases, err := o.list(ctx, schema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"},
		metav1.ListOptions{FieldSelector: "metadata.name=" + shard.LeaseName})
	if err != nil {
		return fmt.Errorf("look for other agents: %w", err)
	}
	for i := range leases {
		if leases[i].GetLabels()[labelInstallation] == "" {
			unmarked = append(unmarked, leases[i].GetNamespace())
		}
	}
	o.keep(ctx, unmarked)
	return nil
}

// list lists objects of the whole cluster, or of the agent's namespace where it may not look further.
func (o *others) list(ctx context.Context, kind schema.GroupVersionResource, what metav1.ListOptions) ([]unstructured.Unstructured, error) {
	for _, namespace := range []string{metav1.NamespaceAll, o.home} {
		if o.narrow && namespace == metav1.NamespaceAll {
			continue
		}
		list, err := o.client.Resource(kind).Namespace(namespace).List(ctx, what)
		switch {
		case err == nil:
			return list.Items, nil
		case !apierrors.IsForbidden(err) && !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	return nil, nil
}

// shares says on what an Argo CD in a namespace works that is this agent's; "" where they have nothing in common.
func (o *others) shares(ctx context.Context, namespace string, counts func(string) bool) string {
	switch {
	case namespace == o.home || counts(namespace):
		return "an Argo CD works on the applications of namespace " + namespace
	case o.covers(o.setting(ctx, namespace, place.ConfigParameters, "application.namespaces")):
		return fmt.Sprintf("the Argo CD of namespace %s works on the applications of namespace %s too (application.namespaces in %s)",
			namespace, o.home, place.ConfigParameters)
	}
	return ""
}

// covers reports whether the setting application.namespaces of an Argo CD has this agent's namespace.
func (o *others) covers(patterns string) bool {
	namespaces, err := project.NewNamespaces(strings.Split(patterns, ","))
	return err == nil && namespaces.Has(o.home)
}

// setting is what a ConfigMap of another namespace says; "" where it says nothing, or may not be read.
func (o *others) setting(ctx context.Context, namespace, config, key string) string {
	obj, err := o.client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace).Get(ctx,
		config, metav1.GetOptions{})
	if err != nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(obj.Object, "data", key)
	return value
}

// keep notes who marks objects by the name of the Application alone.
func (o *others) keep(ctx context.Context, namespaces []string) {
	var unmarked []string
	seen := map[string]bool{o.home: true}
	for _, namespace := range namespaces {
		if !seen[namespace] && o.setting(ctx, namespace, place.ConfigArgoCD, object.KeyInstallation) == "" {
			unmarked = append(unmarked, namespace)
		}
		seen[namespace] = true
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.unmarked = unmarked
}

// watch looks again and again until ctx ends. It fails where an Argo CD begins to work on this agent's Applications.
func (o *others) watch(ctx context.Context) error {
	timer := time.NewTimer(clock.About(othersEvery))
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-timer.C:
			timer.Reset(clock.About(othersEvery))
		}
		var taken *takenError
		if err := o.look(ctx); errors.As(err, &taken) {
			return err
		} else if err != nil && ctx.Err() == nil {
			o.log.Debug("other engines in the cluster cannot be determined now", "err", err)
		}
	}
}

// namesake says which Application of another installation marks its objects as this one does, so that each would take the
// other's objects for its own; "" for none. The older of two has its way: it has objects, the younger has none yet.
func (o *others) namesake(ctx context.Context, app *v1alpha1.Application) (string, error) {
	if app.Namespace != o.home || o.narrow || o.clusters.TrackingInstallation() != "" {
		return "", nil // its marks have more in them than its name
	}
	o.mu.Lock()
	namespaces, fresh := o.unmarked, time.Since(o.asked[app.UID]) < othersEvery
	o.mu.Unlock()
	if len(namespaces) == 0 || fresh {
		return "", nil
	}
	list, err := o.apps(metav1.NamespaceAll).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + app.Name, ResourceVersion: "0"})
	if err != nil && !apierrors.IsForbidden(err) {
		return "", fmt.Errorf("look for other Applications of this name: %w", err)
	}
	for i := range list.Items {
		if namespace := list.Items[i].GetNamespace(); slices.Contains(namespaces, namespace) {
			if other := read(&list.Items[i]); other != nil && older(other, app) && sameCluster(app.Spec.Destination, other.Spec.Destination) {
				return fmt.Sprintf(rivalry, app.Name, namespace, place.ConfigArgoCD), nil
			}
		}
	}
	o.mu.Lock()
	o.asked[app.UID] = time.Now()
	o.mu.Unlock()
	return "", nil
}

// rivalry is what is reported about an Application with a namesake.
const rivalry = "Application %s of namespace %s, which another agent or Argo CD works on, " +
	"deploys to the same cluster, and objects of both " +
	"would carry the same mark: nothing is touched, since each would delete what the other has; give this agent an id of its own " +
	"(--installation-id NAME, or installationID in %s), or rename one of the two"

// read is an Application, nil for what cannot be read.
func read(obj *unstructured.Unstructured) *v1alpha1.Application {
	raw, err := obj.MarshalJSON()
	if err != nil {
		return nil
	}
	app, _, err := registry.Decode(raw)
	if err != nil {
		return nil
	}
	return app
}

// forget drops what is kept of an Application that is gone.
func (o *others) forget(app *v1alpha1.Application) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.asked, app.UID)
}

// older reports whether a was there before b.
func older(a, b *v1alpha1.Application) bool {
	if !a.CreationTimestamp.Equal(&b.CreationTimestamp) {
		return a.CreationTimestamp.Before(&b.CreationTimestamp)
	}
	return a.Namespace < b.Namespace
}

// sameCluster reports whether two destinations are one cluster, as far as their fields show: names of clusters are those of each
// installation.
func sameCluster(a, b v1alpha1.ApplicationDestination) bool {
	at := func(d v1alpha1.ApplicationDestination) string {
		if d.Name == v1alpha1.InClusterName {
			return v1alpha1.InClusterServer
		}
		return strings.TrimSuffix(d.Server, "/")
	}
	if at(a) == "" && at(b) == "" {
		return a.Name == b.Name
	}
	return at(a) == at(b)
}

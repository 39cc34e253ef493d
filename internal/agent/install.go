package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/cespare/xxhash/v2"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1/crd"
)

func hashOf(b []byte) uint64 { return xxhash.Sum64(b) }

// install makes what the agent works with: the namespace, the definitions of its resources, and the default project.
func (c *Config) install(ctx context.Context) error {
	client, err := dynamic.NewForConfig(c.REST)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	if !c.InstallCRDs || c.Shadow {
		return nil
	}
	manifests, err := crd.Manifests()
	if err != nil {
		return err
	}
	for _, raw := range manifests {
		if err := c.installCRD(ctx, client, raw); err != nil {
			return err
		}
	}
	return c.installProject(ctx, client)
}

// installCRD applies one definition, unless one is there that is not ours (Argo CD's own, which may know more) or is
// newer than ours.
func (c *Config) installCRD(ctx context.Context, client dynamic.Interface, raw []byte) error {
	var obj map[string]any
	if err := yaml.Unmarshal(raw, &obj); err != nil {
		return fmt.Errorf("read resource definition: %w", err)
	}
	want := &unstructured.Unstructured{Object: obj}
	in := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	have, err := in.Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("look for resource definition %s: %w", want.GetName(), err)
	default:
		version, known := have.GetAnnotations()[crd.AnnotationVersion]
		if n, bad := strconv.Atoi(version); !known || bad != nil || n >= crd.Version {
			if established(have) {
				return nil
			}
			c.Log.Info("waiting for a resource definition that is there to be established", "name", want.GetName())
			return awaitCRD(ctx, in, want.GetName()) // another agent installed it a moment ago
		}
	}
	body, err := json.Marshal(obj)
	if err != nil {
		return fmt.Errorf("encode resource definition %s: %w", want.GetName(), err)
	}
	force := true
	if _, err := in.Patch(ctx, want.GetName(), types.ApplyPatchType, body,
		metav1.PatchOptions{FieldManager: "slipway-agent", Force: &force}); err != nil {
		return fmt.Errorf("install resource definition %s: %w", want.GetName(), err)
	}
	c.Log.Info("resource definition installed", "name", want.GetName(), "version", crd.Version)
	return awaitCRD(ctx, in, want.GetName())
}

// crdWatch is how long a watch of a definition lasts, in seconds. It begins with the definition as it is then, so that the
// next one finds what an event that was lost would have reported.
const crdWatch int64 = 10

// awaitCRD waits until a definition is served; errWatchEnded says that this is to be called again.
func awaitCRD(ctx context.Context, in dynamic.ResourceInterface, name string) error {
	w, err := in.Watch(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + name, TimeoutSeconds: new(crdWatch)})
	if err != nil {
		return fmt.Errorf("watch resource definition %s: %w", name, err)
	}
	defer w.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-w.ResultChan():
			if !ok {
				return fmt.Errorf("watch resource definition %s: %w", name, errWatchEnded)
			}
			if u, ok := event.Object.(*unstructured.Unstructured); ok && event.Type != watch.Error && established(u) {
				return nil
			}
		}
	}
}

func established(u *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, one := range conditions {
		if m, ok := one.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}

// installProject makes the default project, which allows everything, when there is none.
func (c *Config) installProject(ctx context.Context, client dynamic.Interface) error {
	in := client.Resource(v1alpha1.Resource(v1alpha1.ResourceAppProjects)).Namespace(c.Namespace)
	everything := []any{map[string]any{"group": "*", "kind": "*"}}
	project := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindAppProject,
		"metadata": map[string]any{"name": v1alpha1.DefaultProject, "namespace": c.Namespace},
		"spec": map[string]any{
			"sourceRepos":              []any{"*"},
			"destinations":             []any{map[string]any{"server": "*", "namespace": "*"}},
			"clusterResourceWhitelist": everything,
		},
	}}
	var last error
	err := wait.PollUntilContextTimeout(ctx, servedPause, servedLimit, true, func(ctx context.Context) (bool, error) {
		_, last = in.Create(ctx, project, metav1.CreateOptions{FieldManager: "slipway-agent"})
		if apierrors.IsAlreadyExists(last) {
			last = nil
		}
		return !unserved(last), nil
	})
	if err = cmp.Or(last, err); err != nil {
		return fmt.Errorf("create the default AppProject in %s: %w", c.Namespace, err)
	}
	return nil
}

// An API server serves a kind some time after its definition is established, several of them up to seconds later. Nothing
// reports when.
const (
	servedPause = 100 * time.Millisecond
	servedLimit = 30 * time.Second
)

// unserved reports whether the API server does not know the kind of a request; what it does not find otherwise has a name.
func unserved(err error) bool {
	var status apierrors.APIStatus
	if !apierrors.IsNotFound(err) || !errors.As(err, &status) {
		return false
	}
	details := status.Status().Details
	return details == nil || details.Name == ""
}

// ensureNamespace makes the agent's own namespace, which its lease lives in.
func (c *Config) ensureNamespace(ctx context.Context) error {
	if c.Namespaced {
		return nil // it is there, or nothing of the agent is
	}
	client, err := dynamic.NewForConfig(c.REST)
	if err != nil {
		return fmt.Errorf("make client: %w", err)
	}
	ns := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": c.Namespace},
	}}
	in := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	if _, err := in.Get(ctx, c.Namespace, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		return nil // an agent that may not read namespaces has one already
	}
	if _, err := in.Create(ctx, ns, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("create namespace %s: %w", c.Namespace, err)
	}
	return nil
}

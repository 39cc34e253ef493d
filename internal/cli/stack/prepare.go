package stack

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1/crd"
	"github.com/slipway-gitops/slipway/dev/demo"
	"github.com/slipway-gitops/slipway/internal/cli/connect"
)

const (
	establishLimit   = 30 * time.Second
	secretName       = "argocd-secret" // where Argo CD keeps webhook secrets too
	webhookSecretKey = "webhook.github.secret"
)

func crds() schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
}

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

// install brings the definitions of Argo CD's resources, the namespace of Applications and the default project into
// the cluster. What is there already stays, but for older definitions of our own.
func install(ctx context.Context, cluster *connect.Cluster, namespace string) error {
	manifests, err := crd.Manifests()
	if err != nil {
		return err
	}
	for _, raw := range manifests {
		if err := installCRD(ctx, cluster, raw); err != nil {
			return connect.Explain(err)
		}
	}
	err = createMissing(ctx, cluster, core("namespaces"), "", map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": namespace},
	})
	if err != nil {
		return err
	}
	return createMissing(ctx, cluster, v1alpha1.Resource(v1alpha1.ResourceAppProjects), namespace, map[string]any{
		"apiVersion": v1alpha1.GroupVersion().String(), "kind": v1alpha1.KindAppProject,
		"metadata": map[string]any{"name": v1alpha1.DefaultProject, "namespace": namespace},
		"spec": map[string]any{
			"sourceRepos":              []any{"*"},
			"destinations":             []any{map[string]any{"server": "*", "namespace": "*"}},
			"clusterResourceWhitelist": []any{map[string]any{"group": "*", "kind": "*"}},
		},
	})
}

func createMissing(ctx context.Context, cluster *connect.Cluster, resource schema.GroupVersionResource, namespace string,
	obj map[string]any,
) error {
	u := &unstructured.Unstructured{Object: obj}
	_, err := cluster.Dynamic.Resource(resource).Namespace(namespace).Create(ctx, u, metav1.CreateOptions{FieldManager: connect.Manager})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return connect.Explain(fmt.Errorf("create %s %s: %w", u.GetKind(), u.GetName(), err))
	}
	return nil
}

func installCRD(ctx context.Context, cluster *connect.Cluster, raw []byte) error {
	want := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(raw, &want.Object); err != nil {
		return fmt.Errorf("read resource definition: %w", err)
	}
	client := cluster.Dynamic.Resource(crds())
	have, err := client.Get(ctx, want.GetName(), metav1.GetOptions{})
	switch {
	case err == nil && !older(have):
	case err == nil || apierrors.IsNotFound(err):
		_, err = client.Apply(ctx, want.GetName(), want, metav1.ApplyOptions{FieldManager: connect.Manager, Force: true})
		if err != nil {
			return fmt.Errorf("install resource definition %s: %w", want.GetName(), err)
		}
	default:
		return fmt.Errorf("read resource definition %s: %w", want.GetName(), err)
	}
	return established(ctx, cluster, want.GetName())
}

// older reports whether a definition is an earlier one of ours; Argo CD's own are left alone.
func older(have *unstructured.Unstructured) bool {
	version, err := strconv.Atoi(have.GetAnnotations()[crd.AnnotationVersion])
	return err == nil && version < crd.Version
}

// established waits until the API server serves the kind.
func established(ctx context.Context, cluster *connect.Cluster, name string) error {
	ctx, cancel := context.WithTimeoutCause(ctx, establishLimit,
		fmt.Errorf("resource definition %s is not served after %s", name, establishLimit))
	defer cancel()
	client := cluster.Dynamic.Resource(crds())
	opts := metav1.ListOptions{FieldSelector: "metadata.name=" + name}
	list, err := client.List(ctx, opts)
	if err != nil {
		return fmt.Errorf("wait for resource definition %s: %w", name, err)
	}
	for i := range list.Items {
		if served(&list.Items[i]) {
			return nil
		}
	}
	opts.ResourceVersion = list.GetResourceVersion()
	w, err := client.Watch(ctx, opts)
	if err != nil {
		return fmt.Errorf("wait for resource definition %s: %w", name, err)
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		if obj, ok := event.Object.(*unstructured.Unstructured); ok && served(obj) {
			return nil
		}
	}
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return fmt.Errorf("wait for resource definition %s: the watch ended; try again", name)
}

func served(obj *unstructured.Unstructured) bool {
	conditions, _, _ := unstructured.NestedSlice(obj.Object, "status", "conditions")
	for _, c := range conditions {
		if m, ok := c.(map[string]any); ok && m["type"] == "Established" && m["status"] == "True" {
			return true
		}
	}
	return false
}

// webhookSecret returns what deliveries to the agent are signed with, and makes it up where there is none.
func webhookSecret(ctx context.Context, cluster *connect.Cluster, namespace string) (string, error) {
	err := createMissing(ctx, cluster, core("secrets"), namespace, map[string]any{
		"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
		"metadata": map[string]any{
			"name": secretName, "namespace": namespace, "labels": map[string]any{"app.kubernetes.io/part-of": "argocd"},
		},
		"stringData": map[string]any{webhookSecretKey: rand.Text()},
	})
	if err != nil {
		return "", err
	}
	have, err := cluster.Dynamic.Resource(core("secrets")).Namespace(namespace).Get(ctx, secretName, metav1.GetOptions{})
	if err != nil {
		return "", connect.Explain(fmt.Errorf("read Secret %s: %w", secretName, err))
	}
	encoded, _, _ := unstructured.NestedString(have.Object, "data", webhookSecretKey)
	return decodeSecret(encoded)
}

// deploy creates the demo Applications. One that is there keeps what people changed, unless the address of the
// repository is another one now.
func deploy(ctx context.Context, cluster *connect.Cluster, repoURL string) (names []string, err error) {
	apps, err := demo.Applications(repoURL)
	if err != nil {
		return nil, err
	}
	for _, object := range apps {
		want := &unstructured.Unstructured{Object: object}
		want.SetNamespace(cluster.Apps.Namespace())
		names = append(names, want.GetName())
		have, err := cluster.Apps.Get(ctx, want.GetName())
		switch {
		case err == nil && follows(have, repoURL):
			// Its status is from the last time; the agent takes the annotation away once it has looked again.
			_, err := cluster.Apps.Patch(ctx, want.GetName(), map[string]any{"metadata": map[string]any{
				"annotations": map[string]any{v1alpha1.AnnotationRefresh: string(v1alpha1.RefreshNormal)},
			}})
			if err != nil {
				return nil, err
			}
			continue
		case err != nil && !isNotFound(err):
			return nil, err
		}
		if _, err := cluster.Apps.Create(ctx, want, true, false); err != nil {
			return nil, err
		}
	}
	return names, nil
}

func isNotFound(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Reason == metav1.StatusReasonNotFound
}

func follows(app connect.Application, repoURL string) bool {
	for _, s := range app.Spec.EffectiveSources() {
		if s.RepoURL != repoURL {
			return false
		}
	}
	return true
}

package connect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Manager is the field manager of everything that the CLI writes.
const Manager = "slipway"

// Application is one Application as the API server holds it: Raw whole, with fields that we do not know, and typed. What
// a server lists has what tables show only, and Raw is what the server says of it.
type Application struct {
	v1alpha1.Application
	Raw *unstructured.Unstructured
	// Agent is the id of the agent that has it, at a server; Age is how old the server's copy is.
	Agent string
	Age   api.Age
}

// Applications reads and writes the Application resources of one namespace. It patches what it changes and never
// writes a decoded object back.
type Applications struct {
	client    dynamic.ResourceInterface
	namespace string
}

// Namespace returns the namespace that the Applications live in.
func (a *Applications) Namespace() string { return a.namespace }

// Get reads one Application. The error for one that does not exist says how to see which do.
func (a *Applications) Get(ctx context.Context, name string) (Application, error) {
	obj, err := a.client.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return Application{}, a.explain("read", name, err)
	}
	return decode(obj)
}

// List reads the Applications that selector (labels; empty for all) matches, sorted by name.
func (a *Applications) List(ctx context.Context, selector string) ([]Application, error) {
	list, err := a.client.List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return nil, a.explain("list", "", err)
	}
	out := make([]Application, 0, len(list.Items))
	for i := range list.Items {
		app, err := decode(&list.Items[i])
		if err != nil {
			return nil, err
		}
		out = append(out, app)
	}
	slices.SortFunc(out, func(x, y Application) int { return strings.Compare(x.Name, y.Name) })
	return out, nil
}

// Create writes a new Application; with dryRun the API server only checks it. With upsert one that exists already is changed,
// see replace.
func (a *Applications) Create(ctx context.Context, obj *unstructured.Unstructured, upsert, dryRun bool) (Application, error) {
	var dry []string
	if dryRun {
		dry = []string{metav1.DryRunAll}
	}
	made, err := a.client.Create(ctx, obj, metav1.CreateOptions{FieldManager: Manager, DryRun: dry})
	if upsert && apierrors.IsAlreadyExists(err) {
		made, err = a.replace(ctx, obj, dry)
	}
	if err != nil {
		return Application{}, a.explain("create", obj.GetName(), err)
	}
	return decode(made)
}

// replace gives an Application the spec of obj, as `argocd app create --upsert` does. Labels, annotations and finalizers that
// obj does not have stay.
func (a *Applications) replace(ctx context.Context, obj *unstructured.Unstructured,
	dry []string,
) (made *unstructured.Unstructured, err error) {
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		have, err := a.client.Get(ctx, obj.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		have.Object["spec"] = obj.Object["spec"]
		have.SetLabels(labels.Merge(have.GetLabels(), obj.GetLabels()))
		have.SetAnnotations(labels.Merge(have.GetAnnotations(), obj.GetAnnotations()))
		for _, f := range obj.GetFinalizers() {
			if !slices.Contains(have.GetFinalizers(), f) {
				have.SetFinalizers(append(have.GetFinalizers(), f))
			}
		}
		made, err = a.client.Update(ctx, have, metav1.UpdateOptions{FieldManager: Manager, DryRun: dry})
		return err
	})
	return made, err
}

// Patch merges change into an Application. Where change holds metadata.resourceVersion, an Application that changed
// since is a conflict.
func (a *Applications) Patch(ctx context.Context, name string, change map[string]any) (Application, error) {
	raw, err := json.Marshal(change)
	if err != nil {
		return Application{}, fmt.Errorf("encode change of application %s: %w", name, err)
	}
	obj, err := a.client.Patch(ctx, name, types.MergePatchType, raw, metav1.PatchOptions{FieldManager: Manager})
	if err != nil {
		return Application{}, a.explain("change", name, err)
	}
	return decode(obj)
}

// Delete asks for the removal of an Application; its finalizers decide when it is gone. Only the one with this uid is
// deleted.
func (a *Applications) Delete(ctx context.Context, name string, uid types.UID) error {
	err := a.client.Delete(ctx, name, metav1.DeleteOptions{Preconditions: metav1.NewUIDPreconditions(string(uid))})
	return a.explain("delete", name, err)
}

func (a *Applications) explain(verb, name string, err error) error {
	switch {
	case err == nil:
		return nil
	case apierrors.IsNotFound(err) && ofKind(err, "namespaces"):
		return fmt.Errorf("namespace %s does not exist in this cluster; create it, or give another with -n: %w", a.namespace, err)
	case apierrors.IsNotFound(err) && name != "" && Named(err, name):
		return fmt.Errorf("application %s does not exist in namespace %s; `slipway app list -n %s` shows those that do: %w",
			name, a.namespace, a.namespace, err)
	case apierrors.IsNotFound(err):
		return fmt.Errorf("this cluster has no Application resources; install Slipway's CustomResourceDefinitions first: %w", err)
	case apierrors.IsAlreadyExists(err):
		return fmt.Errorf("application %s exists already in namespace %s; use --upsert to change it: %w", name, a.namespace, err)
	}
	return Explain(fmt.Errorf("%s application %s: %w", verb, name, err))
}

// Named distinguishes an object that does not exist from a kind that does not.
func Named(err error, name string) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Name == name
}

// ofKind reports whether err is about a resource, which the API server names in the plural.
func ofKind(err error, resource string) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && status.Status().Details != nil && status.Status().Details.Kind == resource
}

func decode(obj *unstructured.Unstructured) (Application, error) {
	raw, err := obj.MarshalJSON()
	if err != nil {
		return Application{}, fmt.Errorf("encode application %s: %w", obj.GetName(), err)
	}
	app := Application{Raw: obj}
	if err := json.Unmarshal(raw, &app.Application); err != nil {
		return Application{}, fmt.Errorf("read application %s: %w; it has a field of the wrong type, correct its manifest",
			obj.GetName(), err)
	}
	// Written by many and not read here.
	unstructured.RemoveNestedField(obj.Object, "metadata", "managedFields")
	return app, nil
}

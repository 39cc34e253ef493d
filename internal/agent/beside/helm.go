package beside

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"

	"github.com/Masterminds/semver/v3"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/engine/render"
)

const (
	// HelmAuto asks for the Helm of the Argo CD that is in the agent's namespace.
	HelmAuto = "auto"
	// selectRenderers finds what carries the version of an Argo CD, as its manifests, its chart and its operator label it.
	selectRenderers = "app.kubernetes.io/part-of=argocd,app.kubernetes.io/component in (repo-server,application-controller)"
	labelVersion    = "app.kubernetes.io/version"
)

// helmChoice is the Helm that renders a chart whose source names none, and why it is that one.
type helmChoice struct {
	Version string `json:"version"`          // render.HelmV3 or render.HelmV4
	Because string `json:"because"`          // in words
	ArgoCD  string `json:"argoCD,omitempty"` // version of the Argo CD that was found
}

// HelmDefault decides once which Helm that is: were it to change while the agent runs, charts would change with no commit.
type HelmDefault struct{ choice atomic.Pointer[helmChoice] }

// Version is the default for a render.Pipeline.
func (h *HelmDefault) Version() string {
	if c := h.choice.Load(); c != nil {
		return c.Version
	}
	return render.HelmV3
}

// ignores returns why a source is rendered with another Helm than Argo CD renders it with, which ignores helm.version from 3.5
// on; "" where it is not.
func (h *HelmDefault) ignores(app *v1alpha1.Application) string {
	c := h.choice.Load()
	if c == nil || c.ArgoCD == "" || helmOf(c.ArgoCD) != render.HelmV4 {
		return ""
	}
	for _, src := range app.Spec.EffectiveSources() {
		if src.Helm != nil && strings.TrimPrefix(src.Helm.Version, "v") == "3" {
			return fmt.Sprintf("helm.version is %s, which Argo CD %s ignores: it renders with Helm 4; set v4 to render alike",
				src.Helm.Version, c.ArgoCD)
		}
	}
	return ""
}

// Choose decides which Helm renders charts whose source names none: that of --helm-version, else that of the Argo CD in
// the agent's namespace, stopped or not, else Helm 3. It fails where the API server does.
func (h *HelmDefault) Choose(ctx context.Context, flag string, config *rest.Config, namespace string, log *slog.Logger) error {
	if h.choice.Load() != nil {
		return nil
	}
	choice := &helmChoice{Version: flag, Because: "--helm-version"}
	if choice.Version == "" || choice.Version == HelmAuto {
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			return fmt.Errorf("make client: %w", err)
		}
		found, err := argoCDVersion(ctx, client, namespace)
		if err != nil {
			return fmt.Errorf("look for the version of Argo CD: %w", err)
		}
		choice = helmFor(found)
	}
	h.choice.Store(choice)
	log.Info("charts whose source has no helm.version are rendered", "helm", choice.Version, "because", choice.Because,
		"argo_cd", choice.ArgoCD)
	return nil
}

// helmFor returns the Helm of an Argo CD of a version; "" for none that is known.
func helmFor(argoCD string) *helmChoice {
	if argoCD == "" {
		return &helmChoice{Version: render.HelmV3, Because: "no Argo CD with a known version is in this namespace"}
	}
	v := helmOf(argoCD)
	return &helmChoice{Version: v, ArgoCD: argoCD, Because: "Argo CD " + argoCD + " renders with Helm " + strings.TrimPrefix(v, "v")}
}

// helmOf returns the major version of Helm in an Argo CD: 3.5 is the first with Helm 4. Pre-releases have that of the release.
func helmOf(argoCD string) string {
	v, err := semver.NewVersion(argoCD)
	if err == nil && (v.Major() > 3 || v.Major() == 3 && v.Minor() >= 5) {
		return render.HelmV4
	}
	return render.HelmV3
}

// argoCDVersion returns the version of the Argo CD in a namespace: that of its repository server, which renders, else that of
// its controller, else that on its settings; "" where none says one. What may not be read is not there.
func argoCDVersion(ctx context.Context, client dynamic.Interface, namespace string) (string, error) {
	versions := map[string]string{} // by component
	for _, kind := range []string{"deployments", "statefulsets"} {
		list, err := client.Resource(schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: kind}).Namespace(namespace).
			List(ctx, metav1.ListOptions{LabelSelector: selectRenderers})
		if apierrors.IsForbidden(err) || apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		for i := range list.Items {
			component := list.Items[i].GetLabels()["app.kubernetes.io/component"]
			if v := taggedVersion(&list.Items[i]); v != "" && versions[component] == "" {
				versions[component] = v
			}
		}
	}
	for _, component := range []string{"repo-server", "application-controller"} {
		if v := versions[component]; v != "" {
			return v, nil
		}
	}
	settings, err := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}).Namespace(namespace).
		Get(ctx, place.ConfigArgoCD, metav1.GetOptions{})
	switch {
	case apierrors.IsForbidden(err) || apierrors.IsNotFound(err):
		return "", nil
	case err != nil:
		return "", err
	}
	return released(settings.GetLabels()[labelVersion]), nil
}

// taggedVersion returns the version that the images of a workload are tagged with, else that of its label.
func taggedVersion(workload *unstructured.Unstructured) string {
	containers, _, _ := unstructured.NestedSlice(workload.Object, "spec", "template", "spec", "containers")
	for _, c := range containers {
		fields, _ := c.(map[string]any)
		image, _ := fields["image"].(string)
		image, _, _ = strings.Cut(image, "@")
		name := image[strings.LastIndexByte(image, '/')+1:]
		repository, tag, _ := strings.Cut(name, ":")
		if v := released(tag); v != "" && strings.Contains(strings.ToLower(repository), "argo") {
			return v
		}
	}
	return released(workload.GetLabels()[labelVersion])
}

// released returns text where it is a version with three numbers, and "" for anything else: v3, latest, a hash.
func released(text string) string {
	if v, err := semver.NewVersion(text); err != nil || strings.Count(strings.TrimPrefix(v.Original(), "v"), ".") < 2 {
		return ""
	}
	return text
}

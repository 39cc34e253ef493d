package object

import (
	"strconv"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Helm's annotations on hooks, which count where Argo CD's own are absent.
const (
	AnnotationHelmHook       = "helm.sh/hook"
	AnnotationHelmHookWeight = "helm.sh/hook-weight"
	AnnotationHelmHookPolicy = "helm.sh/hook-delete-policy"
)

// WaveOf returns the sync wave of an object tree: 0 where it names none, or none that is a number.
func WaveOf(obj map[string]any) int {
	for _, name := range []string{v1alpha1.AnnotationSyncWave, AnnotationHelmHookWeight} {
		if n, err := strconv.ParseInt(Annotation(obj, name), 10, 32); err == nil {
			return int(n)
		}
	}
	return 0
}

// IsHook reports whether an object tree is meant as a hook, also as one of no phase that is known: it is no part of
// what an Application keeps.
func IsHook(obj map[string]any) bool {
	if own := strings.TrimSpace(Annotation(obj, v1alpha1.AnnotationHook)); own != "" {
		return own != string(v1alpha1.HookSkip)
	}
	helm := strings.TrimSpace(Annotation(obj, AnnotationHelmHook))
	return helm != "" && (helm != "crd-install" || obj["kind"] != "CustomResourceDefinition")
}

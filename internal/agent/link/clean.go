package link

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// marshal writes JSON in which URLs stand as they are, cleans them, and makes texts ones that a server can keep.
func marshal(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, fmt.Errorf("write an item: %w", err)
	}
	return legible.JSON(redact.JSONAddresses(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))), nil
}

// Application returns what is reported about an Application.
func Application(app *v1alpha1.Application) ([]byte, error) {
	out := *app
	out.APIVersion, out.Kind = v1alpha1.GroupVersion().String(), v1alpha1.KindApplication
	out.ManagedFields = nil
	out.Annotations = cleanAnnotations(out.Annotations)
	out.Operation = cleanOperation(out.Operation)
	if state := out.Status.OperationState; state != nil {
		one := *state
		if op := cleanOperation(&one.Operation); op != nil {
			one.Operation = *op
		}
		out.Status.OperationState = &one
	}
	return marshal(&out)
}

// cleanOperation returns an operation without local manifests: they may hold anything.
func cleanOperation(op *v1alpha1.Operation) *v1alpha1.Operation {
	if op == nil || op.Sync == nil || len(op.Sync.Manifests) == 0 {
		return op
	}
	out, sync := *op, *op.Sync
	sync.Manifests = nil
	out.Sync = &sync
	return &out
}

func cleanAnnotations(in map[string]string) map[string]string {
	if _, there := in[corev1.LastAppliedConfigAnnotation]; !there {
		return in
	}
	out := maps.Clone(in)
	delete(out, corev1.LastAppliedConfigAnnotation)
	return out
}

// Project returns what is reported about an AppProject.
func Project(p *v1alpha1.AppProject) ([]byte, error) {
	out := *p
	out.APIVersion, out.Kind = v1alpha1.GroupVersion().String(), v1alpha1.KindAppProject
	out.ManagedFields = nil
	out.Annotations = cleanAnnotations(out.Annotations)
	return marshal(&out)
}

// Object returns what is reported about an object as the API server sends it.
func Object(obj map[string]any) ([]byte, error) {
	out := maps.Clone(obj)
	if meta, ok := out["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "managedFields")
		if notes, ok := meta["annotations"].(map[string]any); ok {
			notes = maps.Clone(notes)
			delete(notes, corev1.LastAppliedConfigAnnotation)
			meta["annotations"] = notes
		}
		out["metadata"] = meta
	}
	return marshal(out)
}

package kustomize_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// A kustomization of anybody is built or refused in time, from its tree alone.
func FuzzKustomization(f *testing.F) {
	f.Add("namePrefix: a-\nimages: [{name: nginx, newTag: \"2\"}]\n", "web=nginx:3")
	f.Add("patches: [{path: ../../etc/passwd}]\n", "a@b")
	f.Add("configMapGenerator: [{name: a, literals: [\"a=b\"], files: [/etc/passwd]}]\n", ":")
	f.Add("resources: [\"https://evil.example/x\", \"git@evil.example:x\"]\n", "=")
	f.Add("replacements: [{source: {kind: Deployment}, targets: [{select: {name: \"(((\"}, fieldPaths: [\"spec.*.*\"]}]}]\n", "")
	f.Add("vars: [{name: A, objref: {kind: Deployment, name: web, apiVersion: apps/v1}, fieldref: {fieldpath: \"$(A)\"}}]\n", "nginx:$(A)")
	f.Add("openapi: {path: ../base/web.yaml}\ntransformers: [|-\n  kind: X\n]\n", "")
	f.Fuzz(func(t *testing.T, kustomization, image string) {
		if len(kustomization) > 4<<10 {
			return
		}
		begun := time.Now()
		res, err := build(t, overlay(kustomization, nil), &v1alpha1.KustomizeSource{Images: []string{image}})
		if d := time.Since(begun); d > 20*time.Second {
			t.Errorf("it took %v", d)
		}
		if err != nil {
			return
		}
		for _, o := range res.Objects {
			if !json.Valid(o.JSON) || o.Key.Kind == "" || o.Key.Name == "" {
				t.Errorf("an object is %v: %s", o.Key, o.JSON)
			}
		}
	})
}

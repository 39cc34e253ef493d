package helm_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render/helm"
)

// A chart with any values and any metadata is rendered or refused in time, and an error does not show the values.
func FuzzChartAndValues(f *testing.F) {
	f.Add("apiVersion: v2\nname: demo\nversion: 1.0.0\n", "a: planted-secret\n", "b=planted-secret", "*.md\n")
	f.Add("apiVersion: v2\nname: ../x\nversion: x\ndependencies: [{name: a, repository: \"file://../../x\"}]\n", "a: &a [*a]\n", "a[999999999]=x", "[")
	f.Add("name: \"\\0\"\nkubeVersion: \">= x\"\n", "global: {a: null}\n", `a\.b={{ .Values }}`, "!/**/\n")
	f.Add("{", "- a\n", "a.b.c.d=1,e={1,2", "")
	f.Fuzz(func(t *testing.T, meta, values, parameter, ignore string) {
		if len(meta)+len(values)+len(parameter)+len(ignore) > 4<<10 {
			return
		}
		name, value, _ := strings.Cut(parameter, "=")
		begun := time.Now()
		res, err := helm.Renderer{}.Render(context.Background(), request(
			tree(t, chartFiles(map[string]string{"chart/Chart.yaml": meta, "chart/.helmignore": ignore})),
			v1alpha1.HelmSource{Values: values, Parameters: []v1alpha1.HelmParameter{{Name: name, Value: value}}},
		))
		if d := time.Since(begun); d > 20*time.Second {
			t.Errorf("it took %v", d)
		}
		if err != nil {
			return
		}
		for _, o := range res.Objects {
			if !json.Valid(o.JSON) || o.Key.Name == "" {
				t.Errorf("an object is %v: %s", o.Key, o.JSON)
			}
		}
	})
}

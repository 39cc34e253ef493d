package helm_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render"
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
		for _, version := range []string{render.HelmV3, render.HelmV4} {
			renderChart(t, meta, ignore, v1alpha1.HelmSource{
				Version: version, Values: values, Parameters: []v1alpha1.HelmParameter{{Name: name, Value: value}},
			})
		}
	})
}

// renderChart renders a chart that others wrote, which takes a bounded time and gives objects or an error.
func renderChart(t *testing.T, meta, ignore string, source v1alpha1.HelmSource) {
	t.Helper()
	begun := time.Now()
	res, err := helm.Renderer{}.Render(context.Background(), request(
		tree(t, chartFiles(map[string]string{"chart/Chart.yaml": meta, "chart/.helmignore": ignore})), source,
	))
	if d := time.Since(begun); d > 20*time.Second {
		t.Errorf("Helm %s took %v", source.Version, d)
	}
	if err != nil {
		return
	}
	for _, o := range res.Objects {
		if !json.Valid(o.JSON) || o.Key.Name == "" {
			t.Errorf("an object of Helm %s is %v: %s", source.Version, o.Key, o.JSON)
		}
	}
}

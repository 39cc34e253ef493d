package kustomize

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/kustomize/api/konfig"
	"sigs.k8s.io/kustomize/api/types"

	"github.com/slipway-gitops/slipway/internal/redact"
)

// isKustomization reports whether base is a name under which Kustomize looks for a kustomization.
func isKustomization(base string) bool {
	return slices.Contains(konfig.RecognizedKustomizationFileNames(), base)
}

// check refuses a kustomization that would make Kustomize fetch something or run something. It reports whether the
// kustomization brings a schema of its own. One that cannot be read passes: Kustomize says better what is wrong.
func check(name string, raw []byte) (schema bool, err error) {
	var k types.Kustomization
	if err := k.Unmarshal(raw); err != nil {
		return false, nil //nolint:nilerr // see above
	}
	if len(k.HelmCharts) > 0 || len(k.HelmChartInflationGenerator) > 0 {
		return false, fmt.Errorf("%s uses helmCharts, which would run helm and fetch charts; use a source of its own for the chart", name)
	}
	for field, paths := range references(k) {
		for _, p := range paths {
			if isRemote(p) {
				return false, fmt.Errorf("%s names %s under %s, which is not in the repository, and rendering fetches nothing; "+
					"copy it into the repository", name, redact.Addresses(p), field)
			}
		}
	}
	return len(k.OpenAPI) > 0, nil
}

// references lists every path in a kustomization, by field.
func references(k types.Kustomization) map[string][]string {
	out := map[string][]string{
		"resources":      k.Resources,
		"bases":          k.Bases,
		"components":     k.Components,
		"crds":           k.Crds,
		"configurations": k.Configurations,
		"generators":     k.Generators,
		"transformers":   k.Transformers,
		"validators":     k.Validators,
		"openapi":        {k.OpenAPI["path"]},
	}
	for _, p := range k.Patches {
		out["patches"] = append(out["patches"], p.Path)
	}
	for _, p := range k.PatchesJson6902 {
		out["patchesJson6902"] = append(out["patchesJson6902"], p.Path)
	}
	for _, p := range k.PatchesStrategicMerge {
		out["patchesStrategicMerge"] = append(out["patchesStrategicMerge"], string(p))
	}
	for _, r := range k.Replacements {
		out["replacements"] = append(out["replacements"], r.Path)
	}
	for _, g := range k.ConfigMapGenerator {
		out["configMapGenerator"] = append(out["configMapGenerator"], sources(g.KvPairSources)...)
	}
	for _, g := range k.SecretGenerator {
		out["secretGenerator"] = append(out["secretGenerator"], sources(g.KvPairSources)...)
	}
	return out
}

func sources(s types.KvPairSources) []string {
	out := append([]string{s.EnvSource}, s.EnvSources...)
	for _, f := range s.FileSources {
		if _, p, ok := strings.Cut(f, "="); ok {
			f = p
		}
		out = append(out, f)
	}
	return out
}

// scp matches user@host:path and the like.
var scp = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9-]*@[^/]+[:/]`)

// isRemote reports whether Kustomize could take p for something to fetch. It covers more than Kustomize's own rule
// does. A text of several lines is inline content.
func isRemote(p string) bool {
	if strings.Contains(p, "\n") {
		return false
	}
	l := strings.ToLower(strings.TrimSpace(p))
	for _, prefix := range []string{"git::", "github.com/", "github.com:", "http:", "https:"} {
		if strings.HasPrefix(l, prefix) {
			return true
		}
	}
	return strings.Contains(l, "://") || scp.MatchString(l)
}

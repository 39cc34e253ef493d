package helm

import (
	"context"
	"fmt"

	"helm.sh/helm/v4/pkg/chart/loader/archive"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// What .Capabilities.HelmVersion.Version is: the version that Argo CD ships of each major one. The modules that are
// linked do not know theirs.
const (
	helm3Version = "v3.19.4" // Argo CD 3.3 and 3.4
	helm4Version = "v4.2.1"  // Argo CD 3.5
)

// edition is one major version of Helm. Its two libraries differ in which values a template sees (Helm 4 removes nulls of a chart's
// defaults, Helm 3 keeps them), in how they read value files, in .Chart, in how they split what a template gave, and in the order of
// objects, so each renders with its own.
type edition interface {
	// parseValues reads a value file of a user.
	parseValues(raw []byte) (map[string]any, error)
	// split takes what a template gave apart. Helm 4 keeps white space at the end of the last document, which counts where a block of
	// text ends there.
	split(text string) []string
	// load makes a chart, with the dependencies in charts/, of its files.
	load(files []*archive.BufferedFile) (loaded, error)
	// installOrder lists kinds in the order in which objects come.
	installOrder() []string
}

// loaded is a chart in the library of its edition.
type loaded interface {
	about() about
	dependencies() []loaded
	// add adds a dependency of the same edition.
	add(loaded)
	// merge enables dependencies and merges their values; it returns .Values of the chart.
	merge(in input) (map[string]any, error)
	// execute runs the templates with what merge merged, and returns what each file gave.
	execute(ctx context.Context) (map[string]string, error)
	crds() []crd
}

// about is the metadata of a chart.
type about struct {
	name        string
	chartType   string // "", "application", "library" or wrong
	kubeVersion string // constraint, or ""
	defaults    map[string]any
	schema      []byte       // values.schema.json, or nil
	required    []dependency // what Chart.yaml names
}

// dependency is one entry of the dependencies in Chart.yaml.
type dependency struct{ name, repository string }

// crd is a file in crds/.
type crd struct {
	file string
	data []byte
}

// input is what templates see beside chart and files.
type input struct {
	values             map[string]any
	release, namespace string
	kubeVersion        string   // "v1.36.3"; Helm's own default where it is empty
	apiVersions        []string // beside Helm's own list
}

// editionOf returns the Helm that spec.source.helm.version asks for.
func editionOf(version string) (edition, error) {
	switch version {
	case "", render.HelmV3, "3":
		return helm3{}, nil
	case render.HelmV4, "4":
		return helm4{}, nil
	}
	return nil, fmt.Errorf("helm version %q is not supported; set spec.source.helm.version to v3 or v4, or remove it", version)
}

func badKubeVersion(version string, err error) error {
	return fmt.Errorf("read Kubernetes version %q: %w; write it as v1.36.3", version, err)
}

func incompatible(a about, has string) error {
	return fmt.Errorf("chart %s requires Kubernetes %s, the cluster has %s; use another chart version", a.name, a.kubeVersion, has)
}

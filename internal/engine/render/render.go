// Package render turns a source into the objects it wants: it finds the tool (directory, Jsonnet, Kustomize, Helm),
// runs it on the tree alone, and returns plain objects. Nothing is read but the Tree, nothing is fetched, and every
// input is taken as hostile.
package render

import (
	"context"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Request is one source of one Application, ready to be rendered.
type Request struct {
	App       App
	Source    v1alpha1.ApplicationSource
	Tree      source.Tree            // the source's own repository or chart, at the resolved revision
	Refs      map[string]source.Tree // trees of the sources that have a ref name, for "$name/path" value files
	Namespace string                 // spec.destination.namespace
	Cluster   Capabilities
	Limits    Limits
}

// App identifies the Application for the build environment (ARGOCD_APP_NAME and so on).
type App struct {
	Name      string
	Namespace string
	Project   string
}

// Capabilities is what a chart may ask about the destination cluster.
type Capabilities struct {
	KubeVersion string   // "v1.36.3"
	APIVersions []string // "apps/v1", "apps/v1/Deployment", ...; sorted
}

// Limits bounds one rendering. The zero value means the defaults.
type Limits struct {
	Bytes   int64 // all manifest files read, and all output; default 64 MiB
	Objects int   // default 20,000
	Seconds int   // wall time; default 60
}

// Result is what a source wants. Objects are in the order the tool gave them, Lists unpacked, empty documents dropped.
type Result struct {
	Tool    Tool
	Objects []object.Manifest
	// Deps says which parts of the Request, besides the tree reads and the source itself, the result depends on.
	Deps Deps
}

// Deps names inputs that a cache must put into its key only where they were really used.
type Deps struct {
	Cluster bool // Capabilities were read
}

// Tool names what rendered a source, as status.sourceType spells it.
type Tool string

// The tools.
const (
	Directory Tool = "Directory"
	Kustomize Tool = "Kustomize"
	Helm      Tool = "Helm"
	Plugin    Tool = "Plugin"
)

// Renderer renders one source. It returns promptly when ctx ends.
type Renderer interface {
	Render(ctx context.Context, req Request) (Result, error)
}

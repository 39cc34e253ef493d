// Package render turns a source into the objects it wants: it finds the tool (directory, Jsonnet, Kustomize, Helm),
// runs it on trees alone, and returns plain objects. Nothing is read but the Tree of the source and the trees beside it,
// nothing is fetched (package need finds what is to be fetched before), and every input is taken as hostile.
package render

import (
	"context"
	"maps"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/source"
)

// Request is one source of one Application, ready to be rendered. A Renderer gets it as Prepare returns it: overrides
// from the repository are merged, build environment variables are substituted, Path is clean and relative ("." is the
// root), Tool is known and Limits are filled in. A Renderer must not substitute again: what was an escaped $$ is a
// plain $ by now, and a cache relies on Deps as Prepare returned them. A value file may still begin with "$ref/".
type Request struct {
	App    App
	Tool   Tool // set by Prepare
	Source v1alpha1.ApplicationSource
	Tree   source.Tree // the source's own repository or chart, at the resolved revision
	// trees of the sources that have a ref name, for "$name/path" value files; nil where the Application has one source
	Refs map[string]source.Tree
	// trees of what the source needs from elsewhere, by the Key of package need
	Needs     map[string]source.Tree
	Namespace string // spec.destination.namespace
	Cluster   Capabilities
	Settings  Settings
	Limits    Limits
}

// Beside names the trees that a Request has besides the source's own: a source with a ref as "$ref", a need by its key.
func (r *Request) Beside() map[string]source.Tree {
	out := make(map[string]source.Tree, len(r.Refs)+len(r.Needs))
	for ref, t := range r.Refs {
		out["$"+ref] = t
	}
	maps.Copy(out, r.Needs)
	return out
}

// SetBeside puts trees in place of those that Beside names; nil takes the tree away and leaves the name of a ref.
func (r *Request) SetBeside(trees map[string]source.Tree) {
	hadRefs := r.Refs != nil
	r.Refs, r.Needs = nil, nil
	if hadRefs {
		r.Refs = map[string]source.Tree{}
	}
	for name, t := range trees {
		if ref, ok := strings.CutPrefix(name, "$"); ok {
			if r.Refs == nil {
				r.Refs = map[string]source.Tree{}
			}
			r.Refs[ref] = t
			continue
		}
		if r.Needs == nil {
			r.Needs = map[string]source.Tree{}
		}
		r.Needs[name] = t
	}
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

// WithDefaults fills in what is zero.
func (l Limits) WithDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = 64 << 20
	}
	if l.Objects <= 0 {
		l.Objects = 20_000
	}
	if l.Seconds <= 0 {
		l.Seconds = 60
	}
	return l
}

// Result is what a source wants. Objects are in the order the tool gave them, Lists unpacked, empty documents dropped:
// a document.Set does that for a Renderer. A Renderer that fails still returns Deps, so that the failure can be kept.
type Result struct {
	Tool    Tool
	Objects []object.Manifest
	// Deps says which parts of the Request, besides the tree reads and the source itself, the result depends on.
	Deps Deps
}

// Deps names inputs that a cache must put into its key only where they were really used.
type Deps struct {
	Cluster  bool // Capabilities were read
	Revision bool // the resolved revision was read; Prepare says so
}

// Or returns what either depends on.
func (d Deps) Or(o Deps) Deps {
	return Deps{Cluster: d.Cluster || o.Cluster, Revision: d.Revision || o.Revision}
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

// Major versions of Helm, as spec.source.helm.version spells them.
const (
	HelmV3 = "v3"
	HelmV4 = "v4"
)

// Plugins is a Renderer for sources that config management plugins render.
type Plugins interface {
	Renderer
	// Has reports whether there is a plugin of that name; "" for any.
	Has(name string) bool
	// Names lists the plugins, sorted.
	Names() []string
	// Claims reports whether a plugin knows the files of a source that names no tool.
	Claims(ctx context.Context, req Request) (bool, error)
	// Announce returns the parameters that the plugin of a source has.
	Announce(ctx context.Context, req Request) ([]Announcement, error)
}

// Announcement is a parameter that a plugin has, as Argo CD describes it.
type Announcement struct {
	Name           string            `json:"name"`
	Title          string            `json:"title,omitempty"`
	Tooltip        string            `json:"tooltip,omitempty"`
	Required       bool              `json:"required,omitempty"`
	ItemType       string            `json:"itemType,omitempty"`       // "string", "number" or "boolean"; "" is "string"
	CollectionType string            `json:"collectionType,omitempty"` // "string", "array" or "map"; "" is "string"
	String         string            `json:"string,omitempty"`         // the default
	Array          []string          `json:"array,omitempty"`
	Map            map[string]string `json:"map,omitempty"`
}

// Renderer renders one prepared source. It returns promptly when ctx ends and is safe for concurrent use. A failure that
// does not lie in the Request wraps ErrCrash, ErrTimeout or ErrUnavailable, or an error of a Tree: any other one is
// kept by a cache and given again for an equal Request.
type Renderer interface {
	Render(ctx context.Context, req Request) (Result, error)
}

package render

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
)

// ErrJsonnet is returned by the Renderer for plain files where it meets a Jsonnet file that it cannot evaluate: the
// pipeline then gives the whole source to the Renderer for Jsonnet.
var ErrJsonnet = errors.New("the directory has Jsonnet files")

// ErrElsewhere is returned by the Renderer for plain files where they are too large to be parsed in this process: the pipeline
// then gives them to the Renderer for Jsonnet too.
var ErrElsewhere = errors.New("the files are too large for this process")

// ErrCrash is wrapped by the error that stands for a panic in a Renderer, or for the end of the process it ran in.
var ErrCrash = errors.New("the renderer crashed")

// ErrUnavailable is wrapped by failures that have nothing to do with what is rendered: no worker process could be
// started, for example.
var ErrUnavailable = errors.New("rendering is not available")

// IsTransient reports whether err may be gone when the same Request is rendered again.
func IsTransient(err error) bool {
	// What the operating system refuses, a new process for example, has nothing to do with the input. A missing file
	// has.
	var refused syscall.Errno
	if errors.As(err, &refused) && !errors.Is(refused, fs.ErrNotExist) {
		return true
	}
	for _, e := range []error{ErrCrash, ErrTimeout, ErrUnavailable, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// ErrTimeout is wrapped by the error that says a rendering took longer than Limits.Seconds.
var ErrTimeout = errors.New("rendering took too long")

// Pipeline renders any source: it prepares the Request and gives it to the Renderer of its tool. It is safe for
// concurrent use. Plain is held to Limits.Seconds here. The others hold themselves to it, since they may have to wait
// for their turn first: a worker does, and Timed makes any other Renderer do so.
type Pipeline struct {
	Plain     Renderer // directories of YAML and JSON
	Jsonnet   Renderer // directories that have Jsonnet files too
	Helm      Renderer
	Kustomize Renderer
	Plugins   Plugins // nil: there are none
	Disabled  []Tool  // never detected nor used; their sources are read as a Directory
	// HelmVersion says which Helm renders a source that names none: HelmV3 or HelmV4. It must not change between two
	// renderings, since a cache does not know it. Nil is HelmV3.
	HelmVersion func() string
}

var _ Renderer = (*Pipeline)(nil)

// Render prepares and renders req. A source that is only a ref gives no objects. The Result of a failure has Tool
// and Deps.
func (p *Pipeline) Render(ctx context.Context, req Request) (Result, error) {
	if req.Source.IsRef() {
		return Result{}, nil
	}
	req, deps, err := Prepare(req, p.Disabled...)
	if err != nil {
		return Result{Deps: deps}, err
	}
	if req, err = p.claimed(ctx, req); err != nil {
		return Result{Deps: deps}, err
	}
	if req.Tool == Helm {
		req.Source.Helm = withVersion(req.Source.Helm, p.HelmVersion)
	}
	res, err := p.dispatch(ctx, req)
	res.Tool = req.Tool
	res.Deps = res.Deps.Or(deps)
	if err != nil && (req.Tool == Helm || req.Tool == Kustomize) {
		res.Deps.Cluster = true // a failure does not report what it had read
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return Result{Tool: res.Tool, Deps: res.Deps}, context.Cause(ctx)
	case err != nil:
		return Result{Tool: res.Tool, Deps: res.Deps}, err
	}
	if err := check(res, req.Limits); err != nil {
		return Result{Tool: res.Tool, Deps: res.Deps}, err
	}
	return res, nil
}

// withVersion returns h with the Helm that renders it.
func withVersion(h *v1alpha1.HelmSource, standard func() string) *v1alpha1.HelmSource {
	if standard == nil || h != nil && h.Version != "" {
		return h
	}
	out := &v1alpha1.HelmSource{}
	if h != nil {
		*out = *h
	}
	out.Version = standard()
	return out
}

// Timed returns a Renderer that ends the context of r after Limits.Seconds and reports that in its error. A nil r stays
// nil.
func Timed(r Renderer) Renderer {
	if r == nil {
		return nil
	}
	return timed{r}
}

type timed struct{ Renderer }

func (t timed) Render(ctx context.Context, req Request) (Result, error) {
	limit := time.Duration(req.Limits.WithDefaults().Seconds) * time.Second
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	res, err := t.Renderer.Render(limited, req)
	if err != nil && ctx.Err() == nil && limited.Err() != nil {
		return Result{Deps: res.Deps}, fmt.Errorf("%w: more than %s; make the source smaller", ErrTimeout, limit)
	}
	return res, err
}

func (p *Pipeline) dispatch(ctx context.Context, req Request) (Result, error) {
	switch req.Tool {
	case Directory:
		res, err := guard(ctx, Timed(p.Plain), req)
		if (errors.Is(err, ErrJsonnet) || errors.Is(err, ErrElsewhere)) && p.Jsonnet != nil {
			return guard(ctx, p.Jsonnet, req)
		}
		return res, err
	case Helm:
		return guard(ctx, p.Helm, req)
	case Kustomize:
		return guard(ctx, p.Kustomize, req)
	case Plugin:
		return p.plugin(ctx, req)
	}
	return Result{}, fmt.Errorf("tool %q is unknown", req.Tool)
}

func (p *Pipeline) plugin(ctx context.Context, req Request) (Result, error) {
	name := ""
	if req.Source.Plugin != nil {
		name = req.Source.Plugin.Name
	}
	if p.Plugins == nil {
		return Result{}, noPlugin(name, ErrNoPlugin, nil)
	}
	res, err := guard(ctx, p.Plugins, req)
	if errors.Is(err, ErrNoPlugin) {
		err = noPlugin(name, err, p.Plugins.Names())
	}
	return res, err
}

// Claimed reports whether a plugin renders a source that names no tool. req is as for Render.
func (p *Pipeline) Claimed(ctx context.Context, req Request) (bool, error) {
	req, _, err := Prepare(req, p.Disabled...)
	if err != nil {
		return false, err
	}
	req, err = p.claimed(ctx, req)
	return req.Tool == Plugin, err
}

// claimed gives a source that names no tool to a plugin that knows its files.
func (p *Pipeline) claimed(ctx context.Context, req Request) (Request, error) {
	if p.Plugins == nil || req.Source.ExplicitType() != "" || !p.Plugins.Has("") {
		return req, nil
	}
	claims, err := p.Plugins.Claims(ctx, req)
	if claims {
		req.Tool = Plugin
	}
	return req, err
}

// guard keeps a panic of a Renderer from taking the process down.
func guard(ctx context.Context, r Renderer, req Request) (res Result, err error) {
	if r == nil {
		return Result{}, fmt.Errorf("no renderer for %s is configured", req.Tool)
	}
	defer func() {
		if recover() != nil {
			// The value is not shown: it can quote input.
			res, err = Result{Deps: Deps{Cluster: true}}, fmt.Errorf("render %s as %s: %w", req.Source.Path, req.Tool, ErrCrash)
		}
	}()
	return r.Render(ctx, req)
}

// check holds the limits for renderers that have none of their own.
func check(res Result, l Limits) error {
	if len(res.Objects) > l.Objects {
		return fmt.Errorf("more than %d objects: %w; split the application", l.Objects, document.ErrLimit)
	}
	var total int64
	for i := range res.Objects {
		total += int64(len(res.Objects[i].JSON))
		if err := checkSealed(&res.Objects[i]); err != nil {
			return err
		}
	}
	if total > l.Bytes {
		return fmt.Errorf("the objects are larger than %d bytes together: %w; split the application", l.Bytes, document.ErrLimit)
	}
	return nil
}

// Package declared renders with config management plugins that the administrator declares in files, as the plugin.yaml of Argo CD.
// Their programs are those of this machine, and run confined.
package declared

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/document"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Renderer is a render.Renderer that runs declared plugins. It is safe for concurrent use.
type Renderer struct {
	Dir string // of the declarations; "" for none
	// Work is a directory for the files of the plugins. Each run has one of its own there, which is deleted after it.
	Work string
	// Path is the PATH of the programs, whose directories they can read; "" for that of this process.
	Path string
	// Exclude returns patterns of paths that plugins do not get; nil: they get all.
	Exclude func() []string
	// At bounds how many plugins run at a time; its capacity is the bound.
	At chan struct{}
	// Unconfined runs them also where this machine cannot confine them.
	Unconfined bool

	mu    sync.Mutex
	alone map[string]chan struct{} // of plugins that run once at a time
}

var _ render.Plugins = (*Renderer)(nil)

// Check says what is wrong with the declarations.
func (r *Renderer) Check() error {
	if r.Dir != "" {
		if _, err := os.Stat(r.Dir); err != nil {
			return fmt.Errorf("there are no declared plugins: %w; mount the directory, or correct --plugins", err)
		}
	}
	_, err := load(r.Dir)
	return err
}

// Clear deletes what runs of an earlier process left.
func (r *Renderer) Clear() error {
	entries, err := os.ReadDir(r.Work)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		err = errors.Join(err, remove(r.Work, e.Name()))
	}
	return err
}

// Has reports whether a plugin of that name is declared; "" for any that finds out whether it knows files.
func (r *Renderer) Has(name string) bool {
	all, err := load(r.Dir)
	for _, d := range all {
		if name == d.name() || name == "" && d.discovers() {
			return true
		}
	}
	return name == "" && err != nil // it is for Claims to say what is wrong
}

// Names lists the plugins, sorted.
func (r *Renderer) Names() []string {
	all, _ := load(r.Dir) // Check says what is wrong
	out := make([]string, len(all))
	for i, d := range all {
		out[i] = d.name()
	}
	slices.Sort(out)
	return out
}

// Claims reports whether a plugin knows the files of a source that names no tool.
func (r *Renderer) Claims(ctx context.Context, req render.Request) (bool, error) {
	all, err := load(r.Dir)
	if err != nil {
		return false, err
	}
	d, err := r.discover(ctx, req, all)
	return d != nil, err
}

// discover returns the first plugin that knows the files; nil for none.
func (r *Renderer) discover(ctx context.Context, req render.Request, all []*declaration) (*declaration, error) {
	for _, d := range all {
		if !d.discovers() {
			continue
		}
		if known, err := r.knows(ctx, req, d); err != nil || known {
			return d, err
		}
	}
	return nil, nil
}

// knows asks one plugin whether it knows the files.
func (r *Renderer) knows(ctx context.Context, req render.Request, d *declaration) (bool, error) {
	f := d.Spec.Discover
	pattern := f.FileName
	if pattern == "" {
		pattern = f.Find.Glob
	}
	if pattern != "" {
		found, err := matches(req.Tree, req.Source.Path, pattern)
		if err != nil {
			return false, fmt.Errorf("plugin %s: %w", d.name(), err)
		}
		return found, nil
	}
	out, err := r.run(ctx, req, d, "discover", f.Find.command)
	return len(out) > 0, err
}

// choose finds the plugin of a source.
func (r *Renderer) choose(ctx context.Context, req render.Request) (*declaration, error) {
	name := ""
	if req.Source.Plugin != nil {
		name = req.Source.Plugin.Name
	}
	all, wrong := load(r.Dir)
	if name == "" {
		if wrong != nil {
			return nil, wrong
		}
		d, err := r.discover(ctx, req, all)
		if err == nil && d == nil {
			err = fmt.Errorf("%w: none of %d knows the files; name one in spec.source.plugin.name", render.ErrNoPlugin, len(all))
		}
		return d, err
	}
	for _, d := range all {
		if d.name() != name {
			continue
		}
		if known, err := !d.discovers(), error(nil); !known {
			if known, err = r.knows(ctx, req, d); err != nil {
				return nil, err
			}
			if !known {
				return nil, fmt.Errorf("plugin %s does not know the files: its discovery finds nothing in %s; correct spec.source.path or "+
					"its declaration", name, req.Source.Path)
			}
		}
		return d, nil
	}
	if wrong != nil {
		return nil, fmt.Errorf("%w: %w", render.ErrNoPlugin, wrong)
	}
	return nil, fmt.Errorf("%w: none is declared as %.100q; correct spec.source.plugin.name (with -VERSION where the plugin has one)",
		render.ErrNoPlugin, name)
}

// Render has the plugin of the source make the manifests, or the first one that knows the files where the source names none.
func (r *Renderer) Render(ctx context.Context, req render.Request) (render.Result, error) {
	req.Limits = req.Limits.WithDefaults()
	_, deps := render.PluginEnvironment(req)
	deps.Cluster, deps.Revision = true, true // the plugin may use any variable
	res := render.Result{Tool: render.Plugin, Deps: deps}
	d, err := r.choose(ctx, req)
	if err != nil {
		return res, err
	}
	out, err := r.run(ctx, req, d, "generate", d.Spec.Init, d.Spec.Generate)
	if err != nil {
		return res, err
	}
	set := document.NewSet(req.Limits.Bytes, req.Limits.Objects)
	if err := set.AddYAML("output of plugin "+d.name(), out); err != nil {
		return res, err
	}
	res.Objects = set.Manifests()
	return res, nil
}

// Announce returns the parameters that the plugin of a source has: those that its declaration lists count more than those that it
// finds in the files.
func (r *Renderer) Announce(ctx context.Context, req render.Request) ([]render.Announcement, error) {
	d, err := r.choose(ctx, req)
	if err != nil {
		return nil, err
	}
	var found []render.Announcement
	if dynamic := d.Spec.Parameters.Dynamic; len(dynamic.Command) > 0 {
		out, err := r.run(ctx, req, d, "parameters", dynamic)
		if err != nil {
			return nil, err
		}
		if err := strict.Decode(out, &found, strict.Unknown, strict.Foreign); err != nil {
			return nil, fmt.Errorf("plugin %s: parameters: it prints no list of parameters: %w", d.name(), err)
		}
	}
	all := append(found, d.Spec.Parameters.Static...)
	return all[max(0, len(all)-maxParameters):], nil
}

// enter waits for the turn of a plugin, and returns how it ends.
func (r *Renderer) enter(ctx context.Context, d *declaration) (func(), error) {
	gates := make([]chan struct{}, 0, 2)
	if d.alone() {
		r.mu.Lock()
		if r.alone == nil {
			r.alone = map[string]chan struct{}{}
		}
		if r.alone[d.name()] == nil {
			r.alone[d.name()] = make(chan struct{}, 1)
		}
		gates = append(gates, r.alone[d.name()])
		r.mu.Unlock()
	}
	if r.At != nil {
		gates = append(gates, r.At)
	}
	for i, gate := range gates {
		select {
		case gate <- struct{}{}:
		case <-ctx.Done():
			for _, passed := range gates[:i] {
				<-passed
			}
			return nil, ctx.Err()
		}
	}
	return func() {
		for _, passed := range gates {
			<-passed
		}
	}, nil
}

// limit is how long a plugin has, all its commands together.
func limit(req render.Request) time.Duration {
	return time.Duration(req.Limits.WithDefaults().Seconds) * time.Second
}

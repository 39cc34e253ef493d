package render

import (
	"context"
	"fmt"
	"slices"
)

// Choice are several sets of plugins. The first one that has a plugin, or whose plugin knows the files, renders.
type Choice []Plugins

var _ Plugins = Choice(nil)

// Has reports whether any has it.
func (c Choice) Has(name string) bool {
	for _, p := range c {
		if p.Has(name) {
			return true
		}
	}
	return false
}

// Names lists those of all.
func (c Choice) Names() []string {
	var out []string
	for _, p := range c {
		out = append(out, p.Names()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Claims reports whether any knows the files.
func (c Choice) Claims(ctx context.Context, req Request) (bool, error) {
	p, err := c.claiming(ctx, req)
	return p != nil, err
}

// Render implements Renderer.
func (c Choice) Render(ctx context.Context, req Request) (Result, error) {
	p, err := c.of(ctx, req)
	if err != nil {
		return Result{Tool: Plugin, Deps: Deps{Cluster: true, Revision: true}}, err
	}
	return p.Render(ctx, req)
}

// Announce implements Plugins.
func (c Choice) Announce(ctx context.Context, req Request) ([]Announcement, error) {
	p, err := c.of(ctx, req)
	if err != nil {
		return nil, err
	}
	return p.Announce(ctx, req)
}

// claiming returns the first whose plugin knows the files; nil for none.
func (c Choice) claiming(ctx context.Context, req Request) (Plugins, error) {
	for _, p := range c {
		if !p.Has("") {
			continue
		}
		if known, err := p.Claims(ctx, req); err != nil || known {
			return p, err
		}
	}
	return nil, nil
}

// of finds the one that has the plugin of a source.
func (c Choice) of(ctx context.Context, req Request) (Plugins, error) {
	name := ""
	if req.Source.Plugin != nil {
		name = req.Source.Plugin.Name
	}
	if name == "" {
		p, err := c.claiming(ctx, req)
		if p == nil && err == nil {
			err = fmt.Errorf("%w: no plugin knows the files; name one in spec.source.plugin.name", ErrNoPlugin)
		}
		return p, err
	}
	for _, p := range c {
		if p.Has(name) {
			return p, nil
		}
	}
	if len(c) == 0 {
		return nil, ErrNoPlugin
	}
	return c[len(c)-1], nil // which says best what is missing
}

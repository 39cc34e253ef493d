package agent

import (
	"context"
	"strings"

	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/declared"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/engine/render/sidecar"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
)

// renderCacheBytes bounds the remembered renderings, compressed.
const renderCacheBytes = 64 << 20

// plainBytes bounds what plain files of one source are parsed in this process, which all projects share.
const plainBytes = 4 << 20

// packs is how many archives for plugins are made at a time.
const packs = 2

// newRenderer puts the renderers together. Plain files are parsed here; whatever runs a program of the source's own
// making (templates, Jsonnet) runs in a process of its own, and so do large plain files. done is called for each job of these.
// helm says which Helm renders charts whose source names none.
func newRenderer(done func(worker.Report), helm func() string, plugins render.Plugins) (*memo.Memo, *worker.Renderer, error) {
	children, err := worker.New(worker.Config{Done: done})
	if err != nil {
		return nil, nil, err
	}
	apart := registry.Unseated{Renderer: children}
	pipeline := &render.Pipeline{
		Plain: plain.Renderer{Bytes: plainBytes}, Jsonnet: apart, Helm: apart, Kustomize: apart, HelmVersion: helm, Plugins: plugins,
	}
	return memo.New(pipeline, memo.Options{Bytes: renderCacheBytes, Waits: registry.Leave}), children, nil
}

// exclusions are the paths that plugins do not get, as Argo CD reads them.
func exclusions(settings *place.Settings) func() []string {
	return func() []string {
		var out []string
		for pattern := range strings.SplitSeq(settings.Config(place.ConfigParameters)["reposerver.plugin.tar.exclusions"], ";") {
			if pattern = strings.TrimSpace(pattern); pattern != "" {
				out = append(out, pattern)
			}
		}
		return out
	}
}

// newPlugins makes what renders with plugins: those that are declared in files, then those beside the agent.
func newPlugins(cfg *Config, settings *place.Settings) render.Plugins {
	run := &declared.Renderer{
		Dir: cfg.Declared, Work: cfg.Data + "/plugins", Exclude: exclusions(settings), At: make(chan struct{}, packs), Unconfined: cfg.Unconfined,
	}
	for _, err := range []error{run.Check(), run.Clear()} {
		if err != nil {
			cfg.Log.Error("plugins", "err", err)
		}
	}
	if names := run.Names(); len(names) > 0 {
		cfg.Log.Info("plugins are declared", "names", names)
	}
	beside := &sidecar.Renderer{Dir: cfg.Plugins, Temp: cfg.Data, Exclude: exclusions(settings), At: make(chan struct{}, packs)}
	return unseated{render.Choice{run, beside}}
}

// unseated are plugins for which a turn waits without its places.
type unseated struct{ render.Plugins }

// Render implements render.Renderer.
func (u unseated) Render(ctx context.Context, req render.Request) (render.Result, error) {
	back := registry.Leave(ctx)
	defer back()
	return u.Plugins.Render(ctx, req)
}

// Claims implements render.Plugins.
func (u unseated) Claims(ctx context.Context, req render.Request) (bool, error) {
	back := registry.Leave(ctx)
	defer back()
	return u.Plugins.Claims(ctx, req)
}

package agent

import (
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
)

// renderCacheBytes bounds the remembered renderings, compressed.
const renderCacheBytes = 64 << 20

// plainBytes bounds what plain files of one source are parsed in this process, which all projects share.
const plainBytes = 4 << 20

// newRenderer puts the renderers together. Plain files are parsed here; whatever runs a program of the source's own
// making (templates, Jsonnet) runs in a process of its own, and so do large plain files. done is called for each job of these.
// helm says which Helm renders charts whose source names none.
func newRenderer(done func(worker.Report), helm func() string) (*memo.Memo, *worker.Renderer, error) {
	children, err := worker.New(worker.Config{Done: done})
	if err != nil {
		return nil, nil, err
	}
	apart := registry.Unseated{Renderer: children}
	pipeline := &render.Pipeline{Plain: plain.Renderer{Bytes: plainBytes}, Jsonnet: apart, Helm: apart, Kustomize: apart, HelmVersion: helm}
	return memo.New(pipeline, memo.Options{Bytes: renderCacheBytes, Waits: registry.Leave}), children, nil
}

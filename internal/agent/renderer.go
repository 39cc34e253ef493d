package agent

import (
	"github.com/slipway-gitops/slipway/internal/engine/render"
	"github.com/slipway-gitops/slipway/internal/engine/render/memo"
	"github.com/slipway-gitops/slipway/internal/engine/render/plain"
	"github.com/slipway-gitops/slipway/internal/engine/render/worker"
)

// renderCacheBytes bounds the remembered renderings, compressed.
const renderCacheBytes = 64 << 20

// newRenderer puts the renderers together. Plain files are parsed here; whatever runs a program of the source's own
// making (templates, Jsonnet) runs in a process of its own.
func newRenderer() (*memo.Memo, *worker.Renderer, error) {
	children, err := worker.New(worker.Config{})
	if err != nil {
		return nil, nil, err
	}
	pipeline := &render.Pipeline{Plain: plain.Renderer{}, Jsonnet: children, Helm: children, Kustomize: children}
	return memo.New(pipeline, memo.Options{Bytes: renderCacheBytes}), children, nil
}

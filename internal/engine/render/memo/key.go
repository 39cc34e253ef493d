package memo

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"hash"
	"maps"
	"slices"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/render"
)

// key identifies a source and everything about its Request that is not content of a tree. It is a cryptographic hash:
// a tenant cannot make up a source that collides with that of another tenant.
type key [sha256.Size]byte

func (m *Memo) keyOf(req render.Request, scope string) key {
	h := hasher{h: sha256.New()}
	src := &req.Source
	h.text(scope, m.opts.Tools, req.App.Name, req.App.Namespace, req.App.Project, req.Namespace)
	h.text(src.RepoURL, src.Path, src.TargetRevision, src.Chart, src.Ref, src.Name, src.TagPrefix)
	l := req.Limits.WithDefaults()
	h.number(l.Bytes, int64(l.Objects), int64(l.Seconds))
	if src.Helm != nil || src.Kustomize != nil || src.Directory != nil || src.Plugin != nil {
		blocks, err := json.Marshal([]any{src.Helm, src.Kustomize, src.Directory, src.Plugin})
		if err != nil {
			// Only malformed raw values of a chart get here; the chart's renderer refuses them too.
			blocks = []byte("error: " + err.Error())
			if src.Helm != nil && src.Helm.ValuesObject != nil {
				blocks = append(blocks, src.Helm.ValuesObject.Raw...)
			}
		}
		h.text(string(blocks))
	}
	if req.Refs != nil {
		h.number(int64(len(req.Refs)))
		for _, name := range slices.Sorted(maps.Keys(req.Refs)) {
			h.text(name)
		}
	}
	h.number(int64(len(req.Needs)))
	for _, name := range slices.Sorted(maps.Keys(req.Needs)) {
		h.text(name)
	}
	h.settings(req)
	return h.sum()
}

// hasher writes fields so that no two lists of fields give the same bytes.
type hasher struct {
	h   hash.Hash
	buf []byte
}

func (h *hasher) text(fields ...string) {
	for _, f := range fields {
		h.buf = binary.AppendUvarint(h.buf, uint64(len(f)))
		h.buf = append(h.buf, f...)
	}
}

// settings writes those that concern the source.
func (h *hasher) settings(req render.Request) {
	s := req.Settings
	h.number(int64(len(s.Schemes)))
	if s.Schemes == nil {
		h.number(-1)
	}
	h.text(s.Schemes...)
	h.text(s.BuildOptionsOf(req.Source.Kustomize))
	h.number(int64(len(s.KustomizeVersions)))
	h.text(s.KustomizeVersions...)
}

func (h *hasher) number(numbers ...int64) {
	for _, n := range numbers {
		h.buf = binary.AppendVarint(h.buf, n)
	}
}

func (h *hasher) sum() (k key) {
	h.h.Write(h.buf)
	h.h.Sum(k[:0])
	return k
}

// clusters remembers the hashes of capabilities: their lists are long, shared by many requests and never changed in
// place.
type clusters struct {
	mu    sync.Mutex
	known map[cluster]key
}

type cluster struct {
	version string
	first   *string
	length  int
}

// maxClusters bounds how many lists are remembered. They change when a resource definition comes or goes.
const maxClusters = 64

func (c *clusters) sum(caps render.Capabilities) key {
	id := cluster{version: caps.KubeVersion, length: len(caps.APIVersions)}
	if id.length > 0 {
		id.first = &caps.APIVersions[0]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if k, ok := c.known[id]; ok {
		return k
	}
	h := hasher{h: sha256.New()}
	h.text(caps.KubeVersion)
	h.text(caps.APIVersions...)
	k := h.sum()
	if c.known == nil || len(c.known) >= maxClusters {
		c.known = map[cluster]key{}
	}
	c.known[id] = k
	return k
}

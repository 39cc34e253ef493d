package record

import (
	"archive/tar"
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// maxSeen is how many manifests an export remembers to have written. What it has forgotten it writes once more.
const maxSeen = 200_000

type ledgerExportInput struct {
	LedgerEntries
	Format string `query:"format" enum:"jsonl,tar" default:"jsonl" doc:"jsonl: one entry per line. tar: entries/ID.json, and manifests/AGENT/HASH.json once for each manifest; the SHA-256 of such a file is its name"`
}

func (h *LedgerRoutes) ledgerExport() core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: "/api/v1/ledger/export", Permission: api.PermApplicationView, Access: core.Listed, Streams: true,
		ID:      "export-ledger",
		Summary: "Export all operations that match the filters, the oldest first, as JSON lines or with their manifests as tar", Tag: "ledger",
	}
	r.Mount = core.Mount(core.Answer[ledgerExportInput, core.StreamOutput]{Do: h.exportLedger})
	return r
}

func (h *LedgerRoutes) exportLedger(ctx context.Context, c *core.Call, in *ledgerExportInput) (*core.StreamOutput, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	filter.Limit, filter.Sort = api.DefaultLimit, "finishedAt"
	page, err := h.Ledger.ListLedger(ctx, c.Visible, filter)
	if err != nil {
		return nil, err
	}
	return &core.StreamOutput{Body: func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
		_, w := humago.Unwrap(hc)
		var out ledgerWriter = &jsonLines{json.NewEncoder(w)}
		w.Header().Set("Content-Type", "application/jsonl")
		if in.Format == "tar" {
			w.Header().Set("Content-Type", "application/x-tar")
			out = &tarFile{w: tar.NewWriter(w), seen: map[string]bool{}, contents: h.Ledger.LedgerContents}
		}
		control := http.NewResponseController(w)
		for {
			for i := range page.Items {
				_ = control.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
				d, err := h.Ledger.GetLedger(hc.Context(), page.Items[i].ID)
				if api.CodeOf(err) == api.CodeNotFound && err != nil {
					continue // its time was over in the meantime
				}
				if err == nil {
					err = out.entry(hc.Context(), &d)
				}
				if err != nil {
					c.CutExport(hc.Context(), err)
				}
			}
			if page.NextCursor == "" {
				if err := out.close(); err != nil {
					c.CutExport(hc.Context(), err)
				}
				return
			}
			filter.Cursor, filter.Page = page.NextCursor, 0
			err := c.Unchanged(hc.Context())
			if err == nil {
				page, err = h.Ledger.ListLedger(hc.Context(), c.Visible, filter)
			}
			if err != nil {
				c.CutExport(hc.Context(), err)
			}
		}
	}}, nil
}

// ledgerWriter is a form of an export.
type ledgerWriter interface {
	entry(ctx context.Context, d *api.LedgerDetail) error
	close() error
}

type jsonLines struct{ *json.Encoder }

func (j *jsonLines) entry(_ context.Context, d *api.LedgerDetail) error { return j.Encode(d) }
func (j *jsonLines) close() error                                       { return nil }

// tarFile writes entries with their manifests.
type tarFile struct {
	w        *tar.Writer
	seen     map[string]bool
	contents func(ctx context.Context, entry string, hashes []string, limit int) (map[string][]byte, error)
}

func (t *tarFile) entry(ctx context.Context, d *api.LedgerDetail) error {
	var hashes []string
	for _, o := range d.Objects {
		if key := d.Agent + "/" + o.Hash; !o.Lacking && !t.seen[key] {
			if len(t.seen) >= maxSeen {
				clear(t.seen)
			}
			t.seen[key] = true
			hashes = append(hashes, o.Hash)
		}
	}
	for len(hashes) > 0 { // not all of a large application at a time
		part := hashes[:min(len(hashes), 64)]
		hashes = hashes[len(part):]
		found, err := t.contents(ctx, d.ID, part, len(part)*api.MaxLedgerManifest)
		if err != nil {
			return err
		}
		for _, hash := range part {
			if raw, ok := found[hash]; ok {
				if err := t.file("manifests/"+d.Agent+"/"+hash+".json", raw, d.FinishedAt); err != nil {
					return err
				}
			}
		}
	}
	raw, err := json.Marshal(d)
	if err != nil {
		return err
	}
	return t.file("entries/"+d.ID+".json", raw, d.FinishedAt)
}

func (t *tarFile) file(name string, raw []byte, at time.Time) error {
	if err := t.w.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(raw)), ModTime: at}); err != nil {
		return err
	}
	_, err := t.w.Write(raw)
	return err
}

func (t *tarFile) close() error { return t.w.Close() }

package record

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// Bounds of a comparison, beside maxManifestBytes for each side.
const (
	maxCompared     = 1_000
	maxComparedText = 4 << 20
)

type ledgerCompareInput struct {
	LedgerID
	Other string `path:"other" maxLength:"64" doc:"Id of the entry to compare with"`
}

// ledgerCompare compares what two operations rendered. Both must be seen: of the first that is checked as for any route, of
// the other here.
func (h *LedgerRoutes) ledgerCompare() core.Route {
	r := core.Route{
		Method: http.MethodGet, Path: "/api/v1/ledger/{id}/diff/{other}", Permission: api.PermApplicationView, Access: core.Addressed,
		ID: "compare-ledger", Summary: "Compare the manifests of two operations, secrets as hashes", Tag: "ledger",
	}
	type out struct{ Body api.LedgerComparison }
	r.Mount = core.Mount(core.Answer[ledgerCompareInput, out]{
		Find: func(ctx context.Context, _ *core.Call, in *ledgerCompareInput) (core.Target, error) {
			return h.findEntry(ctx, in.ID)
		},
		Do: func(ctx context.Context, c *core.Call, in *ledgerCompareInput) (*out, error) {
			t, err := h.findEntry(ctx, in.Other)
			if err == nil {
				err = c.May(c.Route.Permission, t)
			}
			if err != nil {
				return nil, err
			}
			from, _ := c.Before.(*api.LedgerDetail)
			to, _ := t.Value.(*api.LedgerDetail)
			compared, err := h.compareEntries(ctx, from, to)
			return &out{compared}, err
		},
	})
	return r
}

// renderedPair is an object of two entries; nil where one does not have it.
type renderedPair struct {
	key      api.LedgerKey
	from, to *api.LedgerObject
}

// renderedPairs are the objects that differ, by name, and how many do not.
func renderedPairs(from, to *api.LedgerDetail) (list []renderedPair, same int) {
	byKey := map[api.LedgerKey]*renderedPair{}
	at := func(o *api.LedgerObject) *renderedPair {
		if byKey[o.LedgerKey] == nil {
			byKey[o.LedgerKey] = &renderedPair{key: o.LedgerKey}
		}
		return byKey[o.LedgerKey]
	}
	for i := range from.Objects {
		at(&from.Objects[i]).from = &from.Objects[i]
	}
	for i := range to.Objects {
		at(&to.Objects[i]).to = &to.Objects[i]
	}
	for _, p := range byKey {
		if p.from != nil && p.to != nil && p.from.Hash == p.to.Hash {
			same++
			continue
		}
		list = append(list, *p)
	}
	slices.SortFunc(list, func(a, b renderedPair) int { return strings.Compare(a.key.String(), b.key.String()) })
	return list, same
}

func (h *LedgerRoutes) compareEntries(ctx context.Context, from, to *api.LedgerDetail) (api.LedgerComparison, error) {
	out := api.LedgerComparison{From: from.LedgerEntry, To: to.LedgerEntry, Items: []api.LedgerComparedObject{}, Warnings: []string{}}
	for _, e := range []*api.LedgerDetail{from, to} {
		if e.Engine != "" {
			out.Warnings = unrecorded([]string{"operations " + from.ID + " and " + to.ID})
			return out, nil
		}
	}
	list, same := renderedPairs(from, to)
	out.Same = same
	if n := len(list) - maxCompared; n > 0 {
		list, out.Truncated = list[:maxCompared], true
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d more objects differ than an answer holds: export both entries", n))
	}
	var before, after []string
	for _, p := range list {
		if p.from != nil {
			before = append(before, p.from.Hash)
		}
		if p.to != nil {
			after = append(after, p.to.Hash)
		}
	}
	old, err := h.Ledger.LedgerContents(ctx, from.ID, before, maxManifestBytes)
	if err != nil {
		return out, err
	}
	fresh, err := h.Ledger.LedgerContents(ctx, to.ID, after, maxManifestBytes)
	if err != nil {
		return out, err
	}
	w := comparison{LedgerComparison: &out, left: maxComparedText}
	for _, p := range list {
		if err := ctx.Err(); err != nil {
			return out, err
		}
		w.add(p, old, fresh)
	}
	w.warn(from, to)
	return out, nil
}

// comparison is one that is being written.
type comparison struct {
	*api.LedgerComparison
	left int // bytes of text that there is room for
	// What has no text: never stored, too large, or no manifest.
	lacking, large, wrong []string
	secrets               bool
}

func (w *comparison) add(p renderedPair, old, fresh map[string][]byte) {
	row := api.LedgerComparedObject{LedgerKey: p.key, Change: "changed"}
	var before, after json.RawMessage
	lacks, cut := false, false
	for _, side := range []struct {
		o    *api.LedgerObject
		have map[string][]byte
		into *json.RawMessage
		no   string
	}{{p.from, old, &before, "added"}, {p.to, fresh, &after, "removed"}} {
		if side.o == nil {
			row.Change = side.no
			continue
		}
		*side.into = side.have[side.o.Hash]
		lacks = lacks || side.o.Lacking
		cut = cut || *side.into == nil
	}
	w.secrets = w.secrets || p.key.Kind == "Secret" && row.Change == "changed"
	switch name := p.key.String(); {
	case lacks:
		w.lacking = append(w.lacking, name)
	case cut:
		w.large = append(w.large, name)
	default:
		text, err := inspect.Rendered(before, after, w.From.ID, w.To.ID)
		switch {
		case err != nil:
			w.wrong = append(w.wrong, name)
		case len(text) > w.left:
			w.large = append(w.large, name)
		default:
			row.Diff, w.left = text, w.left-len(text)
		}
	}
	w.Items = append(w.Items, row)
}

// warn says what is missing, and why.
func (w *comparison) warn(from, to *api.LedgerDetail) {
	w.Truncated = w.Truncated || len(w.large) > 0
	for _, x := range []struct {
		list []string
		why  string
	}{
		{w.lacking, "the manifest was never stored, so that only its hash is known to differ"},
		{w.large, "the difference does not fit into an answer: ask for the manifests of both entries, or export them"},
		{w.wrong, "what the agent sent is not a manifest"},
	} {
		if len(x.list) > 0 {
			w.Warnings = append(w.Warnings, fmt.Sprintf("no difference is shown of %s: %s", some(x.list), x.why))
		}
	}
	if w.secrets && from.Agent != to.Agent {
		w.Warnings = append(w.Warnings,
			"values of Secrets are hashed with a key of each agent: those of two agents differ also where the values are equal")
	}
	for _, e := range []*api.LedgerDetail{from, to} {
		if len(e.Objects) >= api.MaxLedgerObjects {
			w.Truncated = true
			w.Warnings = append(w.Warnings, fmt.Sprintf("entry %s has no more than %d of its objects", e.ID, api.MaxLedgerObjects))
		}
	}
}

// some names the first of a list.
func some(list []string) string {
	if n := len(list) - 3; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:3], ", "), n)
	}
	return strings.Join(list, ", ")
}

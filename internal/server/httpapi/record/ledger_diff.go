package record

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// states gives a page of what ran at a time.
func (h *LedgerRoutes) states(ctx context.Context, c *core.Call, filter api.LedgerFilter, at time.Time) (api.Page[api.LedgerState], error) {
	filter.To = at
	return h.Ledger.LedgerAt(ctx, c.Visible, filter)
}

// ledgerDiff compares what ran at two times, as many applications as fit into a page.
func (h *LedgerRoutes) ledgerDiff(ctx context.Context, c *core.Call, in *ledgerDiffInput) (api.LedgerDiff, error) {
	out := api.LedgerDiff{Differences: []api.LedgerDifference{}}
	filter, err := in.filter()
	if err != nil {
		return out, err
	}
	filter.Limit, filter.Cursor = in.Limit, in.Cursor
	to := moment(c, in.To)
	from := in.From
	if from.IsZero() {
		from = to.Add(-24 * time.Hour)
	}
	if from.After(to) {
		return out, &api.Error{
			Code: api.CodeInvalid, Field: "query.from",
			Message: "what is compared with has to be before: " + from.UTC().Format(time.RFC3339) + " is after " + to.UTC().Format(time.RFC3339),
		}
	}
	before, err := h.states(ctx, c, filter, from)
	if err != nil {
		return out, err
	}
	after, err := h.states(ctx, c, filter, to)
	if err != nil {
		return out, err
	}
	list, more := pairs(before, after)
	left := maxManifestBytes
	var unknown []string
	for i, pair := range list {
		if foreign(pair.before) || foreign(pair.after) {
			unknown = append(unknown, pair.application)
			out.Warnings = unrecorded(unknown)
			continue
		}
		found := compareStates(pair)
		if room := maxDifferences - len(out.Differences); len(found) > room {
			if i > 0 {
				return h.diffUntil(out, list[i-1].application), nil
			}
			found, out.Truncated = found[:room], true
		}
		if in.Manifests {
			whole, err := h.bringManifests(ctx, pair, found, &left)
			switch {
			case err != nil:
				return out, err
			case !whole && i > 0:
				return h.diffUntil(out, list[i-1].application), nil
			case !whole:
				out.Truncated = true
			}
		}
		out.Differences = append(out.Differences, found...)
	}
	if more && len(list) > 0 {
		return h.diffUntil(out, list[len(list)-1].application), nil
	}
	return out, nil
}

// diffUntil is a page that ends behind an application.
func (h *LedgerRoutes) diffUntil(out api.LedgerDiff, application string) api.LedgerDiff {
	out.NextCursor = h.Ledger.LedgerAfter(application)
	return out
}

// foreign reports whether another engine deployed what ran. The ledger then has no objects of it.
func foreign(s *api.LedgerState) bool { return s != nil && s.Entry.Engine != "" }

// unrecorded is the warning about applications, or entries, of which the ledger does not have both sides.
func unrecorded(names []string) []string {
	return []string{"not compared: " + some(names) + ": what Argo CD renders is not recorded"}
}

// statePair is what ran for one application at two times; either can be missing.
type statePair struct {
	application   string
	before, after *api.LedgerState
}

// pairs puts together what ran at two times, by application. Of an application behind the end of either page it is not known
// whether it ran at the other time: that is for the next page, which more announces.
func pairs(before, after api.Page[api.LedgerState]) (list []statePair, more bool) {
	byID := map[string]*statePair{}
	end := ""
	read := func(page api.Page[api.LedgerState], set func(*statePair, *api.LedgerState)) {
		last := ""
		for i := range page.Items {
			s := &page.Items[i]
			last = api.ItemID(s.Entry.Agent, s.Entry.Namespace, s.Entry.Name)
			if byID[last] == nil {
				byID[last] = &statePair{application: last}
			}
			set(byID[last], s)
		}
		if page.NextCursor != "" && (!more || last < end) {
			end, more = last, true
		}
	}
	read(before, func(p *statePair, s *api.LedgerState) { p.before = s })
	read(after, func(p *statePair, s *api.LedgerState) { p.after = s })
	for _, p := range byID {
		if !more || p.application <= end {
			list = append(list, *p)
		}
	}
	slices.SortFunc(list, func(a, b statePair) int { return strings.Compare(a.application, b.application) })
	return list, more
}

func compareStates(p statePair) []api.LedgerDifference {
	found := map[api.LedgerKey]*api.LedgerDifference{}
	if p.before != nil {
		for _, o := range p.before.Objects {
			found[o.LedgerKey] = &api.LedgerDifference{Application: p.application, LedgerKey: o.LedgerKey, Change: "removed", Before: o.Hash}
		}
	}
	if p.after != nil {
		for _, o := range p.after.Objects {
			d := found[o.LedgerKey]
			switch {
			case d == nil:
				d = &api.LedgerDifference{Application: p.application, LedgerKey: o.LedgerKey, Change: "added"}
				found[o.LedgerKey] = d
			case d.Before == o.Hash:
				delete(found, o.LedgerKey)
				continue
			default:
				d.Change = "changed"
			}
			d.After, d.Images = o.Hash, o.Images
		}
	}
	out := make([]api.LedgerDifference, 0, len(found))
	for _, d := range found {
		out = append(out, *d)
	}
	slices.SortFunc(out, func(a, b api.LedgerDifference) int { return strings.Compare(a.String(), b.String()) })
	return out
}

// bringManifests fills in the manifests of differences, and reports whether there was room for all of them. Those before are
// those of the agent that reported them: another one may have come in its place since.
func (h *LedgerRoutes) bringManifests(ctx context.Context, p statePair, list []api.LedgerDifference, left *int) (whole bool, err error) {
	whole = true
	for _, side := range []struct {
		state *api.LedgerState
		hash  func(*api.LedgerDifference) string
		into  func(*api.LedgerDifference) *json.RawMessage
	}{
		{
			p.before, func(d *api.LedgerDifference) string { return d.Before },
			func(d *api.LedgerDifference) *json.RawMessage { return &d.ManifestBefore },
		},
		{
			p.after, func(d *api.LedgerDifference) string { return d.After },
			func(d *api.LedgerDifference) *json.RawMessage { return &d.ManifestAfter },
		},
	} {
		var hashes []string
		for i := range list {
			if hash := side.hash(&list[i]); hash != "" {
				hashes = append(hashes, hash)
			}
		}
		if side.state == nil || len(hashes) == 0 {
			continue
		}
		found, err := h.Ledger.LedgerContents(ctx, side.state.Entry.ID, hashes, max(*left, 0))
		if err != nil {
			return false, err
		}
		for _, raw := range found {
			*left -= len(raw)
		}
		for i := range list {
			hash := side.hash(&list[i])
			*side.into(&list[i]) = found[hash]
			// One that was never stored does not come with another page either.
			whole = whole && (hash == "" || found[hash] != nil ||
				slices.ContainsFunc(side.state.Objects, func(o api.LedgerObject) bool { return o.Hash == hash && o.Lacking }))
		}
	}
	return whole, nil
}

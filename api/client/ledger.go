package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Ledger gives a page of operations on applications, the newest first.
func (c *Client) Ledger(ctx context.Context, filter api.LedgerFilter) (api.Page[api.LedgerEntry], error) {
	return ask[api.Page[api.LedgerEntry]](ctx, c, call{method: http.MethodGet, path: at("ledger"), query: ledgerQuery(filter)})
}

// LedgerEntry gives one operation with what it rendered and changed.
func (c *Client) LedgerEntry(ctx context.Context, id string) (api.LedgerDetail, error) {
	return ask[api.LedgerDetail](ctx, c, call{method: http.MethodGet, path: at("ledger", id)})
}

// LedgerManifests gives the manifests that an operation rendered; those of one kind, namespace and name, where these are
// given.
func (c *Client) LedgerManifests(ctx context.Context, id string, only api.LedgerKey) (api.LedgerManifests, error) {
	query := url.Values{}
	set(query, "kind", only.Kind)
	set(query, "objectNamespace", only.Namespace)
	set(query, "objectName", only.Name)
	return ask[api.LedgerManifests](ctx, c, call{method: http.MethodGet, path: at("ledger", id, "manifests"), query: query})
}

// LedgerAt says what ran at a time.
func (c *Client) LedgerAt(ctx context.Context, when time.Time, filter api.LedgerFilter) (api.Page[api.LedgerState], error) {
	query := ledgerQuery(filter)
	setTime(query, "at", when)
	return ask[api.Page[api.LedgerState]](ctx, c, call{method: http.MethodGet, path: at("ledger", "at"), query: query})
}

// LedgerDiff gives a page of what differs between filter.From and filter.To, with the manifests where they are asked for.
func (c *Client) LedgerDiff(ctx context.Context, filter api.LedgerFilter, manifests bool) (api.LedgerDiff, error) {
	query := ledgerQuery(filter)
	if manifests {
		query.Set("manifests", "true")
	}
	return ask[api.LedgerDiff](ctx, c, call{method: http.MethodGet, path: at("ledger", "diff"), query: query})
}

// CompareLedger gives what differs between what two operations rendered.
func (c *Client) CompareLedger(ctx context.Context, id, other string) (api.LedgerComparison, error) {
	return ask[api.LedgerComparison](ctx, c, call{method: http.MethodGet, path: at("ledger", id, "diff", other)})
}

// LedgerObject gives the changes to the object that the filter names by Kind, ObjectNS, Object and ObjectGroup, the newest
// first.
func (c *Client) LedgerObject(ctx context.Context, filter api.LedgerFilter) (api.Page[api.LedgerObjectChange], error) {
	query := ledgerQuery(filter)
	set(query, "kind", filter.Kind)
	set(query, "objectName", filter.Object)
	set(query, "objectNamespace", filter.ObjectNS)
	set(query, "group", filter.ObjectGroup)
	return ask[api.Page[api.LedgerObjectChange]](ctx, c, call{method: http.MethodGet, path: at("ledger", "objects"), query: query})
}

// ExportLedger gives all operations that pass the filter, the oldest first: format is jsonl or tar. An export that ends early
// is an error of its reader.
func (c *Client) ExportLedger(ctx context.Context, filter api.LedgerFilter, format string) (io.ReadCloser, error) {
	return c.export(ctx, at("ledger", "export"), ledgerQuery(filter), format)
}

func ledgerQuery(f api.LedgerFilter) url.Values {
	query := listQuery(f.ListOptions)
	for _, p := range []struct{ key, value string }{
		{"agent", f.Agent},
		{"namespace", f.Namespace},
		{"name", f.Name},
		{"argoProject", f.ArgoProject},
		{"service", f.Service},
		{"environment", f.Environment},
		{"destination", f.Destination},
		{"phase", f.Phase},
		{"action", f.Action},
		{"actor", f.Actor},
		{"command", f.Command},
		{"revision", f.Revision},
	} {
		set(query, p.key, p.value)
	}
	if f.Automatic != nil {
		query.Set("automatic", strconv.FormatBool(*f.Automatic))
	}
	if f.Changed {
		query.Set("changed", "true")
	}
	setTime(query, "from", f.From)
	setTime(query, "to", f.To)
	return query
}

func setTime(query url.Values, key string, t time.Time) {
	if !t.IsZero() {
		query.Set(key, t.UTC().Format(time.RFC3339Nano))
	}
}

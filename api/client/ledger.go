package client

import (
	"context"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// Ledger gives a page of operations on applications, the newest first.
func (c *Client) Ledger(ctx context.Context, filter api.LedgerFilter) (api.Page[api.LedgerEntry], error) {
	return get[api.Page[api.LedgerEntry]](ctx, c, ledgerQuery(filter), "ledger")
}

// LedgerEntry gives one operation with what it rendered and changed.
func (c *Client) LedgerEntry(ctx context.Context, id string) (api.LedgerDetail, error) {
	return get[api.LedgerDetail](ctx, c, nil, "ledger", id)
}

// LedgerManifests gives the manifests that an operation rendered; those of one kind, namespace and name, where these are
// given.
func (c *Client) LedgerManifests(ctx context.Context, id string, only api.LedgerKey) (api.LedgerManifests, error) {
	query := set(url.Values{}, "kind", only.Kind, "objectNamespace", only.Namespace, "objectName", only.Name)
	return get[api.LedgerManifests](ctx, c, query, "ledger", id, "manifests")
}

// LedgerAt says what ran at a time.
func (c *Client) LedgerAt(ctx context.Context, when time.Time, filter api.LedgerFilter) (api.Page[api.LedgerState], error) {
	return get[api.Page[api.LedgerState]](ctx, c, setTime(ledgerQuery(filter), "at", when), "ledger", "at")
}

// LedgerDiff gives a page of what differs between filter.From and filter.To, with the manifests where they are asked for.
func (c *Client) LedgerDiff(ctx context.Context, filter api.LedgerFilter, manifests bool) (api.LedgerDiff, error) {
	return get[api.LedgerDiff](ctx, c, setBool(ledgerQuery(filter), "manifests", manifests), "ledger", "diff")
}

// CompareLedger gives what differs between what two operations rendered.
func (c *Client) CompareLedger(ctx context.Context, id, other string) (api.LedgerComparison, error) {
	return get[api.LedgerComparison](ctx, c, nil, "ledger", id, "diff", other)
}

// LedgerObject gives the changes to the object that the filter names by Kind, ObjectNS, Object and ObjectGroup, the newest
// first.
func (c *Client) LedgerObject(ctx context.Context, filter api.LedgerFilter) (api.Page[api.LedgerObjectChange], error) {
	query := set(ledgerQuery(filter), "kind", filter.Kind, "objectName", filter.Object, "objectNamespace", filter.ObjectNS,
		"group", filter.ObjectGroup)
	return get[api.Page[api.LedgerObjectChange]](ctx, c, query, "ledger", "objects")
}

// ExportLedger gives all operations that pass the filter, the oldest first: format is jsonl or tar. An export that ends early
// is an error of its reader.
func (c *Client) ExportLedger(ctx context.Context, filter api.LedgerFilter, format string) (io.ReadCloser, error) {
	return c.export(ctx, at("ledger", "export"), ledgerQuery(filter), format)
}

func ledgerQuery(f api.LedgerFilter) url.Values {
	query := set(listQuery(f.ListOptions), "agent", f.Agent, "namespace", f.Namespace, "name", f.Name, "argoProject", f.ArgoProject,
		"service", f.Service, "environment", f.Environment, "destination", f.Destination, "phase", f.Phase, "action", f.Action,
		"actor", f.Actor, "command", f.Command, "revision", f.Revision)
	if f.Automatic != nil {
		query.Set("automatic", strconv.FormatBool(*f.Automatic))
	}
	return setTime(setTime(setBool(query, "changed", f.Changed), "from", f.From), "to", f.To)
}

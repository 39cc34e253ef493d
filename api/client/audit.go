package client

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strconv"

	"github.com/slipway-gitops/slipway/api"
)

// Audit gives a page of what was done, the newest first.
func (c *Client) Audit(ctx context.Context, filter api.AuditFilter) (api.Page[api.AuditEntry], error) {
	return get[api.Page[api.AuditEntry]](ctx, c, auditQuery(filter), "audit")
}

// AuditEntry gives one entry by its number.
func (c *Client) AuditEntry(ctx context.Context, id int64) (api.AuditEntry, error) {
	return get[api.AuditEntry](ctx, c, nil, "audit", strconv.FormatInt(id, 10))
}

// VerifyAudit says whether the chain of entries is whole.
func (c *Client) VerifyAudit(ctx context.Context) (api.AuditVerification, error) {
	return get[api.AuditVerification](ctx, c, nil, "audit", "verification")
}

// ExportAudit gives all entries that pass the filter, the oldest first: format is jsonl or csv. An export that ends early
// is an error of its reader.
func (c *Client) ExportAudit(ctx context.Context, filter api.AuditFilter, format string) (io.ReadCloser, error) {
	return c.export(ctx, at("audit", "export"), auditQuery(filter), format)
}

// export opens an answer that is written while it is read.
func (c *Client) export(ctx context.Context, path string, query url.Values, format string) (io.ReadCloser, error) {
	set(query, "format", format)
	answer, err := c.open(ctx, call{method: http.MethodGet, path: path, query: query, accept: "*/*"})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

func auditQuery(f api.AuditFilter) url.Values {
	query := set(listQuery(f.ListOptions), "actor", f.Actor, "action", f.Action, "objectType", f.ObjectType, "objectId", f.ObjectID,
		"outcome", f.Outcome, "requestId", f.RequestID)
	return setTime(setTime(query, "from", f.From), "to", f.To)
}

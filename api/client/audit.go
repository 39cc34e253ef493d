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

// Audit gives a page of what was done, the newest first.
func (c *Client) Audit(ctx context.Context, filter api.AuditFilter) (api.Page[api.AuditEntry], error) {
	var out api.Page[api.AuditEntry]
	err := c.do(ctx, call{method: http.MethodGet, path: at("audit"), query: auditQuery(filter)}, &out)
	return out, err
}

// AuditEntry gives one entry by its number.
func (c *Client) AuditEntry(ctx context.Context, id int64) (api.AuditEntry, error) {
	var out api.AuditEntry
	err := c.do(ctx, call{method: http.MethodGet, path: at("audit", strconv.FormatInt(id, 10))}, &out)
	return out, err
}

// VerifyAudit says whether the chain of entries is whole.
func (c *Client) VerifyAudit(ctx context.Context) (api.AuditVerification, error) {
	var out api.AuditVerification
	err := c.do(ctx, call{method: http.MethodGet, path: at("audit", "verification")}, &out)
	return out, err
}

// ExportAudit gives all entries that pass the filter, the oldest first: format is jsonl or csv. An export that ends early
// is an error of its reader.
func (c *Client) ExportAudit(ctx context.Context, filter api.AuditFilter, format string) (io.ReadCloser, error) {
	query := auditQuery(filter)
	set(query, "format", format)
	answer, err := c.open(ctx, call{method: http.MethodGet, path: at("audit", "export"), query: query, accept: "*/*"})
	if err != nil {
		return nil, err
	}
	return answer.Body, nil
}

func auditQuery(f api.AuditFilter) url.Values {
	query := listQuery(f.ListOptions)
	set(query, "actor", f.Actor)
	set(query, "action", f.Action)
	set(query, "objectType", f.ObjectType)
	set(query, "objectId", f.ObjectID)
	set(query, "outcome", f.Outcome)
	set(query, "requestId", f.RequestID)
	for key, t := range map[string]time.Time{"from": f.From, "to": f.To} {
		if !t.IsZero() {
			query.Set(key, t.UTC().Format(time.RFC3339))
		}
	}
	return query
}

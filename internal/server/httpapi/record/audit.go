package record

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// AuditRoutes return the audit log.
type AuditRoutes struct{ Audits core.Audits }

// AuditList says which entries are wanted. Its fields are parameters: the decoder sees only what is exported.
type AuditList struct {
	core.ListInput
	Actor      string    `query:"actor" maxLength:"210" doc:"Only actions of this user, service account or agent" example:"ada"`
	Action     string    `query:"action" maxLength:"100" doc:"Only this action; with a dot at the end all of a noun" example:"application."`
	ObjectType string    `query:"objectType" maxLength:"63" doc:"Only actions on objects of this type" example:"application"`
	ObjectID   string    `query:"objectId" maxLength:"700" doc:"Only actions on this object"`
	Outcome    string    `query:"outcome" enum:"succeeded,failed,denied" doc:"Only operations with this result"`
	RequestID  string    `query:"requestId" maxLength:"64" doc:"Only actions of this request"`
	From       time.Time `query:"from" doc:"Only from this time on" example:"2030-06-01T00:00:00Z"`
	To         time.Time `query:"to" doc:"Only before this time"`
}

func (in *AuditList) filter() (api.AuditFilter, error) {
	options, err := in.Options()
	return api.AuditFilter{
		ListOptions: options, Actor: in.Actor, Action: in.Action, ObjectType: in.ObjectType, ObjectID: in.ObjectID,
		Outcome: in.Outcome, RequestID: in.RequestID, From: in.From, To: in.To,
	}, err
}

type auditExport struct {
	AuditList
	Format string `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"One JSON object per line, or CSV"`
}

// Routes are its rows of the table.
func (h *AuditRoutes) Routes() []core.Route {
	list := core.Route{
		Method: http.MethodGet, Path: "/api/v1/audit", Permission: api.PermAuditView, Access: core.Listed,
		ID: "list-audit", Summary: "List audit entries, the newest first", Tag: "audit",
	}
	list.Mount = core.Mount(core.Answer[AuditList, core.PageOutput[api.AuditEntry]]{
		Do: func(ctx context.Context, c *core.Call, in *AuditList) (*core.PageOutput[api.AuditEntry], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Audits.ListAudit(ctx, c.Visible, filter)
			return core.PageOf(page), err
		},
	})
	type entryInput struct {
		ID int64 `path:"id" minimum:"1" doc:"Number of the entry" example:"42"`
	}
	type entryOutput struct{ Body api.AuditEntry }
	get := core.Route{
		Method: http.MethodGet, Path: "/api/v1/audit/{id}", Permission: api.PermAuditView, Access: core.Listed,
		ID: "get-audit-entry", Summary: "Get one audit entry", Tag: "audit",
	}
	get.Mount = core.Mount(core.Answer[entryInput, entryOutput]{
		Do: func(ctx context.Context, c *core.Call, in *entryInput) (*entryOutput, error) {
			page, err := h.Audits.ListAudit(ctx, c.Visible, api.AuditFilter{ID: in.ID})
			if err != nil {
				return nil, err
			}
			if len(page.Items) == 0 {
				return nil, core.NotFound(api.TypeAudit, strconv.FormatInt(in.ID, 10))
			}
			return &entryOutput{page.Items[0]}, nil
		},
	})
	verify := core.Route{
		Method: http.MethodGet, Path: "/api/v1/audit/verification", Permission: api.PermAuditView,
		ID: "verify-audit", Summary: "Verify that no entry was changed, removed or inserted", Tag: "audit",
	}
	type out struct{ Body api.AuditVerification }
	verify.Mount = core.Mount(core.Answer[core.Empty, out]{
		Find: func(context.Context, *core.Call, *core.Empty) (core.Target, error) {
			return core.Target{Object: rbac.Object{Type: api.TypeAudit, Scope: api.ScopeAccount}}, nil
		},
		Do: func(ctx context.Context, _ *core.Call, _ *core.Empty) (*out, error) {
			v, err := h.Audits.VerifyAudit(ctx)
			return &out{v}, err
		},
	})
	export := core.Route{
		Method: http.MethodGet, Path: "/api/v1/audit/export", Permission: api.PermAuditView, Access: core.Listed, Streams: true,
		ID: "export-audit", Summary: "Export all entries that match the filters, the oldest first, as JSON lines or CSV", Tag: "audit",
	}
	export.Mount = core.Mount(core.Answer[auditExport, core.StreamOutput]{Do: h.exportAudit})
	return []core.Route{list, get, verify, export}
}

func (h *AuditRoutes) exportAudit(ctx context.Context, c *core.Call, in *auditExport) (*core.StreamOutput, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	filter.Limit, filter.Sort = api.MaxLimit, "id"
	page, err := h.Audits.ListAudit(ctx, c.Visible, filter)
	if err != nil {
		return nil, err
	}
	return &core.StreamOutput{Body: func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
		_, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "application/jsonl")
		if in.Format == string(audit.CSV) {
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		}
		writer, err := audit.NewWriter(w, audit.Format(in.Format))
		control := http.NewResponseController(w)
		for {
			_ = control.SetWriteDeadline(time.Now().Add(core.WriteTime)) // an error shows at the write
			for i := 0; i < len(page.Items) && err == nil; i++ {
				err = writer.Write(page.Items[i])
			}
			if err != nil || page.NextCursor == "" {
				_ = errors.Join(err, writer.Flush()) // the reader may have gone
				return
			}
			filter.Cursor, filter.Page = page.NextCursor, 0
			if err = c.Unchanged(hc.Context()); err == nil {
				page, err = h.Audits.ListAudit(hc.Context(), c.Visible, filter)
			}
			if err != nil {
				c.CutExport(hc.Context(), err)
			}
		}
	}}, nil
}

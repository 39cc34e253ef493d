package httpapi

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
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// AuditRoutes tell who did what.
type AuditRoutes struct{ Audits Audits }

// AuditList says which entries are wanted. Its fields are parameters: the decoder sees only what is exported.
type AuditList struct {
	ListInput
	Actor      string    `query:"actor" maxLength:"210" doc:"Only what this user, service account or agent did" example:"ada"`
	Action     string    `query:"action" maxLength:"100" doc:"Only this action; with a dot at the end all of a noun" example:"application."`
	ObjectType string    `query:"objectType" maxLength:"63" doc:"Only what was done with objects of this type" example:"application"`
	ObjectID   string    `query:"objectId" maxLength:"700" doc:"Only what was done with this object"`
	Outcome    string    `query:"outcome" enum:"succeeded,failed,denied" doc:"Only what ended like this"`
	RequestID  string    `query:"requestId" maxLength:"64" doc:"Only what this request did"`
	From       time.Time `query:"from" doc:"Only from this time on" example:"2030-06-01T00:00:00Z"`
	To         time.Time `query:"to" doc:"Only before this time"`
}

func (in *AuditList) filter() (api.AuditFilter, error) {
	options, err := in.options()
	return api.AuditFilter{
		ListOptions: options, Actor: in.Actor, Action: in.Action, ObjectType: in.ObjectType, ObjectID: in.ObjectID,
		Outcome: in.Outcome, RequestID: in.RequestID, From: in.From, To: in.To,
	}, err
}

type auditExport struct {
	AuditList
	Format string `query:"format" enum:"jsonl,csv" default:"jsonl" doc:"One JSON object a line, or CSV"`
}

// Routes are its rows of the table.
func (h *AuditRoutes) Routes() []Route {
	list := Route{
		Method: http.MethodGet, Path: "/api/v1/audit", Permission: api.PermAuditView, Access: Listed,
		ID: "list-audit", Summary: "List what was done, the newest first", Tag: "audit",
	}
	list.mount = mount(handler[AuditList, pageOutput[api.AuditEntry]]{
		do: func(ctx context.Context, c *call, in *AuditList) (*pageOutput[api.AuditEntry], error) {
			filter, err := in.filter()
			if err != nil {
				return nil, err
			}
			page, err := h.Audits.ListAudit(ctx, c.visible, filter)
			return pageOf(page), err
		},
	})
	type entryInput struct {
		ID int64 `path:"id" minimum:"1" doc:"Number of the entry" example:"42"`
	}
	type entryOutput struct{ Body api.AuditEntry }
	get := Route{
		Method: http.MethodGet, Path: "/api/v1/audit/{id}", Permission: api.PermAuditView, Access: Listed,
		ID: "get-audit-entry", Summary: "Get what was done once", Tag: "audit",
	}
	get.mount = mount(handler[entryInput, entryOutput]{
		do: func(ctx context.Context, c *call, in *entryInput) (*entryOutput, error) {
			page, err := h.Audits.ListAudit(ctx, c.visible, api.AuditFilter{ID: in.ID})
			if err != nil {
				return nil, err
			}
			if len(page.Items) == 0 {
				return nil, notFound(api.TypeAudit, strconv.FormatInt(in.ID, 10))
			}
			return &entryOutput{page.Items[0]}, nil
		},
	})
	verify := Route{
		Method: http.MethodGet, Path: "/api/v1/audit/verification", Permission: api.PermAuditView,
		ID: "verify-audit", Summary: "Whether no entry was changed, removed or put in", Tag: "audit",
	}
	type out struct{ Body api.AuditVerification }
	verify.mount = mount(handler[empty, out]{
		find: func(context.Context, *call, *empty) (target, error) {
			return target{object: rbac.Object{Type: api.TypeAudit, Scope: api.ScopeAccount}}, nil
		},
		do: func(ctx context.Context, _ *call, _ *empty) (*out, error) {
			v, err := h.Audits.VerifyAudit(ctx)
			return &out{v}, err
		},
	})
	export := Route{
		Method: http.MethodGet, Path: "/api/v1/audit/export", Permission: api.PermAuditView, Access: Listed, Streams: true,
		ID: "export-audit", Summary: "All entries that pass the filters, the oldest first, as JSON lines or CSV", Tag: "audit",
	}
	export.mount = mount(handler[auditExport, streamOutput]{do: h.exportAudit})
	return []Route{list, get, verify, export}
}

func (h *AuditRoutes) exportAudit(ctx context.Context, c *call, in *auditExport) (*streamOutput, error) {
	filter, err := in.filter()
	if err != nil {
		return nil, err
	}
	filter.Limit, filter.Sort = api.MaxLimit, "id"
	page, err := h.Audits.ListAudit(ctx, c.visible, filter)
	if err != nil {
		return nil, err
	}
	return &streamOutput{func(hc huma.Context) { //nolint:contextcheck // it has the context of the request
		_, w := humago.Unwrap(hc)
		w.Header().Set("Content-Type", "application/jsonl")
		if in.Format == string(audit.CSV) {
			w.Header().Set("Content-Type", "text/csv; charset=utf-8")
		}
		writer, err := audit.NewWriter(w, audit.Format(in.Format))
		control := http.NewResponseController(w)
		for {
			_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // an error shows at the write
			for i := 0; i < len(page.Items) && err == nil; i++ {
				err = writer.Write(page.Items[i])
			}
			if err != nil || page.NextCursor == "" {
				_ = errors.Join(err, writer.Flush()) // the reader may have gone
				return
			}
			filter.Cursor, filter.Page = page.NextCursor, 0
			if err = c.unchanged(hc.Context()); err == nil {
				page, err = h.Audits.ListAudit(hc.Context(), c.visible, filter)
			}
			if err != nil {
				c.cutExport(hc.Context(), err)
			}
		}
	}}, nil
}

package application

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/mark"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/item"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Deployments knows what operations were.
type Deployments interface {
	ListLedger(context.Context, rbac.Filter, api.LedgerFilter) (api.Page[api.LedgerEntry], error)
}

type historyInput struct {
	item.Input
	Limit  int    `query:"limit" minimum:"1" maximum:"200" default:"50" doc:"Maximum number"`
	Cursor string `query:"cursor" maxLength:"2000" doc:"nextCursor of the previous page"`
}

// historyRoute returns what was deployed: entries of the ledger, and what only status.history knows of.
func (h *Routes) historyRoute() core.Route {
	r := h.applicationRoute("/history", "application-history", "List deployments, including failed ones, the newest first")
	type out struct{ Body api.DeploymentHistory }
	r.Mount = core.Mount(core.Answer[historyInput, out]{
		Find: item.Application[historyInput](h.Clusters),
		Do: func(ctx context.Context, c *core.Call, in *historyInput) (*out, error) {
			detail, _, facts, err := h.factsOf(ctx, c, in.Agent)
			if err != nil {
				return nil, err
			}
			app := facts.App
			from, err := readHistoryMark(in.Cursor)
			if err != nil {
				return nil, err
			}
			w := history{
				ledger: h.Deployments, visible: c.Policy.Filter(c.Who.Subject, api.PermApplicationView), app: app, from: from,
				filter: api.LedgerFilter{
					Agent: in.Agent, Namespace: in.Namespace, Name: in.Name,
					Actions: []string{api.LedgerSync, api.LedgerRollback, api.LedgerRestore, api.LedgerPartial},
				},
			}
			// An annotation that cannot be read has no effect: a condition of the application names it.
			w.notes, _ = mark.ReadNotes(app)
			if !facts.Foreign() {
				w.pin, _ = mark.ReadPin(app)
			}
			var o out
			o.Body, err = w.page(ctx, in.Limit)
			o.Body.Warnings = append([]string{}, absence(detail)...)
			return &o, err
		},
	})
	return r
}

// historyMark is where a page of a history begins.
type historyMark struct {
	Ledger string `json:"l,omitempty"` // cursor of the ledger
	At     int64  `json:"t,omitempty"` // time of the row before, in microseconds; 0 for the first page
	Done   bool   `json:"d,omitempty"` // the ledger has no more
	ID     *int64 `json:"i,omitempty"` // the last of status.history that was reported without an entry of the ledger
}

func readHistoryMark(text string) (m historyMark, err error) {
	if text == "" {
		return m, nil
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = strict.Decode(raw, &m)
	}
	if err != nil {
		return m, &api.Error{
			Code: api.CodeInvalid, Field: "query.cursor",
			Message: "the cursor is none of this list: send nextCursor of the page before, or none for the first page",
		}
	}
	return m, nil
}

func (m historyMark) String() string {
	raw, _ := json.Marshal(m) // texts and numbers
	return base64.RawURLEncoding.EncodeToString(raw)
}

// history puts a page together.
type history struct {
	ledger  Deployments
	visible rbac.Filter
	filter  api.LedgerFilter
	app     *v1alpha1.Application
	from    historyMark
	pin     *v1alpha1.Pin           // the rollback that holds; nil for none
	notes   map[int64]v1alpha1.Note // on deployments of status.history
}

// page merges entries of the ledger with what only status.history has, by time.
func (w *history) page(ctx context.Context, limit int) (api.DeploymentHistory, error) {
	out := api.DeploymentHistory{Items: []api.Deployment{}}
	w.filter.Limit, w.filter.Cursor = limit, w.from.Ledger
	var entries api.Page[api.LedgerEntry]
	var err error
	if !w.from.Done {
		if entries, err = w.ledger.ListLedger(ctx, w.visible, w.filter); err != nil {
			return out, err
		}
	}
	lost, err := w.unrecorded(ctx, entries, limit+1)
	if err != nil {
		return out, err
	}
	next, read := w.from, 0
	for len(out.Items) < limit && (read < len(entries.Items) || len(lost) > 0) {
		if len(lost) > 0 && (read == len(entries.Items) || lost[0].DeployedAt.After(entries.Items[read].FinishedAt)) {
			out.Items = append(out.Items, w.fromStatus(lost[0]))
			next.At, next.ID = lost[0].DeployedAt.UnixMicro(), &lost[0].ID
			lost = lost[1:]
			continue
		}
		out.Items = append(out.Items, w.fromLedger(&entries.Items[read]))
		next.At = entries.Items[read].FinishedAt.UnixMicro()
		read++
	}
	switch {
	case read == len(entries.Items) && entries.NextCursor == "" && len(lost) == 0:
		return out, nil
	case read == len(entries.Items):
		next.Ledger, next.Done = entries.NextCursor, entries.NextCursor == ""
	case read > 0: // it ends in the middle of what was read: the ledger knows the cursor there
		w.filter.Limit = read
		part, err := w.ledger.ListLedger(ctx, w.visible, w.filter)
		if err != nil {
			return out, err
		}
		next.Ledger = part.NextCursor
	}
	out.NextCursor = next.String()
	return out, nil
}

// unrecorded are the deployments of status.history in the time of a page that the ledger has no entry of, the newest first;
// no more than limit.
func (w *history) unrecorded(ctx context.Context, entries api.Page[api.LedgerEntry],
	limit int,
) (list []v1alpha1.RevisionHistory, err error) {
	all := w.app.Status.History
	for i := len(all) - 1; i >= 0 && len(list) < limit; i-- {
		at := all[i].DeployedAt.Time
		if w.from.At != 0 && at.UnixMicro() > w.from.At || w.from.ID != nil && all[i].ID >= *w.from.ID {
			continue
		}
		if n := len(entries.Items); n > 0 && entries.NextCursor != "" && !at.After(entries.Items[n-1].FinishedAt) {
			break // on a later page
		}
		recorded := slices.ContainsFunc(entries.Items, func(e api.LedgerEntry) bool { return sameDeployment(&all[i], &e) })
		if !recorded { // its entry may be on the page before or after this one
			near := w.filter
			near.Cursor, near.Limit, near.From, near.To = "", 10, at.Add(-entryDistance), at.Add(entryDistance+time.Second)
			page, err := w.ledger.ListLedger(ctx, w.visible, near)
			if err != nil {
				return nil, err
			}
			recorded = slices.ContainsFunc(page.Items, func(e api.LedgerEntry) bool { return sameDeployment(&all[i], &e) })
		}
		if !recorded {
			list = append(list, all[i])
		}
	}
	return list, nil
}

// entryDistance is how far the end of an operation may be from when status.history says that it was deployed: Argo CD takes
// the time of either on its own.
const entryDistance = 2 * time.Second

// sameDeployment reports whether an entry of the ledger is that of status.history. That has no ids of the ledger; times
// in it are of whole seconds.
func sameDeployment(d *v1alpha1.RevisionHistory, e *api.LedgerEntry) bool {
	if e.Phase != "Succeeded" || !slices.Equal(revisionsOfHistory(d), revisionsOfEntry(e)) {
		return false
	}
	distance := d.DeployedAt.Sub(e.FinishedAt.Truncate(time.Second)).Abs()
	if d.DeployStartedAt != nil && d.DeployStartedAt.Unix() != e.StartedAt.Unix() {
		return false
	}
	return distance <= entryDistance
}

func revisionsOfHistory(d *v1alpha1.RevisionHistory) []string {
	if len(d.Revisions) > 0 {
		return d.Revisions
	}
	return []string{d.Revision}
}

func revisionsOfEntry(e *api.LedgerEntry) []string {
	if len(e.Sources) == 0 {
		return []string{e.Revision}
	}
	out := make([]string, 0, len(e.Sources))
	for _, s := range e.Sources {
		out = append(out, s.Revision)
	}
	return out
}

// fromLedger is a deployment of the ledger.
func (w *history) fromLedger(e *api.LedgerEntry) api.Deployment {
	d := api.Deployment{
		LedgerID: e.ID, Action: e.Action, Revision: e.Revision, Revisions: revisionsOfEntry(e), StartedAt: e.StartedAt, FinishedAt: e.FinishedAt,
		Outcome: e.Phase, Message: e.Message, Automatic: e.Automatic, InitiatedBy: e.Actor, Reason: e.Reason,
		Changes: &e.Counts, Commit: e.Commit,
	}
	if e.Phase == "Succeeded" {
		d.DeployedAt = e.FinishedAt
	}
	for i := range w.app.Status.History {
		if r := &w.app.Status.History[i]; sameDeployment(r, e) {
			w.place(&d, r.ID)
			d.DeployedAt = r.DeployedAt.Time
		}
	}
	return d
}

// fromStatus is a deployment that only status.history has. It succeeded, or it would not be there.
func (w *history) fromStatus(r v1alpha1.RevisionHistory) api.Deployment {
	d := api.Deployment{
		Revisions: revisionsOfHistory(&r), DeployedAt: r.DeployedAt.Time, FinishedAt: r.DeployedAt.Time, Outcome: "Succeeded",
		Automatic: r.InitiatedBy.Automated, InitiatedBy: r.InitiatedBy.Username,
	}
	d.Revision = d.Revisions[0]
	if r.DeployStartedAt != nil {
		d.StartedAt = r.DeployStartedAt.Time
	}
	note := w.notes[r.ID]
	d.Reason, d.InitiatedBy = note.Reason, cmp.Or(d.InitiatedBy, note.By)
	if note.Author != "" || note.Subject != "" {
		d.Commit = &api.LedgerCommit{Author: note.Author, Subject: note.Subject}
	}
	w.place(&d, r.ID)
	return d
}

// place says where in status.history a deployment is.
func (w *history) place(d *api.Deployment, id int64) {
	list := w.app.Status.History
	d.ID, d.Current = &id, list[len(list)-1].ID == id
	d.Pinned = w.pin != nil && w.pin.ID == id
}

package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"
	"unicode"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/chain"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/redact"
)

// Bounds of what an entry holds, in bytes.
const (
	maxText   = 2000
	maxField  = 700
	maxSide   = 64 << 10
	batchSize = 100
	// maxAhead is how far the clock of an agent may be ahead.
	maxAhead = 5 * time.Minute
)

// Prepare gives an entry as it may be kept: without secrets, within bounds, and in canonical form.
func Prepare(e Entry, now time.Time) Entry {
	if e.At.IsZero() || e.At.Sub(now) > maxAhead {
		e.At = now
	}
	e.At = e.At.UTC().Truncate(time.Microsecond)
	e.ID, e.PrevHash, e.Hash = 0, "", ""
	for _, field := range []*string{
		&e.Actor.Type, &e.Actor.ID, &e.IP, &e.UserAgent, &e.RequestID, &e.Action, &e.Object.Type, &e.Object.ID, &e.Outcome,
	} {
		*field = clean(*field, maxField)
	}
	e.Object.Scope = api.Scope(clean(string(e.Object.Scope), maxField))
	e.Reason, e.Message = clean(e.Reason, maxText), clean(e.Message, maxText)
	if e.Actor.Type == "" {
		e.Actor.Type = api.PrincipalAnonymous
	}
	if e.Outcome == "" {
		e.Outcome = api.OutcomeSucceeded
	}
	e.Before, e.After = redact.Pair(e.Before, e.After)
	e.Before, e.After = bound(e.Before), bound(e.After)
	return e
}

// clean is a text without secrets and control characters, which not every database keeps.
func clean(s string, limit int) string {
	if len(s) > 4*limit {
		s = s[:4*limit] // what is cut at the end is looked through whole
	}
	s = redact.Text(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
	return legible.Cut(s, limit)
}

// bound replaces what is too long by a note.
func bound(raw json.RawMessage) json.RawMessage {
	if len(raw) > maxSide {
		return chain.EncodeJSON(map[string]any{"omitted": fmt.Sprintf("it had %d bytes, and an entry keeps %d", len(raw), maxSide)})
	}
	return raw
}

// Retention is how long entries are kept; zero is without end.
type Retention struct {
	For     time.Duration
	Entries int64
}

// Recorder writes entries, and looks after the chain.
type Recorder struct {
	Storage Storage
	Now     func() time.Time
	Log     *slog.Logger
}

// Record writes an entry. A caller that changed something treats an error as one of the change.
func (r *Recorder) Record(ctx context.Context, e Entry) error {
	return r.RecordOnce(ctx, "", e)
}

// RecordOnce writes an entry unless there is one of that key: what an agent reports twice is one entry.
func (r *Recorder) RecordOnce(ctx context.Context, key string, e Entry) error {
	if _, err := r.Storage.AppendAudit(ctx, key, Prepare(e, r.Now())); err != nil {
		return fmt.Errorf("write %s into the audit: %w", clean(e.Action, maxField), err)
	}
	return nil
}

// VerifyAudit goes over all entries that are kept, including those that come in the meantime.
func (r *Recorder) VerifyAudit(ctx context.Context) (api.AuditVerification, error) {
	// First the head: what comes after it may be there or not, what is before it must be.
	head, err := r.Storage.AuditHead(ctx)
	if err != nil {
		return api.AuditVerification{}, err
	}
	for {
		anchor, err := r.Storage.AuditAnchor(ctx)
		if err != nil {
			return api.AuditVerification{}, err
		}
		out, err := r.verify(ctx, anchor, head)
		if err != nil || out.OK {
			return out, err
		}
		now, err := r.Storage.AuditAnchor(ctx)
		if err != nil || now == anchor {
			return out, err
		}
		// Old entries were removed in the meantime: begin behind them.
	}
}

func (r *Recorder) verify(ctx context.Context, anchor, head Head) (api.AuditVerification, error) {
	v := chain.NewVerifier(anchor)
	var found *chain.Fault
	err := r.each(ctx, anchor.ID, v.Next)
	if err == nil {
		err = v.End(head)
	}
	out := api.AuditVerification{Checked: v.Checked(), Head: v.Head().Hash}
	switch {
	case errors.As(err, &found):
		out.First, out.Message = found.ID, found.Why+": compare with an export or a backup from before"
		return out, nil
	case err != nil:
		return out, err
	}
	out.OK = true
	out.Message = fmt.Sprintf("the chain of %d entries is whole", out.Checked)
	if anchor.ID > 0 {
		out.Message += fmt.Sprintf("; %d before them were removed when their time was over", anchor.ID)
	}
	return out, nil
}

// each goes over the entries after one, in order.
func (r *Recorder) each(ctx context.Context, after int64, do func(Entry) error) error {
	for {
		batch, err := r.Storage.AuditEntries(ctx, after, batchSize)
		if err != nil || len(batch) == 0 {
			return err
		}
		for _, e := range batch {
			if err := do(e); err != nil {
				return err
			}
			after = max(after, e.ID)
		}
	}
}

// errEnough ends a walk over entries.
var errEnough = errors.New("enough")

// expired is the place of the last entry that goes: the first one that stays keeps all that come after it. So an entry
// that says an early time, as agents can, takes no newer ones away.
func (r *Recorder) expired(ctx context.Context, anchor Head, keep Retention) (Head, error) {
	head, err := r.Storage.AuditHead(ctx)
	if err != nil {
		return anchor, err
	}
	since, out := r.Now().Add(-keep.For), anchor
	err = r.each(ctx, anchor.ID, func(e Entry) error {
		old := keep.For > 0 && e.At.Before(since)
		surplus := keep.Entries > 0 && e.ID <= head.ID-keep.Entries
		if e.ID >= head.ID || !old && !surplus {
			return errEnough
		}
		out = chain.HeadOf(e)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out, err
}

// Prune removes entries whose time is over, and says so in an entry. Their last hash stays as the anchor of the rest. It
// gives how many were removed.
func (r *Recorder) Prune(ctx context.Context, keep Retention) (int64, error) {
	if keep.For <= 0 && keep.Entries <= 0 {
		return 0, nil
	}
	anchor, err := r.Storage.AuditAnchor(ctx)
	if err != nil {
		return 0, err
	}
	through, err := r.expired(ctx, anchor, keep)
	if err != nil || through.ID == anchor.ID {
		return 0, err
	}
	removed := through.ID - anchor.ID
	// The entry first: it is behind all that goes, so that something is always left.
	err = r.Record(ctx, Entry{
		Actor:   api.Principal{Type: api.PrincipalSystem, ID: "retention"},
		Action:  "audit.prune",
		Object:  api.Ref{Type: api.TypeAudit, ID: fmt.Sprintf("%d-%d", anchor.ID+1, through.ID), Scope: api.ScopeAccount},
		Message: fmt.Sprintf("%d entries were removed because their time was over; the last of them had the hash %s", removed, through.Hash),
	})
	if err != nil {
		return 0, err
	}
	if err := r.Storage.PruneAudit(ctx, through); err != nil {
		return 0, fmt.Errorf("remove old entries of the audit: %w", err)
	}
	r.Log.Info("old entries of the audit were removed", slog.Int64("count", removed), slog.Int64("through", through.ID))
	return removed, nil
}

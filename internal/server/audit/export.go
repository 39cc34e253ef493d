package audit

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/internal/chain"
)

// Format is how entries are written out.
type Format string

// The formats: a JSON object in each line, or a table with a header.
const (
	JSONLines Format = "jsonl"
	CSV       Format = "csv"
)

// Writer writes entries out. Flush ends it.
type Writer interface {
	Write(Entry) error
	Flush() error
}

// NewWriter makes a writer of a format.
func NewWriter(w io.Writer, format Format) (Writer, error) {
	switch format {
	case JSONLines:
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		return lines{e}, nil
	case CSV:
		t := table{csv.NewWriter(w)}
		return t, t.w.Write(columns)
	}
	return nil, fmt.Errorf("format %.40q of the audit is not known: choose jsonl or csv", format)
}

type lines struct{ e *json.Encoder }

// Write writes one line.
func (l lines) Write(e Entry) error { return l.e.Encode(e) }

// Flush has nothing to do.
func (lines) Flush() error { return nil }

//nolint:gochecknoglobals // a table
var columns = []string{
	"id", "at", "actor_type", "actor_id", "action", "object_type", "object_id", "object_scope", "outcome", "message", "reason",
	"ip", "user_agent", "request_id", "before", "after", "prev_hash", "hash",
}

type table struct{ w *csv.Writer }

// Write writes one row.
func (t table) Write(e Entry) error {
	row := []string{
		strconv.FormatInt(e.ID, 10), e.At.UTC().Format(time.RFC3339Nano), e.Actor.Type, e.Actor.ID, e.Action,
		e.Object.Type, e.Object.ID, string(e.Object.Scope), e.Outcome, e.Message, e.Reason,
		e.IP, e.UserAgent, e.RequestID, string(e.Before), string(e.After), e.PrevHash, e.Hash,
	}
	for i := range row {
		row[i] = harmless(row[i])
	}
	return t.w.Write(row)
}

// Flush writes what is left.
func (t table) Flush() error {
	t.w.Flush()
	return t.w.Error()
}

// harmless keeps a spreadsheet from taking a text for a formula.
func harmless(s string) string {
	if s != "" && strings.ContainsRune("=+-@\t\r", rune(s[0])) {
		return "'" + s
	}
	return s
}

// Export writes all entries after one that a filter lets through; a nil filter all of them. It gives the head behind the
// last one that was looked at: kept elsewhere, it shows later that the newest entries are all there.
func (r *Recorder) Export(ctx context.Context, w Writer, after int64, keep func(Entry) bool) (Head, error) {
	var head Head
	err := r.each(ctx, after, func(e Entry) error {
		head = chain.HeadOf(e)
		if keep != nil && !keep(e) {
			return nil
		}
		return w.Write(e)
	})
	if err != nil {
		return head, fmt.Errorf("export the audit: %w", err)
	}
	return head, w.Flush()
}

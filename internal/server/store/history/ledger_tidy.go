package history

import (
	"context"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// prunedAtOnce is how many entries one transaction removes: others want to write
// as well.
const prunedAtOnce = 500

// LedgerLimits say how much of the ledger is kept.
type LedgerLimits struct {
	// Before is the end from which on entries are kept; zero for all.
	Before time.Time
	// Bytes is how much is kept; 0 for all.
	Bytes int64
}

// PruneLedger removes the oldest entries, those that ended before a time and
// those that make it larger than it may be, and manifests that no entry names
// any more. The newest deployment of an application is what runs, so its age
// is ignored. It returns how many entries it removed.
func (s *Ledger) PruneLedger(ctx context.Context, limits LedgerLimits) (removed int64, err error) {
	for {
		n, err := db.Write(ctx, s.db, func(t db.Tx) (int64, error) { return pruneLedger(ctx, t, limits) })
		removed += n
		if err != nil || n == 0 {
			return removed, err
		}
	}
}

func pruneLedger(ctx context.Context, t db.Tx, limits LedgerLimits) (int64, error) {
	var numbers []any
	pick := func(condition string, args ...any) (err error) {
		query := "SELECT number FROM ledger_entry WHERE " + condition + " ORDER BY finished_at, number LIMIT ?"
		numbers, err = db.Column[any](ctx, t, query, append(args, prunedAtOnce)...)
		return err
	}
	if !limits.Before.IsZero() {
		err := pick(`finished_at < ? AND (action = ? OR EXISTS (SELECT 1 FROM ledger_entry l WHERE `+later+
			` AND l.whole = 1 AND l.phase = 'Succeeded'))`,
			limits.Before, api.LedgerDelete)
		if err != nil {
			return 0, err
		}
	}
	if len(numbers) == 0 && limits.Bytes > 0 {
		var bytes int64
		if err := t.One(ctx, "SELECT number FROM ledger_place WHERE id = ?", []any{placeBytes}, &bytes); err != nil {
			return 0, err
		}
		if bytes > limits.Bytes {
			if err := pick("1 = 1"); err != nil {
				return 0, err
			}
			// What one takes is not known before it is gone: a part of them at a time.
			numbers = numbers[:min(len(numbers), max(1, prunedAtOnce/10))]
		}
	}
	if len(numbers) == 0 {
		return 0, nil
	}
	if err := dropLedger(ctx, t, numbers); err != nil {
		return 0, err
	}
	return int64(len(numbers)), nil
}

// dropLedger removes entries, and what nothing refers to then.
func dropLedger(ctx context.Context, t db.Tx, numbers []any) error {
	in := "(" + db.Marks(len(numbers)) + ")"
	var bytes int64
	err := t.One(ctx, "SELECT COALESCE(SUM(size), 0) + COUNT(*) * ? FROM ledger_entry WHERE number IN "+in,
		append([]any{rowSize}, numbers...), &bytes)
	if err != nil {
		return err
	}
	blobs, err := db.Column[any](ctx, t, "SELECT DISTINCT blob FROM ledger_object WHERE entry IN "+in, clone(numbers)...)
	if err != nil {
		return err
	}
	names, err := db.Column[any](ctx, t, "SELECT DISTINCT object FROM ledger_object WHERE entry IN "+in, clone(numbers)...)
	if err != nil {
		return err
	}
	rows, err := t.Exec(ctx, "DELETE FROM ledger_object WHERE entry IN "+in, clone(numbers)...)
	if err != nil {
		return err
	}
	bytes += rows * rowSize
	if err := t.Run(ctx, "DELETE FROM ledger_entry WHERE number IN "+in, clone(numbers)...); err != nil {
		return err
	}
	for _, gone := range []struct {
		table, column, size string
		numbers             []any
	}{
		{"ledger_blob", "blob", "LENGTH(content) + LENGTH(hash)", blobs}, {"ledger_name", "object", "2 * LENGTH(key)", names},
	} {
		n, err := dropUnused(ctx, t, gone.table, gone.column, gone.size, gone.numbers)
		if err != nil {
			return err
		}
		bytes += n
	}
	return t.Run(ctx, "UPDATE ledger_place SET number = CASE WHEN number > ? THEN number - ? ELSE 0 END WHERE id = ?",
		bytes, bytes, placeBytes)
}

// dropUnused removes those rows that no object refers to by a column, and
// returns what they took.
func dropUnused(ctx context.Context, t db.Tx, table, column, size string, numbers []any) (bytes int64, err error) {
	for part := range slices.Chunk(numbers, db.Chunk) {
		condition := " WHERE number IN (" + db.Marks(len(part)) + ") AND NOT EXISTS (SELECT 1 FROM ledger_object o WHERE o." + column + " = " +
			table + ".number)"
		var n int64
		query := "SELECT COALESCE(SUM(" + size + "), 0) + COUNT(*) * ? FROM " + table + condition
		if err := t.One(ctx, query, append([]any{rowSize}, part...), &n); err != nil {
			return bytes, err
		}
		if err := t.Run(ctx, "DELETE FROM "+table+condition, clone(part)...); err != nil {
			return bytes, err
		}
		bytes += n
	}
	return bytes, nil
}

func clone(args []any) []any { return slices.Clone(args) }

package db_test

import (
	"database/sql"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// oddRows is how many rows each table of an earlier schema gets: one that is plausible and some that are odd.
const oddRows = 5

// earlierTable is a table as the migrations up to a version make it.
type earlierTable struct {
	name    string
	columns []string
	numbers map[string]bool      // columns of numbers; the others are texts
	refers  map[string][2]string // column -> table and column
	keys    map[string]bool      // columns whose values tell rows apart, or are referred to
	indexed map[string]bool      // columns of any index
}

var (
	tableText   = regexp.MustCompile(`(?s)^CREATE TABLE (\w+) \((.*)\)$`)
	columnText  = regexp.MustCompile(`^(?:ALTER TABLE (\w+) ADD COLUMN )?(\w+) (TEXT|BIGINT)\b(.*)$`)
	refersText  = regexp.MustCompile(`REFERENCES (\w+) \((\w+)\)`)
	primaryText = regexp.MustCompile(`^PRIMARY KEY \((.*)\)$`)
	indexText   = regexp.MustCompile(`(?s)^CREATE (UNIQUE )?INDEX \w+ ON (\w+) \(([^)]*)\)`)
)

// earlierTables reads the migrations up to a version: the tables in an order in which what is referred to comes first.
func earlierTables(version int64) []*earlierTable {
	var tables []*earlierTable
	find := func(name string) *earlierTable {
		return tables[slices.IndexFunc(tables, func(t *earlierTable) bool { return t.name == name })]
	}
	for _, schema := range db.Schemas() {
		if schema > version {
			break
		}
		for _, statement := range db.SchemaText(schema) {
			if m := tableText.FindStringSubmatch(statement); m != nil {
				tables = append(tables, &earlierTable{
					name: m[1], numbers: map[string]bool{}, refers: map[string][2]string{}, keys: map[string]bool{}, indexed: map[string]bool{},
				})
				for line := range strings.Lines(m[2]) {
					find(m[1]).add(strings.TrimSuffix(strings.TrimSpace(line), ","))
				}
			} else if m := indexText.FindStringSubmatch(statement); m != nil {
				find(m[2]).index(m[3], m[1] != "")
			} else if m := columnText.FindStringSubmatch(statement); m != nil && m[1] != "" {
				find(m[1]).add(strings.TrimPrefix(statement, "ALTER TABLE "+m[1]+" ADD COLUMN "))
			}
		}
	}
	for _, t := range tables {
		for _, to := range t.refers {
			find(to[0]).keys[to[1]] = true
		}
	}
	return tables
}

func (t *earlierTable) add(line string) {
	if m := primaryText.FindStringSubmatch(line); m != nil {
		t.index(m[1], true)
		return
	}
	m := columnText.FindStringSubmatch(line)
	if m == nil {
		return
	}
	t.columns = append(t.columns, m[2])
	t.numbers[m[2]] = m[3] == "BIGINT"
	if strings.Contains(m[4], "PRIMARY KEY") || strings.Contains(m[4], "UNIQUE") {
		t.index(m[2], true)
	}
	if to := refersText.FindStringSubmatch(m[4]); to != nil {
		t.refers[m[2]] = [2]string{to[1], to[2]}
	}
}

func (t *earlierTable) index(columns string, unique bool) {
	for column := range strings.SplitSeq(columns, ", ") {
		t.indexed[column] = true
		t.keys[column] = t.keys[column] || unique
	}
}

// value is that of a column in a row: of the first one plausible, of the others odd.
func (t *earlierTable) value(column string, row int) any {
	if to, ok := t.refers[column]; ok {
		return (&earlierTable{name: to[0], keys: map[string]bool{to[1]: true}}).value(to[1], row)
	}
	plain := fmt.Sprintf("%s-%s-%d", t.name, column, row)
	switch {
	case t.numbers[column] && t.keys[column]:
		return int64(row + 1_000_000)
	case t.numbers[column]:
		return []int64{1, 0, -1, 1<<53 + 1, 2}[row]
	case t.name == "audit" && column == "dedupe" && row == 1:
		return nil
	case t.name == "item" && column == "kind":
		return []string{"application", "cluster", "repository", "application", "application"}[row]
	case t.keys[column], column == "name", column == "namespace", column == "id", row == 0: // names are as Kubernetes has them
		return plain
	case row == 1:
		return ""
	case row == 2:
		return plain + "; DROP TABLE 'x' -- \"é\" %_!\\\n{\"a\":null}"
	case t.indexed[column]:
		return plain + longText(plain, 64)
	default:
		return plain + longText(plain, 3000) // later migrations may put it into an index
	}
}

// longText is a text of four bytes for each letter, none of which can be compressed away; the same one for a seed.
func longText(seed string, length int) string {
	var numbers [32]byte
	copy(numbers[:], seed)
	rng := rand.New(rand.NewChaCha8(numbers))
	out := make([]rune, length)
	for i := range out {
		out[i] = rune(0x20000 + rng.IntN(0xA000))
	}
	return string(out)
}

// earlier makes a database of a schema, with rows in every table.
func earlier(t *testing.T, postgres bool, version int64) *storetest.Bench {
	t.Helper()
	url := filepath.Join(t.TempDir(), "earlier.db")
	if postgres {
		url = testenv.Postgres(t)
	}
	b := storetest.Open(t, url, false)
	if err := b.MigrateTo(t.Context(), version, nil); err != nil {
		t.Fatal(err)
	}
	fillEarlier(t, b, version)
	return b
}

// fillEarlier puts rows into every table of a schema that has none of them.
func fillEarlier(t *testing.T, b *storetest.Bench, version int64) {
	t.Helper()
	db := b.Direct(t)
	defer func() { _ = db.Close() }()
	for _, table := range earlierTables(version) {
		key := table.columns[slices.IndexFunc(table.columns, func(c string) bool { return table.keys[c] })]
		for row := range oddRows {
			var have int
			mark := "?"
			if b.IsPostgres() {
				mark = "$1"
			}
			query := "SELECT COUNT(*) FROM " + table.name + " WHERE " + key + " = " + mark
			if err := db.QueryRowContext(t.Context(), query, table.value(key, row)).Scan(&have); err != nil {
				t.Fatal(err)
			}
			if have > 0 {
				continue
			}
			var marks []string
			var values []any
			for i, column := range table.columns {
				marks, values = append(marks, "?"), append(values, table.value(column, row))
				if b.IsPostgres() {
					marks[i] = fmt.Sprintf("$%d", i+1)
				}
			}
			statement := "INSERT INTO " + table.name + " (" + strings.Join(table.columns, ", ") + ") VALUES (" + strings.Join(marks, ", ") + ")"
			if _, err := db.ExecContext(t.Context(), statement, values...); err != nil {
				t.Fatalf("row %d of %s: %v", row, table.name, err)
			}
		}
	}
}

// rowsOf is what a table holds: each row as a value for each column.
type rowsOf []map[string]any

// content reads the tables of a schema.
func contentOf(t *testing.T, b *storetest.Bench, version int64) map[string]rowsOf {
	t.Helper()
	db, out := b.Direct(t), map[string]rowsOf{}
	defer func() { _ = db.Close() }() // its end ends the log beside the file
	for _, table := range earlierTables(version) {
		out[table.name] = readTable(t, db, table.name)
	}
	return out
}

func readTable(t *testing.T, db *sql.DB, table string) (out rowsOf) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		values, into := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			into[i] = &values[i]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, column := range columns {
			row[column] = values[i]
		}
		out = append(out, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// only leaves the columns that are asked for, and makes each row a text, in the order of these.
func (r rowsOf) only(columns []string) []string {
	out := []string{}
	for _, row := range r {
		part := map[string]any{}
		for _, column := range columns {
			part[column] = row[column]
		}
		out = append(out, fmt.Sprintf("%q", part))
	}
	slices.Sort(out)
	return out
}

// clone copies the rows, so that they can be changed.
func (r rowsOf) clone() rowsOf {
	out := make(rowsOf, len(r))
	for i, row := range r {
		out[i] = maps.Clone(row)
	}
	return out
}

package db_test

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// onEachEarlier runs a test on either database, filled, of each schema before this program's.
func onEachEarlier(t *testing.T, test func(t *testing.T, b *storetest.Bench, version int64)) {
	t.Helper()
	t.Parallel()
	schemas := db.Schemas()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		for _, version := range schemas[:len(schemas)-1] {
			t.Run(fmt.Sprintf("%s/%03d", name, version), func(t *testing.T) {
				t.Parallel()
				test(t, earlier(t, postgres, version), version)
			})
		}
	}
}

func TestADatabaseOfAnyEarlierSchemaKeepsEveryValue(t *testing.T) {
	onEachEarlier(t, func(t *testing.T, b *storetest.Bench, version int64) {
		before := contentOf(t, b, version)
		storetest.Must[[]string](t)(b.Migrate(t.Context(), false))
		checkMigrated(t, b, before, version)
		checkWords(t, b, version)
		b.Tree(t) // and it works
		if again := storetest.Must[[]string](t)(b.Migrate(t.Context(), false)); len(again) > 0 {
			t.Errorf("migrated again: %v", again)
		}
	})
}

// checkMigrated checks that all rows of an earlier schema are there, and no others than an empty database has.
func checkMigrated(t *testing.T, b *storetest.Bench, before map[string]rowsOf, version int64) {
	t.Helper()
	schemas := db.Schemas()
	newest := schemas[len(schemas)-1]
	if now := storetest.Must[int64](t)(b.SchemaVersion(t.Context())); now != newest {
		t.Fatalf("it has schema %d, want %d", now, newest)
	}
	fresh := contentOf(t, storetest.Open(t, filepath.Join(t.TempDir(), "fresh.db"), true), newest)
	after := contentOf(t, b, newest)
	for _, table := range earlierTables(version) {
		want := before[table.name].clone()
		if table.name == "item" {
			for _, row := range want {
				migratedItem(row, version)
			}
		}
		if table.name == "setting" {
			rights(t, want, after[table.name])
		}
		have := after[table.name].only(table.columns)
		comes := fresh[table.name].only(table.columns)
		for _, row := range want.only(table.columns) {
			if i := slices.Index(have, row); i >= 0 {
				have = slices.Delete(have, i, i+1)
			} else {
				t.Errorf("%s has lost or changed %.300s", table.name, row)
			}
		}
		for _, row := range have {
			if !slices.Contains(comes, row) {
				t.Errorf("%s has got %.300s", table.name, row)
			}
		}
	}
}

// rights checks that a program with other built-in roles says that rights changed, so that no server goes on with old ones.
func rights(t *testing.T, before, after rowsOf) {
	t.Helper()
	for _, was := range before {
		for _, is := range after {
			if was["id"] == "policy" && is["id"] == "policy" {
				if is["version"].(int64) < was["version"].(int64) {
					t.Errorf("the version of rights went from %v to %v", was["version"], is["version"])
				}
				was["version"] = is["version"]
			}
		}
	}
}

// migratedItem makes of an item what the migrations after a version mean to.
func migratedItem(row map[string]any, version int64) {
	if version < 4 && row["kind"] == "cluster" || version < 5 && row["kind"] == "application" {
		row["hash"] = ""
	}
	if version < 6 {
		for column, longest := range map[string]int{"sync": 64, "health": 64, "argo_project": 253} {
			if text := []rune(fmt.Sprint(row[column])); len(text) > longest {
				row[column] = string(text[:longest])
			}
		}
	}
}

// checkWords checks what a search looks through, which a migration writes for items from before it.
func checkWords(t *testing.T, b *storetest.Bench, version int64) {
	t.Helper()
	if version >= 6 {
		return
	}
	db := b.Direct(t)
	defer func() { _ = db.Close() }()
	for _, row := range readTable(t, db, "item") {
		words := fmt.Sprint(row["words"])
		whole := fmt.Sprintf("%s\n%s\n%s\n%s%s", row["name"], row["namespace"], row["repo_url"], row["destination"], row["repos"])
		start, isCut := strings.CutSuffix(words, "...")
		if len(words) > 700 || !isCut && !strings.EqualFold(words, whole) || isCut && (len(whole) <= 700 || len(start) < 500 || !strings.HasPrefix(whole, start)) {
			t.Errorf("%d bytes of words for %d: %.80q", len(words), len(whole), words)
		}
	}
}

func TestIndicesThatAnEarlierProgramMadeAreDropped(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		old := earlier(t, b.IsPostgres(), 8)
		db := old.Direct(t)
		indices := strings.Fields("item_by_name item_by_change item_by_end item_by_health item_by_sync item_by_argo_project item_by_agent")
		for _, index := range indices {
			if _, err := db.ExecContext(t.Context(), "CREATE INDEX "+index+" ON item (kind, id)"); err != nil {
				t.Fatal(err)
			}
		}
		storetest.Must[[]string](t)(old.Migrate(t.Context(), false))
		for _, index := range indices {
			if _, err := db.ExecContext(t.Context(), "DROP INDEX "+index); err == nil {
				t.Errorf("%s is there", index)
			}
		}
	})
}

func TestAMigrationThatIsInterruptedIsDoneAgain(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	t.Parallel()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		interruptMigrations(t, false, func(b *storetest.Bench, version int64, at int) error {
			return migrateInAProcess(t, b.URL, version, at)
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		interruptMigrations(t, true, func(b *storetest.Bench, version int64, at int) error {
			return b.MigrateTo(t.Context(), version, insertAt(version, at, "SELECT pg_terminate_backend(pg_backend_pid())"))
		})
	})
}

// insertAt puts a statement into a migration.
func insertAt(version int64, at int, statement string) func(int64, []string) []string {
	return func(v int64, statements []string) []string {
		if v != version {
			return statements
		}
		return slices.Insert(slices.Clone(statements), at, statement)
	}
}

// interruptMigrations interrupts each migration before several of its statements and after the last: nothing has changed then.
func interruptMigrations(t *testing.T, postgres bool, interrupt func(b *storetest.Bench, version int64, at int) error) {
	schemas := db.Schemas()
	b := earlier(t, postgres, schemas[0])
	for i, version := range schemas[1:] {
		fillEarlier(t, b, schemas[i])
		before := contentOf(t, b, schemas[i])
		count := len(db.SchemaText(version))
		for _, at := range slices.Compact([]int{0, 1, count / 2, count - 1, count}) {
			if err := interrupt(b, version, at); err == nil {
				t.Fatalf("migration %d is not interrupted before statement %d", version, at)
			}
			if now := storetest.Must[int64](t)(b.SchemaVersion(t.Context())); now != schemas[i] {
				t.Fatalf("after migration %d was interrupted before statement %d of %d the schema is %d, want %d", version, at, count, now, schemas[i])
			}
			if diff := cmp.Diff(before, contentOf(t, b, schemas[i])); diff != "" {
				t.Errorf("after migration %d was interrupted before statement %d of %d (-before +after):\n%s", version, at, count, diff)
			}
		}
		if i+2 == len(schemas) {
			storetest.Must[[]string](t)(b.Migrate(t.Context(), false))
			checkMigrated(t, b, before, schemas[i])
		} else if err := b.MigrateTo(t.Context(), version, nil); err != nil {
			t.Fatalf("after migration %d was interrupted: %v", version, err)
		}
	}
}

func TestServersThatMigrateAtTheSameTimeMigrateOnce(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	t.Parallel()
	for name, postgres := range map[string]bool{"SQLite": false, "PostgreSQL": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first := earlier(t, postgres, 1)
			before := contentOf(t, first, 1)
			all := []*storetest.Bench{first}
			for range 3 {
				all = append(all, storetest.Open(t, first.URL, false))
			}
			var wait sync.WaitGroup
			var mu sync.Mutex
			var failed error
			var ran []string
			start := make(chan struct{})
			for _, b := range all {
				wait.Go(func() {
					<-start
					names, err := b.Migrate(t.Context(), false)
					mu.Lock()
					defer mu.Unlock()
					failed, ran = errors.Join(failed, err), append(ran, names...)
				})
			}
			close(start)
			wait.Wait()
			if failed != nil {
				t.Fatalf("of several servers one cannot start: %v", failed)
			}
			slices.Sort(ran)
			if want := len(db.Schemas()) - 1; len(ran) != want || len(slices.Compact(slices.Clone(ran))) != want {
				t.Errorf("%d migrations ran, want %d, each once: %v", len(ran), want, ran)
			}
			checkMigrated(t, first, before, 1)
		})
	}
}

func TestABackupOfAnyEarlierSchemaIsRestored(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes long: make test runs it")
	}
	onEachEarlier(t, func(t *testing.T, b *storetest.Bench, version int64) {
		before := contentOf(t, b, version)
		var backup bytes.Buffer
		if err := b.Backup(t.Context(), &backup); err != nil {
			t.Fatalf("this program backs up what is to be migrated: %v", err)
		}
		url := filepath.Join(t.TempDir(), "restored.db")
		if !b.IsPostgres() { // into the other one
			url = testenv.Postgres(t)
		}
		restored := storetest.Open(t, url, false)
		if _, err := restored.Restore(t.Context(), &backup, db.RestoreOptions{KeepTokens: true}); err != nil {
			t.Fatal(err)
		}
		for _, row := range before["agent"] { // epochs that were given are not given again
			row["epoch"] = row["epoch"].(int64) + 1_000_000
		}
		for _, table := range strings.Fields("session attempt pending idempotency server job event event_place notification_delivery notification_place notification_seen") {
			delete(before, table)
		}
		checkMigrated(t, restored, before, version)
	})
}

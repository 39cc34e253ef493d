package db_test

import (
	"context"
	"database/sql"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/audit"
	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

// awaitLock waits until a statement of this database waits for a row that is held.
func awaitLock(t *testing.T, db *sql.DB, statement string) {
	t.Helper()
	for waiting, until := 0, time.Now().Add(time.Minute); waiting == 0; {
		if time.Now().After(until) {
			t.Fatalf("%s does not wait", statement)
		}
		const query = "SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1"
		if err := db.QueryRowContext(t.Context(), query, statement+"%").Scan(&waiting); err != nil {
			t.Fatal(err)
		}
	}
}

// TestASignInIsCountedWhileAnotherOneForgetsTheTries has the record of wrong passwords removed at the worst moment.
func TestASignInIsCountedWhileAnotherOneForgetsTheTries(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		if !b.IsPostgres() {
			t.Skip("SQLite has one writer")
		}
		ctx, db := t.Context(), b.Direct(t)
		more := func(a authn.Attempt) authn.Attempt { a.Failures++; return a }
		storetest.Must[authn.Attempt](t)(b.Attempt(ctx, "key", more))
		other := storetest.Must[*sql.Tx](t)(db.BeginTx(ctx, nil))
		defer func() { _ = other.Rollback() }()
		if _, err := other.ExecContext(ctx, "SELECT 1 FROM attempt WHERE id = 'key' FOR UPDATE"); err != nil {
			t.Fatal(err)
		}
		type counted struct {
			authn.Attempt
			err error
		}
		done := make(chan counted, 1)
		go func() {
			a, err := b.Attempt(ctx, "key", more)
			done <- counted{a, err}
		}()
		awaitLock(t, db, "%attempt")
		if _, err := other.ExecContext(ctx, "DELETE FROM attempt WHERE id = 'key'"); err != nil {
			t.Fatal(err)
		}
		if err := other.Commit(); err != nil {
			t.Fatal(err)
		}
		if got := <-done; got.err != nil || got.Failures != 1 {
			t.Errorf("%d are counted, %v", got.Failures, got.err)
		}
	})
}

// TestADatabaseThatIsTooSlowForTheAuditIsAway holds the end of the audit, which each change writes, for longer than its writer
// waits.
func TestADatabaseThatIsTooSlowForTheAuditIsAway(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		other := storetest.Must[*sql.Tx](t)(b.Direct(t).BeginTx(t.Context(), nil))
		defer func() { _ = other.Rollback() }()
		if _, err := other.ExecContext(t.Context(), "UPDATE audit_place SET entry = entry WHERE id = 'head'"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := b.AppendAudit(ctx, "", audit.Entry{Action: "session.create"})
		var said *api.Error
		if !errors.As(err, &said) || said.Code != api.CodeUnavailable || said.RetryAfter <= 0 {
			t.Errorf("got %v", err)
		}
	})
}

// TestAKeyThatIsReleasedWhileItIsReadIsFree has a key released between the attempt to take it and the look at who has it.
func TestAKeyThatIsReleasedWhileItIsReadIsFree(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		if !b.IsPostgres() {
			t.Skip("SQLite has one writer")
		}
		ctx, db, until := t.Context(), b.Direct(t), b.Clock.Now().Add(time.Hour)
		if kept, err := b.Claim(ctx, "key", "print", until); kept != nil || err != nil {
			t.Fatal(kept, err)
		}
		// As long as there are rows in due, each attempt to take a key is followed by its release.
		for _, statement := range []string{
			"CREATE TABLE due (n BIGINT)",
			`CREATE FUNCTION release() RETURNS trigger AS $$ BEGIN
				DELETE FROM due WHERE n = (SELECT MIN(n) FROM due); IF FOUND THEN DELETE FROM idempotency; END IF; RETURN NULL;
			END $$ LANGUAGE plpgsql`,
			"CREATE TRIGGER release AFTER INSERT ON idempotency FOR EACH STATEMENT EXECUTE FUNCTION release()",
			"INSERT INTO due VALUES (1)",
		} {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		if kept, err := b.Claim(ctx, "key", "print", until); kept != nil || err != nil {
			t.Errorf("a key that was released: %v, %v", kept, err)
		}
		if _, err := b.Claim(ctx, "key", "print", until); api.CodeOf(err) != api.CodeConflict {
			t.Errorf("a key that is taken: %v", err)
		}
	})
}

// TestNoRowIsReadThatAnInsertLeftToOthers lists the statements that do nothing where a row is there: what such a row says is
// read by another statement, and it may be gone by then.
func TestNoRowIsReadThatAnInsertLeftToOthers(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"writeClusters": "it reads no row", "OpenEvents": "the row is never removed", "Claim": "it takes a key again that is gone",
		"applications": "it reads no row", "addMessage": "it reads no row", "await": "it reads no row",
	}
	got := map[string]string{}
	var files []string
	err := filepath.WalkDir("..", func(path string, _ fs.DirEntry, err error) error { // all that is kept
		if strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, raw, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING && strings.Contains(lit.Value, "DO NOTHING") {
					got[f.Name.Name] = want[f.Name.Name]
				}
				return true
			})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("functions, and why they are right (-want +got):\n%s\nlock the row with ON CONFLICT DO UPDATE … RETURNING, or say here why it cannot be gone", diff)
	}
}

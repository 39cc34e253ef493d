package db_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// begin does what a server does first.
func begin(ctx context.Context, config db.Config) (err error) {
	s, err := store.Open(ctx, config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := s.Hold(); err != nil {
		return err
	}
	_, err = s.Migrate(ctx, false)
	return err
}

// closedFile makes a database of SQLite of a schema that nobody has open, and that a server has used.
func closedFile(t *testing.T, version int64) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "slipway.db")
	s, err := store.Open(t.Context(), db.Config{URL: path})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Hold()
	if err == nil {
		err = s.MigrateTo(t.Context(), version, nil)
	}
	fillEarlier(t, (&storetest.Bench{Store: s, URL: path}), version)
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAFileThatIsNoDatabaseAnyMoreIsLeftAsItIs(t *testing.T) {
	t.Parallel()
	schemas := db.Schemas()
	newest := schemas[len(schemas)-1]
	for name, c := range map[string]struct {
		version int64
		harm    func(whole []byte) []byte
		said    string
	}{
		"no database":          {newest, func([]byte) []byte { return bytes.Repeat([]byte("hello "), 2000) }, "is no database of SQLite: name another --data directory"},
		"a short text":         {newest, func([]byte) []byte { return []byte("hello") }, "is no database of SQLite"},
		"a damaged header":     {newest, func(whole []byte) []byte { copy(whole[:16], make([]byte, 16)); return whole }, "is no database of SQLite"},
		"nothing left":         {newest, func([]byte) []byte { return nil }, "is empty and was a database before: restore a backup"},
		"half of it":           {newest, func(whole []byte) []byte { return whole[:len(whole)/2] }, "its end is missing: restore a backup"},
		"a page less":          {newest, func(whole []byte) []byte { return whole[:len(whole)-4096] }, "its end is missing"},
		"a byte less":          {newest, func(whole []byte) []byte { return whole[:len(whole)-1] }, "its end is missing"},
		"its first page alone": {newest, func(whole []byte) []byte { return whole[:4096] }, "its end is missing"},
		"a damaged schema":     {newest, func(whole []byte) []byte { copy(whole[100:], bytes.Repeat([]byte{0xA5}, 3000)); return whole }, "is damaged: restore a backup"},
		"damaged, and to be migrated": {1, func(whole []byte) []byte {
			for at := 2 * 4096; at < len(whole); at += 3 * 4096 {
				copy(whole[at:], bytes.Repeat([]byte{0xA5}, 4096))
			}
			return whole
		}, "restore a backup into a new --data directory"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := closedFile(t, c.version)
			whole := storetest.Must[[]byte](t)(os.ReadFile(path))
			harmed := c.harm(bytes.Clone(whole))
			if err := os.WriteFile(path, harmed, 0o600); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it says the same when it is tried again
				err := begin(t.Context(), db.Config{URL: path})
				if err == nil || !strings.Contains(err.Error(), c.said) || !strings.Contains(err.Error(), path) {
					t.Errorf("got %v, want the path and %q", err, c.said)
				}
			}
			if !bytes.Equal(harmed, storetest.Must[[]byte](t)(os.ReadFile(path))) {
				t.Error("the file was changed")
			}
			if err := os.WriteFile(path, whole, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := begin(t.Context(), db.Config{URL: path}); err != nil {
				t.Errorf("the whole file in its place: %v", err)
			}
		})
	}
}

func TestAPathThatIsNoFileOfOursIsSaid(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, said := range map[string]string{
		dir:                                   "is a directory: name another --data directory",
		filepath.Join(file, "a.db"):           "not a directory: name another --data directory",
		filepath.Join(dir, "no", "a.db"):      "no such file or directory: name another --data directory",
		filepath.Join(dir, "missing.db"):      "there is no database at ",
		filepath.Join(dir, "a\nline", "a.db"): "no such file or directory",
	} {
		err := begin(t.Context(), db.Config{URL: path, Existing: strings.Contains(path, "missing")})
		if err == nil || !strings.Contains(err.Error(), said) || !strings.Contains(err.Error(), path) {
			t.Errorf("%q: got %v, want the path and %q", path, err, said)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "missing.db")); err == nil {
		t.Error("a database that had to be there was made")
	}
}

// asNobody runs do on a thread that has no more rights to files than anybody.
func asNobody(t *testing.T, do func() error) error {
	t.Helper()
	if os.Geteuid() != 0 {
		return do()
	}
	const nobody = 65534
	done := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with it
		if err := syscall.Setfsuid(nobody); err != nil {
			done <- err
			return
		}
		done <- do()
	}()
	return <-done
}

func TestADatabaseThatMayNotBeWrittenIsSaid(t *testing.T) {
	t.Parallel()
	schemas := db.Schemas()
	for name, prepare := range map[string]func(path string) error{
		"the file is read-only": func(path string) error { return os.Chmod(path, 0o444) },
		"nobody may read it":    func(path string) error { return os.Chmod(path, 0) },
		"its directory may not be written": func(path string) error {
			return errors.Join(os.Chown(path, 65534, -1), os.Remove(path+".lock"), os.Chmod(filepath.Dir(path), 0o555))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if os.Geteuid() != 0 && name == "its directory may not be written" {
				t.Skip("this needs to give files to somebody else")
			}
			path := closedFile(t, schemas[0])
			before := storetest.Must[[]byte](t)(os.ReadFile(path))
			if err := prepare(path); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.Chmod(filepath.Dir(path), 0o700) })
			for dir := filepath.Dir(path); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
				if info := storetest.Must[os.FileInfo](t)(os.Stat(dir)); info.Mode().Perm()&0o001 == 0 {
					if err := os.Chmod(dir, info.Mode().Perm()|0o001); err != nil {
						t.Fatal(err)
					}
				}
			}
			err := asNobody(t, func() error { return begin(t.Context(), db.Config{URL: path}) })
			if err == nil || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), "give the file and its directory to the user that runs this program") {
				t.Errorf("got %v", err)
			}
			_ = os.Chmod(path, 0o600)
			if !bytes.Equal(before, storetest.Must[[]byte](t)(os.ReadFile(path))) {
				t.Error("the file was changed")
			}
		})
	}
}

func TestACopyThatEverybodyMayReadIsClosedToThem(t *testing.T) {
	t.Parallel()
	path := closedFile(t, 1)
	if err := os.Chmod(path, 0o664); err != nil {
		t.Fatal(err)
	}
	if err := begin(t.Context(), db.Config{URL: path}); err != nil {
		t.Fatal(err)
	}
	if info := storetest.Must[os.FileInfo](t)(os.Stat(path)); info.Mode().Perm() != 0o660 {
		t.Errorf("its mode is %s", info.Mode())
	}
}

func TestADatabaseOfANewerSchemaIsLeftAsItIs(t *testing.T) {
	storetest.OnBoth(t, func(t *testing.T, b *storetest.Bench) {
		ctx := t.Context()
		schemas := db.Schemas()
		newest := schemas[len(schemas)-1]
		url := filepath.Join(t.TempDir(), "newer.db")
		if b.IsPostgres() {
			url = testenv.Postgres(t)
		}
		newer := storetest.Must[*store.Store](t)(store.Open(ctx, db.Config{URL: url, Program: "v9.8.7"}))
		t.Cleanup(func() { _ = newer.Close() })
		storetest.Must[[]string](t)(newer.Migrate(ctx, false))
		b.Store, b.URL = storetest.Must[*store.Store](t)(store.Open(ctx, db.Config{URL: url, Program: "v1.2.3"})), url
		t.Cleanup(func() { _ = b.Close() })
		storetest.Must[[]string](t)(b.Migrate(ctx, false)) // of the same schema: who wrote it is known still
		var backup bytes.Buffer
		if err := newer.Backup(ctx, &backup); err != nil {
			t.Fatal(err)
		}
		direct := b.Direct(t)
		for _, statement := range []string{
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, " + map[bool]string{true: "true", false: "1"}[b.IsPostgres()] + ")",
			"CREATE TABLE something_new (id TEXT PRIMARY KEY)", "DELETE FROM role",
		} {
			if _, err := direct.ExecContext(ctx, statement); err != nil {
				t.Fatal(err)
			}
		}
		before := contentOf(t, b, newest)
		for what, err := range map[string]error{
			"migrate": second(b.Migrate(ctx, false)), "dry run": second(b.Migrate(ctx, true)), "backup": b.Backup(ctx, io.Discard),
			"settled": b.Settled(ctx), "restore": second(b.Restore(ctx, bytes.NewReader(backup.Bytes()), db.RestoreOptions{})),
		} {
			if err == nil || what != "restore" && !strings.Contains(err.Error(),
				fmt.Sprintf("the database has schema 9999, written by slipway-server v9.8.7, and this program knows %d: "+
					"start slipway-server v9.8.7 or a newer one, or restore a backup", newest)) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if diff := cmp.Diff(before, contentOf(t, b, newest)); diff != "" {
			t.Errorf("it was changed (-before +after):\n%s", diff)
		}
		// Of its backup it is said too. Where nothing says who wrote it, it is refused as well.
		if _, err := direct.ExecContext(ctx, "DROP TABLE setting"); err != nil {
			t.Fatal(err)
		}
		if err := second(b.Migrate(ctx, false)); err == nil || !strings.Contains(err.Error(),
			fmt.Sprintf("schema 9999 and this program knows %d: start a newer slipway-server", newest)) {
			t.Errorf("without a program: %v", err)
		}
	})
}

func second[T any](_ T, err error) error { return err }

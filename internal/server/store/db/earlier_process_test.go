package db_test

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"modernc.org/sqlite"

	"github.com/slipway-gitops/slipway/internal/server/store"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

// childEnv has this program migrate a database and kill itself: VERSION STATEMENT PATH.
const childEnv = "SLIPWAY_TEST_STORE_CHILD"

// migrateInAProcess migrates a database of SQLite to a version in a process of its own, which is killed before a statement.
func migrateInAProcess(t *testing.T, path string, version int64, at int) error {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d %s", childEnv, version, at, path))
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL { //nolint:forcetypeassert // of Unix
		return err
	}
	t.Fatalf("a process that migrates was not killed: %v\n%s", err, out)
	return nil
}

// child is what migrateInAProcess runs.
func child(task string) error {
	parts := strings.SplitN(task, " ", 3)
	version, err := strconv.ParseInt(parts[0], 10, 64)
	if err != nil {
		return err
	}
	at, err := strconv.Atoi(parts[1])
	if err != nil {
		return err
	}
	err = sqlite.RegisterScalarFunction("die", 0, func(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	})
	if err != nil {
		return err
	}
	ctx := context.Background()
	s, err := store.Open(ctx, db.Config{URL: parts[2]})
	if err != nil {
		return err
	}
	return errors.Join(s.MigrateTo(ctx, version, insertAt(version, at, "SELECT die()")), s.Close())
}

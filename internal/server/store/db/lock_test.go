package db_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/store/db"
	"github.com/slipway-gitops/slipway/internal/server/store/storetest"
)

func TestOneProcessHasADatabaseOfSQLiteForItself(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.db")
	one, other := storetest.Open(t, path, true), storetest.Open(t, path, false)
	if err := one.Hold(); err != nil {
		t.Fatal(err)
	}
	if err := one.Hold(); err != nil {
		t.Errorf("the same one again: %v", err)
	}
	err := other.Hold()
	if !errors.Is(err, db.ErrHeld) || !strings.Contains(err.Error(), fmt.Sprintf("process %d on ", os.Getpid())) || !strings.Contains(err.Error(), path) {
		t.Errorf("another one has it too, or is not told who has it: %v", err)
	}
	if err := one.Close(); err != nil {
		t.Fatal(err)
	}
	if err := other.Hold(); err != nil {
		t.Errorf("what was given back is not to be had: %v", err)
	}
}

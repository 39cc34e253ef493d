package db

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestADatabaseThatIsAwayIsToldAndMayBeTriedAgain(t *testing.T) {
	t.Parallel()
	server := testenv.PrivatePostgres(t)
	s, err := Open(t.Context(), Config{URL: server.URL()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	away := func(what string, err error) {
		t.Helper()
		var said *api.Error
		if !errors.Is(err, ErrAway) || !errors.As(err, &said) || said.Code != api.CodeUnavailable || said.RetryAfter <= 0 {
			t.Errorf("%s: got %v", what, err)
		}
	}
	get := func() error {
		return s.Read(t.Context(), func(tx Tx) error {
			var id string
			return tx.One(t.Context(), "SELECT id FROM organization WHERE id = ?", []any{"acme"}, &id)
		})
	}
	answers := func(err error) bool { return err == nil || errors.Is(err, ErrNotFound) }
	// The connection of a transaction ends under it, however the server ends. Its processes find out by themselves that the
	// first one was killed: they answer until then, and a connection that ended meanwhile is found when it is used.
	for what, end := range map[string]func(){"stopped": server.Stop, "killed": server.Kill} {
		away(what+" in a transaction", s.Write(t.Context(), func(tx Tx) (err error) {
			end()
			for began := time.Now(); err == nil && time.Since(began) < time.Minute; {
				_, err = tx.Exec(t.Context(), "DELETE FROM organization WHERE id = ?", "none")
			}
			return err
		}))
		err := get()
		for began := time.Now(); answers(err) && time.Since(began) < time.Minute; {
			err = get()
		}
		away(what+" before it", err)
		server.Start()
		err = get()
		for began := time.Now(); errors.Is(err, ErrAway) && time.Since(began) < time.Minute; {
			err = get()
		}
		if !answers(err) {
			t.Errorf("it is there again after it was %s: got %v", what, err)
		}
	}
}

func TestOnlyTheDatabaseIsBlamedForWhatIsItsFault(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "slipway.db")
	s, err := Open(t.Context(), Config{URL: path})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if _, err := s.Migrate(t.Context(), false); err != nil {
		t.Fatal(err)
	}
	// Another process has the lock and does not give it back.
	other, err := sql.Open("sqlite", "file:"+path+"?_txlock=immediate&_busy_timeout=0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	held, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, busy := other.BeginTx(t.Context(), nil)
	if err := reached(t.Context(), busy); !errors.Is(err, ErrAway) || api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("a lock that is not given back: got %v", err)
	}
	if err := held.Rollback(); err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, late := other.BeginTx(ended, nil)
	tight, cancelTight := context.WithTimeout(t.Context(), 0)
	defer cancelTight()
	_, slow := other.BeginTx(tight, nil)
	if err := reached(tight, slow); !errors.Is(err, ErrAway) || !errors.Is(err, context.DeadlineExceeded) || api.CodeOf(err) != api.CodeUnavailable {
		t.Errorf("what is not done in time: got %v", err)
	}
	_, wrong := other.ExecContext(t.Context(), "SELECT nothing FROM nowhere")
	for name, err := range map[string]error{
		"who asked has gone": reached(ended, errors.Join(busy, late)), "a query that is wrong": reached(t.Context(), wrong),
		"what is not there": reached(t.Context(), NotFound("thing", "a")),
	} {
		if err == nil || errors.Is(err, ErrAway) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

package testenv_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestEachTestGetsAnEmptyDatabaseOfItsOwn(t *testing.T) {
	t.Parallel()
	first, second := testenv.Postgres(t), testenv.Postgres(t)
	if first == second {
		t.Fatalf("both are %s", first)
	}
	for _, address := range []string{first, second} {
		connection, err := pgx.Connect(t.Context(), address)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := connection.Exec(t.Context(), "CREATE TABLE same (id BIGINT)"); err != nil {
			t.Error(err)
		}
		if err := connection.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
}

func TestAServerThatIsStoppedOrKilledHasWhatWasCommitted(t *testing.T) {
	t.Parallel()
	server := testenv.PrivatePostgres(t)
	do := func(statement string) (count int) {
		t.Helper()
		connection, err := pgx.Connect(t.Context(), server.URL())
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = connection.Close(t.Context()) }()
		if _, err := connection.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		if err := connection.QueryRow(t.Context(), "SELECT COUNT(*) FROM kept").Scan(&count); err != nil {
			t.Fatal(err)
		}
		return count
	}
	do("CREATE TABLE kept (id BIGINT)")
	for want, end := range []func(){server.Kill, server.Stop, server.Kill} {
		if got := do("INSERT INTO kept VALUES (1)"); got != want+1 {
			t.Errorf("%d rows after %d ends, want %d", got, want, want+1)
		}
		end()
		if connection, err := pgx.Connect(t.Context(), server.URL()); err == nil {
			t.Errorf("it answers after its end: %v", connection.Close(t.Context()))
		}
		server.Start()
	}
}

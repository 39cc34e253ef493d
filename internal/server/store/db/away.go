package db

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	sqlitedriver "modernc.org/sqlite"
	sqlitecode "modernc.org/sqlite/lib"

	"github.com/slipway-gitops/slipway/api"
)

// awaySeconds is in how long to try again: a database that was restarted, or whose place another one took, is there by
// then or soon after.
const awaySeconds = 5

// away is the error of a database that is away: its text is for the log, and what it says to people is an [api.Error].
type away struct{ cause error }

func (a *away) Error() string { return fmt.Sprintf("%v: %v", ErrAway, a.cause) }

func (a *away) Unwrap() []error {
	return []error{ErrAway, a.cause, &api.Error{
		Code: api.CodeUnavailable, RetryAfter: awaySeconds,
		Message: fmt.Sprintf("the database of the server cannot do this just now: try again in %d seconds; if it stays like this, "+
			"the log of the server has the cause", awaySeconds),
	}}
}

// reached makes the error of a transaction ErrAway where the database is to blame, and neither the query nor who asked. A
// database that does not do it within the time that its caller gives it is to blame as well.
func reached(ctx context.Context, err error) error {
	var said *api.Error
	late := errors.Is(ctx.Err(), context.DeadlineExceeded)
	if err == nil || ctx.Err() != nil && !late || errors.As(err, &said) || !late && !isAway(err) {
		return err
	}
	return &away{err}
}

// isAway reports whether the same could succeed once the database is there again.
func isAway(err error) bool {
	var pg *pgconn.PgError
	if errors.As(err, &pg) {
		return pgAway(pg.Code)
	}
	var lite *sqlitedriver.Error
	if errors.As(err, &lite) {
		switch lite.Code() & 0xff { // the rest says more of the same
		case sqlitecode.SQLITE_BUSY, sqlitecode.SQLITE_LOCKED, sqlitecode.SQLITE_IOERR, sqlitecode.SQLITE_FULL, sqlitecode.SQLITE_CANTOPEN:
			return true
		}
		return false
	}
	var dial *pgconn.ConnectError
	var network net.Error
	for _, known := range []error{driver.ErrBadConn, sql.ErrConnDone, pgconn.ErrConnClosed, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed} {
		if errors.Is(err, known) {
			return true
		}
	}
	return errors.As(err, &dial) || errors.As(err, &network) || pgconn.SafeToRetry(err)
}

// pgAway reports whether a code of PostgreSQL says that it is away: it begins or ends, has no room for one more, is not
// reached with what the server was given, or has called a transaction back too often.
func pgAway(code string) bool {
	for _, class := range []string{"08", "28", "3D", "40", "53", "57P", "58"} {
		if strings.HasPrefix(code, class) {
			return true
		}
	}
	return false
}

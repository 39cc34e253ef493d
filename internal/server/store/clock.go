package store

import (
	"context"
	"fmt"
	"time"
)

// clock is the time of the database, which is the same for all servers: of
// SQLite, which has one server, that of the program.
func (t tx) clock(ctx context.Context) (now int64, err error) {
	if t.dialect == sqlite {
		return t.now, nil
	}
	err = t.one(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", nil, &now)
	if err != nil {
		return 0, fmt.Errorf("read the clock of the database: %w", err)
	}
	return now, nil
}

// A time that is further ahead than any hold or pause leads was kept before the
// clock went back. It counts as passed: otherwise work would wait until the clock
// is there again.
const (
	// clockAhead is how far a clock may go back without that.
	clockAhead = time.Minute
	// longestPause is longer than any pause between two attempts at something.
	longestPause = 25 * time.Hour
)

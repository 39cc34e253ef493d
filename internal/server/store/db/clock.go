package db

import (
	"context"
	"fmt"
	"time"
)

// Clock is the time of the database, which is the same for all servers: of
// SQLite, which has one server, that of the program.
func (t Tx) Clock(ctx context.Context) (now int64, err error) {
	if t.dialect == sqlite {
		return t.Now, nil
	}
	err = t.One(ctx, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint", nil, &now)
	if err != nil {
		return 0, fmt.Errorf("read the clock of the database: %w", err)
	}
	return now, nil
}

// A time that is further ahead than any hold or pause leads was kept before the
// clock went back. It counts as passed: otherwise work would wait until the clock
// is there again.
const (
	// ClockAhead is how far a clock may go back without that.
	ClockAhead = time.Minute
	// LongestPause is longer than any pause between two attempts at something.
	LongestPause = 25 * time.Hour
)

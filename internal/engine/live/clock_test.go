package live

import (
	"context"
	"testing"
	"time"
)

func TestPausesOnAClockEndWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	pause := ClockUntil(ctx).After(time.Hour)
	select {
	case <-pause:
		t.Fatal("the pause was over before its time")
	default:
	}
	cancel()
	<-pause
	<-ClockUntil(ctx).After(time.Hour)
	<-ClockUntil(t.Context()).After(time.Microsecond)
}

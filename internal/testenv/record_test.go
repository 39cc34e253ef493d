package testenv

import (
	"fmt"
	"testing"
	"time"
)

func TestARecordIsAwaited(t *testing.T) {
	t.Parallel()
	r := NewRecord()
	for round := range 3 {
		before := r.Count("connected")
		done := make(chan struct{})
		go func() {
			defer close(done)
			for n := range 10 {
				fmt.Fprintf(r, "line %d\n", n)
			}
			fmt.Fprintln(r, "connected")
		}()
		r.AwaitAgain(t, time.Minute, "connected", before)
		<-done
		if n := r.Count("connected"); n != round+1 {
			t.Errorf("%d times in round %d", n, round)
		}
	}
	r.Await(t, time.Minute, "line 9")
}

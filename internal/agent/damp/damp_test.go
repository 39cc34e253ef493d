package damp

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// reports keeps what was reported: "what +more".
type reports struct {
	mu   sync.Mutex
	list []string
}

func (o *reports) report(what string) Report {
	return func(more int, since time.Time) {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.list = append(o.list, fmt.Sprintf("%s +%d", what, more))
		if more > 0 && since.IsZero() {
			o.list = append(o.list, "since when is not known")
		}
	}
}

func (o *reports) check(t *testing.T, want ...string) {
	t.Helper()
	synctest.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	if !slices.Equal(o.list, want) {
		t.Errorf("%s: reported %q, want %q", time.Now().Format(time.TimeOnly), o.list, want)
	}
}

func TestWhatRepeatsIsReportedOnceInAWindowWithTheNumberOfTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, o := New[string](time.Minute+time.Second/4), &reports{}
		defer d.FlushAll()
		for i := range 150 { // one a second, through two windows and into the third
			d.Offer("web", o.report(fmt.Sprint("web", i)))
			if i == 10 {
				d.Offer("api", o.report("api"))
			}
			<-time.After(time.Second)
		}
		o.check(t, "web0 +0", "api +0", "web60 +59", "web120 +59")
		<-time.After(time.Minute)
		o.check(t, "web0 +0", "api +0", "web60 +59", "web120 +59", "web149 +28")
		<-time.After(time.Minute) // nothing in it
		d.Offer("web", o.report("later"))
		o.check(t, "web0 +0", "api +0", "web60 +59", "web120 +59", "web149 +28", "later +0")
	})
}

func TestWhatIsHeldBackIsReportedWhenItIsFlushed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, o := New[string](time.Minute), &reports{}
		for _, key := range []string{"web", "api"} {
			for i := range 3 {
				d.Offer(key, o.report(fmt.Sprint(key, i)))
			}
		}
		d.Flush("web")
		d.Flush("web")
		d.Flush("unknown")
		o.check(t, "web0 +0", "api0 +0", "web2 +1")
		d.Offer("web", o.report("again"))
		d.FlushAll()
		d.Offer("api", o.report("late"))
		o.check(t, "web0 +0", "api0 +0", "web2 +1", "again +0", "api2 +1", "late +0")
		<-time.After(time.Hour)
		o.check(t, "web0 +0", "api0 +0", "web2 +1", "again +0", "api2 +1", "late +0")
	})
}

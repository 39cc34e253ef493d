package project_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/project"
)

// windowsOf returns the windows of an application called web, which has all of them.
func windowsOf(t testing.TB, list ...v1alpha1.SyncWindow) project.Windows {
	t.Helper()
	for i := range list {
		list[i].Applications = []string{"*"}
	}
	return rules(t, v1alpha1.AppProjectSpec{SyncWindows: list}).Windows(project.AppFacts{Name: "web"})
}

func deny(schedule, duration, zone string) v1alpha1.SyncWindow {
	return v1alpha1.SyncWindow{Kind: v1alpha1.SyncWindowDeny, Schedule: schedule, Duration: duration, TimeZone: zone}
}

func allow(schedule, duration, zone string) v1alpha1.SyncWindow {
	return v1alpha1.SyncWindow{Kind: v1alpha1.SyncWindowAllow, Schedule: schedule, Duration: duration, TimeZone: zone}
}

func at(t testing.TB, text string) time.Time {
	t.Helper()
	out, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestAVerdictTellsUntilWhenItHolds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		windows []v1alpha1.SyncWindow
		now     string
		allowed bool
		until   string // "" for never
	}{
		{"a freeze that is on", []v1alpha1.SyncWindow{deny("0 22 * * *", "8h", "")}, "2026-11-21T23:00:00Z", false, "2026-11-22T06:00:00Z"},
		{"a freeze begins with its first second", []v1alpha1.SyncWindow{deny("0 22 * * *", "8h", "")}, "2026-11-21T22:00:00Z", false, "2026-11-22T06:00:00Z"},
		{"and is over with its last", []v1alpha1.SyncWindow{deny("0 22 * * *", "8h", "")}, "2026-11-22T06:00:00Z", true, "2026-11-22T22:00:00Z"},
		{"a freeze to come", []v1alpha1.SyncWindow{deny("0 22 * * *", "8h", "")}, "2026-11-21T12:00:00Z", true, "2026-11-21T22:00:00Z"},
		{"every minute of an hour", []v1alpha1.SyncWindow{deny("* 22 * * *", "1h", "")}, "2026-11-21T22:30:00Z", false, "2026-11-21T23:59:00Z"},
		{"always", []v1alpha1.SyncWindow{deny("* * * * *", "1h", "")}, "2026-11-21T12:00:00Z", false, ""},
		{"always, in a zone", []v1alpha1.SyncWindow{deny("* * * * *", "1m", "Europe/Berlin")}, "2026-11-21T12:00:00Z", false, ""},
		{"whole days touch", []v1alpha1.SyncWindow{deny("0 0 * * *", "24h", "")}, "2026-11-21T12:00:00Z", false, ""},
		{"but not where a day has 25 hours", []v1alpha1.SyncWindow{deny("0 0 * * *", "24h", "Europe/Berlin")}, "2026-10-24T12:00:00Z", false, "2026-10-25T22:00:00Z"},
		{"the days of the week touch", []v1alpha1.SyncWindow{deny("0 0 * * 6,0", "24h", "")}, "2026-11-21T12:00:00Z", false, "2026-11-23T00:00:00Z"},
		{"never", []v1alpha1.SyncWindow{allow("0 0 30 2 *", "1h", "")}, "2026-11-21T12:00:00Z", false, ""},
		{"in a leap year only", []v1alpha1.SyncWindow{allow("0 0 29 2 *", "1h", "")}, "2026-11-21T12:00:00Z", false, "2028-02-29T00:00:00Z"},
		{"an allow window that is over", []v1alpha1.SyncWindow{allow("0 9 * * 1-5", "8h", "Europe/Berlin")}, "2026-11-20T17:00:00Z", false, "2026-11-23T08:00:00Z"},
		{"two that follow each other", []v1alpha1.SyncWindow{allow("0 9 * * *", "1h", ""), allow("0 10 * * *", "1h", "")}, "2026-11-20T09:30:00Z", true, "2026-11-20T11:00:00Z"},
		{"a freeze within an allow window", []v1alpha1.SyncWindow{allow("0 9 * * *", "8h", ""), deny("0 12 * * *", "1h", "")}, "2026-11-20T12:30:00Z", false, "2026-11-20T13:00:00Z"},
		{"a freeze that ends outside of it", []v1alpha1.SyncWindow{allow("0 9 * * *", "4h", ""), deny("0 12 * * *", "2h", "")}, "2026-11-20T12:30:00Z", false, "2026-11-21T09:00:00Z"},
		{"none", nil, "2026-11-20T12:30:00Z", true, ""},
		{"a freeze at a time that the night leaves out", []v1alpha1.SyncWindow{deny("30 2 * * *", "1h", "Europe/Berlin")}, "2026-03-29T01:10:00Z", false, "2026-03-29T02:00:00Z"},
		{"and at one that it has twice", []v1alpha1.SyncWindow{deny("30 2 * * *", "30m", "Europe/Berlin")}, "2026-10-25T00:45:00Z", false, "2026-10-25T01:00:00Z"},
		{"the second time", []v1alpha1.SyncWindow{deny("30 2 * * *", "30m", "Europe/Berlin")}, "2026-10-25T01:45:00Z", false, "2026-10-25T02:00:00Z"},
		{"a word for a schedule", []v1alpha1.SyncWindow{deny("@daily", "1h", "")}, "2026-10-25T00:45:00Z", false, "2026-10-25T01:00:00Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v := windowsOf(t, c.windows...).CanSync(false, at(t, c.now))
			until := ""
			if !v.Until.IsZero() {
				until = v.Until.Format(time.RFC3339)
			}
			if v.Allowed != c.allowed || until != c.until {
				t.Errorf("allowed %v until %q, want %v until %q: %s", v.Allowed, until, c.allowed, c.until, v.Reason)
			}
			if v.Allowed != (v.Reason == "") {
				t.Errorf("reason %q of %v", v.Reason, v.Allowed)
			}
		})
	}
}

func TestAVerdictNamesItsWindow(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T23:00:00Z")
	manual := deny("0 22 * * *", "8h", "")
	manual.ManualSync = true
	w := windowsOf(t, manual, deny("0 23 * * *", "1h", ""))
	for _, c := range []struct {
		name, got, want string
	}{
		{"the longer one", w.CanSync(false, now).Reason, `sync window deny "0 22 * * *" of project team is active until 2026-11-22T06:00:00Z`},
		{"the one that forbids a manual sync", w.CanSync(true, now).Reason, `sync window deny "0 23 * * *" of project team is active until 2026-11-22T00:00:00Z`},
		{"short", w.CanSync(true, now).Window, `deny "0 23 * * *"`},
		{
			"the next one that allows", windowsOf(t, allow("0 9 * * *", "1h", ""), allow("0 1 * * *", "1h", "")).CanSync(false, now).Reason,
			`sync window allow "0 1 * * *" of project team is not active until 2026-11-22T01:00:00Z, and there is no earlier one`,
		},
		{
			"none ever", windowsOf(t, allow("0 9 31 2 *", "1h", "")).CanSync(false, now).Reason,
			`sync window allow "0 9 31 2 *" of project team is not active, and never will be`,
		},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestAWindowThatCannotBeReadHoldsEverySync(t *testing.T) {
	t.Parallel()
	for _, w := range []v1alpha1.SyncWindow{
		deny("0 22 * *", "1h", ""), deny("0 25 * * *", "1h", ""), deny("0 22 * * *", "soon", ""), deny("0 22 * * *", "-1h", ""),
		deny("0 22 * * *", "1h", "Mars/Olympus"), deny("0 22 * * *", "1h", "Local"), deny("0 22 * * *", "1h", "../../etc/passwd"),
		deny("TZ=UTC", "1h", ""), deny("@every 1h", "1h", ""),
		{Kind: "freeze", Schedule: "* * * * *", Duration: "1h"},
	} {
		v := windowsOf(t, w).CanSync(true, at(t, "2026-11-21T12:00:00Z"))
		if v.Allowed || !v.Until.IsZero() || !strings.Contains(v.Reason, "of project team cannot be read") {
			t.Errorf("%+v: %+v", w, v)
		}
	}
}

func TestAWindowOfAnotherApplicationIsNone(t *testing.T) {
	t.Parallel()
	w := deny("x", "x", "")
	w.Clusters = []string{"prod*"}
	r := rules(t, v1alpha1.AppProjectSpec{SyncWindows: []v1alpha1.SyncWindow{w}})
	if v := r.Windows(project.AppFacts{Name: "prod", Namespace: "prod", Cluster: project.Cluster{Server: "https://test"}}).CanSync(false, at(t, "2026-11-21T12:00:00Z")); !v.Allowed {
		t.Errorf("%+v", v)
	}
	for _, c := range []project.Cluster{{Name: "prod1", Server: "https://x"}, {Server: "prod2"}} {
		if v := r.Windows(project.AppFacts{Name: "web", Cluster: c}).CanSync(false, at(t, "2026-11-21T12:00:00Z")); v.Allowed {
			t.Errorf("%+v: %+v", c, v)
		}
	}
}

// zones have clocks that are changed by an hour, by half of one, at midnight, twice around a month, by a whole day, or
// not at all.
func zones() []string {
	return []string{
		"", "UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "America/Santiago", "Africa/Casablanca",
		"Asia/Kathmandu", "Pacific/Apia", "Asia/Dhaka",
	}
}

// turns are moments shortly before which, or after which, a clock is changed somewhere.
func turns() []string {
	return []string{
		"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z", "2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z", "2026-04-04T15:00:00Z",
		"2026-10-03T15:30:00Z", "2026-04-23T22:00:00Z", "2026-10-29T21:00:00Z", "2026-04-05T03:00:00Z", "2026-09-06T04:00:00Z",
		"2026-02-15T02:00:00Z", "2026-03-22T02:00:00Z", "2011-12-30T10:00:00Z", "2026-06-15T12:00:00Z", "2028-02-29T00:00:00Z",
	}
}

func aWindow() *rapid.Generator[v1alpha1.SyncWindow] {
	return rapid.Custom(func(t *rapid.T) v1alpha1.SyncWindow {
		field := func(name string, low, high int) string {
			a := rapid.IntRange(low, high).Draw(t, name)
			b := rapid.IntRange(a, high).Draw(t, name+" to")
			return rapid.SampledFrom([]string{
				"*", "*", fmt.Sprint(a), fmt.Sprintf("%d-%d", a, b), fmt.Sprintf("%d,%d", a, b), fmt.Sprintf("*/%d", max(a, 1)), fmt.Sprintf("%d-%d/3", a, b),
			}).Draw(t, name+" form")
		}
		day, weekday := "*", "*"
		switch rapid.IntRange(0, 4).Draw(t, "days") {
		case 0:
			day = field("day", 1, 31)
		case 1:
			weekday = field("weekday", 0, 6)
		case 2:
			day, weekday = field("day", 1, 31), field("weekday", 0, 6)
		}
		return v1alpha1.SyncWindow{
			Kind:        rapid.SampledFrom([]string{v1alpha1.SyncWindowAllow, v1alpha1.SyncWindowDeny}).Draw(t, "kind"),
			Schedule:    field("minute", 0, 59) + " " + field("hour", 0, 23) + " " + day + " * " + weekday,
			Duration:    rapid.SampledFrom([]string{"20s", "1m", "7m", "30m", "1h", "1h30m", "3h", "12h", "24h", "25h", "50h"}).Draw(t, "duration"),
			TimeZone:    rapid.SampledFrom(zones()).Draw(t, "zone"),
			ManualSync:  rapid.Bool().Draw(t, "manual"),
			SyncOverrun: rapid.Bool().Draw(t, "overrun"),
		}
	})
}

func aTime() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		turn, err := time.Parse(time.RFC3339, rapid.SampledFrom(turns()).Draw(t, "turn"))
		if err != nil {
			t.Fatal(err)
		}
		return turn.Add(time.Duration(rapid.IntRange(-30*60*60, 30*60*60).Draw(t, "seconds")) * time.Second)
	})
}

// fieldHas reads one field of a schedule in the plainest way.
func fieldHas(t *rapid.T, text string, value, low, high int) bool {
	for part := range strings.SplitSeq(text, ",") {
		values, stepText, stepped := strings.Cut(part, "/")
		step := 1
		if stepped {
			if _, err := fmt.Sscan(stepText, &step); err != nil {
				t.Fatal(err)
			}
		}
		from, to := low, high
		if values != "*" {
			if n, _ := fmt.Sscanf(values, "%d-%d", &from, &to); n == 1 && !stepped {
				to = from
			}
		}
		if value >= from && value <= to && (value-from)%step == 0 {
			return true
		}
	}
	return false
}

// startsAt reports whether a schedule names a time of a wall clock.
func startsAt(t *rapid.T, schedule string, wall time.Time) bool {
	f := strings.Fields(schedule)
	day, weekday := fieldHas(t, f[2], wall.Day(), 1, 31), fieldHas(t, f[4], int(wall.Weekday()), 0, 6)
	days := day || weekday
	if f[2] == "*" || f[4] == "*" || f[2] == "*/1" || f[4] == "*/1" {
		days = day && weekday
	}
	return days && fieldHas(t, f[0], wall.Minute(), 0, 59) && fieldHas(t, f[1], wall.Hour(), 0, 23)
}

// openAt says whether a window is open by walking over every minute in which it may have begun.
func openAt(t *rapid.T, w v1alpha1.SyncWindow, now time.Time) bool {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		t.Fatal(err)
	}
	length, err := time.ParseDuration(w.Duration)
	if err != nil {
		t.Fatal(err)
	}
	wall := func(u time.Time) time.Time {
		_, offset := u.In(zone).Zone()
		return u.UTC().Add(time.Duration(offset) * time.Second)
	}
	for u := now.Truncate(time.Minute); u.After(now.Add(-length)); u = u.Add(-time.Minute) {
		// The walls from that of the minute before to this one: more than one where the clock leaps.
		for missed := wall(u); missed.After(wall(u.Add(-time.Minute))) && wall(u).Sub(missed) <= 25*time.Hour; missed = missed.Add(-time.Minute) {
			if startsAt(t, w.Schedule, missed) {
				return true
			}
		}
		if startsAt(t, w.Schedule, wall(u)) {
			return true
		}
	}
	return false
}

func TestAWindowIsOpenWhenOneOfItsStartsIsLessThanItsDurationAgo(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		w, now := aWindow().Draw(r, "window"), aTime().Draw(r, "now")
		w.Kind = v1alpha1.SyncWindowDeny
		if got, want := !windowsOf(t, w).CanSync(false, now).Allowed, openAt(r, w, now); got != want {
			r.Fatalf("open %v, want %v", got, want)
		}
	})
}

func TestAVerdictHoldsUntilItSaysAndNoLonger(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		list, now := rapid.SliceOfN(aWindow(), 1, 4).Draw(r, "windows"), aTime().Draw(r, "now")
		manual := rapid.Bool().Draw(r, "manual")
		w := windowsOf(t, list...)
		v := w.CanSync(manual, now)
		end, exact := v.Until, true
		if end.IsZero() {
			end = now.Add(200 * 24 * time.Hour)
		} else if then := w.CanSync(manual, end); then.Allowed == v.Allowed {
			if exact = false; end.Sub(now) < 3*time.Hour { // windows that change all the time are not looked at for ever
				r.Fatalf("the answer at %s is still %v: %s", end, v.Allowed, then.Reason)
			}
		}
		if !end.After(now) {
			r.Fatalf("%s is not after %s", end, now)
		}
		moments := []time.Time{end.Add(-time.Nanosecond)}
		for range 4 {
			part := rapid.Int64Range(0, int64(end.Sub(now))-1).Draw(r, "later")
			moments = append(moments, now.Add(time.Duration(part)), now.Add(time.Duration(part)).Truncate(time.Minute))
		}
		for _, m := range moments {
			if m.Before(now) {
				continue
			}
			if then := w.CanSync(manual, m); then.Allowed != v.Allowed || exact && !then.Until.Equal(v.Until) {
				r.Fatalf("at %s: %v until %s, and at %s: %v until %s", now, v.Allowed, v.Until, m, then.Allowed, then.Until)
			}
		}
	})
}

func TestWindowsTogetherDoWhatEachOfThemDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		list, now := rapid.SliceOfN(aWindow(), 0, 5).Draw(r, "windows"), aTime().Draw(r, "now")
		denied, excepted, allows, opened := false, true, false, false
		closedExcepted := true
		for _, w := range list {
			open := openAt(r, w, now)
			switch {
			case w.Kind == v1alpha1.SyncWindowDeny && open:
				denied, excepted = true, excepted && w.ManualSync
			case w.Kind == v1alpha1.SyncWindowAllow:
				allows, opened = true, opened || open
				closedExcepted = closedExcepted && w.ManualSync
			}
		}
		automatic := !denied && (!allows || opened)
		manual := automatic || denied && excepted || !denied && closedExcepted
		w := windowsOf(t, list...)
		if got := w.CanSync(false, now).Allowed; got != automatic {
			r.Fatalf("automatic: %v, want %v", got, automatic)
		}
		if got := w.CanSync(true, now).Allowed; got != manual {
			r.Fatalf("manual: %v, want %v", got, manual)
		}
		started := now.Add(-time.Duration(rapid.IntRange(0, 48*60).Draw(r, "minutes")) * time.Minute)
		running := w.MayContinue(false, started, now).Allowed
		if automatic && !running {
			r.Fatal("what may start may not go on")
		}
		if running && !automatic && !w.CanSync(false, started).Allowed {
			r.Fatal("what was not allowed to start may go on")
		}
	})
}

func TestManyRestlessWindowsTakeBoundedTime(t *testing.T) {
	t.Parallel()
	list := []v1alpha1.SyncWindow{deny("0 0 * * *", "25h", "Europe/Berlin")}
	for i := range 999 {
		list = append(list, deny("* * * * *", fmt.Sprintf("%dms", i+1), "Africa/Cairo"))
	}
	w := windowsOf(t, list...)
	start := time.Now()
	v := w.CanSync(false, at(t, "2026-11-21T12:00:00Z"))
	if took := time.Since(start); v.Allowed || took > 5*time.Second {
		t.Errorf("it took %s: %+v", took, v)
	}
	p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SyncWindows: append(list, list[0])}}
	if _, err := project.New(p); err == nil || !strings.Contains(err.Error(), "more than 1000") {
		t.Errorf("a window more: %v", err)
	}
}

func TestAFreezeIsOverAtItsEndHoweverManyWindowsItHides(t *testing.T) {
	t.Parallel()
	list := []v1alpha1.SyncWindow{deny("0 22 * * *", "8h", "")}
	for i := range 300 {
		list = append(list, deny("* * * * *", fmt.Sprintf("%dms", 100*(i+1)), zones()[i%len(zones())]))
	}
	v := windowsOf(t, list...).CanSync(false, at(t, "2026-11-21T22:30:00Z"))
	if want := at(t, "2026-11-22T06:00:30Z"); v.Allowed || !v.Until.Equal(want) {
		t.Errorf("%+v, want until %s", v, want)
	}
}

func TestWindowsThatRelieveEachOtherForEverAreAskedAgain(t *testing.T) {
	t.Parallel()
	now := at(t, "2026-11-21T22:30:00Z")
	v := windowsOf(t, deny("*/2 * * * *", "1m", ""), deny("1-59/2 * * * *", "1m", "")).CanSync(false, now)
	if v.Allowed || v.Until.Before(now.Add(3*time.Hour)) {
		t.Errorf("%+v", v)
	}
	if v = manyWindows(t, deny("*/2 * * * *", "1m", ""), deny("1-59/2 * * * *", "1m", "")).CanSync(false, now); v.Allowed || v.Until.Before(now.Add(20*time.Minute)) {
		t.Errorf("of a hundred: %+v", v)
	}
}

func FuzzSyncWindow(f *testing.F) {
	for _, seed := range []string{"* * * * *", "0 22 * * 1-5", "*/7 1,2-4/3 ? jan-mar mon", "TZ=x", "CRON_TZ=UTC 1 2 3 4 5", "@daily", "@every 1h", "60 * * * *"} {
		f.Add(seed, "1h30m", "Europe/Berlin", int64(1_780_000_000))
	}
	f.Fuzz(func(t *testing.T, schedule, duration, zone string, now int64) {
		const years = 100 * 366 * 24 * 60 * 60
		when := time.Unix(now%years, 0)
		for _, kind := range []string{v1alpha1.SyncWindowAllow, v1alpha1.SyncWindowDeny} {
			w := v1alpha1.SyncWindow{Kind: kind, Schedule: schedule, Duration: duration, TimeZone: zone, Applications: []string{"*"}}
			p := &v1alpha1.AppProject{Spec: v1alpha1.AppProjectSpec{SyncWindows: []v1alpha1.SyncWindow{w}}}
			invalid := project.Validate(p)
			r, err := project.New(p)
			if err != nil {
				t.Fatal(err)
			}
			v := r.Windows(project.AppFacts{Name: "web"}).CanSync(false, when)
			if invalid != nil && v.Allowed {
				t.Errorf("a window that is not valid (%v) allows a sync", invalid)
			}
			if !v.Until.IsZero() && !v.Until.After(when) {
				t.Errorf("an answer at %s holds until %s", when, v.Until)
			}
		}
	})
}

// manyWindows returns a hundred, made from those given, in turn in several zones, so that no two are the same.
func manyWindows(t testing.TB, list ...v1alpha1.SyncWindow) project.Windows {
	t.Helper()
	var out []v1alpha1.SyncWindow
	for i := range 100 {
		w := list[i%len(list)]
		w.TimeZone = zones()[i%len(zones())]
		w.Duration = fmt.Sprintf("%s%dms", w.Duration, i)
		out = append(out, w)
	}
	return windowsOf(t, out...)
}

// BenchmarkCanSync should stay below 100 µs for what people write, and below 5 ms for what they had better not.
func BenchmarkCanSync(b *testing.B) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		name    string
		windows project.Windows
	}{
		{"freeze", windowsOf(b, deny("0 22 * * 1-5", "8h", "Europe/Berlin"), allow("0 6 * * *", "16h", "Europe/Berlin"))},
		{"always", windowsOf(b, deny("* * * * *", "1h", ""))},
		{"nearly always", windowsOf(b, deny("0 0 * * *", "25h", "Europe/Berlin"))},
		{"never", windowsOf(b, allow("0 0 30 2 *", "1h", "Europe/Berlin"))},
		{"100 freezes and working hours", manyWindows(b, deny("0 22 * * 1-5", "8h", ""), allow("0 9 * * *", "9h", ""), deny("0 0 24 12 *", "72h", ""))},
		{"100 restless", manyWindows(b, deny("* * * * *", "59s", ""), deny("* * * * *", "1m", ""), deny("* * * * *", "1h", ""))},
		{"100 rare", manyWindows(b, allow("0 0 29 2 *", "1h", ""), allow("0 0 30 2 *", "1h", ""), deny("0 0 29 2 1", "1h", ""))},
		{"100 nearly always open", manyWindows(b, deny("0 0 * * *", "25h", ""), deny("*/2 * * * *", "2m", ""), allow("0 0 * * 1-6", "50h", ""))},
		{"100 that relieve each other", manyWindows(b, deny("*/2 * * * *", "1m", ""), deny("1-59/2 * * * *", "1m", ""))},
		{"100 of all kinds", manyWindows(b, allow("* * * * *", "59s", ""), deny("* * * * *", "1m", ""), deny("0 0 29 2 *", "1h", ""), allow("0 0 * * *", "25h", ""))},
	} {
		b.Run(c.name, func(b *testing.B) {
			for b.Loop() {
				_ = c.windows.CanSync(false, now)
			}
		})
	}
}

package project

import (
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
	"time"
	_ "time/tzdata" // so that a zone means the same on every machine

	"github.com/robfig/cron/v3"
)

// horizon is how far a schedule is looked ahead and back, in days. Every date that there is comes within eight years:
// the 29th of February is left out at most once.
const horizon = 9 * 366

// day is the length of a day of the calendar in seconds; clocks that are changed come into it in last and next.
const day = 24 * 60 * 60

// schedule says when a window opens: at which minutes of a wall clock.
//
// Where the clock is put back, the minutes that come twice count twice. Where it is put forward, what would have begun
// in the minutes that are left out begins when they are: a freeze at 02:30 is not lost because that night has none.
type schedule struct {
	zone    *time.Location
	minutes []int // of a day, ascending
	month   uint64
	dom     uint64
	dow     uint64

	daily  bool          // it has starts on every day
	widest time.Duration // from one start to the next of a day, by a clock that is not changed
	night  time.Duration // from the last start of a day to the first of the day after it
}

// star marks a field of days that was written as *: then the other field of days decides alone.
const star = 1 << 63

// newSchedule reads a cron expression of five fields, or one of the words that stand for one.
func newSchedule(text string, zone *time.Location) (schedule, error) {
	if err := checkSchedule(text); err != nil {
		return schedule{}, err
	}
	if short, ok := words()[text]; ok {
		text = short
	}
	parsed, err := cron.NewParser(cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow).Parse(text)
	if err != nil {
		return schedule{}, fmt.Errorf("it cannot be read: %w", err)
	}
	spec, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return schedule{}, errors.New("it is not a time of day: write minute, hour, day of month, month and day of week")
	}
	s := schedule{zone: zone, month: spec.Month, dom: spec.Dom, dow: spec.Dow}
	for minute := range 24 * 60 {
		if spec.Hour&(1<<(minute/60)) != 0 && spec.Minute&(1<<(minute%60)) != 0 {
			if n := len(s.minutes); n > 0 {
				s.widest = max(s.widest, time.Duration(minute-s.minutes[n-1])*time.Minute)
			}
			s.minutes = append(s.minutes, minute)
		}
	}
	if len(s.minutes) == 0 {
		return schedule{}, errors.New("it names no time of day: correct minute and hour")
	}
	s.night = time.Duration(s.minutes[0]+24*60-s.minutes[len(s.minutes)-1]) * time.Minute
	const months, doms, dows = 1<<13 - 2, 1<<32 - 2, 1<<7 - 1
	s.daily = s.month&months == months && s.dom&doms == doms && s.dow&dows == dows
	return s, nil
}

// zone returns a time zone by its name.
func (b *budget) zone(name string) (*time.Location, error) {
	if zone, ok := b.zones[name]; ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil || name == "Local" || len(name) > 255 {
		return nil, fmt.Errorf("timeZone %.80q is not known: use a name such as Europe/Berlin", name)
	}
	b.zones[name] = zone
	return zone, nil
}

// month is a month of the calendar. Days are counted from 1970.
type month struct {
	year  int
	month time.Month
	first int64 // its first day
}

func monthOf(days int64) month {
	year, name, dom := time.Unix(days*day, 0).UTC().Date()
	return month{year, name, days - int64(dom) + 1}
}

func (m month) length() int64 {
	switch {
	case m.month == time.February && m.year%4 == 0 && (m.year%100 != 0 || m.year%400 == 0):
		return 29
	case m.month == time.February:
		return 28
	case m.month == time.April || m.month == time.June || m.month == time.September || m.month == time.November:
		return 30
	}
	return 31
}

func (m month) before() month {
	out := month{m.year, m.month - 1, m.first}
	if m.month == time.January {
		out.year, out.month = m.year-1, time.December
	}
	out.first -= out.length()
	return out
}

func (m month) after() month {
	out := month{m.year, m.month + 1, m.first + m.length()}
	if m.month == time.December {
		out.year, out.month = m.year+1, time.January
	}
	return out
}

// days returns the days of a month on which the schedule has starts, as bits 1 to 31.
func (s *schedule) days(m month) uint64 {
	if s.month&(1<<m.month) == 0 {
		return 0
	}
	first := m.first + 4 // 1970 began on a Thursday
	first -= floor(first, 7) * 7
	week := s.dow & (1<<7 - 1)
	week = (week>>first | week<<(7-first)) & (1<<7 - 1) // as of the weekday of the first
	dow, dom := week*(1|1<<7|1<<14|1<<21|1<<28)<<1, s.dom
	both := dom | dow
	if s.dom&star != 0 || s.dow&star != 0 {
		both = dom & dow
	}
	return both & (1<<(m.length()+1) - 2)
}

// lastDay returns the last day with starts that is not after one.
func (s *schedule) lastDay(days int64) (int64, bool) {
	m := monthOf(days)
	set := s.days(m) & (1<<(days-m.first+2) - 1)
	for m.first > days-horizon && set == 0 {
		m = m.before()
		set = s.days(m)
	}
	return m.first + int64(bits.Len64(set)) - 2, set != 0
}

// nextDay returns the first day with starts that is not before one.
func (s *schedule) nextDay(days int64) (int64, bool) {
	m := monthOf(days)
	set := s.days(m) &^ (1<<(days-m.first+1) - 1)
	for m.first < days+horizon && set == 0 {
		m = m.after()
		set = s.days(m)
	}
	return m.first + int64(bits.TrailingZeros64(set)) - 1, set != 0
}

// lastWall returns the last start at or before a time of the wall clock, which is counted in seconds as if it were
// never changed.
func (s *schedule) lastWall(wall int64) (int64, bool) {
	today := floor(wall, day)
	days, ok := s.lastDay(today)
	if ok && days == today {
		i, found := slices.BinarySearch(s.minutes, int(wall-today*day)/60)
		if found {
			i++
		}
		if i > 0 {
			return days*day + int64(s.minutes[i-1])*60, true
		}
		days, ok = s.lastDay(today - 1)
	}
	return days*day + int64(s.minutes[len(s.minutes)-1])*60, ok
}

// nextWall returns the first start at or after a time of the wall clock.
func (s *schedule) nextWall(wall int64) (int64, bool) {
	today := floor(wall, day)
	days, ok := s.nextDay(today)
	if ok && days == today {
		if i, _ := slices.BinarySearch(s.minutes, int(wall-today*day+59)/60); i < len(s.minutes) {
			return days*day + int64(s.minutes[i])*60, true
		}
		days, ok = s.nextDay(today + 1)
	}
	return days*day + int64(s.minutes[0])*60, ok
}

// leapt reports whether a start was left out because the clock was put forward where the stretch begins.
func (s *schedule) leapt(c stretch) bool {
	if c.start.IsZero() || c.before >= c.offset {
		return false
	}
	wall, ok := s.lastWall(c.start.Unix() + c.offset - 1)
	return ok && wall >= c.start.Unix()+c.before
}

// last returns the last start at or before t.
func (s *schedule) last(l *look, t time.Time) (time.Time, bool) {
	for first := t.Add(-horizon * day * time.Second); t.After(first); {
		c := l.stretch(s.zone, t)
		wall, ok := s.lastWall(t.Unix() + c.offset)
		switch {
		case !ok:
			return time.Time{}, false
		case c.start.IsZero() || wall-c.offset >= c.start.Unix():
			return time.Unix(wall-c.offset, 0), true
		case s.leapt(c):
			return c.start, true
		}
		t = c.start.Add(-time.Second)
		// Clocks differ by less than a day: stretches without a start are passed over.
		if wall, ok = s.lastWall(t.Unix() + day); ok && wall+day < t.Unix() {
			t = time.Unix(wall+day, 0)
		}
	}
	return time.Time{}, false
}

// next returns the first start at or after t.
func (s *schedule) next(l *look, t time.Time) (time.Time, bool) {
	if t.Nanosecond() > 0 {
		t = t.Truncate(time.Second).Add(time.Second)
	}
	for end := t.Add(horizon * day * time.Second); t.Before(end); {
		c := l.stretch(s.zone, t)
		if t.Equal(c.start) && s.leapt(c) {
			return t, true
		}
		wall, ok := s.nextWall(t.Unix() + c.offset)
		switch {
		case !ok:
			return time.Time{}, false
		case c.end.IsZero() || wall-c.offset < c.end.Unix():
			return time.Unix(wall-c.offset, 0), true
		}
		t = c.end
		if wall, ok = s.nextWall(t.Unix() - day); ok && wall-day > t.Unix() {
			t = time.Unix(wall-day, 0)
		}
	}
	return time.Time{}, false
}

// lastOfRun returns the last start that is reached from one by steps of at most a length while the clock is not
// changed. It may stop earlier when the look has become too long.
func (s *schedule) lastOfRun(l *look, start time.Time, length time.Duration) time.Time {
	c := l.stretch(s.zone, start)
	wall := start.Unix() + c.offset
	today := floor(wall, day)
	i, found := slices.BinarySearch(s.minutes, int(wall-today*day)/60)
	if days, ok := s.nextDay(today); !found || !ok || days != today {
		return start // it was left out by the clock
	}
	for i+1 < len(s.minutes) && time.Duration(s.minutes[i+1]-s.minutes[i])*time.Minute <= length {
		i++
	}
	end := l.far
	if !c.end.IsZero() && c.end.Before(end) {
		end = c.end
	}
	if i+1 == len(s.minutes) && s.widest <= length && s.night <= length {
		today = s.lastDayOfRun(l, today, floor(end.Unix()+c.offset, day), int64((length-s.night)/(day*time.Second))+1)
	}
	last := time.Unix(today*day+int64(s.minutes[i])*60-c.offset, 0)
	if !c.end.IsZero() && !last.Before(c.end) {
		last, _ = s.last(l, c.end.Add(-time.Second)) // steps are of another length where the clock is changed
	}
	return last
}

// lastDayOfRun returns the last day with starts that is reached from one by steps of at most so many days, and is not
// before the end unless there is none.
func (s *schedule) lastDayOfRun(l *look, from, end, step int64) int64 {
	if s.daily {
		return max(from, end)
	}
	for from < end && l.spend(costDay) {
		days, ok := s.nextDay(from + 1)
		if !ok || days-from > step {
			break
		}
		from = days
	}
	return from
}

// always reports whether windows of a length that begin at every start leave no gap, whatever is done to the clock.
func (s *schedule) always(length time.Duration) bool {
	widest := max(s.widest, s.night)
	if s.zone != time.UTC && widest > time.Minute {
		widest += 3 * time.Hour // more than clocks are put back
	}
	return s.daily && widest <= length
}

func floor(n, by int64) int64 {
	q := n / by
	if n%by < 0 {
		q--
	}
	return q
}

// span is what one field of a schedule may hold.
type span struct {
	name      string
	low, high int
	words     string // names for low, low+1, ...
}

func spans() []span {
	return []span{
		{"minute", 0, 59, ""},
		{"hour", 0, 23, ""},
		{"day of month", 1, 31, ""},
		{"month", 1, 12, "jan feb mar apr may jun jul aug sep oct nov dec"},
		{"day of week", 0, 6, "sun mon tue wed thu fri sat"},
	}
}

// words are those that stand for a schedule.
func words() map[string]string {
	return map[string]string{
		"@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
		"@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
	}
}

// checkSchedule says what is wrong with a cron expression of five fields, or one of the words that stand for one.
func checkSchedule(text string) error {
	const longest = 1024
	if len(text) > longest {
		return fmt.Errorf("it is longer than %d bytes: shorten it", longest)
	}
	if _, ok := words()[text]; ok {
		return nil
	}
	fields := strings.Fields(text)
	spans := spans()
	if len(fields) != len(spans) {
		return fmt.Errorf("it has %d fields: write minute, hour, day of month, month and day of week", len(fields))
	}
	for i, s := range spans {
		for part := range strings.SplitSeq(fields[i], ",") {
			if !s.valid(part) {
				return fmt.Errorf("%q is no %s: write *, a number from %d to %d, a range such as a-b, or a step such as */n", part,
					s.name, s.low, s.high)
			}
		}
	}
	return nil
}

// valid reads *, ?, n, a-b, and each with /step.
func (s span) valid(part string) bool {
	values, step, stepped := strings.Cut(part, "/")
	if n, err := strconv.ParseUint(step, 10, 16); stepped && (err != nil || n == 0) {
		return false
	}
	if values == "*" || values == "?" {
		return true
	}
	from, to, ranged := strings.Cut(values, "-")
	low, ok := s.number(from)
	if !ok || !ranged {
		return ok
	}
	high, ok := s.number(to)
	return ok && low <= high
}

func (s span) number(text string) (int, bool) {
	for i, word := range strings.Fields(s.words) {
		if strings.EqualFold(word, text) {
			return s.low + i, true
		}
	}
	n, err := strconv.ParseUint(text, 10, 16)
	return int(n), err == nil && int(n) >= s.low && int(n) <= s.high
}

package project

import (
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// Windows are the sync windows of one Application.
type Windows struct {
	list []*window
}

// None reports whether there are no windows.
func (w Windows) None() bool { return len(w.list) == 0 }

// Windows returns the sync windows that are for an Application, those inherited from global projects included.
func (r *Rules) Windows(app AppFacts) Windows {
	var out Windows
	for _, w := range r.windows {
		if w.matches(app) {
			out.list = append(out.list, w)
		}
	}
	return out
}

// Verdict says whether a sync may start, or go on.
type Verdict struct {
	Allowed bool
	Reason  string    // what forbids it: the window, and how it stands; "" when it is allowed
	Window  string    // the window that decides, such as `deny "0 22 * * *"`; "" when none does
	Until   time.Time // when the answer changes; zero: never. Of windows that relieve each other very often, when to ask again
}

// CanSync says whether a sync may start at now. manual is one that a person or another program asked for.
//
// While a deny window is open nothing starts. Where there are allow windows, nothing starts unless one of them is open.
// manualSync excepts manual syncs, if all the windows that forbid it have it set.
func (w Windows) CanSync(manual bool, now time.Time) Verdict {
	return w.verdict(question{manual: manual}, now)
}

// MayContinue says whether a sync that started at a time may go on at now: when it could start at now, or when it was
// allowed to start and all the windows that forbid it now have syncOverrun set.
func (w Windows) MayContinue(manual bool, started, now time.Time) Verdict {
	q := question{manual: manual}
	if !started.IsZero() && !started.After(now) && w.broken() < 0 {
		then := w.stand(q, w.open(started))
		q.overruns = then.allowed()
	}
	return w.verdict(q, now)
}

// question is what is asked of windows: of a manual sync, of one that may overrun.
type question struct{ manual, overruns bool }

// broken returns the index of a window that cannot be read; -1 for none.
func (w Windows) broken() int {
	return slices.IndexFunc(w.list, func(one *window) bool { return one.broken != nil })
}

// open says which windows are open at a time, and nothing of when that changes.
func (w Windows) open(at time.Time) []phase {
	l, out := newLook(at), make([]phase, len(w.list))
	for i, one := range w.list {
		out[i].open = one.open(l, at)
	}
	return out
}

func (w Windows) verdict(q question, now time.Time) Verdict {
	if i := w.broken(); i >= 0 {
		return Verdict{Window: w.list[i].short(), Reason: w.list[i].reason(phase{})}
	}
	l, phases := newLook(now), make([]phase, len(w.list))
	for i, one := range w.list {
		phases[i] = one.phase(l, now)
	}
	s := w.stand(q, phases)
	v := Verdict{Allowed: s.allowed()}
	if i := w.decider(q, phases); i >= 0 {
		v.Window = w.list[i].short()
		if !v.Allowed {
			v.Reason = w.list[i].reason(phases[i])
		}
	}
	v.Until = w.change(q, l, phases)
	return v
}

// decider returns the index of the window that decides: of the deny windows that are open the one that is so for the
// longest time, before those that except the sync; otherwise an allow window that is open, or the next one that will
// be. It is -1 when none decides.
func (w Windows) decider(q question, phases []phase) int {
	deny, open, next := -1, -1, -1
	for i, one := range w.list {
		switch {
		case one.kind == v1alpha1.SyncWindowDeny && phases[i].open:
			if deny < 0 || q.manual && !one.manual && w.list[deny].manual ||
				(!q.manual || one.manual == w.list[deny].manual) && later(phases[i].until, phases[deny].until) {
				deny = i
			}
		case one.kind == v1alpha1.SyncWindowAllow:
			if phases[i].open && open < 0 {
				open = i
			}
			if next < 0 || later(phases[next].until, phases[i].until) {
				next = i
			}
		}
	}
	switch {
	case deny >= 0:
		return deny
	case open >= 0:
		return open
	}
	return next
}

// later compares times of which zero is never.
func later(a, b time.Time) bool {
	return !b.IsZero() && (a.IsZero() || a.After(b))
}

// soonest returns the earliest of times of which zero is never.
func soonest(list ...time.Time) time.Time {
	out := time.Time{}
	for _, t := range list {
		if later(out, t) {
			out = t
		}
	}
	return out
}

// cover is what some windows that are open come to: whether there is one, and when the last of them closes.
type cover struct {
	open bool
	end  time.Time // zero is never
}

func (c *cover) add(until time.Time) {
	if !c.open || later(until, c.end) {
		c.end = until
	}
	c.open = true
}

// standing is how windows stand at one time, as far as it matters for a question.
type standing struct {
	question
	denies  cover // deny windows
	firm    cover // those of them that do not except manual syncs
	halting cover // those of them that do not except syncs that are under way
	allows  cover // allow windows
	free    bool  // there are no allow windows, or all of them except the sync

	allow, deny, block time.Time // when the next allow window opens, the next deny window, and one that can forbid the sync
}

func (w Windows) stand(q question, phases []phase) standing {
	s, allManual, allOverrun, limited := standing{question: q}, true, true, false
	for i, one := range w.list {
		until := phases[i].until
		switch {
		case one.kind == v1alpha1.SyncWindowAllow:
			limited, allManual, allOverrun = true, allManual && one.manual, allOverrun && one.overrun
			if phases[i].open {
				s.allows.add(until)
			} else {
				s.allow = soonest(s.allow, until)
			}
		case phases[i].open:
			s.denies.add(until)
			if !one.manual {
				s.firm.add(until)
			}
			if !one.overrun {
				s.halting.add(until)
			}
		default:
			s.deny = soonest(s.deny, until)
			if !q.manual && !q.overruns || q.manual && !one.manual || q.overruns && !one.overrun {
				s.block = soonest(s.block, until)
			}
		}
	}
	s.free = !limited || q.manual && allManual || q.overruns && allOverrun
	return s
}

// blocked reports whether deny windows forbid the sync.
func (s *standing) blocked() bool {
	return s.denies.open && !(s.manual && !s.firm.open) && !(s.overruns && !s.halting.open)
}

func (s *standing) allowed() bool {
	return !s.blocked() && (s.denies.open || s.allows.open || s.free)
}

// next returns the earliest time at which the answer can be another one; zero is never. What windows do until then that
// cannot change it is passed over.
func (s *standing) next() time.Time {
	switch {
	case s.blocked():
		end := s.denies.end
		if s.manual {
			end = soonest(end, s.firm.end)
		}
		if s.overruns {
			end = soonest(end, s.halting.end)
		}
		return end
	case s.free:
		return s.block
	case s.denies.open: // which except the sync, and so do without an allow window
		return soonest(s.block, s.denies.end)
	case s.allows.open:
		return soonest(s.block, s.allows.end)
	case s.manual || s.overruns:
		return soonest(s.allow, s.deny)
	}
	return s.allow
}

// change returns when the answer to a question changes; zero is never. It changes the phases.
func (w Windows) change(q question, l *look, phases []phase) time.Time {
	s := w.stand(q, phases)
	for allowed := s.allowed(); ; {
		at := s.next()
		if at.IsZero() || at.After(l.far) {
			return time.Time{}
		}
		for i, one := range w.list {
			if until := phases[i].until; !until.IsZero() && !until.After(at) {
				l.spend(costPhase)
				phases[i] = one.phase(l, at)
			}
		}
		s = w.stand(q, phases)
		if s.allowed() != allowed || !l.spend(len(w.list)*costJudge) {
			return at.UTC()
		}
	}
}

// short names a window.
func (w *window) short() string { return fmt.Sprintf("%.10s %.200q", w.kind, w.text) }

// reason says why a window forbids a sync.
func (w *window) reason(p phase) string {
	until := ""
	if !p.until.IsZero() {
		until = " until " + p.until.UTC().Format(time.RFC3339)
	}
	switch {
	case w.broken != nil:
		return fmt.Sprintf("%s cannot be read, so nothing may be synced: %v", w, w.broken)
	case w.kind == v1alpha1.SyncWindowDeny:
		return fmt.Sprintf("%s is active%s", w, until)
	case until == "":
		return fmt.Sprintf("%s is not active, and never will be", w)
	}
	return fmt.Sprintf("%s is not active%s, and there is no earlier one", w, until)
}

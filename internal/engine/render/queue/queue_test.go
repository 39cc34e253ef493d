package queue

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// step is how far the simulated clock goes at a time, unless a simulation says so.
const step = 50 * time.Millisecond

// work is a rendering in a simulation.
type work struct {
	job      Job
	need     time.Duration // processor time until it is over
	used     time.Duration
	asked    time.Time
	began    time.Time
	ended    time.Time
	runs     bool
	restarts int
}

// tester is a test or a property.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// sim runs a Queue on simulated workers.
type sim struct {
	t     tester
	q     *Queue
	now   time.Time
	works map[ID]*work
	still int // most that stood still at a time
	step  time.Duration
}

func newSim(t tester, cfg Config) *sim {
	return &sim{t: t, q: New(cfg), now: time.Unix(1_000_000, 0), works: map[ID]*work{}, step: step}
}

func (s *sim) add(project, app string, need time.Duration) *work {
	w := &work{job: Job{Project: project, App: app, Source: "r"}, need: need, asked: s.now}
	s.works[s.q.Add(w.job, s.now)] = w
	s.decide()
	return w
}

func (s *sim) decide() {
	s.t.Helper()
	for id, w := range s.works {
		if w.runs {
			s.q.Spent(id, w.used, s.now)
		}
	}
	moves, _ := s.q.Next(s.now)
	for _, m := range moves {
		w := s.works[m.ID]
		if w == nil {
			s.t.Fatalf("%s of a job that is over", m.Act)
		}
		if begins := m.Act == Start || m.Act == Resume; begins == w.runs {
			s.t.Fatalf("%s of %v, which runs: %v", m.Act, w.job, w.runs)
		}
		switch m.Act {
		case Start:
			w.used = 0
			if w.began.IsZero() {
				w.began = s.now
			}
		case Restart:
			w.restarts++
		}
		w.runs = m.Act == Start || m.Act == Resume
	}
	running := 0
	for _, w := range s.works {
		if w.runs {
			running++
		}
	}
	if running > s.q.cfg.Workers {
		s.t.Fatalf("%d run on %d workers", running, s.q.cfg.Workers)
	}
	s.still = max(s.still, s.q.count(paused))
	s.conserves(running)
}

// conserves checks that no worker is idle while something waits that may have it.
func (s *sim) conserves(running int) {
	s.t.Helper()
	for _, e := range s.q.jobs {
		if e.state == stateRunning {
			continue
		}
		if running < s.q.room() || running < s.q.cfg.Workers && s.q.brief(e, s.now) {
			s.t.Fatalf("%d of %d run, and a job waits that may run (brief: %v)", running, s.q.cfg.Workers, s.q.brief(e, s.now))
		}
	}
}

// stateRunning is running, where a number has its name.
const stateRunning = running

// tick lets one step pass.
func (s *sim) tick() {
	s.t.Helper()
	s.now = s.now.Add(s.step)
	for id, w := range s.works {
		if !w.runs {
			continue
		}
		if w.used += s.step; w.used >= w.need {
			w.ended = s.now
			s.q.Done(id, w.used, true, s.now)
			delete(s.works, id)
		}
	}
	s.decide()
}

func (s *sim) run(d time.Duration) {
	s.t.Helper()
	for range int(d / s.step) {
		s.tick()
	}
}

// until lets time pass until a rendering is over, and returns how long it took from when it was asked for.
func (s *sim) until(w *work, atMost time.Duration) time.Duration {
	s.t.Helper()
	for w.ended.IsZero() {
		if s.now.Sub(w.asked) > atMost {
			s.t.Fatalf("%v is not over after %s (began: %v, used %s, %d restarts)", w.job, atMost, !w.began.IsZero(), w.used, w.restarts)
		}
		s.tick()
	}
	return w.ended.Sub(w.asked)
}

// burners asks for ten renderings of one project that take a minute each.
func (s *sim) burners(project string) {
	for i := range 10 {
		s.add(project, fmt.Sprint(project, i), time.Minute)
	}
}

func TestAKnownQuickRenderingNeverWaitsForBurners(t *testing.T) {
	t.Parallel()
	s := newSim(t, Config{})
	s.until(s.add("shop", "web", 200*time.Millisecond), time.Second)
	s.burners("evil")
	s.run(30 * time.Second) // all of them are known
	for range 100 {
		s.run(time.Second)
		if took := s.until(s.add("shop", "web", 200*time.Millisecond), 10*time.Second); took > 250*time.Millisecond {
			t.Fatalf("it took %s at %s", took, s.now)
		}
	}
}

func TestAnUnknownRenderingWaitsForASliceAtMost(t *testing.T) {
	t.Parallel()
	s := newSim(t, Config{})
	s.burners("evil")
	for i := range 100 {
		w := s.add("shop", fmt.Sprint("app", i), 300*time.Millisecond)
		if took := s.until(w, time.Minute); took > 1500*time.Millisecond {
			t.Fatalf("the %dth took %s", i, took)
		}
		s.run(700 * time.Millisecond)
	}
}

func TestALongRenderingIsNotHeldUpByAnotherProjectThatBurns(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]time.Duration{"at once": 0, "later": 90 * time.Second} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSim(t, Config{})
			s.burners("evil")
			s.run(before)
			for range 5 { // unknown the first time
				if took := s.until(s.add("shop", "web", 4*time.Second), time.Minute); took > 9*time.Second {
					t.Errorf("it took %s", took)
				}
				s.run(20 * time.Second)
			}
		})
	}
}

func TestProjectsThatBurnShareTheWorkersEvenly(t *testing.T) {
	t.Parallel()
	s := newSim(t, Config{})
	used := map[string]time.Duration{}
	var all []*work
	for range 12 {
		for _, p := range []string{"many", "one"} {
			for i := range map[string]int{"many": 10, "one": 1}[p] {
				all = append(all, s.add(p, fmt.Sprint(p, i), 20*time.Second))
			}
		}
	}
	s.run(5 * time.Minute)
	for _, w := range all {
		used[w.job.Project] += min(w.used, w.need)
	}
	if a, b := used["many"], used["one"]; a > 2*b || b > 2*a {
		t.Errorf("many got %s and one got %s", a, b)
	}
}

func TestAnApplicationThatAsksOftenDoesNotHoldUpItsProject(t *testing.T) {
	t.Parallel()
	s := newSim(t, Config{})
	for range 200 {
		s.add("shop", "busy", 400*time.Millisecond)
	}
	s.run(5 * time.Second)
	if took := s.until(s.add("shop", "web", 400*time.Millisecond), time.Minute); took > 3*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestAPenaltyShrinksOnceAProjectIsQuiet(t *testing.T) {
	t.Parallel()
	s := newSim(t, Config{})
	s.until(s.add("evil", "a", time.Minute), 2*time.Minute)
	a := s.q.projects["evil"]
	before := s.q.penalty(a, s.now)
	if before < 30 {
		t.Fatalf("the penalty after a minute of processor time is %v s", before)
	}
	if after := s.q.penalty(a, s.now.Add(time.Minute)); after > before/2 {
		t.Errorf("a minute later the penalty is %v s, before %v s", after, before)
	}
	if after := s.q.penalty(a, s.now.Add(5*time.Minute)); after > 0.5 {
		t.Errorf("five minutes later the penalty is %v s", after)
	}
}

func TestEveryRenderingComesToItsEnd(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := newSim(t, Config{Workers: rapid.IntRange(1, 4).Draw(t, "workers"), Paused: rapid.IntRange(-1, 3).Draw(t, "paused")})
		s.step = 250 * time.Millisecond
		poor := s.add("poor", "a", time.Duration(rapid.IntRange(1, 20).Draw(t, "need"))*time.Second)
		for i := range rapid.IntRange(0, 10).Draw(t, "others") {
			s.add(fmt.Sprint("p", rapid.IntRange(0, 3).Draw(t, "project")), fmt.Sprint("a", i),
				time.Duration(rapid.IntRange(250, 30_000).Draw(t, "cost"))*time.Millisecond)
			s.run(time.Duration(rapid.IntRange(0, 20).Draw(t, "pause")) * s.step)
		}
		// From here on projects that were never seen before ask for most of what there is.
		cost := time.Duration(rapid.SampledFrom([]int{250, 1000, 1500, 5000}).Draw(t, "fresh")) * time.Millisecond
		every := max(2, 2*int(cost/s.step))
		for i := 0; poor.ended.IsZero(); i++ {
			if i > 4000 {
				t.Fatalf("a rendering is not over after %s: used %s of %s, %d restarts", s.now.Sub(poor.asked), poor.used, poor.need, poor.restarts)
			}
			if i%every == 0 {
				s.add(fmt.Sprint("fresh", i), "a", cost)
			}
			s.tick()
		}
		if s.still > max(0, s.q.cfg.Paused) {
			t.Fatalf("%d stood still at a time, %d may", s.still, s.q.cfg.Paused)
		}
	})
}

// Short renderings that keep the workers busy are first by their cost alone. A known long one gets its turn because it waits.
func TestAKnownLongRenderingIsNotPassedOverForEver(t *testing.T) {
	t.Parallel()
	const projects = 100
	s := newSim(t, Config{Workers: 1})
	for i := range projects {
		s.until(s.add(fmt.Sprint("quick", i), "a", time.Second), time.Minute)
	}
	s.until(s.add("slow", "a", 20*time.Second), time.Minute)
	s.run(30 * time.Minute) // nobody owes anything any more
	for i := range 2 {
		s.add(fmt.Sprint("quick", projects-1-i), "a", time.Second)
	}
	slow := s.add("slow", "a", 20*time.Second)
	for i := 0; slow.began.IsZero(); i++ {
		if i > projects-3 {
			t.Fatalf("it has not begun after %s, while others ask for all there is", s.now.Sub(slow.asked))
		}
		s.add(fmt.Sprint("quick", i), "a", time.Second)
		s.run(time.Second)
	}
}

func TestNothingIsKeptOfProjectsThatAreLongGone(t *testing.T) {
	t.Parallel()
	q := New(Config{})
	now := time.Unix(1_000_000, 0)
	for i := range 30_000 {
		id := q.Add(Job{Project: fmt.Sprint("p", i), App: fmt.Sprint("a", i), Source: "r"}, now)
		q.Next(now)
		q.Done(id, 10*time.Second, true, now)
		now = now.Add(time.Second)
		id = q.Add(Job{Project: "one", App: fmt.Sprint("a", i), Source: "r"}, now)
		q.Next(now)
		q.Done(id, 10*time.Millisecond, true, now)
	}
	if n := len(q.projects); n > 2*maxIdle {
		t.Errorf("%d projects are kept", n)
	}
	if n := len(q.projects["one"].apps); n > 2*maxIdle {
		t.Errorf("%d applications of one project are kept", n)
	}
	if len(q.costs.known) != maxCosts || q.costs.order.Len() != maxCosts {
		t.Errorf("%d costs are kept in a list of %d, want %d", len(q.costs.known), q.costs.order.Len(), maxCosts)
	}
	if len(q.jobs) != 0 || q.Waiting() != 0 {
		t.Errorf("%d jobs are left, %d wait", len(q.jobs), q.Waiting())
	}
}

package gateway

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// CatchUpAtOnce is for tests from outside.
const CatchUpAtOnce = catchUpAtOnce

// full is a pace in which all places are taken by agents 0, 1 and so on.
func full(t *testing.T, now time.Time) *pace {
	t.Helper()
	p := newPace()
	for i := range catchUpAtOnce {
		if !p.enter(t.Context(), fmt.Sprint(i), now, 0) {
			t.Fatalf("agent %d gets no place", i)
		}
	}
	return p
}

func TestOnlySoManyAgentsCatchUpAtATime(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	for _, test := range []struct {
		name string
		then func(p *pace)
		free bool
	}{
		{"nothing happens", func(*pace) {}, false},
		{"one leaves", func(p *pace) { p.leave("3") }, true},
		{"one is asked for nothing", func(p *pace) { p.asked("3", 0) }, true},
		{"one brings a part", func(p *pace) { p.asked("3", 10); p.brought("3", 9, now) }, false},
		{"one brings all", func(p *pace) { p.asked("3", 10); p.brought("3", 9, now); p.brought("3", 1, now) }, true},
		{"one brings what nobody has asked for yet", func(p *pace) { p.brought("3", 100, now) }, false},
		{"somebody without a place brings much", func(p *pace) { p.asked("x", 1); p.brought("x", 100, now); p.leave("x") }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := full(t, now)
			test.then(p)
			if got := p.enter(t.Context(), "late", now, 0); got != test.free {
				t.Errorf("another agent gets a place: %v", got)
			}
			if !p.enter(t.Context(), "0", now, 0) {
				t.Error("who has a place lost it")
			}
		})
	}
}

func TestWhoIsNotHeardLosesItsPlace(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := full(t, now)
	later := now.Add(catchUpIdle)
	p.brought("0", 1, later)
	for i := range catchUpAtOnce - 1 {
		if !p.enter(t.Context(), fmt.Sprint("late", i), later, 0) {
			t.Fatalf("place %d is not free", i)
		}
	}
	if p.enter(t.Context(), "one more", later, 0) {
		t.Error("the one that was heard has lost its place")
	}
}

func TestWhoWaitsGetsThePlaceThatIsLeft(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	p := full(t, now)
	var work sync.WaitGroup
	got := make([]bool, catchUpAtOnce)
	for i := range got {
		work.Go(func() { got[i] = p.enter(t.Context(), fmt.Sprint("late", i), now, time.Minute) })
	}
	for i := range catchUpAtOnce {
		p.leave(fmt.Sprint(i))
	}
	work.Wait()
	for i, ok := range got {
		if !ok {
			t.Errorf("agent late%d waited in vain", i)
		}
	}
	if p.enter(t.Context(), "one more", now, 0) {
		t.Error("there is one place too many")
	}
}

func TestLargeBatchesTakeTurns(t *testing.T) {
	t.Parallel()
	p := newPace()
	var last func()
	for range catchUpAtOnce {
		done, ok := p.turn(t.Context(), largeBatch)
		if !ok {
			t.Fatal("there is no turn")
		}
		last = done
	}
	if _, ok := p.turn(t.Context(), largeBatch-1); !ok {
		t.Error("a small batch waits")
	}
	last()
	if _, ok := p.turn(t.Context(), largeBatch); !ok {
		t.Error("the turn that ended is not free")
	}
}

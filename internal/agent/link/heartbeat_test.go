package link

import (
	"testing"
	"time"
)

func TestThatNothingIsPendingAnyMoreIsToldAtOnceWheneverItCameToThat(t *testing.T) {
	t.Parallel()
	for _, early := range []bool{false, true} { // acknowledged while the heartbeat is under way, or after it
		shelf, server := newShelf("a"), newHub()
		buffer := newBuffer(shelf, time.Now, quiet())
		s := &session{link: &Link{buffer: buffer}, nudge: make(chan struct{}, 1)}
		server.session(t, buffer)
		shelf.items[app("a")] = `{"name":"changed"}`
		buffer.mark(app("a"))
		said := buffer.backlog()
		if said.pending == 0 {
			t.Fatal("a change is not pending")
		}
		if !early {
			s.told(said)
		}
		for batch := buffer.next(); batch != nil; batch = buffer.next() {
			buffer.acknowledged(server.take(batch))
		}
		s.settled() // as whoever reports does when there is nothing more
		if early {
			s.told(said)
		}
		if len(s.nudge) != 1 {
			t.Errorf("acknowledged early: %t, and no heartbeat is asked for", early)
		}
	}
}

func TestAHeartbeatWithNothingPendingAsksForNoOther(t *testing.T) {
	t.Parallel()
	buffer, server := newBuffer(newShelf("a"), time.Now, quiet()), newHub()
	s := &session{link: &Link{buffer: buffer}, nudge: make(chan struct{}, 1)}
	server.session(t, buffer)
	s.told(buffer.backlog())
	s.settled()
	if len(s.nudge) != 0 {
		t.Error("a heartbeat is asked for that says what the server knows")
	}
}

package event

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/clock"
)

const (
	// readAtOnce and writeAtOnce are how many events go from and to the log at a time.
	readAtOnce, writeAtOnce = 500, 500
	// DefaultWaiting is how many events may wait to be kept in the log, while it cannot be reached.
	DefaultWaiting = 20_000
	// DefaultPoll is how often a server looks for events that no other server notified it of.
	DefaultPoll = time.Second
	// logTime bounds one turn at the log, flushTime what is left to do at the end.
	logTime, flushTime = 10 * time.Second, 5 * time.Second
	// slowest is the longest pause between two tries to write.
	quickest, slowest = 50 * time.Millisecond, time.Second
)

// Numbered is an event with its number in a Log.
type Numbered struct {
	Number int64
	Event  api.Event
}

// Log keeps events for all servers, numbered without gaps in the order in which they can be read.
type Log interface {
	// OpenEvents returns what distinguishes these numbers from those of another log, and the newest; 0 where there is none.
	OpenEvents(context.Context) (run string, newest int64, err error)
	// AppendEvents keeps events behind the newest, all or none, and returns the number of the last one.
	AppendEvents(context.Context, []api.Event) (last int64, err error)
	// EventsAfter returns events above a number, in their order. The oldest may be gone.
	EventsAfter(ctx context.Context, after int64, limit int) ([]Numbered, error)
}

// SharedConfig is what a Shared needs. What is zero has a default.
type SharedConfig struct {
	Config
	// Kept in Config is also how many events are read at the start.

	Storage Log
	// Told is called when events were kept, with the number of the last one, which the other servers are to get by Heard. It
	// must not block. Nil: no server gets it.
	Told func(last int64)
	// Missed is called when the log has events that no server has reported even seconds after they were found. It must not
	// block. Nil: nothing is called.
	Missed func()
	// Waiting is how many events may wait for the log: DefaultWaiting. Where there are more, all readers start over.
	Waiting int
	// Poll is DefaultPoll where it is zero.
	Poll time.Duration
	Log  *slog.Logger
}

// Shared gives the events of all servers of a log to the watchers of this one. The ids are those of the log, so a watcher
// goes on at any server. Nothing is given that is not in the log.
type Shared struct {
	*Hub
	cfg  SharedConfig
	wake chan struct{} // has room for one: there is something to read
	work chan struct{} // has room for one: there is something to write

	reading sync.Mutex // one reads at a time
	word    word

	mu      sync.Mutex
	waiting []api.Event
	lost    bool // more than may wait came
}

// NewShared opens a log, and reads what those who come back may ask for.
func NewShared(ctx context.Context, cfg SharedConfig) (*Shared, error) {
	if cfg.Waiting <= 0 {
		cfg.Waiting = DefaultWaiting
	}
	if cfg.Poll <= 0 {
		cfg.Poll = DefaultPoll
	}
	if cfg.Told == nil {
		cfg.Told = func(int64) {}
	}
	if cfg.Missed == nil {
		cfg.Missed = func() {}
	}
	run, newest, err := cfg.Storage.OpenEvents(ctx)
	if err != nil {
		return nil, err
	}
	s := &Shared{Hub: New(cfg.Config), cfg: cfg, wake: make(chan struct{}, 1), work: make(chan struct{}, 1)}
	s.run = run
	s.next = uint64(max(newest-int64(len(s.kept)), 0)) + 1
	s.first = s.next
	return s, s.read(ctx)
}

// Publish has an event kept in the log, from where all servers give it to their watchers. It does not wait for that.
func (s *Shared) Publish(_ context.Context, e api.Event) {
	if e.At.IsZero() {
		e.At = s.now().UTC()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.waiting) >= s.cfg.Waiting {
		s.waiting, s.lost = nil, true
	}
	s.waiting = append(s.waiting, e)
	nudge(s.work)
}

// Waiting is how many events wait for the log.
func (s *Shared) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiting)
}

// Reset has all watchers of all servers start over: events were lost, or may have been.
func (s *Shared) Reset(ctx context.Context) { s.Publish(ctx, api.Event{Type: api.EventReset}) }

// Heard has the log read, since another server reports that it has kept events up to a number; 0 where it reports none. It
// does not wait.
func (s *Shared) Heard(last int64) {
	s.word.hear(last, time.Now())
	nudge(s.wake)
}

func nudge(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it was published already
	}
}

// Run writes and reads until ctx ends. Then it writes what is left; an error says that it could not.
func (s *Shared) Run(ctx context.Context) error {
	var reading sync.WaitGroup
	reading.Go(func() { s.follow(ctx) })
	defer reading.Wait()
	pause := quickest
	for {
		select {
		case <-s.work:
		case <-ctx.Done():
			return s.flush(ctx)
		}
		if err := s.write(ctx); err != nil {
			if ctx.Err() == nil {
				s.cfg.Log.Warn("events wait for the database", "err", err)
			}
			s.rest(ctx, pause)
			pause = min(2*pause, slowest)
			nudge(s.work)
			continue
		}
		pause = quickest
	}
}

// rest waits before the next try.
func (s *Shared) rest(ctx context.Context, pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// flush writes what is left when ctx has ended.
func (s *Shared) flush(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := s.write(ctx); err != nil {
		return fmt.Errorf("the last events could not be kept: %w", err)
	}
	return nil
}

// write keeps all that waits. What could not be kept waits again.
func (s *Shared) write(ctx context.Context) error {
	for {
		batch := s.take()
		if len(batch) == 0 {
			return nil
		}
		bounded, cancel := context.WithTimeout(ctx, logTime)
		last, err := s.cfg.Storage.AppendEvents(bounded, batch)
		cancel()
		if err != nil {
			s.giveBack(batch)
			return err
		}
		s.word.keep(span{last - int64(len(batch)) + 1, last})
		nudge(s.wake)
		s.cfg.Told(last)
	}
}

// take takes the next events that wait.
func (s *Shared) take() []api.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	var batch []api.Event
	if s.lost {
		batch, s.lost = append(batch, api.Event{Type: api.EventReset, At: s.now().UTC()}), false
	}
	n := min(len(s.waiting), writeAtOnce)
	batch = append(batch, s.waiting[:n]...)
	s.waiting = s.waiting[n:]
	return batch
}

// giveBack puts events that were not kept before those that came since.
func (s *Shared) giveBack(batch []api.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lost { // they are among what is lost
		return
	}
	s.waiting = slices.Concat(batch, s.waiting)
}

// follow reads when it is woken, and now and then.
func (s *Shared) follow(ctx context.Context) {
	timer := time.NewTimer(clock.About(s.cfg.Poll))
	defer timer.Stop()
	for {
		select {
		case <-s.wake:
		case <-timer.C:
			timer.Reset(clock.About(s.cfg.Poll))
		case <-ctx.Done():
			return
		}
		from := s.newest() + 1
		if err := s.read(ctx); err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("read events of other servers", "err", err)
		}
		if s.word.missed(span{from, s.newest()}, time.Now()) {
			s.cfg.Missed()
		}
	}
}

// newest is the number of the last event that was given.
func (s *Shared) newest() int64 {
	s.Hub.mu.Lock()
	defer s.Hub.mu.Unlock()
	return int64(s.next) - 1 //nolint:gosec // it came from an int64
}

// read gives watchers what the log has and they do not.
func (s *Shared) read(ctx context.Context) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	ctx, cancel := context.WithTimeout(ctx, logTime)
	defer cancel()
	for {
		events, err := s.cfg.Storage.EventsAfter(ctx, s.newest(), readAtOnce)
		if err != nil {
			return err
		}
		s.put(events)
		if len(events) < readAtOnce {
			return nil
		}
	}
}

// put gives events to the watchers. Where some before them are gone, all that were not given those start over.
func (h *Hub) put(events []Numbered) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range events {
		n := uint64(e.Number)
		if n < h.next {
			continue
		}
		if n > h.next {
			h.next, h.first = n, n
		}
		h.add(e.Event)
	}
}

// Subscribe gives what comes after the event with that id, whichever server gave it; see Hub.Subscribe.
func (s *Shared) Subscribe(ctx context.Context, after string) (<-chan api.Event, error) {
	s.Hub.mu.Lock()
	n, ok := s.number(after)
	ahead := ok && n >= s.next
	s.Hub.mu.Unlock()
	if ahead { // another server was faster: what has an id is in the log
		if err := s.read(ctx); err != nil {
			return nil, errors.Join(api.Errorf(api.CodeUnavailable, "the events cannot be read now: try again"), err)
		}
	}
	return s.Hub.Subscribe(ctx, after)
}

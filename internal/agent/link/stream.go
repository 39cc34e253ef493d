package link

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// errStreamOver says that the other side, or the connection, has ended a stream.
var errStreamOver = errors.New("the stream is over: it has no reader any more")

// maxWaitingChunks is how many chunks of a stream wait to be received; the other side's credit bounds their bytes.
const maxWaitingChunks = 256

// Stream is the agent's side of a stream. Write and Recv may be called at the same time, each from one goroutine.
type Stream struct {
	id   string
	send func(agentapi.Chunk) error
	over func() // ends the context of the worker of the stream

	mu      sync.Mutex
	changed chan struct{} // closed and made again when something below changes
	seq     int64         // of the next chunk up
	credit  int           // bytes that may go up
	next    int64         // sequence of the next chunk down
	granted int           // bytes that may come down
	waiting []agentapi.Chunk
	owed    int // bytes received since the last grant
	opened  bool
	ended   bool
	exit    *int
	// pulses says that the other side shows that it is there, heard is when it sent something last.
	pulses bool
	heard  time.Time
}

func newStream(id string, credit int, send func(agentapi.Chunk) error, over func()) *Stream {
	return &Stream{
		id: id, send: send, over: over, changed: make(chan struct{}),
		credit: min(max(credit, 0), agentapi.MaxWindow), granted: agentapi.MaxChunk,
	}
}

// open says that the stream is open, and grants the first bytes.
func (s *Stream) open() error {
	err := s.put(agentapi.Chunk{Credit: agentapi.MaxChunk})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.opened = true
	return err
}

// pulse shows the other side that the stream is there, and ends one whose other side has fallen silent: its server may have
// been killed.
func (s *Stream) pulse(now time.Time) {
	s.mu.Lock()
	silent := s.pulses && now.Sub(s.heard) >= agentapi.SilentFor
	if silent {
		s.stop()
	}
	shows := s.opened && !s.ended
	s.mu.Unlock()
	if shows {
		_ = s.put(agentapi.Chunk{}) // the connection ends the stream otherwise
	}
}

// Write sends data in chunks, and waits where the other side grants nothing. It fails when the stream is over.
func (s *Stream) Write(p []byte) (int, error) {
	written := 0
	for len(p) > 0 {
		n, err := s.allowance(len(p))
		if err != nil {
			return written, err
		}
		if err := s.put(agentapi.Chunk{Data: p[:n]}); err != nil {
			return written, err
		}
		written += n
		p = p[n:]
	}
	return written, nil
}

// allowance waits for credit and takes up to want bytes of it, at most one chunk.
func (s *Stream) allowance(want int) (int, error) {
	for {
		s.mu.Lock()
		if s.ended {
			s.mu.Unlock()
			return 0, errStreamOver
		}
		if s.credit > 0 {
			n := min(want, s.credit, agentapi.MaxChunk)
			s.credit -= n
			s.mu.Unlock()
			return n, nil
		}
		changed := s.changed
		s.mu.Unlock()
		<-changed // credit, or the end, which always comes
	}
}

// put sends a chunk with the next sequence.
func (s *Stream) put(c agentapi.Chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	c.Stream, c.Seq = s.id, s.seq
	s.seq++
	return s.send(c)
}

// Recv returns the next chunk from the other side: data, a new size, or the end of the input. It returns io.EOF when the other
// side has ended.
func (s *Stream) Recv(ctx context.Context) (agentapi.Chunk, error) {
	for {
		s.mu.Lock()
		if len(s.waiting) > 0 {
			c := s.waiting[0]
			s.waiting = s.waiting[1:]
			s.owed += len(c.Data)
			grant := 0
			if s.owed >= agentapi.MaxChunk/2 {
				grant, s.owed = s.owed, 0
				s.granted += grant
			}
			s.mu.Unlock()
			if grant > 0 {
				if err := s.put(agentapi.Chunk{Credit: grant}); err != nil {
					return agentapi.Chunk{}, err
				}
			}
			return c, nil
		}
		ended, changed := s.ended, s.changed
		s.mu.Unlock()
		if ended {
			return agentapi.Chunk{}, io.EOF
		}
		select {
		case <-ctx.Done():
			return agentapi.Chunk{}, ctx.Err()
		case <-changed:
		}
	}
}

// Exit notes the exit code of a terminal, which goes along with the end of the stream.
func (s *Stream) Exit(code int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exit = &code
}

// deliver takes a chunk that came down.
func (s *Stream) deliver(c agentapi.Chunk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	if c.Seq != s.next || len(c.Data) > s.granted || len(s.waiting) >= maxWaitingChunks {
		s.stop() // a gap, or more than was granted
		return
	}
	s.next++
	s.heard = time.Now()
	s.pulses = s.pulses || c.Pulse()
	s.granted -= len(c.Data)
	s.credit = min(s.credit+max(c.Credit, 0), agentapi.MaxWindow)
	if len(c.Data) > 0 || c.Resize != nil || c.InputEnds {
		s.waiting = append(s.waiting, c)
	}
	if c.End {
		s.stop()
		return
	}
	s.stir()
}

// close ends the stream from outside: the connection is gone.
func (s *Stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stop()
}

// finish sends the end. Nothing is sent where the other side has ended already.
func (s *Stream) finish(cause *agentapi.Error) {
	s.mu.Lock()
	ended, exit := s.ended, s.exit
	s.mu.Unlock()
	if !ended {
		_ = s.put(agentapi.Chunk{End: true, Exit: exit, Error: cause}) // the connection ends the stream otherwise
	}
	s.close()
}

// stop marks the end. Callers hold the lock.
func (s *Stream) stop() {
	if !s.ended {
		s.ended = true
		s.over()
		s.stir()
	}
}

// stir wakes the waiters. Callers hold the lock.
func (s *Stream) stir() {
	close(s.changed)
	s.changed = make(chan struct{})
}

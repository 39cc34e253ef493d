package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Bounds of streams.
const (
	// window is how much an agent may send on a stream that was not read.
	window = 256 << 10
	// maxAgentStreams and maxStreams are how many streams there may be of one agent, and on this server.
	maxAgentStreams, maxStreams = 128, 1024
	openTimeout                 = 20 * time.Second
)

// Open gives an agent a command that opens a stream, and waits until the agent has opened it. The receiver of a Stream
// closes it. An error that is an *agentapi.Error comes from the agent, or means that it cannot be reached.
func (d *Dispatcher) Open(ctx context.Context, uid string, c agentapi.Command) (*Stream, error) {
	if c.Kind.Nature() != agentapi.Streams {
		return nil, invalid(fmt.Errorf("%.40q is no command that opens a stream", c.Kind))
	}
	if err := d.complete(uid, &c, agentapi.Streams); err != nil {
		return nil, invalid(err)
	}
	if err := d.lacks(uid, c.Kind); err != nil {
		return nil, err
	}
	at, err := d.connectedAgent(uid)
	if err != nil {
		return nil, err
	}
	c.Stream, c.Credit = newID(), window
	s := &Stream{
		by: d, uid: uid, id: c.Stream, granted: window, opened: make(chan struct{}),
		came: make(chan struct{}, 1), credited: make(chan struct{}, 1), over: make(chan struct{}),
	}
	if err := d.streams.add(s); err != nil {
		return nil, err
	}
	defer d.awaitAgent(uid, at)()
	if err := d.send(uid, at.epoch, c); err != nil {
		s.end(nil)
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, openTimeout)
	defer cancel()
	select {
	case <-s.opened:
	case <-ctx.Done():
		_ = s.Close() // it has not been opened
		return nil, silent(at, ctx.Err())
	}
	if fault := s.refused(); fault != nil {
		return nil, fault
	}
	return s, nil
}

// Stream is a stream between a user and an agent. Recv and Send may be called at the same time.
type Stream struct {
	by      *Dispatcher
	uid, id string

	opened, over   chan struct{} // closed
	came, credited chan struct{} // have room for one

	sending sync.Mutex // one Send at a time
	mu      sync.Mutex
	in      []agentapi.Chunk
	nextIn  int64
	nextOut int64
	// granted is what the agent may still send; read what was read since more was granted; credit what we may still send.
	granted, read, credit int
	ended                 bool
	// pulses says that the agent shows that it is there, heard is when it sent something last.
	pulses bool
	heard  time.Time
}

// Recv returns the next piece. The last one has End, with the Error if there was one; after it comes io.EOF.
func (s *Stream) Recv(ctx context.Context) (agentapi.Chunk, error) {
	for {
		chunk, grant, ok, err := s.next()
		if grant > 0 {
			_ = s.down(agentapi.Chunk{Credit: grant}) // an agent that is not connected sends no more anyway
		}
		if ok || err != nil {
			return chunk, err
		}
		select {
		case <-s.came:
		case <-s.over:
		case <-ctx.Done():
			return agentapi.Chunk{}, ctx.Err()
		}
	}
}

// next takes a piece that is there, and says how much is to be granted.
func (s *Stream) next() (chunk agentapi.Chunk, grant int, ok bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.in) == 0 {
		if s.ended {
			return agentapi.Chunk{}, 0, false, io.EOF
		}
		return agentapi.Chunk{}, 0, false, nil
	}
	chunk, s.in = s.in[0], s.in[1:]
	if s.read += len(chunk.Data); s.read >= window/4 && !s.ended {
		grant, s.read = s.read, 0
		s.granted += grant
	}
	return chunk, grant, true, nil
}

// Send sends Resize, Data and InputEnds of a chunk, in this order, as soon as the agent takes it.
func (s *Stream) Send(ctx context.Context, chunk agentapi.Chunk) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	if chunk.Resize != nil {
		if err := s.down(agentapi.Chunk{Resize: chunk.Resize}); err != nil {
			return err
		}
	}
	for rest := chunk.Data; len(rest) > 0; {
		n, err := s.spend(ctx, min(len(rest), agentapi.MaxChunk))
		if err != nil {
			return err
		}
		if err := s.down(agentapi.Chunk{Data: rest[:n]}); err != nil {
			return err
		}
		rest = rest[n:]
	}
	if chunk.InputEnds {
		return s.down(agentapi.Chunk{InputEnds: true})
	}
	return nil
}

// spend waits for credit and takes up to n bytes of it.
func (s *Stream) spend(ctx context.Context, n int) (int, error) {
	for {
		s.mu.Lock()
		n, ended := min(n, s.credit), s.ended
		s.credit -= n
		s.mu.Unlock()
		switch {
		case ended:
			return 0, io.ErrClosedPipe
		case n > 0:
			return n, nil
		}
		select {
		case <-s.credited:
		case <-s.over:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// Close ends the stream: the agent is notified that there is no reader any more.
func (s *Stream) Close() error {
	s.end(nil)
	return nil
}

// refused returns why the agent did not open the stream, if it did not.
func (s *Stream) refused() *agentapi.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended && len(s.in) == 1 && s.in[0].End && s.in[0].Error != nil && s.nextIn <= 1 {
		return s.in[0].Error
	}
	return nil
}

// down sends a chunk to the agent.
func (s *Stream) down(chunk agentapi.Chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return io.ErrClosedPipe
	}
	return s.publish(chunk)
}

// publish sends a chunk. The caller holds the lock: they must leave in order.
func (s *Stream) publish(chunk agentapi.Chunk) error {
	chunk.Stream, chunk.Seq = s.id, s.nextOut
	s.nextOut++
	data, err := agentapi.Sign(s.by.cfg.Key, agentapi.PurposeStream, s.uid, chunk)
	if err != nil {
		return err
	}
	return s.by.conns.publish(agentapi.DownStream(s.uid, s.id), data)
}

// end ends the stream from our side. With a fault, the reader gets it.
func (s *Stream) end(fault *agentapi.Error) {
	s.by.streams.remove(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	_ = s.publish(agentapi.Chunk{End: true}) // an agent that is not connected knows
	if fault != nil {
		s.in = append(s.in, agentapi.Chunk{Stream: s.id, End: true, Error: fault})
	}
	s.finish()
}

// finish marks the stream as ended. The caller holds the lock.
func (s *Stream) finish() {
	s.ended = true
	close(s.over)
	select {
	case <-s.opened:
	default:
		close(s.opened)
	}
}

// take takes a chunk of the agent.
func (s *Stream) take(data []byte) {
	var chunk agentapi.Chunk
	if err := strict.Decode(data, &chunk, strict.Unknown); err != nil {
		s.end(malformed(errors.New("a piece of the stream is no JSON")))
		return
	}
	if err := s.accept(chunk); err != nil {
		if errors.Is(err, errLost) {
			s.by.cfg.Meter.Missed(WaitStream)
		}
		s.end(faultOf(err))
	} else if chunk.End {
		s.by.streams.remove(s)
	}
}

// errLost says that a piece of a stream did not come, errGone that the agent does not have the stream any more.
var (
	errLost = errors.New("a piece of the stream was lost")
	errGone = errors.New("the agent has ended it: open it again")
)

// faultOf is what the reader of a stream gets for an error of it.
func faultOf(err error) *agentapi.Error {
	if errors.Is(err, errGone) {
		return &agentapi.Error{Code: agentapi.CodeDisconnected, Message: err.Error()}
	}
	return malformed(err)
}

func (s *Stream) accept(chunk agentapi.Chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended:
		return nil
	case chunk.Seq == agentapi.NoStream && chunk.End && s.nextIn > 0:
		return fmt.Errorf("%w: %w", errLost, errGone)
	case chunk.Stream != s.id || chunk.Seq != s.nextIn:
		return fmt.Errorf("%w: piece %d came where piece %d was due", errLost, chunk.Seq, s.nextIn)
	case len(chunk.Data) > agentapi.MaxChunk:
		return fmt.Errorf("a piece of the stream has more than %d bytes", agentapi.MaxChunk)
	case len(chunk.Data) > s.granted:
		return errors.New("the agent sends more than it may")
	case chunk.Credit < 0:
		return errors.New("the agent takes credit back")
	}
	s.nextIn++
	s.heard = s.by.cfg.Now()
	s.pulses = s.pulses || s.nextIn > 1 && chunk.Pulse()
	s.granted -= len(chunk.Data)
	s.credit = min(s.credit+min(chunk.Credit, agentapi.MaxWindow), agentapi.MaxWindow)
	wake(s.credited)
	if s.nextIn == 1 {
		close(s.opened)
	}
	if chunk.Error != nil {
		chunk.Error.Code = agentapi.Code(line(string(chunk.Error.Code), 64))
		chunk.Error.Message = line(chunk.Error.Message, agentapi.MaxText)
	}
	chunk.Resize, chunk.Credit, chunk.InputEnds = nil, 0, false
	switch last := len(s.in) - 1; {
	case chunk.End:
		s.in = append(s.in, chunk)
		s.finish()
	case len(chunk.Data) == 0:
		return nil
	case last >= 0 && len(s.in[last].Data)+len(chunk.Data) <= agentapi.MaxChunk:
		// Small unread pieces become one, so that their number is bounded too.
		s.in[last].Data = append(s.in[last].Data, chunk.Data...)
	default:
		s.in = append(s.in, chunk)
	}
	wake(s.came)
	return nil
}

func wake(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default: // it is awake
	}
}

// receiveChunk takes a Chunk of a stream.
func (d *Dispatcher) receiveChunk(m *nats.Msg) {
	uid, _, id := sender(m.Subject)
	s := d.streams.get(uid, id)
	if s == nil {
		return // it has ended, or it is that of another server
	}
	if !d.lanes.add(uid+"/streams", len(m.Data), streamJobs, streamBytes, func() { s.take(m.Data) }) {
		d.lanes.must(uid, func() { s.end(busy("the agent sends too much data")) })
	}
}

// streams are those that are open on this server.
type streams struct {
	mu  sync.Mutex
	all map[waitKey]*Stream
	of  map[string]int
}

func newStreams() *streams { return &streams{all: map[waitKey]*Stream{}, of: map[string]int{}} }

func (s *streams) add(stream *Stream) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of[stream.uid] >= maxAgentStreams || len(s.all) >= maxStreams {
		return busy("too many logs, terminals and trees are open: close some, or try again later")
	}
	s.all[waitKey{stream.uid, stream.id}] = stream
	s.of[stream.uid]++
	return nil
}

func (s *streams) get(uid, id string) *Stream {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[waitKey{uid, id}]
}

func (s *streams) remove(stream *Stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := waitKey{stream.uid, stream.id}
	if s.all[key] == nil {
		return
	}
	delete(s.all, key)
	if s.of[stream.uid]--; s.of[stream.uid] == 0 {
		delete(s.of, stream.uid)
	}
}

// end ends the streams of an agent, or all streams where uid is empty.
func (s *streams) end(uid string, fault *agentapi.Error) {
	s.mu.Lock()
	var gone []*Stream
	for key, stream := range s.all {
		if uid == "" || key.uid == uid {
			gone = append(gone, stream)
		}
	}
	s.mu.Unlock()
	for _, stream := range gone {
		stream.end(fault)
	}
}

package link

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// wire collects what goes up.
type wire struct {
	mu   sync.Mutex
	up   []agentapi.Chunk
	sent chan struct{} // one for each chunk
	over chan struct{}
}

func newWire(credit int) (*wire, *Stream) {
	w := &wire{sent: make(chan struct{}, 1000), over: make(chan struct{}, 1)}
	s := newStream("s1", credit, func(c agentapi.Chunk) error {
		w.mu.Lock()
		defer w.mu.Unlock()
		c.Data = bytes.Clone(c.Data)
		w.up = append(w.up, c)
		w.sent <- struct{}{}
		return nil
	}, func() { w.over <- struct{}{} })
	return w, s
}

func (w *wire) bytes() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, c := range w.up {
		n += len(c.Data)
	}
	return n
}

func TestAStreamSendsNoMoreThanItWasGranted(t *testing.T) {
	t.Parallel()
	w, s := newWire(10)
	done := make(chan error, 1)
	go func() {
		_, err := s.Write(make([]byte, 25))
		done <- err
	}()
	<-w.sent
	if n := w.bytes(); n != 10 {
		t.Errorf("%d bytes went up on a credit of 10", n)
	}
	s.deliver(agentapi.Chunk{Seq: 0, Credit: 5})
	<-w.sent
	if n := w.bytes(); n != 15 {
		t.Errorf("%d bytes went up on a credit of 15", n)
	}
	s.deliver(agentapi.Chunk{Seq: 1, Credit: 100})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for i, c := range w.up {
		if c.Seq != int64(i) || c.Stream != "s1" {
			t.Errorf("chunk %d is %+v", i, c)
		}
	}
}

func TestAWriterWhomNobodyListensToAnyMoreIsReleased(t *testing.T) {
	t.Parallel()
	w, s := newWire(0)
	done := make(chan error, 1)
	go func() {
		_, err := s.Write([]byte("x"))
		done <- err
	}()
	s.deliver(agentapi.Chunk{Seq: 0, End: true})
	if err := <-done; !errors.Is(err, errStreamOver) {
		t.Errorf("got %v", err)
	}
	<-w.over
	s.finish(nil)
	if len(w.up) != 0 {
		t.Errorf("%+v was sent to nobody", w.up)
	}
}

func TestWhatComesDownIsReceivedInOrderAndGrantsMore(t *testing.T) {
	t.Parallel()
	w, s := newWire(0)
	half := make([]byte, agentapi.MaxChunk/2)
	s.deliver(agentapi.Chunk{Seq: 0, Data: half})
	s.deliver(agentapi.Chunk{Seq: 1, Resize: &agentapi.Size{Columns: 80, Rows: 24}})
	s.deliver(agentapi.Chunk{Seq: 2, End: true})
	first, err := s.Recv(t.Context())
	if err != nil || len(first.Data) != len(half) {
		t.Fatalf("got %d bytes, %v", len(first.Data), err)
	}
	second, err := s.Recv(t.Context())
	if err != nil || second.Resize == nil || second.Resize.Columns != 80 {
		t.Fatalf("got %+v, %v", second, err)
	}
	if _, err := s.Recv(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v after the end", err)
	}
	if len(w.up) != 1 || w.up[0].Credit != len(half) {
		t.Errorf("granted %+v, want what was received", w.up)
	}
}

func TestAGapOrTooMuchEndsAStream(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]agentapi.Chunk{
		"a gap":                  {Seq: 1, Data: []byte("x")},
		"again":                  {Seq: -1, Data: []byte("x")},
		"more than was granted":  {Seq: 0, Data: make([]byte, agentapi.MaxChunk+1)},
		"more than anyone waits": {Seq: 0, Resize: &agentapi.Size{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, s := newWire(0)
			s.deliver(c)
			for i := range int64(maxWaitingChunks + 1) {
				s.deliver(agentapi.Chunk{Seq: i + 1, Resize: &agentapi.Size{}})
			}
			<-w.over
		})
	}
}

func TestTheEndOfAStreamCarriesTheExitCodeOrTheFault(t *testing.T) {
	t.Parallel()
	w, s := newWire(0)
	s.Exit(3)
	s.finish(&agentapi.Error{Code: agentapi.CodeNotFound, Message: "gone"})
	three := 3
	want := []agentapi.Chunk{{Stream: "s1", End: true, Exit: &three, Error: &agentapi.Error{Code: agentapi.CodeNotFound, Message: "gone"}}}
	if diff := cmp.Diff(want, w.up); diff != "" {
		t.Error(diff)
	}
	if _, err := s.Recv(context.Background()); !errors.Is(err, io.EOF) {
		t.Errorf("got %v", err)
	}
}

// TestAStreamWhoseServerWasKilledEnds has the other side show that it is there, and then nothing more.
func TestAStreamWhoseServerWasKilledEnds(t *testing.T) {
	t.Parallel()
	now := time.Now()
	w, s := newWire(0)
	if s.pulse(now); len(w.up) > 0 {
		t.Error("a stream that is not open shows itself")
	}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	s.pulse(now.Add(100 * agentapi.SilentFor)) // an earlier server never shows anything
	if len(w.up) != 2 || w.up[1].Seq != 1 || !w.up[1].Pulse() {
		t.Errorf("%+v went up", w.up)
	}
	done := make(chan error, 1)
	go func() {
		_, err := s.Write([]byte("x")) // for which there is no credit
		done <- err
	}()
	s.deliver(agentapi.Chunk{Seq: 0})
	s.pulse(now.Add(agentapi.SilentFor / 2))
	if len(w.over) > 0 {
		t.Error("a stream ended though its server is there")
	}
	s.pulse(now.Add(2 * agentapi.SilentFor))
	select {
	case err := <-done:
		if !errors.Is(err, errStreamOver) {
			t.Errorf("who writes got %v", err)
		}
		<-w.over
	case <-time.After(time.Minute):
		t.Error("who writes waits for ever")
		s.close()
	}
}

// TestAPulseAfterAPieceThatWasLostEndsAStream drops the last piece that came down.
func TestAPulseAfterAPieceThatWasLostEndsAStream(t *testing.T) {
	t.Parallel()
	w, s := newWire(0)
	s.deliver(agentapi.Chunk{Seq: 0, Credit: 1})
	s.deliver(agentapi.Chunk{Seq: 2})
	<-w.over
	if _, err := s.Write([]byte("xx")); !errors.Is(err, errStreamOver) {
		t.Errorf("got %v", err)
	}
}

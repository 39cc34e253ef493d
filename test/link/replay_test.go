package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
	agentlink "github.com/slipway-gitops/slipway/internal/agent/link"
)

// recorder is somebody on the way who ended TLS, has recorded what the server sent, and sends it again.
type recorder struct {
	t    *testing.T
	to   string
	tls  *tls.Config
	port net.Listener

	mu     sync.Mutex
	frames [][]byte // of commands, as they were sent
	agent  net.Conn // the newest connection
}

func newRecorder(t *testing.T, s *server) *recorder {
	t.Helper()
	r := &recorder{t: t, to: strings.TrimPrefix(s.http.URL, "https://"), tls: s.http.TLS.Clone(), port: listen(t, "127.0.0.1:0")}
	r.tls.NextProtos = []string{"http/1.1"}
	var work sync.WaitGroup
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { cancel(); r.port.Close(); work.Wait() })
	work.Go(func() {
		for {
			near, err := r.port.Accept()
			if err != nil {
				return
			}
			near = tls.Server(near, r.tls)
			dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}}} //nolint:gosec // a test
			far, err := dialer.DialContext(ctx, "tcp", r.to)
			if err != nil {
				near.Close()
				continue
			}
			stop := context.AfterFunc(ctx, func() { near.Close(); far.Close() })
			work.Go(func() { _, _ = io.Copy(far, near); near.Close(); far.Close(); stop() })
			work.Go(func() { r.down(near, far); near.Close(); far.Close() })
		}
	})
	return r
}

func (r *recorder) url() string { return "https://" + r.port.Addr().String() }

// down passes on what the server sends: the answer to the request for a WebSocket, then frame by frame.
func (r *recorder) down(near, far net.Conn) {
	var head []byte
	one := make([]byte, 1)
	for !bytes.HasSuffix(head, []byte("\r\n\r\n")) {
		if _, err := io.ReadFull(far, one); err != nil {
			return
		}
		head = append(head, one[0])
	}
	if _, err := near.Write(head); err != nil {
		return
	}
	if !bytes.Contains(head, []byte(" 101 ")) {
		_, _ = io.Copy(near, far)
		return
	}
	r.mu.Lock()
	r.agent = near
	r.mu.Unlock()
	for {
		frame, err := readFrame(far)
		if err != nil {
			return
		}
		r.mu.Lock()
		if bytes.Contains(frame, []byte(".down.command")) {
			r.frames = append(r.frames, frame)
		}
		_, err = near.Write(frame)
		r.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// readFrame reads one frame of a WebSocket that a server sent.
func readFrame(from io.Reader) ([]byte, error) {
	frame := make([]byte, 2, 1024)
	if _, err := io.ReadFull(from, frame); err != nil {
		return nil, err
	}
	n, more := uint64(frame[1]&0x7f), 0
	switch n {
	case 126:
		more = 2
	case 127:
		more = 8
	}
	if more > 0 {
		frame = append(frame, make([]byte, more)...)
		if _, err := io.ReadFull(from, frame[2:]); err != nil {
			return nil, err
		}
		n = binary.BigEndian.Uint64(append(make([]byte, 8-more), frame[2:]...))
	}
	head := len(frame)
	frame = append(frame, make([]byte, n)...)
	_, err := io.ReadFull(from, frame[head:])
	return frame, err
}

// replay sends every command that was recorded to the agent again, a few times, over its newest connection.
func (r *recorder) replay() {
	r.t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.frames) == 0 {
		r.t.Error("nothing was recorded")
	}
	for range 3 {
		for _, frame := range r.frames {
			if _, err := r.agent.Write(frame); err != nil {
				r.t.Error(err)
			}
		}
	}
}

func TestARecordedCommandHasNoSecondEffect(t *testing.T) {
	t.Parallel()
	s := startServer(t, newStore())
	uid, token := s.token("account.prod")
	c := newCluster(t, "one", 1)
	r := newRecorder(t, s)
	var syncs, reads, opened, refused atomic.Int64
	var allowed atomic.Bool
	count := func(n *atomic.Int64) agentlink.Executor {
		return func(context.Context, agentapi.Command) (any, error) { n.Add(1); return "done", nil }
	}
	run := func(cfg *agentlink.Config) {
		cfg.Executors = map[agentapi.Kind]agentlink.Executor{agentapi.KindSync: count(&syncs), agentapi.KindSettingsTest: count(&reads), agentapi.KindTerminate: count(&refused)}
		cfg.Streamers = map[agentapi.Kind]agentlink.Streamer{agentapi.KindResourceTerminal: func(context.Context, agentapi.Command, *agentlink.Stream) error { opened.Add(1); return nil }}
		cfg.Policy = func() map[string]string {
			if allowed.Load() {
				return map[string]string{"deny": string(agentapi.KindObjectDelete)}
			}
			return map[string]string{"deny": string(agentapi.KindTerminate)}
		}
	}
	a := startAgent(t, r.url(), token, c, run)
	s.store.until(t, "the first session", s.connected(uid))
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	do := func(kind agentapi.Kind, want agentapi.Status) {
		t.Helper()
		if got, err := s.gateway.Commands.Do(ctx, uid, command(kind)); err != nil || got.Status != want {
			t.Fatalf("%s: %+v, %v", kind, got, err)
		}
	}
	do(agentapi.KindSync, agentapi.StatusDone)
	do(agentapi.KindSettingsTest, agentapi.StatusDone)
	do(agentapi.KindTerminate, agentapi.StatusRefused)
	terminal := command(agentapi.KindResourceTerminal)
	terminal.Body = json.RawMessage(`{}`)
	stream, err := s.gateway.Commands.Open(ctx, uid, terminal)
	if err != nil {
		t.Fatal(err)
	}
	for chunk, err := stream.Recv(ctx); err == nil && !chunk.End; chunk, err = stream.Recv(ctx) {
	}
	allowed.Store(true) // what was refused stays refused
	check := func(when string, fresh int64) {
		t.Helper()
		do(agentapi.KindSync, agentapi.StatusDone) // after all that came before
		do(agentapi.KindSettingsTest, agentapi.StatusDone)
		if syncs.Load() != fresh || reads.Load() != fresh || opened.Load() != 1 || refused.Load() != 0 {
			t.Errorf("%s: %d syncs, %d tests, %d terminals, %d that were refused", when, syncs.Load(), reads.Load(), opened.Load(), refused.Load())
		}
	}
	r.replay()
	check("on the same connection", 2)
	a.stop()
	startAgent(t, r.url(), token, c, run)
	s.store.until(t, "the next session", func() bool { h, _ := s.store.AgentByUID(t.Context(), uid); return h.Epoch > 2 && s.connected(uid)() })
	r.replay()
	check("after a restart of the agent", 3)
	rotateAgain(t, s, uid)
	s.store.until(t, "the session with the next key", func() bool { h, _ := s.store.AgentByUID(t.Context(), uid); return h.Epoch > 3 && s.connected(uid)() })
	r.replay()
	check("after a rotation", 4)
}

package gateway_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

type opened struct {
	stream *gateway.Stream
	err    error
}

// open asks for logs, and returns the command that came down.
func (s *server) open(a *agent) (<-chan opened, agentapi.Command) {
	s.t.Helper()
	came := make(chan opened, 1)
	go func() {
		stream, err := s.gateway.Commands.Open(s.t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindResourceLogs, User: "user:anna"})
		came <- opened{stream, err}
	}()
	return came, a.command()
}

// stream opens a stream with credit for the server.
func (s *server) stream(a *agent, credit int) (*gateway.Stream, agentapi.Command) {
	s.t.Helper()
	came, c := s.open(a)
	a.chunk(c, agentapi.Chunk{Credit: credit})
	got := wait(s.t, came, "the stream")
	if got.err != nil {
		s.t.Fatal(got.err)
	}
	s.t.Cleanup(func() { _ = got.stream.Close() })
	return got.stream, c
}

func (a *agent) chunk(c agentapi.Command, chunk agentapi.Chunk) {
	a.t.Helper()
	chunk.Stream = c.Stream
	a.publish(agentapi.UpStream(a.uid, c.Stream), chunk)
}

func TestLogsFlowAsFarAsSomebodyReads(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	stream, c := s.stream(a, 0)
	var want, got bytes.Buffer
	credit, seq := c.Credit, int64(1)
	send := func(n int) {
		data := bytes.Repeat([]byte{byte('a' + seq%26)}, n)
		want.Write(data)
		a.chunk(c, agentapi.Chunk{Seq: seq, Data: data})
		credit -= n
		seq++
	}
	// All that may be sent is sent; nothing more comes before somebody reads.
	for credit >= agentapi.MaxChunk {
		send(agentapi.MaxChunk)
	}
	if len(a.chunks) > 0 {
		t.Error("credit was given before somebody read")
	}
	for got.Len() < 2_000_000 {
		chunk, err := stream.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got.Write(chunk.Data)
		for len(a.chunks) > 0 {
			credit += (<-a.chunks).Credit
		}
		if got.Len() == want.Len() && credit < 1000 {
			credit += wait(t, a.chunks, "credit").Credit
		}
		for credit >= 1000 {
			send(1000)
		}
	}
	a.chunk(c, agentapi.Chunk{Seq: seq, End: true})
	for {
		chunk, err := stream.Recv(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got.Write(chunk.Data)
		if chunk.End {
			break
		}
	}
	if _, err := stream.Recv(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("after the end: %v", err)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("sent %d bytes, read %d, or others", want.Len(), got.Len())
	}
}

func TestATerminalTakesWhatIsTyped(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	stream, c := s.stream(a, 4)
	sent := make(chan error, 1)
	go func() {
		sent <- stream.Send(t.Context(), agentapi.Chunk{Resize: &agentapi.Size{Columns: 80, Rows: 24}, Data: []byte("exit 3\n")})
	}()
	if chunk := wait(t, a.chunks, "the size"); chunk.Resize == nil || chunk.Resize.Columns != 80 || chunk.Seq != 0 {
		t.Errorf("chunk %+v", chunk)
	}
	if chunk := wait(t, a.chunks, "the input"); string(chunk.Data) != "exit" || chunk.Seq != 1 {
		t.Errorf("chunk %+v", chunk)
	}
	a.chunk(c, agentapi.Chunk{Seq: 1, Credit: 100})
	if chunk := wait(t, a.chunks, "the rest"); string(chunk.Data) != " 3\n" || chunk.Seq != 2 {
		t.Errorf("chunk %+v", chunk)
	}
	if err := wait(t, sent, "the end of Send"); err != nil {
		t.Error(err)
	}
	code := 3
	a.chunk(c, agentapi.Chunk{Seq: 2, End: true, Exit: &code})
	if chunk, err := stream.Recv(t.Context()); err != nil || !chunk.End || chunk.Exit == nil || *chunk.Exit != 3 {
		t.Errorf("the end: %+v, %v", chunk, err)
	}
	if err := stream.Send(t.Context(), agentapi.Chunk{Data: []byte("x")}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after the end: %v", err)
	}
}

func TestAStreamThatTheAgentRefusesIsAnError(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	if _, err := s.gateway.Commands.Open(t.Context(), i.uid, agentapi.Command{Kind: agentapi.KindResourceLogs, User: "u"}); code(err) != agentapi.CodeDisconnected {
		t.Errorf("without the agent: %v", err)
	}
	a := s.join(i)
	came, c := s.open(a)
	a.chunk(c, agentapi.Chunk{End: true, Error: &agentapi.Error{Code: agentapi.CodeNotFound, Message: "there is no such pod"}})
	if got := wait(t, came, "the answer"); code(got.err) != agentapi.CodeNotFound {
		t.Errorf("error %v", got.err)
	}
	if _, err := s.gateway.Commands.Open(t.Context(), i.uid, agentapi.Command{Kind: agentapi.KindSync, User: "u"}); code(err) != agentapi.CodeInvalid {
		t.Errorf("a command that is no stream: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.gateway.Commands.Open(ctx, i.uid, agentapi.Command{Kind: agentapi.KindResourceLogs, User: "u"}); !errors.Is(err, context.Canceled) {
		t.Errorf("who did not wait got %v", err)
	}
	a.command()
	if chunk := wait(t, a.chunks, "the end"); !chunk.End {
		t.Errorf("the agent was told %+v", chunk)
	}
}

func TestAnAgentThatStoppedAnswersNothingWhichIsSaid(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	_, err := s.gateway.Commands.Open(ctx, a.uid, agentapi.Command{Kind: agentapi.KindResourceLogs, User: "u"})
	if code(err) != agentapi.CodeExpired || !strings.Contains(err.Error(), "account.prod does not answer") {
		t.Errorf("a stream that it did not open: %v", err)
	}
	soon := agentapi.Command{Kind: agentapi.KindDiff, User: "u", Deadline: time.Now().Add(10 * time.Millisecond)}
	if _, err := s.gateway.Commands.Do(t.Context(), a.uid, soon); code(err) != agentapi.CodeExpired {
		t.Errorf("what it did not answer: %v", err)
	}
}

func TestAnAgentThatDoesNotHoldTheRulesOfAStreamLosesIt(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	small := agentapi.Chunk{Seq: 1, Data: []byte("x")}
	tests := map[string][]agentapi.Chunk{
		"a gap":             {{Seq: 2, Data: []byte("x")}},
		"the same twice":    {small, small},
		"a large piece":     {{Seq: 1, Data: make([]byte, agentapi.MaxChunk+1)}},
		"credit taken back": {{Seq: 1, Credit: -1}},
	}
	var tooMuch []agentapi.Chunk
	for n := range 9 { // the window has room for 8
		tooMuch = append(tooMuch, agentapi.Chunk{Seq: int64(n + 1), Data: make([]byte, agentapi.MaxChunk)})
	}
	tests["more than it may"] = tooMuch
	for name, chunks := range tests {
		stream, c := s.stream(a, 0)
		for _, chunk := range chunks {
			a.chunk(c, chunk)
		}
		for {
			chunk, err := stream.Recv(t.Context())
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if chunk.End {
				if chunk.Error == nil || chunk.Error.Code != agentapi.CodeMalformed {
					t.Errorf("%s: %+v", name, chunk)
				}
				break
			}
			if name == "more than it may" {
				// Who reads gives credit: this one must not, before the ninth was refused.
				end := wait(t, a.chunks, "the end")
				for !end.End {
					end = wait(t, a.chunks, "the end")
				}
				break
			}
		}
		for len(a.chunks) > 0 {
			<-a.chunks
		}
	}
}

func TestStreamsEndWithTheSessionAndHaveALimit(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	i := s.register("account.prod", "cluster")
	a := s.join(i)
	var all []*gateway.Stream
	for range 128 {
		stream, _ := s.stream(a, 0)
		all = append(all, stream)
	}
	if _, err := s.gateway.Commands.Open(t.Context(), a.uid, agentapi.Command{Kind: agentapi.KindResourceLogs, User: "u"}); code(err) != agentapi.CodeBusy {
		t.Errorf("one more: %v", err)
	}
	s.join(i)
	for n, stream := range all {
		chunk, err := stream.Recv(t.Context())
		if err != nil || !chunk.End || chunk.Error == nil || chunk.Error.Code != agentapi.CodeDisconnected {
			t.Errorf("stream %d: %+v, %v", n, chunk, err)
		}
	}
}

func TestAnAgentCannotWriteIntoTheStreamOfAnother(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	thief := s.join(s.register("account.thief", "other"))
	stream, c := s.stream(a, 0)
	thief.chunk(c, agentapi.Chunk{Seq: 1, Data: []byte("stolen")})
	if err := thief.conn.Flush(); err != nil {
		t.Fatal(err)
	}
	a.chunk(c, agentapi.Chunk{Seq: 1, Data: []byte("mine")})
	if chunk, err := stream.Recv(t.Context()); err != nil || string(chunk.Data) != "mine" {
		t.Errorf("%+v, %v", chunk, err)
	}
}

func TestMessagesOfAgentsAreBoundedInErrorsToo(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	came, c := s.open(a)
	a.chunk(c, agentapi.Chunk{End: true, Error: &agentapi.Error{Code: "x", Message: strings.Repeat("m\x1b", 100_000)}})
	got := wait(t, came, "the answer")
	if got.err == nil || len(fmt.Sprint(got.err)) > agentapi.MaxText+100 || strings.Contains(got.err.Error(), "\x1b") {
		t.Errorf("%d bytes", len(fmt.Sprint(got.err)))
	}
}

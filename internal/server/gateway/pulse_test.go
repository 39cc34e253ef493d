package gateway_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

// TestAStreamWhoseLastPieceWasLostEnds opens streams and drops a piece of each, after which only pulses come.
func TestAStreamWhoseLastPieceWasLostEnds(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		then   func(s *server, a *agent, c agentapi.Command)
		missed bool
	}{
		"the agent shows that it is there, after a piece that did not come": {func(_ *server, a *agent, c agentapi.Command) {
			a.chunk(c, agentapi.Chunk{Seq: 2})
		}, true},
		"the agent has ended it, and the end did not come": {func(s *server, a *agent, c agentapi.Command) {
			s.gateway.Pulse(time.Now())
			wait(a.t, a.chunks, "the pulse")
			a.chunk(c, agentapi.Chunk{Seq: agentapi.NoStream, End: true})
		}, true},
		"the agent has fallen silent": {func(s *server, a *agent, c agentapi.Command) {
			a.chunk(c, agentapi.Chunk{Seq: 1})
			a.beat(agentapi.Heartbeat{})
			s.gateway.Pulse(time.Now().Add(agentapi.SilentFor / 2)) // it is not silent for long enough
			wait(a.t, a.chunks, "the pulse")
			s.gateway.Pulse(time.Now().Add(2 * agentapi.SilentFor))
		}, true},
		"all came": {func(s *server, a *agent, c agentapi.Command) {
			s.gateway.Pulse(time.Now())
			wait(a.t, a.chunks, "the pulse")
			a.chunk(c, agentapi.Chunk{Seq: 1})
			a.chunk(c, agentapi.Chunk{Seq: 2, End: true})
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			missed := &misses{}
			s := start(t, gatewaytest.NewMemory(), func(c *gateway.Config) { c.Meter = missed })
			a := s.join(s.register("account.prod", "cluster"))
			stream, c := s.stream(a, 0)
			test.then(s, a, c)
			end, err := stream.Recv(t.Context())
			if err != nil || !end.End || (end.Error != nil) != test.missed {
				t.Errorf("the stream says %+v, %v", end, err)
			}
			want := "[]"
			if test.missed {
				want = "[" + gateway.WaitStream + "]"
			}
			if got := fmt.Sprint(missed.list()); got != want {
				t.Errorf("missed %s, want %s", got, want)
			}
		})
	}
}

// TestAnEarlierAgentThatShowsNothingKeepsItsQuietStreams is about agents that know no pulses.
func TestAnEarlierAgentThatShowsNothingKeepsItsQuietStreams(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	a := s.join(s.register("account.prod", "cluster"))
	stream, c := s.stream(a, 0)
	s.gateway.Pulse(time.Now().Add(100 * agentapi.SilentFor))
	wait(t, a.chunks, "the pulse")
	a.chunk(c, agentapi.Chunk{Seq: 1, Data: []byte("x")})
	if got, err := stream.Recv(t.Context()); err != nil || string(got.Data) != "x" {
		t.Errorf("got %+v, %v", got, err)
	}
}

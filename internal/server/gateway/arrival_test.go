package gateway_test

import (
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestLinksThatProveNothingMakeRoomForEachOther(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	agent := s.raw(nil)
	agent.connect(s.register("account.prod", "cluster"))
	if _, data, err := agent.conn.ReadMessage(); err != nil || !strings.Contains(string(data), "PONG") {
		t.Fatalf("%q %v", data, err)
	}
	first := s.raw(nil)
	for range 128 {
		s.raw(nil)
	}
	if said := first.untilClosed(); strings.Contains(said, "Timeout") {
		t.Errorf("the oldest of 129 links that prove nothing was open until its time was over: %q", said)
	}
	agent.write("PING\r\n")
	if _, data, err := agent.conn.ReadMessage(); err != nil || !strings.Contains(string(data), "PONG") {
		t.Errorf("an agent that has proven its key was cut off: %q %v", data, err)
	}
}

package gateway_test

import (
	"fmt"
	"testing"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/server/gateway"
	"github.com/slipway-gitops/slipway/internal/server/gateway/gatewaytest"
)

func TestAnAgentThatHasBroughtAllGivesItsPlaceToOneThatWaits(t *testing.T) {
	t.Parallel()
	s := start(t, gatewaytest.NewMemory())
	one, two := item("a"), item("b")
	var agents []*agent
	for i := range gateway.CatchUpAtOnce {
		a := s.connect(s.register(fmt.Sprintf("account.a%d", i), fmt.Sprintf("cluster-%d", i)))
		if welcome := a.hello(digest(one, two)); !welcome.Inventory {
			t.Fatalf("agent %d is not asked for its inventory", i)
		}
		agents = append(agents, a)
	}
	late := s.connect(s.register("account.late", "cluster-late"))
	if welcome := late.hello(digest(one)); welcome.Inventory {
		t.Fatal("one more agent is asked for its inventory")
	}
	done := agents[3]
	list := &agentapi.Inventory{Last: true, Entries: entries(one, two)}
	if ack := done.batch(agentapi.Batch{Seq: 1, Inventory: list}); ack.Error != nil || len(ack.Missing) != 2 {
		t.Fatalf("answer to the inventory: %+v", ack)
	}
	for seq, item := range []agentapi.Item{one, two} {
		if ack := done.batch(agentapi.Batch{Seq: int64(seq) + 2, Items: []agentapi.Item{item}}); ack.Error != nil {
			t.Fatal(ack.Error)
		}
	}
	// Long before the next heartbeat of the one that is done.
	if ack := late.beat(agentapi.Heartbeat{Digest: digest(one)}); !ack.Inventory {
		t.Error("the place of an agent that has brought all is not given to the one that waits")
	}
}

package scale

import (
	"context"
	"net"
	"strconv"
	"testing"
	"time"

	nats "github.com/nats-io/nats-server/v2/server"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// busPassword is what servers show the NATS server, and must not log.
const busPassword = "pl4nted-for-the-bus"

// startBus starts a NATS server that is none of the servers'.
func startBus(t *testing.T, address string) (stop func()) {
	t.Helper()
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.Atoi(text)
	if err != nil {
		t.Fatal(err)
	}
	ns, err := nats.NewServer(&nats.Options{
		ServerName: "bus", DontListen: true, NoSigs: true, NoLog: true,
		LeafNode: nats.LeafNodeOpts{Host: host, Port: port, Username: "slipway", Password: busPassword},
	})
	if err != nil {
		t.Fatal(err)
	}
	ns.Start()
	if !ns.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server does not start")
	}
	stop = func() {
		ns.Shutdown()
		ns.WaitForShutdown()
	}
	t.Cleanup(stop)
	return stop
}

func TestServersMeetAtANATSServerAndAreKilledAsItIs(t *testing.T) {
	address := testenv.Address(t)
	stop := startBus(t, address)
	w := newWorld(t, 2, 4, "SLIPWAY_NATS_URL=nats://slipway:"+busPassword+"@"+address)
	w.awaitEachThroughEach()
	busy := w.work()
	for _, s := range w.servers {
		t.Logf("%s killed: %s", s.Name, w.kill(s))
		w.awaitEachThroughEach()
	}
	stop()
	pass(t.Context(), 500*time.Millisecond)
	startBus(t, address)
	w.awaitEachThroughEach()
	busy()
	w.checkCommands()
	w.checkLedger()
	w.checkState()
	for _, s := range w.servers {
		if n := s.Logged(busPassword); n > 0 {
			t.Errorf("%s logs the password of the NATS server %d times", s.Name, n)
		}
	}
	if t.Failed() {
		for _, s := range w.servers {
			t.Logf("the end of the log of %s:\n%s", s.Name, s.Tail())
		}
	}
}

// awaitEachThroughEach waits until each agent answers what it is asked through each server: it is connected to one of them.
func (w *world) awaitEachThroughEach() {
	w.t.Helper()
	begun := time.Now()
	defer func() {
		w.t.Logf("each agent answers through each server after %s", time.Since(begun).Round(time.Millisecond))
	}()
	for _, s := range w.servers {
		for _, a := range w.agents {
			await(w.t, a.id+" through "+s.Name, func(ctx context.Context) string {
				asking, cancel := context.WithTimeout(ctx, answerIn())
				defer cancel()
				_, err := s.admin.Application(api.Target{Agent: a.id, Namespace: place, Name: "app-0"}).Tree(asking)
				return errText(err)
			})
		}
	}
}

package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/slipway-gitops/slipway/api/agentapi"
)

// What tests outside of the package need of its inside.

// HandleHello does what a Hello does, without a connection.
func (g *Gateway) HandleHello(ctx context.Context, uid string, h agentapi.Hello) agentapi.Welcome {
	return g.reception.hello(ctx, uid, &h)
}

// HandleHeartbeat does what a Heartbeat does, without a connection.
func (g *Gateway) HandleHeartbeat(ctx context.Context, uid string, h agentapi.Heartbeat) agentapi.HeartbeatAck {
	return g.reception.heartbeat(ctx, uid, &h)
}

// Handle does what a message of any kind does, without a connection.
func (g *Gateway) Handle(ctx context.Context, uid, verb string, data []byte) error {
	request, ok := g.request(verb)
	if !ok {
		return fmt.Errorf("no request is called %s", verb)
	}
	request.serve(ctx, uid, data)
	return nil
}

// Unhear has a server know of an agent what it knew before a note that was lost.
func (g *Gateway) Unhear(uid string, epoch int64, ready bool) {
	g.presence.update(uid, func(at *seen) { at.epoch, at.ready, at.asked = epoch, ready, time.Time{} })
}

// HearBegun does what the word of another server does that it began a session.
func (g *Gateway) HearBegun(ctx context.Context, uid, id string, epoch int64) {
	data, _ := json.Marshal(peerNote{Type: noteBegun, UID: uid, ID: id, Epoch: epoch, At: g.cfg.Now()})
	g.hear(ctx, data)
}

// Hear does what any word of another server does.
func (g *Gateway) Hear(ctx context.Context, data []byte) { g.hear(ctx, data) }

// ServeRegister answers a request for registration.
func (g *Gateway) ServeRegister(w http.ResponseWriter, r *http.Request) {
	g.registrar.serveRegister(w, r)
}

// Remember reads what the store knows, as Run does at its beginning.
func (g *Gateway) Remember(ctx context.Context) error { return g.remember(ctx) }

// Forget stops all timers and waits for what is under way.
func (g *Gateway) Forget() {
	g.forget()
	g.lanes.close()
}

// Line and Compare are the functions of these names.
var (
	Line    = line
	Compare = compare
)

// Allow takes one from the rate of an address.
func Allow(a *addressRate, ip string) bool { return a.allow(ip) }

// NewAddressRate is newAddressRate without refill.
func NewAddressRate(burst int) *addressRate { return newAddressRate(0, burst) }

// ClusterAddress is where other servers reach this one.
func (g *Gateway) ClusterAddress() string { return g.conns.broker.Load().server.ClusterAddr().String() }

// Pulse shows all streams that the server is there, as it does now and then.
func (g *Gateway) Pulse(now time.Time) { g.Commands.streams.pulse(now) }

// Silent does what the timer of an agent does that was not heard for DisconnectedAfter.
func (g *Gateway) Silent(ctx context.Context, uid string) {
	g.lanes.must(uid, func() { g.monitor.lost(ctx, uid) })
}

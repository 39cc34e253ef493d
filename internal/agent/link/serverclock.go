package link

import (
	"log/slog"
	"sync"
	"time"
)

// serverClock is the server's clock, as far as its answers show it.
type serverClock struct {
	now    func() time.Time // ours
	status *board
	log    *slog.Logger

	mu    sync.Mutex
	skew  time.Duration // of the server's clock before ours, as far as it counts
	apart bool          // it is larger than what counts
}

// time returns what time the server has.
func (c *serverClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now().Add(c.skew)
}

// compare takes the server's clock from the answer to a request that was sent at a time of ours. The zero time is that of a
// server that does not report it. An answer that took long says too little.
func (c *serverClock) compare(server, asked time.Time) {
	took := c.now().Sub(asked)
	if server.IsZero() || took < 0 || took > maxSkew {
		return
	}
	c.set(server.Sub(asked.Round(0).Add(took / 2)))
}

// set takes the difference between the server's clock and ours.
func (c *serverClock) set(d time.Duration) {
	c.status.skewed(d)
	far := d > maxSkew || d < -maxSkew
	used := min(max(d, -maxSkew), maxSkew)
	c.mu.Lock()
	news := far && !c.apart
	c.skew, c.apart = used, far
	c.mu.Unlock()
	if news { // not with every heartbeat
		c.log.Warn("the clocks of server and agent differ: deadlines of commands may be missed",
			"server_is_ahead_by", d.Round(time.Second).String())
	}
}

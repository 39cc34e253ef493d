// Package swarm simulates agents: each has the link of a real one, and Applications that are deployed nowhere. What
// they have follows from a seed, so that two runs report the same to a server.
package swarm

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/slipway-gitops/slipway/internal/agent/link"
)

// atOnce is how many agents are made or registered at a time.
const atOnce = 8

// Options say how large a swarm is.
type Options struct {
	Agents, Applications int // of each agent
	Big                  int // nodes in the tree of the Application Big of each agent; 0 for none
	Seed                 uint64
	Server               *url.URL
	CA                   string // file with the certificate of the server
	Log                  *slog.Logger
}

// Swarm is many agents in this process.
type Swarm struct {
	agents []*agent
	cancel context.CancelFunc
	done   sync.WaitGroup
}

// New makes agents and registers each with its token.
func New(ctx context.Context, o Options, tokens []string) (*Swarm, error) {
	door, err := newDoor(o.Server, o.CA)
	if err != nil {
		return nil, err
	}
	s := &Swarm{agents: make([]*agent, o.Agents)}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(atOnce)
	for i := range s.agents {
		g.Go(func() error {
			a, err := newAgent(o, i)
			if err != nil {
				return err
			}
			a.connect(o.Server, o.CA, o.Log)
			s.agents[i] = a
			return a.register(ctx, door, tokens[i])
		})
	}
	return s, g.Wait()
}

// Start lets all agents connect simultaneously. They go on until Close.
func (s *Swarm) Start(ctx context.Context) {
	ctx, s.cancel = context.WithCancel(ctx)
	for _, a := range s.agents {
		s.done.Go(func() { _ = a.link.Run(ctx) }) // it ends with ctx
	}
}

// Close ends all links and waits for them.
func (s *Swarm) Close() {
	if s.cancel != nil {
		s.cancel()
	}
	s.done.Wait()
}

// Bytes returns how large all Applications are.
func (s *Swarm) Bytes() int {
	sum := 0
	for _, a := range s.agents {
		sum += a.items.bytes()
	}
	return sum
}

// Pending returns how many changes servers have not acknowledged.
func (s *Swarm) Pending() int {
	sum := 0
	for _, a := range s.agents {
		sum += a.link.Status().Pending
	}
	return sum
}

// Connected returns how many agents have a link now.
func (s *Swarm) Connected() int {
	sum := 0
	for _, a := range s.agents {
		if a.link.Status().State == link.StateConnected {
			sum++
		}
	}
	return sum
}

// Executed returns how many commands were carried out.
func (s *Swarm) Executed() int64 {
	var sum int64
	for _, a := range s.agents {
		sum += a.executed.Load()
	}
	return sum
}

// Churn changes Applications at random, so many in a second, until ctx ends, and calls told with the number of the agent and
// the name of each just before the link hears of it. It returns how many it changed.
func (s *Swarm) Churn(ctx context.Context, perSecond float64, rng *rand.Rand, told func(agent int, name string)) (int, error) {
	const step = 20 * time.Millisecond
	tick := time.NewTicker(step)
	defer tick.Stop()
	started, changed := time.Now(), 0
	for {
		select {
		case <-ctx.Done():
			return changed, nil
		case <-tick.C:
		}
		for due := int(time.Since(started).Seconds() * perSecond); changed < due; changed++ {
			a := s.agents[rng.IntN(len(s.agents))]
			key, err := a.items.change(rng.IntN(len(a.items.versions)))
			if err != nil {
				return changed, fmt.Errorf("churn: %w", err)
			}
			told(a.number, key.Name)
			a.link.Changed(key)
		}
	}
}

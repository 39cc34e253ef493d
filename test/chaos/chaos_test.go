// Package chaos kills the agent, the API server and the Git server at random moments while commits arrive, and looks
// whether the cluster ends up at what Git says, with nothing lost and nothing done twice. The environment variable
// SLIPWAY_SOAK_ROUNDS sets the number of rounds, SLIPWAY_SOAK_SEED repeats the random choices of an earlier run. With
// SLIPWAY_SOAK_ROUNDS every write of a sync with hooks is disturbed too; SLIPWAY_SOAK_DISTURBANCES limits in which ways.
package chaos

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

const (
	defaultRounds = 6
	// commitEvery is the pause between two commits while something is killed.
	commitEvery = 120 * time.Millisecond
	// converged bounds the wait for the cluster to be at the last commit of a round: much longer than it takes, since
	// machines can be loaded. The watches of a client back off for some seconds after the API server was away.
	converged = 2 * time.Minute
)

// disaster is one way to disturb a round.
type disaster struct {
	name    string
	do      func(*scene)
	commits bool // it makes the commits itself
}

// disasters in the order in which rounds go through them.
func disasters() []disaster {
	return []disaster{
		{name: "the agent is killed", do: (*scene).killAgent},
		{name: "the API server is killed", do: (*scene).killServer},
		{name: "the agent is killed in the middle of a sync", do: (*scene).killSyncing, commits: true},
		{name: "the agent is killed again and again", do: func(s *scene) {
			for range 4 {
				s.killAgent()
			}
		}},
		{name: "the Git server is broken", do: (*scene).breakGit},
		{name: "the agent and the API server are killed", do: (*scene).killBoth},
	}
}

// scene is everything that a round works on.
type scene struct {
	t       *testing.T
	rng     *rand.Rand
	cluster *testenv.Private
	git     *testenv.GitServer
	agent   *testenv.Process
	view    *view
	fleet   *fleet
}

func TestTheClusterComesToWhatGitSaysWhateverIsKilledAndWhenever(t *testing.T) {
	rounds := numberFromEnv(t, "SLIPWAY_SOAK_ROUNDS", defaultRounds)
	seed := numberFromEnv(t, "SLIPWAY_SOAK_SEED", uint64(time.Now().UnixNano())%1_000_000)
	t.Logf("%d rounds, SLIPWAY_SOAK_SEED=%d", rounds, seed)

	s := &scene{t: t, rng: rand.New(rand.NewPCG(seed, 1)), cluster: testenv.PrivateCluster(t), git: testenv.Git(t)}
	s.view = newView(t, s.cluster.Config(), namespace)
	makeBystander(t, s.cluster.Config())
	s.fleet = newFleet(s.git.NewRepo("fleet"), rand.New(rand.NewPCG(seed, 2)))
	s.agent = newAgent(t, s.cluster.Kubeconfig(), "--namespace", agentNamespace, "--poll", "1s")
	s.agent.Start()
	s.view.awaitApplicationKind(t)
	s.view.followApplications(t, agentNamespace)
	s.fleet.createApplications(t, s.cluster.Config())
	s.settle("start", time.Now())

	before := s.snapshot()
	for round := range rounds {
		d := disasters()[int(round)%len(disasters())]
		t.Logf("round %d: %s", round+1, d.name)
		s.disturb(d)
		last := time.Now()
		s.settle(d.name, last)
		t.Logf("round %d: at commit %d, %s after it", round+1, s.fleet.number(), time.Since(last).Round(time.Millisecond))
		after := s.snapshot()
		s.compare(before, after)
		before = after
		if t.Failed() {
			t.Fatalf("stopped after round %d; the end of the agent's log:\n%s", round+1, s.agent.Tail())
		}
	}
}

// disturb lets commits arrive while d happens. The last commit comes after it, or during the recovery from it.
func (s *scene) disturb(d disaster) {
	if d.commits {
		d.do(s)
		return
	}
	ctx, cancel := context.WithCancel(s.t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(commitEvery)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				s.fleet.commit()
			}
		}
	}()
	s.pause(800 * time.Millisecond)
	d.do(s)
	s.pause(500 * time.Millisecond)
	cancel()
	<-done
	s.fleet.commit()
}

// pause lets a random time of at most longest pass, so that what comes next hits any moment.
func (s *scene) pause(longest time.Duration) { s.wait(time.Duration(s.rng.Int64N(int64(longest)))) }

func (s *scene) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.t.Context().Done():
	}
}

func (s *scene) killAgent() {
	s.pause(600 * time.Millisecond)
	s.agent.Kill()
	s.pause(300 * time.Millisecond)
	s.agent.Start()
}

func (s *scene) killServer() {
	s.pause(300 * time.Millisecond)
	s.cluster.Kill()
	s.pause(time.Second)
	s.cluster.Restart()
}

// killSyncing kills the agent when a commit shows in the cluster: at its first object, so that some are missing, or
// when one Application has all of them and nobody has been told. Nothing is committed after the last kill.
func (s *scene) killSyncing() {
	for i := range 6 {
		begun := func(a *app, objects map[ref]object) bool { return a.wrong(objects) == "" }
		if n := s.fleet.commit(); i%2 == 0 {
			mark := fmt.Sprintf("commit-%d-", n)
			begun = func(a *app, objects map[ref]object) bool { return a.shows(objects, mark) }
		}
		problem := s.view.await(s.t.Context(), converged, func(objects map[ref]object) string {
			if !s.fleet.any(objects, begun) {
				return "the agent does not act on a commit"
			}
			return ""
		})
		if problem != "" {
			s.t.Fatalf("%s\nthe end of the agent's log:\n%s", problem, s.agent.Tail())
		}
		s.agent.Kill()
		// What a dead agent did not tell is found by times in seconds.
		s.wait(1100 * time.Millisecond)
		s.agent.Start()
	}
}

// killBoth starts the agent while the API server is still away, or is just coming up.
func (s *scene) killBoth() {
	s.pause(300 * time.Millisecond)
	s.agent.Kill()
	s.cluster.Kill()
	s.agent.Start()
	s.pause(6 * time.Second)
	s.cluster.Restart()
}

func (s *scene) breakGit() {
	s.git.Break()
	defer s.git.Mend()
	s.pause(1500 * time.Millisecond)
	s.agent.Kill()
	s.agent.Start() // with no Git to ask: what is in the cluster must stay
	s.pause(1500 * time.Millisecond)
}

// settle waits until the cluster is what the last commit says.
func (s *scene) settle(what string, since time.Time) {
	s.t.Helper()
	if problem := s.view.await(s.t.Context(), converged, func(objects map[ref]object) string {
		if s.agent.Ended() {
			return "the agent ended by itself"
		}
		return s.fleet.wrong(objects)
	}); problem != "" {
		s.t.Fatalf("%s: %s after the last commit (number %d): %s\nthe end of the agent's log:\n%s",
			what, time.Since(since).Round(time.Millisecond), s.fleet.number(), problem, s.agent.Tail())
	}
}

func numberFromEnv(t *testing.T, name string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil {
		t.Fatal(fmt.Errorf("read %s: %w", name, err))
	}
	return n
}

package chaos

import (
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// disturbance is what happens at a write of a sync.
type disturbance struct {
	name   string
	agents int
	strike func(st *stage) // while the write waits for its answer
	mend   func(st *stage) // afterwards
}

func agentKilled() disturbance {
	return disturbance{
		name: "the agent is killed", agents: 1,
		strike: func(st *stage) { st.agents[0].Kill() },
		mend:   func(st *stage) { st.agents[0].Start() },
	}
}

// disturb runs a story whose second sync is disturbed at the write that pick takes, and reports whether there was one.
func disturb(t *testing.T, config *rest.Config, s story, d disturbance, before bool, pick func(n int, w write) bool) bool {
	t.Helper()
	st := newStage(t, config, s, d.agents)
	fired := st.gate.arm(pick, before, func() { d.strike(st) })
	st.sync()
	hit := st.awaitStrike(fired)
	if hit {
		d.mend(st)
	}
	st.check()
	return hit
}

// moment is a stage of a sync, by the write that belongs to it.
type moment struct {
	story, name string
	before      bool // the write is stopped before it is done
	pick        func(n int, w write) bool
}

// writes takes the first write of an object with a method.
func writes(method, name string) func(int, write) bool {
	return func(_ int, w write) bool { return w.Method == method && w.Kind+"/"+w.Name == name }
}

// moments are the stages in which the agent is killed in every run of the tests.
func moments() []moment {
	return []moment{
		{"well", "the first wave is applied", false, writes("PATCH", "configmaps/first")},
		{"well", "an object is pruned", false, writes("DELETE", "configmaps/pruned")},
		{"well", "a hook that succeeded is deleted", false, writes("DELETE", "jobs/after")},
		{"failing", "a hook that fails is made", false, writes("PATCH", "jobs/bad")},
		{"failing", "a hook that failed is deleted", false, writes("DELETE", "jobs/bad")},
		{"selective", "the second of two objects is to be applied", true, writes("PATCH", "configmaps/last")},
		{"dry run", "the status is to tell the end", true, func(_ int, w write) bool { return w.Kind == "applications" && w.Phase == "Succeeded" }},
	}
}

func TestASyncGoesOnAfterTheAgentIsKilled(t *testing.T) {
	t.Parallel()
	config := testenv.Cluster(t)
	for _, m := range moments() {
		t.Run(m.story+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			if !disturb(t, config, storyOf(m.story), agentKilled(), m.before, m.pick) {
				t.Error("this stage did not come")
			}
		})
	}
}

func storyOf(name string) story {
	for _, s := range stories() {
		if s.name == name {
			return s
		}
	}
	panic("no story " + name)
}

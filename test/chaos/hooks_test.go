package chaos

import (
	"strings"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// disturbance is what happens at a write of a sync.
type disturbance struct {
	name   string
	agents int
	server bool            // the API server is killed
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

func serverKilled() disturbance {
	return disturbance{
		name: "the API server is killed", agents: 1, server: true,
		strike: func(st *stage) { st.cluster.Kill() },
		mend:   func(st *stage) { st.cluster.Restart() },
	}
}

// bothKilled has the agent start while the API server is still away.
func bothKilled() disturbance {
	return disturbance{
		name: "agent and API server are killed", agents: 1, server: true,
		strike: func(st *stage) {
			st.agents[0].Kill()
			st.cluster.Kill()
		},
		mend: func(st *stage) {
			st.agents[0].Start()
			st.cluster.Restart()
		},
	}
}

// leaseLost stops the agent at its write, without ending it, until another one has its lease and has done the rest.
func leaseLost() disturbance {
	return disturbance{
		name: "the lease is lost to another agent", agents: 2,
		strike: func(st *stage) { st.thaw = st.agents[0].Freeze() },
		mend: func(st *stage) {
			st.agents[1].Start()
			st.await("the end by the other agent", st.over)
			st.thaw()
		},
	}
}

// disturb runs a story whose second sync is disturbed at the write that pick takes, and reports whether there was one.
func disturb(t *testing.T, on place, s story, d disturbance, before bool, pick func(n int, w write) bool) bool {
	t.Helper()
	lease := "60s" // longer than an API server is away: an agent that cannot renew its lease ends, and is started again by its cluster
	if d.agents > 1 {
		lease = "6s"
	}
	st := newStage(t, on, s, d.agents, lease)
	fired := st.gate.arm(pick, before, func() { d.strike(st) })
	st.sync()
	hit := st.awaitStrike(fired)
	if hit {
		d.mend(st)
	}
	st.check()
	return hit
}

// place is where stages are: on the cluster of all tests, or on one that can be killed.
type place struct {
	config  *rest.Config
	private *testenv.Private // nil for the cluster of all tests
}

func onShared(t *testing.T) place {
	t.Helper()
	return place{config: testenv.Cluster(t)}
}

func onPrivate(t *testing.T) place {
	t.Helper()
	p := testenv.PrivateCluster(t)
	return place{config: p.Config(), private: p}
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

// tells takes the first write of a status by which a hook is at a phase.
func tells(hook, phase string) func(int, write) bool {
	return func(_ int, w write) bool { return w.Kind == "applications" && w.Hooks[hook] == phase }
}

// ends takes the first write of a status by which the operation is over.
func ends(phase string) func(int, write) bool {
	return func(_ int, w write) bool { return w.Kind == "applications" && w.Phase == phase }
}

// moments are the stages in which the agent is killed in every run of the tests. A write is made where it is "made", and
// is not, or not any more, where it is "to be made".
func moments() []moment {
	return []moment{
		{"well", "a hook is to be announced", true, tells("before", "Running")},
		{"well", "a hook is announced", false, tells("before", "Running")},
		{"well", "the first hook is to be made", true, writes("PATCH", "pods/before")},
		{"well", "the first hook is made", false, writes("PATCH", "pods/before")},
		{"well", "the first wave is applied", false, writes("PATCH", "configmaps/first")},
		{"well", "an object is pruned", false, writes("DELETE", "configmaps/pruned")},
		{"well", "a hook of before is to be deleted", true, writes("DELETE", "pods/among-slow")},
		{"well", "a hook of before is deleted", false, writes("DELETE", "pods/among-slow")},
		{"well", "a hook among waves is made", false, writes("PATCH", "pods/among-slow")},
		{"well", "a hook among waves without health is made", false, writes("PATCH", "configmaps/among")},
		{"well", "a hook without a name is made", false, func(_ int, w write) bool {
			return w.Method == "PATCH" && strings.HasPrefix(w.Kind+"/"+w.Name, "pods/unnamed-")
		}},
		{"well", "a PostSync hook is made", false, writes("PATCH", "pods/after")},
		{"well", "the end of a hook is to be told", true, tells("after", "Succeeded")},
		{"well", "the end of a hook is told", false, tells("after", "Succeeded")},
		{"well", "a hook that succeeded is deleted", false, writes("DELETE", "pods/after")},
		{"well", "the end is to be told", true, ends("Succeeded")},
		{"well", "the end is told", false, ends("Succeeded")},
		{"well with jobs", "a PostSync hook is made", false, writes("PATCH", "jobs/after")},
		{"failing", "a hook that fails is made", false, writes("PATCH", "pods/bad")},
		{"failing", "the failure is to be told", true, tells("bad", "Failed")},
		{"failing", "a hook that failed is deleted", false, writes("DELETE", "pods/bad")},
		{"failing", "a SyncFail hook is made", false, writes("PATCH", "pods/rescue-kept")},
		{"failing", "the end is to be told", true, ends("Failed")},
		{"selective", "the second of two objects is to be applied", true, writes("PATCH", "configmaps/last")},
		{"dry run", "the status is to tell the end", true, ends("Succeeded")},
	}
}

func TestASyncGoesOnAfterTheAgentIsKilled(t *testing.T) {
	t.Parallel()
	on := onShared(t)
	for _, m := range moments() {
		t.Run(m.story+"/"+m.name, func(t *testing.T) {
			t.Parallel()
			if !disturb(t, on, storyOf(m.story), agentKilled(), m.before, m.pick) {
				t.Error("this stage did not come")
			}
		})
	}
}

// deadMoments are the stages in which the API server is killed in every run of the tests.
func deadMoments() []moment {
	return []moment{
		{"well", "a hook is to be announced", true, tells("before", "Running")},
		{"well", "the first hook is made", false, writes("PATCH", "pods/before")},
		{"well", "a hook that succeeded is to be deleted", true, writes("DELETE", "pods/after")},
		{"failing", "a SyncFail hook is to be made", true, writes("PATCH", "pods/rescue-kept")},
	}
}

func TestASyncGoesOnAfterTheAPIServerIsKilled(t *testing.T) {
	t.Parallel()
	on := onPrivate(t)
	for _, m := range deadMoments() {
		t.Run(m.story+"/"+m.name, func(t *testing.T) {
			if !disturb(t, on, storyOf(m.story), serverKilled(), m.before, m.pick) {
				t.Error("this stage did not come")
			}
		})
	}
	t.Run("with the agent", func(t *testing.T) {
		if !disturb(t, on, storyOf("well"), bothKilled(), false, writes("PATCH", "pods/before")) {
			t.Error("this stage did not come")
		}
	})
}

func TestASyncIsDoneByTheAgentThatTakesTheLease(t *testing.T) {
	t.Parallel()
	if !disturb(t, onShared(t), storyOf("well"), leaseLost(), false, writes("PATCH", "pods/among-slow")) {
		t.Error("this stage did not come")
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

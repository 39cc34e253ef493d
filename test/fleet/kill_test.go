package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	// backIn is the promise: how long after the start of the server every agent is connected again.
	backIn = 5 * time.Second
	// people is how many ask for something at a time.
	people = 8
	// pollEvery keeps many agents from asking the Git server for most of the time of the machine.
	pollEvery = "5s"
)

// member is an agent of the fleet. It has three Applications in its namespace: one that follows commits, one that is
// synced by people, and one with an object that people patch.
type member struct {
	id, name, ns string
	process      *testenv.Process
}

func (m *member) app(what string) string { return m.name + "-" + what }

func (m *member) target(what string) api.Target {
	return api.Target{Agent: m.id, Namespace: m.ns, Name: m.app(what)}
}

// stage is everything that the test about kills works on.
type stage struct {
	t       *testing.T
	rng     *rand.Rand
	server  *server
	client  dynamic.Interface
	repo    *testenv.GitRepo
	members []*member

	mu     sync.Mutex
	asked  []*asked
	values map[string]string // what Git says of the Applications that follow commits
	runs   map[string]int    // operations that were begun, by the command that asked for them
}

// asked is one thing that somebody asked for. Its mark is the reason that was given, by which it is found everywhere.
type asked struct {
	member *member
	kind   string
	mark   string
	err    error
}

func TestAServerThatIsKilledLosesNothingAndNothingIsDoneTwice(t *testing.T) {
	s := newStage(t, choose(t, "SLIPWAY_SOAK_AGENTS", 20, 6))
	busy := s.work()
	var back []time.Duration
	kills := choose(t, "SLIPWAY_SOAK_ROUNDS", 20, 3)
	for round := range kills {
		s.pause(time.Second)
		took := s.kill()
		slices.Sort(took)
		back = append(back, took...)
		t.Logf("kill %d of %d: %d agents back after %s to %s", round+1, kills, len(took), short(took[0]), short(took[len(took)-1]))
	}
	s.pause(time.Second)
	busy()
	slices.Sort(back)
	t.Logf("%d agents, %d kills: back after p50 %s, p99 %s, at most %s of the start of the server", len(s.members), kills,
		short(back[len(back)/2]), short(back[len(back)*99/100]), short(back[len(back)-1]))
	if slowest := back[len(back)-1]; soak() && slowest > backIn {
		t.Errorf("an agent was back after %s; promised are %s", slowest, backIn)
	}
	for _, m := range s.members {
		if m.process.Ended() {
			t.Errorf("%s ended by itself:\n%s", m.name, m.process.Tail())
		}
	}
	s.check()
	if t.Failed() {
		t.Logf("the end of the server's log:\n%s", s.server.Tail())
	}
}

func short(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

func newStage(t *testing.T, size int) *stage {
	t.Helper()
	cluster := testenv.PrivateCluster(t)
	seed := newSeed(t)
	s := &stage{
		t: t, rng: rand.New(rand.NewPCG(seed, 1)), server: startServer(t), client: clientOf(t, cluster.Config()),
		repo: repository(t), values: map[string]string{}, runs: map[string]int{},
	}
	files := map[string]string{"counter/deployment.yaml": counter}
	for i := range size {
		name := fmt.Sprintf("a%02d", i)
		m := &member{name: name, ns: "agent-" + name}
		files[m.app("auto")+"/cm.yaml"] = configMap(m.app("auto"), "0")
		files[m.app("hand")+"/cm.yaml"] = configMap(m.app("hand"), "0")
		s.values[m.name] = "0"
		m.id, m.process = s.server.newAgent(name, s.server.url, cluster.Kubeconfig(), m.ns, "--poll", pollEvery)
		s.members = append(s.members, m)
	}
	s.repo.Commit(files, "begin")
	begun := time.Now()
	var ids []string
	for i, m := range s.members {
		m.process.Start()
		ids = append(ids, m.id)
		if i == 0 { // it brings the definitions
			await(t, settled, "the first agent", s.server.connected(m.id), m.process, s.server.Process)
		}
	}
	await(t, settled, "the agents", s.server.connected(ids...), s.server.Process)
	t.Logf("%d agents connected %s after the first was started", size, short(time.Since(begun)))
	for _, m := range s.members {
		createApplication(t, s.client, m.ns, m.app("auto"), s.repo.URL(), m.app("auto"), true)
		createApplication(t, s.client, m.ns, m.app("hand"), s.repo.URL(), m.app("hand"), true)
		createApplication(t, s.client, m.ns, m.app("counter"), s.repo.URL(), "counter", true)
	}
	s.awaitAgreement()
	// From now on only people sync these two.
	for _, m := range s.members {
		for _, what := range []string{"hand", "counter"} {
			_, err := s.client.Resource(applications()).Namespace(m.ns).Patch(t.Context(), m.app(what), "application/merge-patch+json",
				[]byte(`{"spec":{"syncPolicy":null}}`), metav1.PatchOptions{})
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	s.awaitAgreement()
	s.countRuns()
	return s
}

// counter has a list to which each patch adds its mark.
const counter = `apiVersion: apps/v1
kind: Deployment
metadata: {name: counter}
spec:
  replicas: 0
  selector: {matchLabels: {app: counter}}
  template:
    metadata: {labels: {app: counter}}
    spec: {containers: [{name: main, image: registry.example/main:1, args: [begin]}]}
`

// pause lets a random time of at most longest pass, so that what comes next hits any moment.
func (s *stage) pause(longest time.Duration) {
	timer := time.NewTimer(time.Duration(s.rng.Int64N(int64(longest))))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.t.Context().Done():
	}
}

// work lets commits arrive and people ask for things, until the function that it returns is called.
func (s *stage) work() (end func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	var wait sync.WaitGroup
	wait.Go(func() {
		tick := time.NewTicker(400 * time.Millisecond)
		defer tick.Stop()
		for n := 1; ; n++ {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
				m := s.members[n%len(s.members)]
				value := fmt.Sprint(n)
				s.repo.Commit(map[string]string{m.app("auto") + "/cm.yaml": configMap(m.app("auto"), value)}, "commit "+value)
				s.mu.Lock()
				s.values[m.name] = value
				s.mu.Unlock()
			}
		}
	})
	for n := range people {
		rng := rand.New(rand.NewPCG(s.rng.Uint64(), uint64(n)))
		wait.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				s.ask(ctx, s.members[rng.IntN(len(s.members))], rng.IntN(5), fmt.Sprintf("p%d-%d", n, i))
				timer := time.NewTimer(time.Duration(rng.IntN(100)) * time.Millisecond)
				select {
				case <-timer.C:
				case <-ctx.Done():
					timer.Stop()
				}
			}
		})
	}
	end = sync.OnceFunc(func() {
		cancel()
		wait.Wait()
	})
	s.t.Cleanup(end)
	return end
}

// ask asks for one thing. What was begun is waited for although no more is to be asked.
func (s *stage) ask(ctx context.Context, m *member, dice int, mark string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	a := &asked{member: m, mark: mark}
	switch because := s.server.admin.Because(mark); dice {
	case 0, 1, 2:
		a.kind = "resource.patch"
		_, a.err = because.Application(m.target("counter")).Patch(ctx, api.ResourcePatch{
			Resource: api.ResourceRef{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: m.ns, Name: "counter"},
			Type:     "json", Reason: mark,
			Patch: json.RawMessage(fmt.Sprintf(`[{"op":"add","path":"/spec/template/spec/containers/0/args/-","value":%q}]`, mark)),
		})
	case 3:
		a.kind = "application.sync"
		_, a.err = because.Application(m.target("hand")).Operate(ctx, api.SyncRequest{Reason: mark})
	default:
		a.kind = "application.refresh"
		_, a.err = because.Application(m.target("hand")).Operate(ctx, api.RefreshRequest{})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, a)
}

// kill kills the server, starts it, and returns after what time each agent was back.
func (s *stage) kill() []time.Duration {
	s.t.Helper()
	before, err := s.server.agents(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	s.server.Kill()
	s.pause(500 * time.Millisecond)
	begun := time.Now()
	s.server.Start()
	s.server.awaitReady()
	took := map[string]time.Duration{}
	await(s.t, settled, "agents after a restart of the server", func(ctx context.Context) string {
		now, err := s.server.agents(ctx)
		if err != nil {
			return err.Error()
		}
		problem := ""
		for _, m := range s.members {
			at := now[m.id]
			if at.Epoch > before[m.id].Epoch && at.State == api.AgentConnected && at.LastHeartbeatAt.After(begun) {
				if _, known := took[m.id]; !known {
					took[m.id] = time.Since(begun)
				}
				continue
			}
			if _, known := took[m.id]; !known {
				problem = fmt.Sprintf("%s is %s in epoch %d, before it was %d: %s\n%s", m.id, at.State, at.Epoch, before[m.id].Epoch, at.Message, m.process.Tail())
			}
		}
		return problem
	}, s.server.Process)
	var out []time.Duration
	for _, d := range took {
		out = append(out, d)
	}
	return out
}

// awaitAgreement waits until the cluster is what Git says, and the server has of it what is there.
func (s *stage) awaitAgreement() {
	s.t.Helper()
	for _, m := range s.members {
		await(s.t, settled, "the cluster", func(ctx context.Context) string {
			if problem := valueIn(ctx, s.client, m.ns, m.app("auto"), s.values[m.name]); problem != "" {
				return problem
			}
			for _, what := range []string{"auto", "hand", "counter"} {
				app, err := s.client.Resource(applications()).Namespace(m.ns).Get(ctx, m.app(what), metav1.GetOptions{})
				if err != nil {
					return err.Error()
				}
				if phase, _, _ := unstructured.NestedString(app.Object, "status", "operationState", "phase"); phase != "Succeeded" {
					return fmt.Sprintf("the last operation of %s is %q", app.GetName(), phase)
				}
			}
			return ""
		}, m.process)
		await(s.t, settled, "the server", s.server.mirror(s.client, m.id, m.ns).differs, m.process, s.server.Process)
	}
}

// check looks for what was lost and for what was done twice.
func (s *stage) check() {
	s.t.Helper()
	s.awaitAgreement()
	tr := s.trace()
	outcomes := map[string]int{}
	for _, a := range s.asked {
		if len(tr.commands[a.mark]) == 0 {
			outcomes["not taken"]++
		}
		for _, c := range tr.commands[a.mark] {
			outcomes[c.Status]++
		}
		s.checkAsked(a, tr)
	}
	entries := s.server.verifyAudit(s.t)
	s.t.Logf("%d requests, their commands: %v; %d entries in the audit", len(s.asked), outcomes, entries)
	if outcomes[api.CommandDone] == 0 {
		s.t.Error("no command was done")
	}
}

// checkAsked looks at one request.
func (s *stage) checkAsked(a *asked, tr trace) {
	s.t.Helper()
	commands := tr.commands[a.mark]
	switch {
	case len(commands) > 1:
		s.t.Errorf("%s %s became %d commands", a.kind, a.mark, len(commands))
		return
	case len(commands) == 0:
		if a.err == nil {
			s.t.Errorf("%s %s was acknowledged, and there is no command", a.kind, a.mark)
		}
		if tr.applied[a.mark] > 0 {
			s.t.Errorf("%s %s was executed, and there is no command", a.kind, a.mark)
		}
		return
	}
	c := commands[0]
	if n := tr.told[a.mark]; n > 1 || (a.err == nil && n != 1) {
		s.t.Errorf("%s %s (%v) is %d times in the audit", a.kind, a.mark, a.err, n)
	}
	if a.err == nil && c.Status != api.CommandDone {
		s.t.Errorf("%s %s was acknowledged, and its command is %s: %s", a.kind, a.mark, c.Status, c.Message)
	}
	want := 0
	if c.Status == api.CommandDone {
		want = 1
	}
	switch c.Status {
	case api.CommandUnknown, api.CommandExpired:
		s.t.Errorf("%s %s is %s although its agent was there all the time: %s", a.kind, a.mark, c.Status, c.Message)
	case api.CommandFailed, api.CommandRefused:
		if !strings.Contains(c.Message, "operation") {
			s.t.Errorf("%s %s is %s: %s", a.kind, a.mark, c.Status, c.Message)
		}
	}
	if n := tr.applied[a.mark]; a.kind == "resource.patch" && n != want {
		s.t.Errorf("%s %s is %s, and was executed %d times", a.kind, a.mark, c.Status, n)
	}
	s.mu.Lock()
	runs := s.runs[c.ID]
	s.mu.Unlock()
	if a.kind == "application.sync" && runs != want {
		s.t.Errorf("%s %s is %s, and the cluster shows %d operations of it", a.kind, a.mark, c.Status, runs)
	}
	if n := tr.synced[c.ID]; a.kind == "application.sync" && n != want {
		s.t.Errorf("%s %s is %s, and the audit tells %d times that it ended", a.kind, a.mark, c.Status, n)
	}
	if n := tr.ledger[c.ID]; a.kind == "application.sync" && n != want {
		s.t.Errorf("%s %s is %s, and the ledger has %d entries of it", a.kind, a.mark, c.Status, n)
	}
	if n := tr.ended[a.mark]; n != 1 {
		s.t.Errorf("%s %s is %s, and the audit tells its outcome %d times", a.kind, a.mark, c.Status, n)
	}
}

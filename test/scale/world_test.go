package scale

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const adminPassword = "a-harbour-with-20-boats"

// server is one of the servers.
type server struct {
	*testenv.Process
	t     *testing.T
	url   string
	admin *client.Client // to this server only
}

// world is everything that the test works on.
type world struct {
	t        *testing.T
	database *testenv.PostgresServer
	receiver *receiver
	servers  []*server
	balancer *balancer
	admin    *client.Client // to any server
	agents   []*agent

	mu    sync.Mutex
	asked map[string]error // by mark
	ran   map[string]int   // executions, by id of the command
	done  map[string]bool  // ids of commands that are done
	made  map[string]bool  // ids of what was made, that all who watch must learn of
}

// newWorld starts servers, which find each other by themselves unless the environment says where they meet, and agents.
func newWorld(t *testing.T, servers, agents int, environment ...string) *world {
	t.Helper()
	w := &world{
		t: t, database: testenv.PrivatePostgres(t), receiver: newReceiver(t),
		asked: map[string]error{}, ran: map[string]int{}, done: map[string]bool{}, made: map[string]bool{},
	}
	var addresses []string
	key := ""
	for n := range servers {
		dir := t.TempDir()
		address := testenv.Address(t)
		find := environment
		if len(find) == 0 {
			find = []string{"SLIPWAY_CLUSTER_LISTEN=" + testenv.Address(t)}
		}
		s := &server{t: t, url: "http://" + address, Process: testenv.NewProcess(t, fmt.Sprintf("server%d", n), "slipway-server", dir,
			"--listen", address, "--data", filepath.Join(dir, "data"), "--rate-limit", "2000", "--rate-burst", "4000", "--log-level", "debug",
			"--notify-secrets", w.receiver.secrets, "--notify-allow-private")}
		s.Env = append([]string{"SLIPWAY_ADMIN_PASSWORD=" + adminPassword, "SLIPWAY_DATABASE=" + w.database.URL()}, find...)
		file := filepath.Join(dir, "data", "server-signing.key")
		if n > 0 { // all of them sign with the key of the first
			copyFile(t, key, file)
		}
		s.Start()
		if n == 0 {
			key = file
			s.awaitReady()
		}
		w.servers, addresses = append(w.servers, s), append(addresses, address)
	}
	w.balancer = newBalancer(t, addresses)
	for _, s := range w.servers {
		s.awaitReady()
	}
	first := clientOf(t, w.servers[0].url)
	session, err := first.SignIn(t.Context(), api.SignIn{Username: "admin", Password: adminPassword, Token: "scale"})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range w.servers {
		s.admin = clientOf(t, s.url).With(session.Token)
	}
	w.admin = clientOf(t, "http://"+w.balancer.address).With(session.Token)
	for n := range agents {
		w.agents = append(w.agents, w.newAgent(n))
	}
	w.awaitAgents(time.Now(), nil)
	w.tell()
	return w
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	raw, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func clientOf(t *testing.T, at string) *client.Client {
	t.Helper()
	c, err := client.New(client.Config{Server: at, Timeout: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// awaitReady waits until the server answers.
func (s *server) awaitReady() {
	s.t.Helper()
	probe := &http.Client{Timeout: 20 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	await(s.t, s.Name+" does not answer", func(ctx context.Context) string {
		if s.Ended() {
			s.t.Fatalf("%s ended by itself:\n%s", s.Name, s.Tail())
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", http.NoBody)
		if err != nil {
			return err.Error()
		}
		answer, err := probe.Do(req)
		if err != nil {
			return err.Error()
		}
		_ = answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return answer.Status
		}
		return ""
	})
}

// kill kills a server, waits until its agents are connected elsewhere, and starts it again. It returns how long the agents
// took.
func (w *world) kill(s *server) times {
	w.t.Helper()
	before := w.sessions()
	begun := time.Now()
	s.Kill()
	took := w.awaitAgents(begun, before)
	s.Start()
	s.awaitReady()
	return took
}

// sessions are how many each agent has made.
func (w *world) sessions() (made []uint64) {
	for _, a := range w.agents {
		made = append(made, a.Status().Sessions)
	}
	return made
}

// awaitAgents waits until every agent is there for whoever asks any server: what is asked is answered by the agent itself,
// over whichever server it is at. It returns how long after begun that was, for each, and when those had a session that
// had made so many before and have made more.
func (w *world) awaitAgents(begun time.Time, before []uint64) (took times) {
	w.t.Helper()
	problems := make([]string, len(w.agents))
	took.answers = make([]time.Duration, len(w.agents))
	ctx, cancel := context.WithTimeout(w.t.Context(), settled)
	defer cancel()
	var all sync.WaitGroup
	for i, a := range w.agents {
		all.Go(func() {
			for problems[i] = "not asked"; problems[i] != "" && ctx.Err() == nil; {
				asking, cancel := context.WithTimeout(ctx, answerIn())
				_, err := w.admin.Application(api.Target{Agent: a.id, Namespace: place, Name: "app-0"}).Tree(asking)
				cancel()
				took.answers[i], problems[i] = time.Since(begun), errText(err)
				if err != nil {
					pass(ctx, lookEvery)
				}
			}
		})
	}
	all.Wait()
	for i, problem := range problems {
		at := w.agents[i].Status()
		if problem != "" {
			w.t.Fatalf("agent %s is not back after %s: %s; its link is %+v\n%s", w.agents[i].id, settled, problem, at, w.agents[i].log)
		}
		if before != nil && at.Sessions > before[i] {
			took.sessions = append(took.sessions, max(at.Since.Sub(begun), 0))
		}
	}
	return took
}

func (w *world) commands(ctx context.Context, a *agent) (all []api.Command, err error) {
	for cursor := ""; ; {
		page, err := w.admin.AgentCommands(ctx, a.id, api.ListOptions{Limit: api.MaxLimit, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if cursor = page.NextCursor; cursor == "" {
			return all, nil
		}
	}
}

// work lets people ask, agents report and entities change, until the function that it returns is called.
func (w *world) work() (end func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	var wait sync.WaitGroup
	each := func(every time.Duration, do func(ctx context.Context, n int)) {
		wait.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				do(context.WithoutCancel(ctx), n)
				pass(ctx, every)
			}
		})
	}
	for p := range 4 {
		each(50*time.Millisecond, func(ctx context.Context, n int) {
			w.ask(ctx, w.agents[(p+n)%len(w.agents)], fmt.Sprintf("p%d-%d", p, n))
		})
	}
	each(100*time.Millisecond, func(_ context.Context, n int) {
		a := w.agents[n%len(w.agents)]
		key := a.put(n + 1)
		w.made1(api.ItemID(a.id, key.Namespace, key.Name))
		a.Changed(key)
	})
	each(100*time.Millisecond, func(ctx context.Context, n int) {
		ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
		defer cancel()
		role, err := w.admin.Roles().Create(ctx, api.Role{Meta: api.Meta{Name: fmt.Sprintf("role-%d", n)}, Permissions: []api.Permission{"agent_view"}}, false)
		if err == nil {
			w.made1(role.ID)
		}
	})
	end = sync.OnceFunc(func() {
		cancel()
		wait.Wait()
	})
	w.t.Cleanup(end)
	return end
}

func (w *world) made1(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made[id] = true
}

// ask asks for one thing.
func (w *world) ask(ctx context.Context, a *agent, mark string) {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	_, err := w.admin.Because(mark).Application(api.Target{Agent: a.id, Namespace: place, Name: "app-0"}).Operate(ctx, api.SyncRequest{Reason: mark})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked[mark] = err
}

package hosting

import (
	"context"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

// operator is a directory with clusters and what is said of them; "" for nothing.
func operator(t *testing.T, clusters map[string]string) Clusters {
	t.Helper()
	dir := t.TempDir()
	for name, text := range clusters {
		write(t, filepath.Join(dir, name+kubeconfigSuffix), "a kubeconfig, which nobody here reads")
		if text != "" {
			write(t, filepath.Join(dir, name+settingSuffix), text)
		}
	}
	return Clusters(dir)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAClusterIsForWhomItsOperatorNames(t *testing.T) {
	t.Parallel()
	c := operator(t, map[string]string{
		"plain": "", "acme": "scopes: [org.acme]", "shop": "scopes: [project.acme.shop]\nnamespace: shop-agent",
		"broken": "scopes: [org.acme]\nscope: account", "odd": "scopes: [everybody]", "all": "scopes: [account]",
	})
	for _, x := range []struct {
		name, cluster string
		scope         api.Scope
		everything    bool
		want, space   string
		code          api.Code
	}{
		{name: "what nothing is said of is for who may do everything", cluster: "plain", scope: "account", everything: true, want: "plain"},
		{name: "and for nobody else", cluster: "plain", scope: "account", code: api.CodeInvalid},
		{name: "an organization", cluster: "acme", scope: "org.acme", want: "acme"},
		{name: "a project of it", cluster: "acme", scope: "project.acme.shop", want: "acme"},
		{name: "another organization", cluster: "acme", scope: "org.evil", code: api.CodeInvalid},
		{name: "the scope above", cluster: "shop", scope: "org.acme", code: api.CodeInvalid},
		{name: "a namespace that is given", cluster: "shop", scope: "project.acme.shop", want: "shop", space: "shop-agent"},
		{name: "an unknown field permits nothing", cluster: "broken", scope: "org.acme", code: api.CodeInternal},
		{name: "a scope that is none permits nothing", cluster: "odd", scope: "org.acme", code: api.CodeInternal},
		{name: "the account is everybody", cluster: "all", scope: "project.evil.x", want: "all"},
		{name: "the only one", scope: "org.evil", want: "all"},
		{name: "several", scope: "project.acme.shop", code: api.CodeInvalid},
		{name: "a path is no name", cluster: "../acme", scope: "account", everything: true, code: api.CodeInvalid},
	} {
		got, space, err := c.Permit(x.cluster, x.scope, x.everything)
		if got != x.want || space != x.space || (err != nil || x.code != "") && api.CodeOf(err) != x.code {
			t.Errorf("%s: cluster %q, namespace %q, %v (%s)", x.name, got, space, err, api.CodeOf(err))
		}
		if err != nil && x.code == api.CodeInvalid && strings.Contains(err.Error(), "shop,") {
			t.Errorf("%s: the error names a cluster that is not for them: %v", x.name, err)
		}
	}
}

func TestALogIsBoundedAndKnowsTheLastComplaint(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "agent.log")
	l, err := openLog(path)
	if err != nil {
		t.Fatal(err)
	}
	line := `{"level":"INFO","msg":"` + strings.Repeat("x", 1000) + "\"}\n"
	for range 3 * longestLog / len(line) {
		if _, err := io.WriteString(l, line); err != nil {
			t.Fatal(err)
		}
	}
	for _, part := range []string{`{"level":"WARN","msg":"no cluster",`, `"err":"dial tcp"}`, "\n", line} {
		if _, err := io.WriteString(l, part); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.complaint(); got != "no cluster: dial tcp" {
		t.Errorf("the last complaint is %q", got)
	}
	if _, err := io.WriteString(l, strings.Repeat("y", 10*longestLine)+"\nslipway-agent: it cannot go on\n"); err != nil {
		t.Fatal(err)
	}
	if got := l.complaint(); got != "slipway-agent: it cannot go on" {
		t.Errorf("the last complaint is %q", got)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{path, path + ".1"} {
		info, err := os.Stat(file)
		if err != nil || info.Size() > longestLog || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", file, info, err)
		}
	}
}

func TestWhatPeopleSeeOfALogHasNoSecretAndNoPath(t *testing.T) {
	t.Parallel()
	h := &Host{cfg: Config{Options: Options{Dir: "/etc/clusters", Data: "/var/lib/agents", Program: "/opt/slipway-agent"}}}
	got := h.clean("read /etc/clusters/edge.kubeconfig: https://joe:hunter2@host/\x1b[31m eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9abc " + strings.Repeat("long ", 200))
	for _, secret := range []string{"hunter2", "eyJ", "/etc/clusters", "\x1b"} {
		if strings.Contains(got, secret) {
			t.Errorf("%q is in %s", secret, got)
		}
	}
	if !strings.HasPrefix(got, "read edge.kubeconfig: https://host/") || len(got) > longestMessage+3 {
		t.Errorf("it says %s", got)
	}
}

func TestEachAgentHasAUserOfItsOwnAndKeepsIt(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		if _, err := parseUsers("60000-60001"); err == nil {
			t.Error("only root starts processes of other users")
		}
		t.Skip("users are given by root only")
	}
	for _, text := range []string{"0-10", "5", "9-8", "a-b", "-1-5", "1-99999999999"} {
		if _, err := parseUsers(text); err == nil {
			t.Errorf("%q is no range", text)
		}
	}
	u, err := parseUsers("60000-60001")
	if err != nil {
		t.Fatal(err)
	}
	root := t.TempDir()
	var dirs []string
	for _, name := range []string{"a", "b", "c"} {
		dir := filepath.Join(root, name, dataDir)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
	}
	for n, want := range []int{60000, 60001} {
		for range 2 {
			if got, err := u.of(root, dirs[n]); err != nil || got != want {
				t.Errorf("agent %d runs as %d, %v", n, got, err)
			}
		}
	}
	if got, err := u.of(root, dirs[2]); err == nil {
		t.Errorf("a third agent runs as %d, with two users", got)
	}
	kubeconfig := filepath.Join(root, "edge.kubeconfig")
	write(t, kubeconfig, "")
	if _, err := u.groups(kubeconfig, 60000); err == nil {
		t.Error("only root reads the kubeconfig, and it is not said")
	}
	if err := os.Chown(kubeconfig, 0, 61000); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(kubeconfig, 0o640); err != nil {
		t.Fatal(err)
	}
	if got, err := u.groups(kubeconfig, 60000); err != nil || len(got) != 1 || got[0] != 61000 {
		t.Errorf("its groups are %v, %v", got, err)
	}
}

// memory is a Storage of one agent.
type memory struct {
	mu     sync.Mutex
	agent  *Agent
	claims bool // the database answers
	states []api.Hosting
	told   chan struct{}
}

func (m *memory) HostedAgents(context.Context) ([]Agent, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.agent == nil {
		return nil, nil
	}
	return []Agent{*m.agent}, nil
}

func (m *memory) ClaimHosted(context.Context, string, string, time.Duration) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.claims, nil
}

func (m *memory) ReleaseHosted(context.Context, string, string) error { return nil }

func (m *memory) KeepHosted(_ context.Context, _, _ string, how api.Hosting) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.states = append(m.states, how)
	return nil
}

// await waits until the agent is in a state.
func (m *memory) await(t *testing.T, state string) api.Hosting {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for {
		m.mu.Lock()
		all := m.states
		m.mu.Unlock()
		for n := len(all) - 1; n >= 0; n-- {
			if all[n].State == state {
				return all[n]
			}
		}
		select {
		case <-m.told:
		case <-ctx.Done():
			t.Fatalf("the agent is never %s: %+v", state, all)
		}
	}
}

func TestAnAgentThatFailsSaysWhyAndOneThatIsAnotherServersEnds(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program, ran := filepath.Join(dir, "agent"), filepath.Join(dir, "ran")
	script := "#!/bin/sh\nif [ -e " + ran + " ]; then echo $$ > " + ran + "; exec sleep 600; fi\ntouch " + ran + "\necho 'slipway-agent: find the cluster: no such host' >&2\nexit 3\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	m := &memory{
		agent:  &Agent{ID: "account.edge", UID: strings.Repeat("a", 26), Cluster: "edge", Namespace: "slipway-edge"},
		claims: true, told: make(chan struct{}, 1),
	}
	h, err := New(Config{
		Options: Options{Dir: string(operator(t, map[string]string{"edge": ""})), Program: program, Data: filepath.Join(dir, "agents"), Memory: "100MiB"},
		Storage: m, Holder: "me", Log: slog.New(slog.DiscardHandler),
		Register: func(context.Context, string) (string, error) { return "a-token", nil },
		Changed: func(context.Context, string) {
			select {
			case m.told <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	defer running.Wait()
	defer cancel()
	if how := m.await(t, api.HostFailing); !strings.Contains(how.Message, "exit status 3") || !strings.Contains(how.Message, "no such host") || how.Restarts != 1 {
		t.Errorf("it says %+v", how)
	}
	m.mu.Lock()
	m.states = nil
	m.mu.Unlock()
	m.await(t, api.HostStarting) // again, and it goes on
	token := filepath.Join(dir, "agents", m.agent.UID, tokenFile)
	if raw, err := os.ReadFile(token); err != nil || string(raw) != "a-token" {
		t.Errorf("its token is %q, %v", raw, err)
	}
	m.mu.Lock()
	m.agent.HeardAt, m.agent.Registered = time.Now().Add(time.Hour), true
	m.mu.Unlock()
	h.Wake()
	m.await(t, api.HostRunning)
	pid := 0
	until(t, "the second process does not run", func() bool {
		raw, _ := os.ReadFile(ran)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(raw)))
		return pid != 0
	})
	m.mu.Lock()
	m.claims = false
	m.mu.Unlock()
	h.Wake()
	until(t, "an agent that another server has goes on", func() bool { return syscall.Kill(pid, 0) != nil })
	m.mu.Lock()
	m.agent = nil
	m.mu.Unlock()
	h.Wake()
	until(t, "an agent that was deleted left its directory", func() bool {
		_, err := os.Stat(filepath.Join(dir, "agents", strings.Repeat("a", 26)))
		return os.IsNotExist(err)
	})
}

// until looks again and again whether something is so.
func until(t *testing.T, not string, so func() bool) {
	t.Helper()
	deadline := time.After(time.Minute)
	ticker := time.NewTicker(10 * time.Millisecond)
	defer ticker.Stop()
	for !so() {
		select {
		case <-ticker.C:
		case <-deadline:
			t.Fatal(not)
		}
	}
}

// TestAnAgentOfWhichTheHostWasNotWokenIsStarted adds an agent that nobody wakes the host for.
func TestAnAgentOfWhichTheHostWasNotWokenIsStarted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexec sleep 600\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	m := &looked{memory: &memory{claims: true, told: make(chan struct{}, 1)}, first: make(chan struct{})}
	h, err := New(Config{
		Options: Options{Dir: string(operator(t, map[string]string{"edge": ""})), Program: program, Data: filepath.Join(dir, "agents"), Memory: "100MiB"},
		Storage: m, Holder: "me", Log: slog.New(slog.DiscardHandler),
		Register: func(context.Context, string) (string, error) { return "a-token", nil },
		Changed: func(context.Context, string) {
			select {
			case m.told <- struct{}{}:
			default:
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { h.Run(ctx) })
	defer running.Wait()
	defer cancel()
	<-m.first
	m.mu.Lock()
	m.agent = &Agent{ID: "account.edge", UID: strings.Repeat("a", 26), Cluster: "edge", Namespace: "slipway-edge"}
	m.mu.Unlock()
	m.await(t, api.HostStarting)
}

// looked is a memory that shows when the host has looked once.
type looked struct {
	*memory
	once  sync.Once
	first chan struct{}
}

func (l *looked) HostedAgents(ctx context.Context) ([]Agent, error) {
	agents, err := l.memory.HostedAgents(ctx)
	l.once.Do(func() { close(l.first) })
	return agents, err
}

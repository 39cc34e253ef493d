package fleet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// hostedDir is a directory of an operator, with the cluster edge.
func hostedDir(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	raw, err := os.ReadFile(testenv.Kubeconfig(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "edge.kubeconfig"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// agentsBelow are the processes of agents whose data is below a directory. Children that render have no arguments.
func agentsBelow(t *testing.T, dir string) []int {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	var out []int
	for _, path := range found {
		raw, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		args := strings.Split(string(raw), "\x00")
		for i, arg := range args {
			if arg == "--data" && i+1 < len(args) && strings.HasPrefix(args[i+1], dir+"/") {
				pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
				if err != nil {
					t.Fatal(err)
				}
				out = append(out, pid)
			}
		}
	}
	return out
}

// firstUser is the first of those that agents run as, where the test runs as root.
const firstUser = 60000

// hosted is an agent that servers run.
type hosted struct {
	t     *testing.T
	admin *client.Client
	id    string
}

func (h *hosted) get(ctx context.Context) (api.Agent, error) {
	a, err := h.admin.AgentEntities().Get(ctx, h.id)
	if err == nil && a.Hosted == nil {
		err = fmt.Errorf("agent %s is not hosted", h.id)
	}
	return a, err
}

// runs waits until one process of the agent, other than one that is gone, runs below one of some directories and is
// connected, and returns it.
func (h *hosted) runs(gone int, logs *testenv.Process, dirs ...string) (pid int, a api.Agent) {
	h.t.Helper()
	await(h.t, settled, "the agent does not run", func(ctx context.Context) string {
		var err error
		if a, err = h.get(ctx); err != nil {
			return err.Error()
		}
		var pids []int
		for _, dir := range dirs {
			pids = append(pids, agentsBelow(h.t, dir)...)
		}
		if len(pids) != 1 || pids[0] == gone || a.Hosted.State != api.HostRunning || a.Status.State != api.AgentConnected {
			return fmt.Sprintf("processes %v, hosting %+v, link %s", pids, *a.Hosted, a.Status.State)
		}
		pid = pids[0]
		return ""
	}, logs)
	return pid, a
}

// ends waits until no process is below a directory.
func (h *hosted) ends(dir, why string) {
	h.t.Helper()
	await(h.t, settled, why, func(context.Context) string {
		if pids := agentsBelow(h.t, dir); len(pids) > 0 {
			return fmt.Sprintf("processes %v run", pids)
		}
		return ""
	})
}

// cli runs the command line, signed in at a server.
func cli(t *testing.T, s *server) func(stdin string, args ...string) string {
	t.Helper()
	config := filepath.Join(t.TempDir(), "config.json")
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), testenv.Binary(t, "slipway"), args...)
		cmd.Env = testenv.UserEnv(config)
		cmd.Stdin = strings.NewReader(stdin)
		var out, talk strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &talk
		if err := cmd.Run(); err != nil {
			t.Fatalf("slipway %s: %v\n%s%s", strings.Join(args, " "), err, out.String(), talk.String())
		}
		return out.String()
	}
	run(adminPassword, "login", s.url, "--username", "admin", "--password-stdin", "--ca-file", s.ca)
	return run
}

// cleanNamespace removes the namespace of a hosted agent at the end.
func cleanNamespace(t *testing.T, cluster dynamic.Interface, namespace string) {
	t.Helper()
	t.Cleanup(func() {
		in := cluster.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
		_ = in.Delete(context.WithoutCancel(t.Context()), namespace, metav1.DeleteOptions{}) // the cluster ends with the tests
	})
}

func TestAServerHostsAnAgentThroughItsWholeLife(t *testing.T) {
	dir, data := hostedDir(t), filepath.Join(t.TempDir(), "agents")
	flags := []string{"--hosted-dir", dir, "--hosted-data", data, "--hosted-memory", "200MiB"}
	if os.Geteuid() == 0 {
		kubeconfig := filepath.Join(dir, "edge.kubeconfig")
		if err := errors.Join(os.Chown(kubeconfig, 0, firstUser+1), os.Chmod(kubeconfig, 0o640), os.Chmod(filepath.Dir(dir), 0o711)); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--hosted-user", fmt.Sprintf("%d-%d", firstUser, firstUser+1))
	}
	s := startServer(t, flags...)
	slipway := cli(t, s)
	cluster := clientOf(t, testenv.Cluster(t))
	var made api.AgentRegistration
	if err := json.Unmarshal([]byte(slipway("", "agent", "create", "edge", "--hosted", "-o", "json")), &made); err != nil {
		t.Fatal(err)
	}
	if made.Token != "" || len(made.Commands) > 0 {
		t.Errorf("there is nothing to register or to install, and it said %d commands and a token of %d bytes", len(made.Commands), len(made.Token))
	}
	ns := made.Agent.Hosted.Namespace
	cleanNamespace(t, cluster, ns)
	h := &hosted{t, s.admin, made.Agent.ID}
	first, a := h.runs(0, s.Process, data)
	registered := a.Status.RegisteredAt
	if a.Status.Namespace != ns {
		t.Errorf("the agent works in %s, and the server says %s", a.Status.Namespace, ns)
	}
	h.checkProcess(first, filepath.Join(data, a.UID))

	// It works as any agent does.
	repo := testenv.Git(t).NewRepo("hosted")
	repo.Commit(map[string]string{"app/a.yaml": configMap("hosted", "one")}, "one")
	createApplication(t, cluster, ns, "hosted", repo.URL(), "app", true)
	value := func(want string) func(context.Context) string {
		return func(ctx context.Context) string { return valueIn(ctx, cluster, ns, "hosted", want) }
	}
	await(t, settled, "the first commit", value("one"), s.Process)

	// What is made through the server is in the agent's namespace, where nobody says another one.
	repo.Commit(map[string]string{"app/a.yaml": configMap("hosted", "one"), "more/b.yaml": configMap("more", "one")}, "more")
	slipway("", "app", "create", "more", "--agent", a.ID, "--repo", repo.URL(), "--path", "more", "--dest-namespace", ns, "--auto-sync")
	await(t, settled, "an application that was made by its name alone", func(ctx context.Context) string {
		return valueIn(ctx, cluster, ns, "more", "one")
	}, s.Process)

	// The agent is killed.
	if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second, a := h.runs(first, s.Process, data)
	if a.Hosted.Restarts != 1 {
		t.Errorf("the agent ended once, and the server counts %d", a.Hosted.Restarts)
	}

	// The server is killed: the agent ends with it, and comes back with it, as who it was.
	s.Kill()
	h.ends(data, "the server was killed")
	repo.Commit(map[string]string{"app/a.yaml": configMap("hosted", "two"), "more/b.yaml": configMap("more", "one")}, "two")
	s.Start()
	s.awaitReady()
	_, a = h.runs(second, s.Process, data)
	if !a.Status.RegisteredAt.Equal(registered) {
		t.Errorf("it registered at %s, and again at %s", registered, a.Status.RegisteredAt)
	}
	await(t, settled, "a commit while the server was away", value("two"), s.Process)

	// Who is revoked does not run, until it is let in again.
	slipway("", "agent", "revoke", a.ID)
	h.ends(data, "the agent was revoked")
	slipway("", "agent", "register", a.ID)
	last, _ := h.runs(second, s.Process, data)

	slipway("", "agent", "delete", a.ID, "--force")
	h.ends(data, fmt.Sprintf("the agent was deleted while process %d ran", last))
	await(t, settled, "the data of the agent", func(context.Context) string {
		if _, err := os.Stat(filepath.Join(data, a.UID)); !os.IsNotExist(err) {
			return fmt.Sprintf("it is still there: %v", err)
		}
		return ""
	}, s.Process)
}

// checkProcess checks that a process is kept apart.
func (h *hosted) checkProcess(pid int, dir string) {
	h.t.Helper()
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		h.t.Fatal(err)
	}
	for _, variable := range strings.Split(strings.TrimRight(string(raw), "\x00"), "\x00") {
		switch name, value, _ := strings.Cut(variable, "="); name {
		case "PATH", "HOME", "TMPDIR":
		case "GOMEMLIMIT":
			if value != "200MiB" {
				h.t.Errorf("its memory is bounded by %s", value)
			}
		case "SLIPWAY_OUTBOUND_ALLOW": // the server's policy holds for the agents that it runs
			if want := strings.TrimPrefix(testenv.Outbound, name+"="); value != want {
				h.t.Errorf("it may connect to %s, and the server to %s", value, want)
			}
		default:
			h.t.Errorf("%s of the server's environment reached the agent", name)
		}
	}
	if os.Geteuid() == 0 {
		if owner, err := os.Stat(fmt.Sprintf("/proc/%d", pid)); err != nil {
			h.t.Error(err)
		} else if stat, ok := owner.Sys().(*syscall.Stat_t); !ok || stat.Uid != firstUser || stat.Gid != firstUser {
			h.t.Errorf("it runs as user and group %+v", stat)
		}
	}
	if group, err := syscall.Getpgid(pid); err != nil || group != pid {
		h.t.Errorf("its process group is %d, not its own (%v)", group, err)
	}
	info, err := os.Stat(filepath.Join(dir, "data"))
	if err != nil || info.Mode().Perm() != 0o700 {
		h.t.Errorf("its data directory is %v, %v", info, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "registration-token")); !os.IsNotExist(err) {
		h.t.Errorf("it is registered, and its token is still there: %v", err)
	}
}

func TestAHostedAgentRunsAtOneOfTwoServersAndMovesToTheOther(t *testing.T) {
	dir, database := hostedDir(t), testenv.Postgres(t)
	var servers [2]*server
	var data [2]string
	key := ""
	for n := range servers {
		data[n] = filepath.Join(t.TempDir(), "agents")
		home := t.TempDir()
		address := testenv.Address(t)
		p := testenv.NewProcess(t, fmt.Sprintf("server%d", n), "slipway-server", home, "--listen", address, "--data", home,
			"--cluster-listen", testenv.Address(t), "--hosted-dir", dir, "--hosted-data", data[n])
		p.Env = []string{"SLIPWAY_ADMIN_PASSWORD=" + adminPassword, "SLIPWAY_DATABASE=" + database}
		if n == 0 {
			key = filepath.Join(home, "server-signing.key")
		} else { // all of them sign with the key of the first
			raw, err := os.ReadFile(key)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(home, filepath.Base(key)), raw, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p.Start()
		servers[n] = &server{t: t, url: "http://" + address, Process: p, probe: probeOf(nil)}
		servers[n].awaitReady()
		servers[n].signIn(nil)
	}
	made, err := servers[0].admin.CreateAgent(t.Context(), api.Agent{Meta: api.Meta{Name: "edge"}, Hosted: &api.Hosting{Cluster: "edge"}}, false)
	if err != nil {
		t.Fatal(err)
	}
	cleanNamespace(t, clientOf(t, testenv.Cluster(t)), made.Agent.Hosted.Namespace)
	h := &hosted{t, servers[0].admin, made.Agent.ID}
	pid, a := h.runs(0, servers[0].Process, data[:]...)
	at := 0
	if len(agentsBelow(t, data[1])) > 0 {
		at = 1
	}
	other := 1 - at
	h.admin = servers[other].admin
	if soak() {
		servers[at].Kill() // the claim must end first, and the lease in the cluster
	} else {
		servers[at].Stop()
	}
	h.ends(data[at], "its server ended")
	_, b := h.runs(pid, servers[other].Process, data[:]...)
	if !b.Status.RegisteredAt.Equal(a.Status.RegisteredAt) {
		t.Errorf("it registered at %s, and again at %s", a.Status.RegisteredAt, b.Status.RegisteredAt)
	}
}

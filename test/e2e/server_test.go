package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/slipway-gitops/slipway/internal/testenv"
)

// Limits of a server process.
const (
	serverStartLimit = 2 * time.Minute
	serverStopLimit  = time.Minute
)

// firstPassword is that of the server's first user. As all passwords of the stories it must not be logged.
const firstPassword = "open-" + secretMark + "-to-everybody"

// serverProcess is a slipway-server with SQLite, on loopback. It keeps its address when it is started again.
type serverProcess struct {
	t      testing.TB
	data   string
	listen string
	url    string
	flags  []string // more of them

	metrics string // where they are
	starts  int
	command *exec.Cmd
	logged  *logTail
	ended   chan struct{}
}

func newServer(t testing.TB) *serverProcess {
	t.Helper()
	s := &serverProcess{t: t, data: t.TempDir(), listen: testenv.Address(t), metrics: testenv.Address(t), logged: &logTail{}}
	s.url = "http://" + testenv.Delayed(t, s.listen)
	t.Cleanup(func() {
		if s.command != nil && s.starts == 1 && !t.Failed() {
			testenv.NothingMissed(t, "the server", s.metrics)
		}
		s.stop()
	})
	return s
}

// start runs the server and returns when it listens.
func (s *serverProcess) start() {
	s.t.Helper()
	command := exec.Command("slipway-server", append([]string{
		"--data", s.data, "--listen", s.listen, "--public-url", s.url, "--metrics-listen", s.metrics,
	}, s.flags...)...) // TestMain put it into PATH
	command.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.data, "SLIPWAY_ADMIN_PASSWORD=" + firstPassword, testenv.Outbound}
	stderr, err := command.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatalf("start server: %v", err)
	}
	s.command, s.ended = command, make(chan struct{})
	s.starts++
	listens := make(chan struct{}, 1)
	go func() {
		s.readLog(stderr, listens)
		_ = command.Wait()
		close(s.ended)
	}()
	select {
	case <-listens:
	case <-s.ended:
		s.t.Fatalf("the server ended: %s", s.logged.tail("", shownLines))
	case <-time.After(serverStartLimit):
		s.t.Fatalf("the server does not listen after %s: %s", serverStartLimit, s.logged.tail("", shownLines))
	}
}

func (s *serverProcess) readLog(r io.Reader, listens chan<- struct{}) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		s.logged.add(lines.Text())
		if strings.Contains(lines.Text(), secretMark) {
			s.t.Errorf("the server logs a secret: %s", lines.Text())
		}
		var entry struct{ Msg, URL string }
		if json.Unmarshal(lines.Bytes(), &entry) == nil && entry.Msg == "listening" && entry.URL != "" {
			listens <- struct{}{}
		}
	}
}

// stop ends the server in order, kill as a crash would.
func (s *serverProcess) stop() { s.end(syscall.SIGTERM) }

func (s *serverProcess) kill() { s.end(syscall.SIGKILL) }

func (s *serverProcess) end(signal syscall.Signal) {
	if s.command == nil {
		return
	}
	_ = s.command.Process.Signal(signal) // it may have ended already
	select {
	case <-s.ended:
	case <-time.After(serverStopLimit):
		_ = s.command.Process.Kill()
		<-s.ended
		s.t.Errorf("the server did not end within %s of a signal: %s", serverStopLimit, s.logged.tail("", shownLines))
	}
	s.command = nil
}

// cmdServer starts, stops and kills the story's server: server start, stop or kill. The command line of the story talks
// to it from then on, and keeps its contexts in the story's directory.
func cmdServer(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, !neg && len(args) == 1, "server start | stop | kill")
	switch args[0] {
	case "start":
		if s.plane == nil {
			s.plane = newServer(s.t)
		}
		s.plane.start()
		ts.Setenv("SERVER", s.plane.url)
		ts.Setenv("SLIPWAY_SERVER", s.plane.url)
		ts.Setenv("XDG_CONFIG_HOME", ts.MkAbs("config"))
		ts.Check(os.WriteFile(ts.MkAbs("first-password"), []byte(firstPassword+"\n"), 0o600))
	case "stop":
		s.plane.stop()
	case "kill":
		s.plane.kill()
	default:
		ts.Fatalf("server knows start, stop and kill, not %s", args[0])
	}
}

// cmdDatabase checks that a text is nowhere in what the server keeps: ! database TEXT.
func cmdDatabase(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	need(ts, neg && len(args) == 1 && s.plane != nil, "! database TEXT, after server start")
	ts.Check(filepath.WalkDir(s.plane.data, func(path string, entry os.DirEntry, err error) error {
		var raw []byte
		if err == nil && !entry.IsDir() {
			raw, err = os.ReadFile(path)
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil // a file of the database that has just gone
		}
		if err != nil {
			return err
		}
		if strings.Contains(string(raw), args[0]) {
			ts.Fatalf("%s holds %q", path, args[0])
		}
		return nil
	}))
}

// cmdJoin has an agent join as `slipway agent create` says: join FILE, which holds the two commands that it printed. The
// first one is run as it is; the second one is the agent, which the story then has. With -rights, the agent has no more
// rights than those that the first one has given it.
func cmdJoin(ts *testscript.TestScript, neg bool, args []string) {
	s := of(ts)
	narrow := len(args) > 1 && args[0] == "-rights"
	if narrow {
		args = args[1:]
	}
	need(ts, len(args) == 1, "join [-rights] FILE, or ! join [-rights] FILE")
	lines := strings.Split(strings.TrimSpace(ts.ReadFile(args[0])), "\n")
	need(ts, len(lines) == 2, "join FILE, with two commands in it")
	name, value, words := commandLine(ts, lines[0])
	ts.Setenv(name, value)
	ts.Check(ts.Exec(words[0], words[1:]...))
	ts.Setenv(name, "")
	name, value, words = commandLine(ts, lines[1])
	need(ts, words[0] == "slipway-agent", "join FILE, with slipway-agent in its second line")
	need(ts, s.agent.t == s.t, "agent new, before join")
	s.agent.flags, s.agent.env = append(s.agent.flags, linkFlags(words[1:])...), []string{name + "=" + value}
	if narrow {
		s.agent.kubeconfig = s.asAgent(ts)
	}
	if neg {
		fmt.Fprintln(ts.Stdout(), s.agent.refuse())
		return
	}
	s.agent.start()
}

// asAgent writes a kubeconfig with the rights of the agent's service account.
func (s *story) asAgent(ts *testscript.TestScript) string {
	config := testenv.Cluster(s.t)
	client, err := kubernetes.NewForConfig(config)
	ts.Check(err)
	ctx, cancel := s.requestContext()
	defer cancel()
	token, err := client.CoreV1().ServiceAccounts(s.agent.namespace).CreateToken(ctx, "slipway-agent", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	ts.Check(err)
	kubeconfig, err := clientcmd.LoadFromFile(s.agent.kubeconfig)
	ts.Check(err)
	for _, user := range kubeconfig.AuthInfos {
		*user = clientcmdapi.AuthInfo{Token: token.Status.Token}
	}
	file := filepath.Join(s.t.TempDir(), "kubeconfig")
	ts.Check(clientcmd.WriteToFile(*kubeconfig, file))
	return file
}

// commandLine reads "NAME=VALUE COMMAND WORD..." as a shell would.
func commandLine(ts *testscript.TestScript, line string) (name, value string, words []string) {
	for i, word := range strings.Fields(line) {
		word = strings.ReplaceAll(strings.Trim(word, `"'`), "$KUBECONFIG", ts.Getenv("KUBECONFIG"))
		if i == 0 {
			name, value, _ = strings.Cut(word, "=")
			continue
		}
		words = append(words, word)
	}
	need(ts, name != "" && value != "" && len(words) > 1, "join FILE, with NAME=VALUE COMMAND... in each line")
	return name, value, words
}

// linkFlags are those about the server; the tests have their own for all else.
func linkFlags(words []string) []string {
	var out []string
	for i := 0; i+1 < len(words); i += 2 {
		if slices.Contains([]string{"--server", "--server-ca", "--engine"}, words[i]) {
			out = append(out, words[i], words[i+1])
		}
	}
	return out
}

package agent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/verb"
	"github.com/slipway-gitops/slipway/internal/podlog"
)

// wire is the other end of a stream.
type wire struct {
	mu   sync.Mutex
	got  bytes.Buffer
	exit *int
	news chan struct{}
	in   chan agentapi.Chunk
}

func newWire() *wire { return &wire{news: make(chan struct{}, 1), in: make(chan agentapi.Chunk, 10)} }

func (w *wire) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
	return w.got.Write(p)
}

func (w *wire) Recv(ctx context.Context) (agentapi.Chunk, error) {
	select {
	case c, ok := <-w.in:
		if !ok {
			return c, io.EOF
		}
		return c, nil
	case <-ctx.Done():
		return agentapi.Chunk{}, ctx.Err()
	}
}

func (w *wire) Exit(code int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.exit = &code
}

func (w *wire) text() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.got.String()
}

// await waits until the agent has sent a text.
func (w *wire) await(t *testing.T, text string) {
	t.Helper()
	limit := time.After(patience)
	for !strings.Contains(w.text(), text) {
		select {
		case <-w.news:
		case <-limit:
			t.Fatalf("%q has not come; %q has", text, w.text())
		}
	}
}

// talker is a pod that says something: what its annotations tell, since the cluster of the tests runs no containers.
const talker = `{apiVersion: v1, kind: Pod, metadata: {name: talker, annotations: {
  devcluster/log.app: "2020-01-01T00:00:00Z one of old\none of app\n%s\nanother\n",
  devcluster/log.sidecar: "none of it"}},
 spec: {containers: [{name: app, image: registry.invalid/app}, {name: sidecar, image: registry.invalid/sidecar}]}}`

// terminalAsk is how a terminal is asked for.
type terminalAsk struct {
	Resource  api.ResourceRef `json:"resource"`
	Container string          `json:"container"`
	Command   []string        `json:"command"`
	Size      agentapi.Size   `json:"size"`
	Pipe      bool            `json:"pipe"`
}

// withPod deploys the talker, and waits until it and the pod of the Deployment run.
func (s *stand) withPod() api.ResourceRef {
	s.t.Helper()
	s.repo.Commit(map[string]string{"web/talker.yaml": fmt.Sprintf(talker, strings.Repeat("long ", 10_000))}, "a pod that talks")
	s.create()
	s.synced(api.SyncRequest{})
	err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		list, err := s.in("", "v1", "pods").List(ctx, metav1.ListOptions{})
		if err != nil {
			return false, err
		}
		running := 0
		for i := range list.Items {
			if phase, _, _ := unstructured.NestedString(list.Items[i].Object, "status", "phase"); phase == "Running" {
				running++
			}
		}
		return running == 2, nil
	})
	if err != nil {
		s.t.Fatalf("the two pods do not run: %v", err)
	}
	return api.ResourceRef{Kind: "Pod", Name: "talker"}
}

// log is what a log says.
func (s *stand) log(req api.Logs) (string, error) {
	s.t.Helper()
	w := newWire()
	err := verb.New(s.asks).Streamers()[agentapi.KindResourceLogs](s.t.Context(), s.command(agentapi.KindResourceLogs, req), w)
	return w.text(), err
}

func (s *stand) command(kind agentapi.Kind, body any) agentapi.Command {
	s.t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		s.t.Fatal(err)
	}
	return agentapi.Command{ID: "stream-1", Agent: standUID, Kind: kind, Target: s.app(s.name), Body: raw, User: "user:anna"}
}

func TestLogsAreOfPodsOfTheApplication(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	pod := s.withPod()
	deployment := api.ResourceRef{Group: "apps", Kind: "Deployment", Name: "web"}
	if got, err := s.log(api.Logs{Resource: deployment}); err != nil || got != "web started\n" {
		t.Errorf("the log of the deployment is %q, %v", got, err)
	}

	of := func(req api.Logs) api.Logs {
		req.Resource, req.Container = pod, "app"
		return req
	}
	got, err := s.log(of(api.Logs{}))
	lines := strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	if err != nil || len(lines) != 5 || lines[0] != "app started" || lines[1] != "one of old" || len(lines[3]) != podlog.MaxLine || lines[4] != "another" {
		t.Errorf("the log has %d lines: %.300q, %v", len(lines), got, err)
	}
	for _, c := range []struct {
		name, want string
		req        api.Logs
	}{
		{"the end", "another\n", of(api.Logs{Tail: 1})},
		{"what has a text", "one of old\none of app\n", of(api.Logs{Search: "one"})},
		{"what has a text in small or large letters", "one of old\none of app\n", of(api.Logs{Search: "ONE", IgnoreCase: true})},
		{"what has a text in just these letters", "", of(api.Logs{Search: "ONE"})},
		{"what does not have a text in small or large letters", "app started\n", of(api.Logs{Search: "O", Invert: true, IgnoreCase: true})},
		{"what has a text, of late", "one of app\n", of(api.Logs{Search: "one", Since: 3600})},
		{"what has a text, since a time", "one of old\none of app\n", of(api.Logs{Search: "one", SinceTime: time.Date(2019, 1, 1, 0, 0, 0, 0, time.UTC)})},
		{"what does not have a text", "app started\none of old\none of app\nanother\n", of(api.Logs{Search: "long", Invert: true})},
		{"with times", "2020-01-01T00:00:00.000000000Z one of old\n", of(api.Logs{Search: "old", Timestamps: true})},
	} {
		if got, err := s.log(c.req); err != nil || got != c.want {
			t.Errorf("%s: the log is %.300q, %v; want %q", c.name, got, err, c.want)
		}
	}
	got, err = s.log(api.Logs{Resource: pod, Search: "one"})
	if err != nil || !strings.Contains(got, "talker/app one of app\n") || !strings.Contains(got, "talker/sidecar none of it\n") {
		t.Errorf("the log of both containers is %.300q, %v", got, err)
	}

	// Without an object it is about all of the application, and each line says whose it is.
	got, err = s.log(api.Logs{Search: "started"})
	lines = strings.Split(strings.TrimSuffix(got, "\n"), "\n")
	slices.Sort(lines)
	if err != nil || len(lines) != 3 || lines[0] != "talker/app app started" || lines[1] != "talker/sidecar sidecar started" || !strings.HasPrefix(lines[2], "web-") || !strings.HasSuffix(lines[2], "/web web started") {
		t.Errorf("the log of all pods is %q, %v", lines, err)
	}
	if got, err = s.log(api.Logs{Container: "sidecar", Search: "none"}); err != nil || got != "talker/sidecar none of it\n" {
		t.Errorf("the log of one container of all pods is %q, %v", got, err)
	}

	if _, err := s.log(of(api.Logs{Previous: true})); err == nil || !strings.Contains(err.Error(), "previous terminated container") {
		t.Errorf("the log of before the first start is told as %v", err)
	}
	for _, ref := range []api.Logs{
		{Resource: configMap("settings")},
		{Resource: api.ResourceRef{Kind: "Pod", Name: "none"}},
		{Resource: deployment, Container: "none"},
		{Container: "none"},
		{Resource: api.ResourceRef{Kind: "Pod"}},
	} {
		if got, err := s.log(ref); err == nil {
			t.Errorf("logs of %+v were read: %q", ref, got)
		}
	}
}

func TestALogIsFollowedToTheEndOfItsPod(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	pod := s.withPod()
	w := newWire()
	var g errgroup.Group
	g.Go(func() error {
		return verb.New(s.asks).Streamers()[agentapi.KindResourceLogs](t.Context(), s.command(agentapi.KindResourceLogs, api.Logs{Resource: pod, Container: "sidecar", Follow: true}), w)
	})
	w.await(t, "none of it\n")
	change := []byte(`{"metadata":{"annotations":{"devcluster/log.sidecar":"none of it\nbut this"}}}`)
	if _, err := s.in("", "v1", "pods").Patch(t.Context(), pod.Name, types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	w.await(t, "but this\n")
	if err := s.in("", "v1", "pods").Delete(t.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := g.Wait(); err != nil || w.text() != "sidecar started\nnone of it\nbut this\n" {
		t.Errorf("the log ended with %q, %v", w.text(), err)
	}
}

func TestLogsOfAnApplicationGoOnWithPodsThatCome(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	pod := s.withPod()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w := newWire()
	var g errgroup.Group
	g.Go(func() error {
		return verb.New(s.asks).Streamers()[agentapi.KindResourceLogs](ctx, s.command(agentapi.KindResourceLogs, api.Logs{Follow: true, Tail: 1}), w)
	})
	w.await(t, "talker/app another\n")
	w.await(t, "/web web started\n")
	if strings.Contains(w.text(), "one of app") {
		t.Errorf("more than the last line is shown of what was there: %.300q", w.text())
	}
	// All that was there ends, and what comes for it is followed.
	if err := s.in("", "v1", "pods").Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	list, err := s.in("", "v1", "pods").List(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list.Items {
		if name := list.Items[i].GetName(); name != pod.Name {
			if err := s.in("", "v1", "pods").Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	limit := time.After(patience)
	for strings.Count(w.text(), "/web web started\n") < 2 {
		select {
		case <-w.news:
		case <-limit:
			t.Fatalf("the new pod is not followed: %.300q", w.text())
		}
	}
	cancel()
	if err := g.Wait(); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v", err)
	}
}

func TestTerminalsAreInPodsOfTheApplication(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	pod := s.withPod()
	ctx := t.Context()
	w := newWire()
	terminal := terminalAsk{Resource: pod, Command: []string{"sh"}, Size: agentapi.Size{Columns: 80, Rows: 24}}
	var g errgroup.Group
	g.Go(func() error {
		return verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, terminal), w)
	})
	w.in <- agentapi.Chunk{Data: []byte("hostname; stty size\r")}
	w.await(t, "\ntalker\r\n24 80\r\n$ ")
	w.in <- agentapi.Chunk{Resize: &agentapi.Size{Columns: 100, Rows: 30}}
	w.in <- agentapi.Chunk{Data: []byte("stty size\r")}
	w.await(t, "\n30 100\r\n$ ")
	w.in <- agentapi.Chunk{Data: []byte("exit 7\r")}
	if err := g.Wait(); err != nil || w.exit == nil || *w.exit != 7 {
		t.Errorf("the terminal ended with %v, code %v", err, w.exit)
	}

	// Without a terminal, bytes go both ways as they are, and the end of the input ends what reads it.
	w = newWire()
	g.Go(func() error {
		return verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, terminalAsk{Resource: pod, Command: []string{"cat"}, Pipe: true}), w)
	})
	w.in <- agentapi.Chunk{Data: []byte("one\ntwo")}
	w.in <- agentapi.Chunk{InputEnds: true}
	if err := g.Wait(); err != nil || w.exit == nil || *w.exit != 0 || w.text() != "one\ntwo" {
		t.Errorf("a pipe through cat gave %q, %v, code %v", w.text(), err, w.exit)
	}

	// Who leaves ends it. Without a command, it is a shell that the container has.
	w = newWire()
	terminal.Command, terminal.Container = nil, "sidecar"
	g.Go(func() error {
		return verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, terminal), w)
	})
	w.await(t, "$ ")
	close(w.in)
	if err := g.Wait(); err != nil {
		t.Errorf("the terminal ended with %v", err)
	}

	w = newWire()
	terminal.Command = []string{"/usr/bin/none"}
	if err := verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, terminal), w); err == nil || !strings.Contains(err.Error(), "/usr/bin/none") || w.exit != nil {
		t.Errorf("a command that is not there ended with %v, code %v", err, w.exit)
	}
	for _, ref := range []api.ResourceRef{
		{Group: "apps", Kind: "Deployment", Name: "web"},
		{Kind: "Pod", Name: "none"},
		{Kind: "Pod", Namespace: "kube-system", Name: pod.Name},
	} {
		req := terminal
		req.Resource = ref
		if err := verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, req), newWire()); err == nil {
			t.Errorf("a terminal was opened in %+v", ref)
		}
	}

	// The end of its pod ends it too.
	w = newWire()
	terminal.Command = []string{"cat"}
	g.Go(func() error {
		return verb.New(s.asks).Streamers()[agentapi.KindResourceTerminal](ctx, s.command(agentapi.KindResourceTerminal, terminal), w)
	})
	w.in <- agentapi.Chunk{Data: []byte("typed\r")}
	w.await(t, "typed\r\ntyped\r\n")
	if err := s.in("", "v1", "pods").Delete(ctx, pod.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := g.Wait(); err != nil || w.exit == nil || *w.exit != 137 {
		t.Errorf("the terminal in a pod that is gone ended with %v, code %v", err, w.exit)
	}
}

package kubelet

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/shell"
)

const (
	// reasonExit and causeExit mark the exit code in the status of a command.
	reasonExit = "NonZeroExitCode"
	causeExit  = "ExitCode"
	// codeKilled is the exit code of what ends with its pod.
	codeKilled = 137
	// writeLimit bounds one write to the client of a command.
	writeLimit = 30 * time.Second
	// partLimit bounds the wait for the other end to close a connection whose command has ended.
	partLimit = 5 * time.Second
	// maxCommand is the length of all arguments in bytes.
	maxCommand = 64 << 10
)

// execRequest is a command that a client wants to run.
type execRequest struct {
	args                        []string
	stdin, stdout, stderr, term bool
}

func readExecRequest(query url.Values) (execRequest, error) {
	q := execRequest{args: query["command"]}
	for name, to := range map[string]*bool{"input": &q.stdin, "output": &q.stdout, "error": &q.stderr, "tty": &q.term} {
		*to = query.Get(name) == "1" || query.Get(name) == "true"
	}
	q.stderr = q.stderr && !q.term // a terminal has one output
	switch {
	case len(q.args) == 0:
		return q, errors.New("a command is missing")
	case len(strings.Join(q.args, " ")) > maxCommand:
		return q, fmt.Errorf("the command is longer than %d bytes", maxCommand)
	case !q.stdin && !q.stdout && !q.stderr:
		return q, errors.New("you must specify at least 1 of stdin, stdout, stderr")
	}
	return q, nil
}

// channel is the connection to the client of a command.
type channel struct {
	// stdin ends when the other end is gone; nil where none is asked for.
	stdin *io.PipeReader
	// stdout and stderr take what is asked for and drop the rest.
	stdout, stderr io.Writer
	// finish reports how the command ended, and closes the connection.
	finish func(metav1.Status)
}

// exec runs a command of the package shell as if it were in a container.
func (n *node) exec(w http.ResponseWriter, r *http.Request) {
	q, err := readExecRequest(r.URL.Query())
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	pod, status := n.pod(w, r)
	if pod == nil {
		return
	}
	if status.State.Running == nil {
		http.Error(w, fmt.Sprintf("container not found (%q)", status.Name), http.StatusInternalServerError)
		return
	}
	p := shell.Process{Args: q.args, Env: environment(pod, status.Name, q.term), Hostname: hostname(pod)}
	if q.term {
		p.Terminal = &shell.Terminal{}
	}
	open := openSPDY
	if websocket.IsWebSocketUpgrade(r) {
		open = openWebSocket
	}
	c := open(w, r, q, p.Terminal)
	if c == nil {
		return // it has been answered
	}
	p.Stdout, p.Stderr = c.stdout, c.stderr
	if c.stdin != nil {
		p.Stdin = c.stdin
	}
	c.finish(n.play(r.Context(), pod, status.Name, p, c.stdin))
}

// play runs a process until it ends or its container does, and says how.
func (n *node) play(ctx context.Context, pod *corev1.Pod, container string, p shell.Process, stdin *io.PipeReader) metav1.Status {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var ended, killed atomic.Bool
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		_ = n.follow(ctx, pod, func(now *corev1.Pod) (bool, error) { // whatever ends it ends the process
			status := statusOf(now, container)
			return status == nil || status.State.Running == nil, nil
		})
		killed.Store(!ended.Load())
		if stdin != nil {
			_ = stdin.Close() // it always succeeds
		}
	}()
	code, err := p.Run(ctx)
	ended.Store(true)
	cancel()
	<-watched
	if killed.Load() {
		code = codeKilled
	}
	return outcome(code, err)
}

// outcome reports the end of a command as kubelets do.
func outcome(code int, err error) metav1.Status {
	switch {
	case err != nil:
		return metav1.Status{
			Status: metav1.StatusFailure, Reason: metav1.StatusReasonInternalError, Code: http.StatusInternalServerError,
			Message: "error executing command in container: " + err.Error(),
		}
	case code == 0:
		return metav1.Status{Status: metav1.StatusSuccess}
	}
	return metav1.Status{
		Status: metav1.StatusFailure, Reason: reasonExit,
		Message: fmt.Sprintf("command terminated with non-zero exit code: exit status %d", code),
		Details: &metav1.StatusDetails{Causes: []metav1.StatusCause{{Type: causeExit, Message: strconv.Itoa(code)}}},
	}
}

func hostname(pod *corev1.Pod) string {
	if pod.Spec.Hostname != "" {
		return pod.Spec.Hostname
	}
	return pod.Name
}

// environment is that of a container. What comes from elsewhere, such as of a
// Secret, is left out: only the pod is read.
func environment(pod *corev1.Pod, container string, term bool) []string {
	env := []string{"PATH=/usr/bin:/bin", "HOME=/", "HOSTNAME=" + hostname(pod)}
	if term {
		env = append(env, "TERM=xterm")
	}
	for i := range pod.Spec.Containers {
		if pod.Spec.Containers[i].Name != container {
			continue
		}
		for _, v := range pod.Spec.Containers[i].Env {
			if v.ValueFrom == nil {
				env = append(env, v.Name+"="+v.Value)
			}
		}
	}
	return env
}

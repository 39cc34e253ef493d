package verb

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gorilla/websocket"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/outward"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Channels of Kubernetes' protocol for a command in a container; the first byte of each message says which.
const (
	channelIn     = 0
	channelOut    = 1
	channelErr    = 2
	channelStatus = 3
	channelSize   = 4
	channelClose  = 255 // of the newer protocol: the next byte is the channel that ends
)

// The protocols. The newer one can end the input, which API servers know since Kubernetes 1.29; a terminal needs no such
// end, and they carry its size in order with what is typed in the older one only.
const (
	protocolExec    = "v5.channel.k8s.io"
	protocolExecOld = "v4.channel.k8s.io"
)

// Limits of a terminal.
const (
	execHandshake = 30 * time.Second
	execPing      = 15 * time.Second
	execSilence   = 45 * time.Second // without an answer to a ping
	execMessage   = 1 << 20
	maxSize       = 10_000 // rows or columns
)

// terminalRequest is the body of a command that opens a terminal.
type terminalRequest struct {
	Resource  api.ResourceRef `json:"resource"`
	Container string          `json:"container"`
	Command   []string        `json:"command"`
	Size      agentapi.Size   `json:"size"`
	Reason    string          `json:"reason"`
	Pipe      bool            `json:"pipe"` // no terminal
}

func (v *resources) terminal(ctx context.Context, cmd agentapi.Command, req terminalRequest, s command.Stream) error {
	p, sub, err := v.subject(ctx, cmd, req.Resource)
	if err != nil {
		return err
	}
	if p.who.Denial != "" {
		return command.Refuse(agentapi.CodeForbidden, "%s", p.who.Denial)
	}
	if v.Clusters.Shadow {
		return command.Refuse(agentapi.CodePolicy, "the agent is in shadow mode: it opens no terminal")
	}
	var pod corev1.Pod
	if sub.key.Group != "" || sub.key.Kind != "Pod" || runtime.DefaultUnstructuredConverter.FromUnstructured(sub.obj, &pod) != nil {
		return command.Refuse(agentapi.CodeInvalid,
			"a terminal is opened in a Pod, not in %s; `slipway app tree %s` shows the pods", sub.key, p.app.Name)
	}
	container, err := runningContainer(&pod, req.Container)
	if err != nil {
		return err
	}
	argv := req.Command
	if len(argv) == 0 {
		argv = []string{"sh", "-c", "command -v bash >/dev/null 2>&1 && exec bash; exec sh"}
	}
	v.Log.Info("terminal opened", "command", cmd.ID, "user", cmd.User, "pod", sub.key.String(), "container", container)
	start := v.Now()
	defer func() { v.Log.Info("terminal closed", "command", cmd.ID, "duration", v.Now().Sub(start)) }()
	socket, err := p.d.SocketAs(p.who, pod.Namespace)
	if err != nil {
		return command.Refuse(agentapi.CodeForbidden, "%v", err)
	}
	conn, err := dialExec(ctx, socket, &pod, container, argv, !req.Pipe)
	if err != nil {
		return fmt.Errorf("open a terminal in %s: %w", sub.key, err)
	}
	size := req.Size
	if req.Pipe {
		size = agentapi.Size{}
	}
	return serveTerminal(ctx, conn, s, size)
}

func runningContainer(pod *corev1.Pod, asked string) (string, error) {
	var names []string
	for _, c := range pod.Spec.Containers {
		names = append(names, c.Name)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		names = append(names, c.Name)
	}
	switch {
	case pod.Status.Phase != corev1.PodRunning:
		return "", command.Refuse(agentapi.CodeConflict, "pod %s is not running (%s)", pod.Name, pod.Status.Phase)
	case asked == "" && pod.Annotations["kubectl.kubernetes.io/default-container"] != "":
		asked = pod.Annotations["kubectl.kubernetes.io/default-container"]
	case asked == "" && len(names) > 0:
		asked = names[0]
	}
	if !slices.Contains(names, asked) {
		return "", command.Refuse(agentapi.CodeNotFound, "pod %s has no container %.63q; it has %v", pod.Name, asked, names)
	}
	return asked, nil
}

// dialExec starts a command in a container, over a WebSocket. A terminal has one output for both of a command.
func dialExec(ctx context.Context, config *rest.Config, pod *corev1.Pod, container string, command []string,
	tty bool,
) (*websocket.Conn, error) {
	base, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		return nil, fmt.Errorf("read address of the cluster: %w", err)
	}
	to := *base
	to.Scheme = map[string]string{"https": "wss", "http": "ws"}[base.Scheme]
	to.Path = strings.TrimSuffix(base.Path, "/") + "/api/v1/namespaces/" + pod.Namespace + "/pods/" + pod.Name + "/exec"
	to.RawQuery = url.Values{
		"container": {container}, "command": command, "stdin": {"true"}, "stdout": {"true"},
		"stderr": {strconv.FormatBool(!tty)}, "tty": {strconv.FormatBool(tty)},
	}.Encode()
	protocols := []string{protocolExec, protocolExecOld}
	if tty {
		protocols = protocols[1:]
	}
	tls, err := rest.TLSConfigFor(config)
	if err != nil {
		return nil, fmt.Errorf("read TLS settings of the cluster: %w", err)
	}
	headers, err := headersOf(config, base)
	if err != nil {
		return nil, err
	}
	if shard.Lost(ctx) { // it passes no transport that is fenced
		return nil, shard.ErrLost
	}
	dialer := websocket.Dialer{
		TLSClientConfig: tls, HandshakeTimeout: execHandshake, Subprotocols: protocols, Proxy: http.ProxyFromEnvironment,
		NetDialContext: config.Dial,
	}
	if config.Proxy != nil {
		dialer.Proxy = config.Proxy
	}
	conn, resp, err := dialer.DialContext(ctx, to.String(), headers)
	if resp != nil && resp.Body != nil {
		defer func() { _ = resp.Body.Close() }()
	}
	if err != nil {
		return nil, answered(resp, err)
	}
	conn.SetReadLimit(execMessage)
	return conn, nil
}

// answered describes an API server's answer that opens no WebSocket.
func answered(resp *http.Response, err error) error {
	if resp == nil {
		return command.Refuse(agentapi.CodeUnreachable, "%v", err)
	}
	const most = 64 << 10
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, most))
	var status metav1.Status
	if strict.Decode(raw, &status, strict.Foreign) == nil && status.Kind == "Status" {
		return &apierrors.StatusError{ErrStatus: status}
	}
	return command.Refuse(agentapi.CodeUnreachable, "the API server answers with %s; it must let WebSockets through",
		outward.Status(resp.StatusCode))
}

// headersOf are the headers by which a configuration authenticates.
func headersOf(config *rest.Config, base *url.URL) (http.Header, error) {
	var got http.Header
	keep := capture(func(req *http.Request) { got = req.Header.Clone() })
	rt, err := rest.HTTPWrappersForConfig(config, keep)
	if err != nil {
		return nil, fmt.Errorf("read credentials of the cluster: %w", err)
	}
	req := &http.Request{Method: http.MethodGet, URL: base, Header: http.Header{}}
	resp, err := rt.RoundTrip(req)
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil && !errors.Is(err, errCaptured) {
		return nil, fmt.Errorf("read credentials of the cluster: %w", err)
	}
	return got, nil
}

var errCaptured = errors.New("nothing is sent")

// capture is a transport that sends nothing.
type capture func(*http.Request)

// RoundTrip implements http.RoundTripper.
func (c capture) RoundTrip(req *http.Request) (*http.Response, error) {
	c(req)
	return nil, errCaptured
}

// serveTerminal carries bytes between a person and a container until either ends.
func serveTerminal(ctx context.Context, conn *websocket.Conn, s command.Stream, size agentapi.Size) error {
	ctx, cancel := context.WithCancel(ctx)
	t := &execTerminal{conn: conn, s: s}
	var wait sync.WaitGroup
	wait.Go(func() {
		defer cancel()
		t.input(ctx, size)
	})
	wait.Go(func() {
		t.ping(ctx)
		_ = conn.Close() // ends output
	})
	err := t.output()
	if ctx.Err() != nil {
		err = nil // the client has left
	}
	cancel()
	wait.Wait()
	return err
}

// execTerminal is a terminal while it is open.
type execTerminal struct {
	conn *websocket.Conn
	s    command.Stream

	mu sync.Mutex // of writes to conn
}

// send sends a message to the container, unless the agent may have no Lease any more.
func (t *execTerminal) send(ctx context.Context, channel byte, data []byte) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if shard.Lost(ctx) {
		return shard.ErrLost
	}
	if err := t.conn.SetWriteDeadline(time.Now().Add(execHandshake)); err != nil {
		return err
	}
	return t.conn.WriteMessage(websocket.BinaryMessage, append([]byte{channel}, data...))
}

func (t *execTerminal) resize(ctx context.Context, size agentapi.Size) error {
	if size.Columns <= 0 || size.Rows <= 0 || size.Columns > maxSize || size.Rows > maxSize {
		return nil
	}
	raw, err := json.Marshal(map[string]int{"Width": size.Columns, "Height": size.Rows})
	if err != nil {
		return err
	}
	return t.send(ctx, channelSize, raw)
}

// input sends what the person types.
func (t *execTerminal) input(ctx context.Context, size agentapi.Size) {
	if t.resize(ctx, size) != nil {
		return
	}
	for {
		c, err := t.s.Recv(ctx)
		if err != nil {
			return
		}
		if c.Resize != nil && t.resize(ctx, *c.Resize) != nil || len(c.Data) > 0 && t.send(ctx, channelIn, c.Data) != nil {
			return
		}
		// An old API server has no message for it: a command that waits for the end of its input does so until the client leaves.
		if c.InputEnds && t.conn.Subprotocol() == protocolExec && t.send(ctx, channelClose, []byte{channelIn}) != nil {
			return
		}
	}
}

// ping keeps the connection open until ctx ends, and notices when it is gone.
func (t *execTerminal) ping(ctx context.Context) {
	ticker := time.NewTicker(execPing)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			t.mu.Lock()
			err := t.conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(execHandshake))
			t.mu.Unlock()
			if err != nil {
				return
			}
		}
	}
}

// output sends what the container prints, and notes how the command ended.
func (t *execTerminal) output() error {
	alive := func() error { return t.conn.SetReadDeadline(time.Now().Add(execSilence)) }
	t.conn.SetPongHandler(func(string) error { return alive() })
	for {
		if err := alive(); err != nil {
			return err
		}
		_, message, err := t.conn.ReadMessage()
		switch {
		case websocket.IsCloseError(err, websocket.CloseNormalClosure):
			return nil
		case err != nil:
			return command.Refuse(agentapi.CodeUnreachable, "the connection to the container ended: %v", err)
		case len(message) == 0:
			continue
		}
		switch message[0] {
		case channelOut, channelErr:
			if _, err := t.s.Write(message[1:]); err != nil {
				return err
			}
		case channelStatus:
			return t.ended(message[1:])
		}
	}
}

// ended notes the exit code in a status.
func (t *execTerminal) ended(raw []byte) error {
	var status metav1.Status
	if err := strict.Decode(raw, &status, strict.Foreign); err != nil {
		return command.Refuse(agentapi.CodeInternal, "the container's runtime reports %.200q", raw)
	}
	if status.Status == metav1.StatusSuccess {
		t.s.Exit(0)
		return nil
	}
	if status.Reason == "NonZeroExitCode" && status.Details != nil {
		for _, c := range status.Details.Causes {
			if code, err := strconv.Atoi(c.Message); c.Type == "ExitCode" && err == nil {
				t.s.Exit(code)
				return nil
			}
		}
	}
	return command.Refuse(agentapi.CodeInvalid, "%s", status.Message)
}

package e2e

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/remotecommand"
	"k8s.io/client-go/util/exec"
)

// makePod makes a pod and returns once it runs.
func makePod(ctx context.Context, t *testing.T, client *kubernetes.Clientset, pod *corev1.Pod) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	if _, err := pods.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "pod "+pod.Name+" runs", func() (bool, error) {
		now, err := pods.Get(ctx, pod.Name, metav1.GetOptions{})
		return err == nil && now.Status.Phase == corev1.PodRunning, err
	})
}

func podNamed(name string, labels, annotations map[string]string) *corev1.Pod {
	template := podTemplate(labels)
	template.Name, template.Annotations = name, annotations
	template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "COLOR", Value: "blue"}}
	return &corev1.Pod{ObjectMeta: template.ObjectMeta, Spec: template.Spec}
}

func TestLogsOfPods(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	data := t.TempDir()
	start(ctx, t, data, "--nodes", "1").stop(ctx, t)
	// The nodes of the second life are those of the first, at the same port.
	start(ctx, t, data, "--nodes", "1")
	client := connect(t, data)
	pods := client.CoreV1().Pods("default")
	makePod(ctx, t, client, podNamed("web", nil, map[string]string{"devcluster/log": "2020-01-01T00:00:00Z old\nnew"}))
	makePod(ctx, t, client, podNamed("again", map[string]string{"devcluster/outcome": "restarted"}, map[string]string{"devcluster/previous-log": "it broke"}))
	read := func(name string, options corev1.PodLogOptions) string {
		t.Helper()
		text, err := pods.GetLogs(name, &options).DoRaw(ctx)
		if err != nil {
			t.Fatalf("log of %s with %+v: %v", name, options, err)
		}
		return string(text)
	}
	one, hour := int64(1), int64(3600)
	for _, test := range []struct {
		pod     string
		options corev1.PodLogOptions
		want    string
	}{
		{"web", corev1.PodLogOptions{}, "main started\nold\nnew\n"},
		{"web", corev1.PodLogOptions{TailLines: &one}, "new\n"},
		{"web", corev1.PodLogOptions{SinceSeconds: &hour}, "main started\nnew\n"},
		{"again", corev1.PodLogOptions{}, "main started\n"},
		{"again", corev1.PodLogOptions{Previous: true}, "main started\nit broke\n"},
	} {
		if got := read(test.pod, test.options); got != test.want {
			t.Errorf("the log of %s with %+v is %q, want %q", test.pod, test.options, got, test.want)
		}
	}
	if _, err := pods.GetLogs("web", &corev1.PodLogOptions{Previous: true}).Stream(ctx); !apierrors.IsBadRequest(err) ||
		!strings.Contains(err.Error(), `previous terminated container "main" in pod "web" not found`) {
		t.Errorf("the log before the first is told as %v", err)
	}

	stream, err := pods.GetLogs("web", &corev1.PodLogOptions{Follow: true, TailLines: &one}).Stream(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Close() }()
	lines := bufio.NewReader(stream)
	expect := func(want string) {
		t.Helper()
		if got, err := lines.ReadString('\n'); got != want {
			t.Fatalf("the next line is %q, %v; want %q", got, err, want)
		}
	}
	expect("new\n")
	change, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]string{"devcluster/log": "2020-01-01T00:00:00Z old\nnew\nnewest"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := pods.Patch(ctx, "web", types.MergePatchType, change, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	expect("newest\n")
	if err := pods.Delete(ctx, "web", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err != nil || len(rest) > 0 {
		t.Errorf("the log of a pod that is gone ends with %q, %v", rest, err)
	}
}

// run runs a command in the pod "web", over a WebSocket or SPDY.
func run(ctx context.Context, t *testing.T, config *rest.Config, webSocket bool, in string, command ...string) (out, errors string, err error) {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	to := client.CoreV1().RESTClient().Post().Namespace("default").Resource("pods").Name("web").SubResource("exec").
		Param("stdin", "true").Param("stdout", "true").Param("stderr", "true")
	for _, word := range command {
		to = to.Param("command", word)
	}
	executor, err := executorFor(config, webSocket, to.URL())
	if err != nil {
		t.Fatal(err)
	}
	var said, wrong bytes.Buffer
	err = executor.StreamWithContext(ctx, remotecommand.StreamOptions{Stdin: strings.NewReader(in), Stdout: &said, Stderr: &wrong})
	return said.String(), wrong.String(), err
}

func executorFor(config *rest.Config, webSocket bool, to *url.URL) (remotecommand.Executor, error) {
	if webSocket {
		return remotecommand.NewWebSocketExecutor(config, "GET", to.String())
	}
	return remotecommand.NewSPDYExecutor(config, "POST", to)
}

func TestCommandsInContainers(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	data := t.TempDir()
	start(ctx, t, data, "--nodes", "1")
	client := connect(t, data)
	makePod(ctx, t, client, podNamed("web", nil, nil))
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	for _, webSocket := range []bool{true, false} {
		t.Run(fmt.Sprintf("WebSocket %v", webSocket), func(t *testing.T) {
			out, wrong, err := run(ctx, t, config, webSocket, "typed", "sh", "-c", "hostname; echo $COLOR; ls; cat")
			if err != nil || out != "web\nblue\ntyped" || wrong != "sh: ls: not found\n" {
				t.Errorf("it says %q and %q, %v", out, wrong, err)
			}
			var code exec.ExitError
			if _, _, err = run(ctx, t, config, webSocket, "", "sh", "-c", "exit 7"); !asExit(err, &code) || code.ExitStatus() != 7 {
				t.Errorf("exit 7 ends with %v", err)
			}
			if _, _, err = run(ctx, t, config, webSocket, "", "/bin/ls"); err == nil || asExit(err, &code) || !strings.Contains(err.Error(), "not found in $PATH") {
				t.Errorf("a program of the host ends with %v", err)
			}
		})
	}
}

func asExit(err error, code *exec.ExitError) bool {
	exit, ok := err.(exec.CodeExitError) //nolint:errorlint // that is what the client returns
	*code = exit
	return ok
}

// Whoever reaches the port of the nodes must be the API server: they would
// answer without asking who may do what.
func TestOnlyTheAPIServerMayAskNodes(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	data := t.TempDir()
	start(ctx, t, data, "--nodes", "1")
	var ports map[string]int
	text, err := os.ReadFile(filepath.Join(data, "ports.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &ports); err != nil || ports["kubelet"] == 0 {
		t.Fatalf("ports %s: %v", text, err)
	}
	for user, want := range map[string]bool{"apiserver-kubelet-client": true, "admin": false, "": false} {
		config := &tls.Config{InsecureSkipVerify: true} // it is the other direction that counts
		if user != "" {
			pair, err := tls.LoadX509KeyPair(filepath.Join(data, "pki", user+".crt"), filepath.Join(data, "pki", user+".key"))
			if err != nil {
				t.Fatal(err)
			}
			config.Certificates = []tls.Certificate{pair}
		}
		answer := ask(t, fmt.Sprintf("127.0.0.1:%d", ports["kubelet"]), config)
		if got := strings.HasPrefix(answer, "HTTP/1.1 200"); got != want {
			t.Errorf("%q gets %q", user, answer)
		}
	}
}

// ask returns what the node API says, or nothing when it does not let one in.
func ask(t *testing.T, address string, config *tls.Config) string {
	t.Helper()
	conn, err := tls.Dial("tcp", address, config)
	if err != nil {
		return ""
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "GET /healthz HTTP/1.1\r\nHost: node\r\nConnection: close\r\n\r\n"); err != nil {
		return ""
	}
	answer, _ := io.ReadAll(conn) // a refusal is an error, and shows as nothing read
	return string(answer)
}

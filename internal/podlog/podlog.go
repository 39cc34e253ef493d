// Package podlog reads the logs of several containers as one text of whole lines, and goes on with pods that come later:
// for command line and agent alike. The request names the pods.
package podlog

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/agentapi"
)

// Limits of one request for logs.
const (
	MaxStreams = 50       // containers that are read together
	MaxLine    = 16 << 10 // bytes of a line; the rest of it is left out
	batchSize  = 16 << 10 // bytes that are collected before they are sent
)

// Reader reads logs.
type Reader struct {
	Core typedcorev1.CoreV1Interface
	// Of is what the pods belong to, for messages.
	Of string
	// Pods finds the pods that are meant, as they are now.
	Pods func(context.Context) ([]corev1.Pod, error)
	// Later are the namespaces in which more pods may come; nil where none are waited for. A follower then continues when
	// all that was there has ended, and each line names its container, however few there are.
	Later []string
}

// Copy writes the lines that are asked for. An error that is an *agentapi.Error says what is wrong with the request.
func (r *Reader) Copy(ctx context.Context, to io.Writer, req api.Logs) error {
	out := &lines{to: to}
	if req.Follow && r.Later != nil {
		return r.goOn(ctx, out, req)
	}
	pods, err := r.Pods(ctx)
	if err != nil {
		return err
	}
	sources, err := choose(pods, req.Container, r.Of)
	if err != nil {
		return err
	}
	prefixed := len(sources) > 1 || r.Later != nil
	g, ctx := errgroup.WithContext(ctx)
	for _, s := range sources {
		g.Go(func() error {
			err := r.copyOne(ctx, s, req, out, prefixed)
			if err != nil && prefixed && ctx.Err() == nil && !errors.Is(err, errWrite) {
				// One container that has no log, since it has not begun, must not hide those of others.
				return out.write([]byte(s.name() + " (no log: " + err.Error() + ")\n"))
			}
			return err
		})
	}
	return g.Wait()
}

func refusef(code agentapi.Code, format string, args ...any) error {
	return &agentapi.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// NoPods is the error for an object, or an application, that has none.
func NoPods(of string) error { return refusef(agentapi.CodeNotFound, "%s has no pods now", of) }

// TooMany is the error for more pods or containers than are read together.
func TooMany(of string, n int, what string) error {
	return refusef(agentapi.CodeTooLarge, "%s has %d %s, and at most %d logs are read together: name an object, a pod, or a container",
		of, n, what, MaxStreams)
}

// source is one container whose log is read.
type source struct{ namespace, pod, container string }

func (s source) name() string { return s.pod + "/" + s.container }

// choose returns the containers that are meant: all, or those of a name.
func choose(pods []corev1.Pod, container, of string) ([]source, error) {
	var out []source
	var known []string
	for i := range pods {
		for _, name := range containers(&pods[i]) {
			known = append(known, name)
			if container == "" || name == container {
				out = append(out, source{pods[i].Namespace, pods[i].Name, name})
			}
		}
	}
	slices.Sort(known)
	switch {
	case len(known) == 0:
		return nil, NoPods(of)
	case len(out) == 0:
		return nil, refusef(agentapi.CodeNotFound, "%s has no container %.63q; it has %v", of, container, slices.Compact(known))
	case len(out) > MaxStreams:
		return nil, TooMany(of, len(out), "containers")
	}
	return out, nil
}

// containers names those of a pod, in the order in which they start.
func containers(pod *corev1.Pod) []string {
	var out []string
	for _, c := range pod.Spec.InitContainers {
		out = append(out, c.Name)
	}
	for _, c := range pod.Spec.Containers {
		out = append(out, c.Name)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		out = append(out, c.Name)
	}
	return out
}

func (r *Reader) copyOne(ctx context.Context, s source, req api.Logs, out *lines, prefixed bool) error {
	options := &corev1.PodLogOptions{Container: s.container, Follow: req.Follow, Previous: req.Previous, Timestamps: req.Timestamps}
	if req.Tail > 0 {
		options.TailLines = &req.Tail
	}
	if req.Since > 0 {
		options.SinceSeconds = &req.Since
	} else if !req.SinceTime.IsZero() {
		at := metav1.NewTime(req.SinceTime)
		options.SinceTime = &at
	}
	body, err := r.Core.Pods(s.namespace).GetLogs(s.pod, options).Stream(ctx)
	if err != nil {
		return fmt.Errorf("read log of %s: %w", s.name(), err)
	}
	defer func() { _ = body.Close() }()
	prefix := ""
	if prefixed {
		prefix = s.name() + " "
	}
	return copyLines(body, prefix, req, out)
}

// chosen says of a line whether it is asked for.
func chosen(req api.Logs) func(line []byte) bool {
	text := []byte(req.Search)
	switch {
	case len(text) == 0:
		return func([]byte) bool { return true }
	case !req.IgnoreCase:
		return func(line []byte) bool { return bytes.Contains(line, text) != req.Invert }
	}
	low := bytes.ToLower(text)
	return func(line []byte) bool { return bytes.Contains(bytes.ToLower(line), low) != req.Invert }
}

// copyLines sends the lines that are asked for, as many at a time as there are.
func copyLines(from io.Reader, prefix string, req api.Logs, out *lines) error {
	in := bufio.NewReaderSize(from, MaxLine)
	wanted := chosen(req)
	var batch []byte
	for {
		line, long, err := in.ReadLine()
		for long && err == nil { // the rest of a line that is too long
			line = bytes.Clone(line)
			_, long, err = in.ReadLine()
		}
		if err == nil && wanted(line) {
			batch = append(append(append(batch, prefix...), line...), '\n')
		}
		if len(batch) > 0 && (err != nil || in.Buffered() == 0 || len(batch) >= batchSize) {
			if wrong := out.write(batch); wrong != nil {
				return wrong
			}
			batch = batch[:0]
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
	}
}

var errWrite = errors.New("the stream is over")

// lines writes whole lines of several sources into one stream.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

func (l *lines) write(whole []byte) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, err := l.to.Write(whole); err != nil {
		return errors.Join(errWrite, err)
	}
	return nil
}

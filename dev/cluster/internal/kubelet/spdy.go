package kubelet

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"github.com/slipway-gitops/slipway/dev/cluster/internal/shell"
)

// streamsLimit bounds the wait for the streams of a command.
const streamsLimit = 30 * time.Second

// opened is a stream that the other end has opened.
type opened struct {
	stream httpstream.Stream
	ready  <-chan struct{} // may be written to
}

// openSPDY makes the connection, or answers the request and returns nil. The
// API server speaks SPDY to nodes whatever its own clients speak.
func openSPDY(w http.ResponseWriter, r *http.Request, q execRequest, terminal *shell.Terminal) *channel {
	if _, err := httpstream.Handshake(r, w, []string{protocol4}); err != nil {
		return nil
	}
	want := map[string]bool{corev1.StreamTypeError: true}
	for kind, asked := range map[string]bool{
		corev1.StreamTypeStdin: q.stdin, corev1.StreamTypeStdout: q.stdout, corev1.StreamTypeStderr: q.stderr, corev1.StreamTypeResize: q.term,
	} {
		if asked {
			want[kind] = true
		}
	}
	news := make(chan opened, len(want))
	conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(stream httpstream.Stream, ready <-chan struct{}) error {
		select {
		case news <- opened{stream, ready}:
			return nil
		default:
			return errors.New("more streams than were asked for")
		}
	})
	if conn == nil {
		return nil
	}
	cut := context.AfterFunc(r.Context(), func() { _ = conn.Close() }) // it ends what reads
	have, err := collect(conn, news, want)
	if err != nil {
		cut()
		_ = conn.Close()
		return nil
	}
	c := &channel{stdout: io.Discard, stderr: io.Discard}
	if s := have[corev1.StreamTypeStdout]; s != nil {
		c.stdout = s
	}
	if s := have[corev1.StreamTypeStderr]; s != nil {
		c.stderr = s
	}
	read := make(chan struct{})
	in, feed := io.Pipe()
	if s := have[corev1.StreamTypeStdin]; s != nil {
		c.stdin = in
		go func() {
			defer close(read)
			_, _ = io.Copy(feed, s) // until either end closes it
			_ = feed.Close()
		}()
	} else {
		close(read)
	}
	resized := make(chan struct{})
	go func() {
		defer close(resized)
		resize(have[corev1.StreamTypeResize], terminal)
	}()
	c.finish = func(status metav1.Status) {
		defer cut()
		_ = in.Close()
		for _, kind := range []string{corev1.StreamTypeStdout, corev1.StreamTypeStderr} {
			if s := have[kind]; s != nil {
				_ = s.Close() // this half of it: no more will come
			}
		}
		if text, err := json.Marshal(status); err == nil {
			_, _ = have[corev1.StreamTypeError].Write(text) // the other end may have gone
		}
		_ = have[corev1.StreamTypeError].Close()
		timer := time.NewTimer(partLimit)
		defer timer.Stop()
		select {
		case <-conn.CloseChan():
		case <-timer.C:
		}
		_ = conn.Close()
		<-read
		<-resized
	}
	return c
}

// collect waits for the streams that are wanted.
func collect(conn httpstream.Connection, news <-chan opened, want map[string]bool) (map[string]httpstream.Stream, error) {
	timer := time.NewTimer(streamsLimit)
	defer timer.Stop()
	have := map[string]httpstream.Stream{}
	for len(have) < len(want) {
		var next opened
		select {
		case next = <-news:
		case <-conn.CloseChan():
			return nil, errors.New("the other end is gone")
		case <-timer.C:
			return nil, fmt.Errorf("only %d of %d streams came within %s", len(have), len(want), streamsLimit)
		}
		kind := next.stream.Headers().Get(corev1.StreamType)
		if !want[kind] || have[kind] != nil {
			return nil, fmt.Errorf("no stream of type %.20q was requested", kind)
		}
		select {
		case <-next.ready:
		case <-conn.CloseChan():
			return nil, errors.New("the other end is gone")
		}
		have[kind] = next.stream
	}
	return have, nil
}

// resize takes sizes of the terminal until there are no more.
func resize(from io.Reader, terminal *shell.Terminal) {
	if from == nil || terminal == nil {
		return
	}
	sizes := json.NewDecoder(from)
	for {
		var to size
		if sizes.Decode(&to) != nil {
			return
		}
		terminal.Resize(int(to.Width), int(to.Height))
	}
}

package place

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// wire is the way to a cluster as its Secret describes it. When the Secret has other credentials, all clients of the cluster use
// them from their next request on, and what is known of the cluster stays.
type wire struct {
	mu  sync.Mutex // of changes
	now atomic.Pointer[strand]
}

// strand is a wire until it is changed.
type strand struct {
	next http.RoundTripper
	ctx  context.Context //nolint:containedctx // ends with the strand
	end  context.CancelFunc
}

func newWire(next http.RoundTripper) *wire {
	w := &wire{}
	w.change(next)
	return w
}

// change has next carry the requests from now on. Watches of before end, and their clients continue them over next.
func (w *wire) change(next http.RoundTripper) {
	s := &strand{next: next}
	s.ctx, s.end = context.WithCancel(context.Background())
	w.mu.Lock()
	defer w.mu.Unlock()
	if old := w.now.Swap(s); old != nil {
		old.end()
		utilnet.CloseIdleConnectionsFor(old.next)
	}
}

// close ends all watches.
func (w *wire) close() {
	s := w.now.Load()
	s.end()
	utilnet.CloseIdleConnectionsFor(s.next)
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(req *http.Request) (*http.Response, error) {
	s := w.now.Load()
	if !lasts(req) {
		return s.next.RoundTrip(req)
	}
	ctx, cancel := context.WithCancel(req.Context())
	stop := context.AfterFunc(s.ctx, cancel) //nolint:contextcheck // it ends with the strand, too
	release := func() { stop(); cancel() }
	resp, err := s.next.RoundTrip(req.WithContext(ctx))
	if err != nil {
		release()
		return nil, err
	}
	resp.Body = &watched{ReadCloser: resp.Body, of: s, release: release}
	return resp, nil
}

// lasts reports whether an answer goes on until one of the two ends it.
func lasts(req *http.Request) bool {
	query := req.URL.Query()
	return req.Method == http.MethodGet && (query.Has("watch") || query.Has("follow"))
}

// watched is the answer to a watch. It ends as if the API server had ended it when its strand ends.
type watched struct {
	io.ReadCloser
	of      *strand
	release func()
}

// Read implements io.Reader.
func (b *watched) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && b.of.ctx.Err() != nil {
		err = io.EOF
	}
	return n, err
}

// Close implements io.Closer.
func (b *watched) Close() error {
	defer b.release()
	return b.ReadCloser.Close()
}

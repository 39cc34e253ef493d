package engine

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// wire is what is between a bed and its API server: it counts objects that are created, and disturbs one request.
type wire struct {
	next http.RoundTripper

	mu      sync.Mutex
	created map[string]int              // by name
	fault   func(r *http.Request) fault // of the next requests; nil for none
}

// fault is what becomes of a request.
type fault int

const (
	unharmed fault = iota
	unsent         // the API server cannot be reached
	unheard        // it is done, and the answer is lost
	answered       // the API server answers with an error
)

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.mu.Lock()
	what := unharmed
	if w.fault != nil && r.Method != http.MethodGet {
		if what = w.fault(r); what != unharmed {
			w.fault = nil
		}
	}
	w.mu.Unlock()
	if what == unsent {
		return nil, io.EOF
	}
	resp, err := w.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if dry := r.URL.Query().Get("dryRun") != ""; resp.StatusCode == http.StatusCreated && !dry {
		w.mu.Lock()
		w.created[r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]]++
		w.mu.Unlock()
	}
	switch what {
	case unheard:
		_ = resp.Body.Close()
		return nil, io.EOF
	case answered:
		_ = resp.Body.Close()
		text := `{"kind":"Status","apiVersion":"v1","status":"Failure","code":422,"reason":"Invalid","message":"no"}`
		return &http.Response{
			StatusCode: http.StatusUnprocessableEntity, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(strings.NewReader(text)), Request: r,
		}, nil
	case unharmed, unsent:
	}
	return resp, nil
}

// keeper is a bed whose status is stored in the middle of turns, as an agent does, on a clock that stands still.
type keeper struct {
	*bed
	*wire
	lose func(now *v1alpha1.OperationState) bool // which states are not stored; nil for none
}

func newKeeper(t *testing.T) *keeper {
	t.Helper()
	k := &keeper{wire: &wire{created: map[string]int{}}}
	k.bed = newBed(t, func(cfg *rest.Config) {
		cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { k.next = next; return k.wire })
	})
	k.app.UID = "b7e5a2f0"
	at := time.Now().Truncate(time.Second)
	k.engine.Now = func() time.Time { return at }
	return k
}

func (k *keeper) confirm(
	_ context.Context, told func(*v1alpha1.OperationState) bool, state func() v1alpha1.OperationState,
) error {
	if told(k.app.Status.OperationState) {
		return nil
	}
	now := state()
	if k.lose != nil && k.lose(&now) {
		return errTest
	}
	if !told(&now) {
		return errors.New("the state does not tell it")
	}
	k.store(&now)
	return nil
}

// store keeps a state as an API server does, with times of whole seconds.
func (k *keeper) store(o *v1alpha1.OperationState) {
	k.app = k.app.DeepCopy()
	k.app.Status.OperationState = o.DeepCopy()
	k.app.Status.OperationState.StartedAt = metav1.NewTime(o.StartedAt.Truncate(time.Second))
	if o.Phase.Completed() {
		k.app.Operation = nil
	}
}

// lostTurn reconciles. What comes of it is not stored.
func (k *keeper) lostTurn() Result {
	req := Request{App: k.app, Due: true, Confirm: k.confirm}
	if last := k.app.Status.OperationState; last != nil && last.Phase == v1alpha1.OperationRunning {
		req.Retries = last.RetryCount
	}
	return k.engine.Reconcile(k.t.Context(), req)
}

func (k *keeper) turn() Result {
	res := k.lostTurn()
	if res.Operation != nil {
		k.store(res.Operation)
	}
	return res
}

// restart is what a kill leaves: an engine that remembers nothing.
func (k *keeper) restart() {
	old := k.engine
	k.engine = &Engine{
		Sources: old.Sources, Renderer: old.Renderer, Clusters: old.Clusters, Projects: old.Projects, Namespace: old.Namespace,
		Now: old.Now, Budget: old.Budget, Exists: old.Exists,
	}
}

// finish has turns until the operation is over.
func (k *keeper) finish() *v1alpha1.OperationState {
	k.t.Helper()
	timeout := time.After(patience)
	for {
		res := k.turn()
		switch {
		case res.Err != nil:
			k.t.Fatal(res.Err)
		case res.Operation != nil && res.Operation.Phase.Completed():
			return res.Operation
		case res.Wake > 0 || res.Retry > 0:
			continue
		}
		select {
		case <-k.events:
		case <-timeout:
			k.t.Fatalf("the operation does not end: %+v", res.Operation)
		}
	}
}

// ask has a person ask for a sync.
func (k *keeper) ask() {
	k.app = k.app.DeepCopy()
	k.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
}

// runs is how often an object whose name begins so was created.
func (k *keeper) runs(prefix string) int {
	k.mu.Lock()
	defer k.mu.Unlock()
	n := 0
	for name, times := range k.created {
		if strings.HasPrefix(name, prefix) {
			n += times
		}
	}
	return n
}

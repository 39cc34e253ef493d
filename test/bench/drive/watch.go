package drive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"
)

// metadata is what the benchmark reads of every object.
type metadata struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace"`
	ResourceVersion string            `json:"resourceVersion"`
	Annotations     map[string]string `json:"annotations"`
}

func (m metadata) key() string { return m.Namespace + "/" + m.Name }

// probe is the ConfigMap that workloads change.
type probe struct {
	Metadata metadata          `json:"metadata"`
	Data     map[string]string `json:"data"`
}

func (p probe) meta() metadata { return p.Metadata }

// application is what the benchmark reads of an Application.
type application struct {
	Metadata metadata `json:"metadata"`
	Status   struct {
		Sync struct {
			Status   string `json:"status"`
			Revision string `json:"revision"`
		} `json:"sync"`
		Health struct {
			Status string `json:"status"`
		} `json:"health"`
		OperationState struct {
			Phase   string `json:"phase"`
			Message string `json:"message"`
		} `json:"operationState"`
		Conditions []struct {
			Type    string `json:"type"`
			Message string `json:"message"`
		} `json:"conditions"`
	} `json:"status"`

	// bytes is the size of the Application as the API server gives it.
	bytes int
}

// UnmarshalJSON reads an Application and notes its size.
func (a *application) UnmarshalJSON(text []byte) error {
	type plain application
	if err := json.Unmarshal(text, (*plain)(a)); err != nil {
		return err //nolint:wrapcheck // the caller says what was read
	}
	a.bytes = len(text)
	return nil
}

func (a application) meta() metadata { return a.Metadata }

// synced says that the engine reports the application as being at a commit.
func (a application) synced(revision string) bool {
	return a.Status.Sync.Status == "Synced" && a.Status.Sync.Revision == revision
}

// String explains why an application is not there yet.
func (a application) String() string {
	s := a.Status
	text := fmt.Sprintf("sync %q at %.12s, health %q, operation %q", s.Sync.Status, s.Sync.Revision, s.Health.Status, s.OperationState.Phase)
	if s.OperationState.Message != "" {
		text += ": " + s.OperationState.Message
	}
	for _, c := range s.Conditions {
		text += "; " + c.Type + ": " + c.Message
	}
	return text
}

// object is what a mirror can hold.
type object interface{ meta() metadata }

// mirror follows one list of objects by a watch and hands each change to its waiters.
type mirror[T object] struct {
	client *client
	path   string
	query  url.Values

	mu      sync.Mutex
	latest  map[string]T
	waiting map[int]func(key string, o T, at time.Time)
	next    int
	// failure ends the mirror; done closes after it is set.
	failure error
	done    chan struct{}
	stop    context.CancelFunc
}

// newMirror lists once, then follows until close or the end of ctx.
func newMirror[T object](ctx context.Context, c *client, path, selector string) (*mirror[T], error) {
	ctx, stop := context.WithCancel(ctx)
	m := &mirror[T]{
		client: c, path: path, query: url.Values{}, stop: stop, done: make(chan struct{}),
		latest: map[string]T{}, waiting: map[int]func(string, T, time.Time){},
	}
	if selector != "" {
		m.query.Set("labelSelector", selector)
	}
	version, err := m.list(ctx)
	if err != nil {
		stop()
		return nil, err
	}
	go func() {
		defer close(m.done)
		m.failure = m.follow(ctx, version)
	}()
	return m, nil
}

// close ends the watch and waits for it.
func (m *mirror[T]) close() {
	m.stop()
	<-m.done
}

func (m *mirror[T]) list(ctx context.Context) (version string, err error) {
	text, err := m.client.do(ctx, call{method: http.MethodGet, path: m.path, query: m.query})
	if err != nil {
		return "", err
	}
	var page struct {
		Metadata metadata `json:"metadata"`
		Items    []T      `json:"items"`
	}
	if err := json.Unmarshal(text, &page); err != nil {
		return "", fmt.Errorf("read list %s: %w", m.path, err)
	}
	at := time.Now()
	for _, o := range page.Items {
		m.put(o, at)
	}
	return page.Metadata.ResourceVersion, nil
}

// follow watches from a version on, and again when the API server ends a watch, as it does every few minutes.
func (m *mirror[T]) follow(ctx context.Context, version string) error {
	for ctx.Err() == nil {
		next, err := m.watch(ctx, version)
		switch {
		case err == nil:
			version = next
		case ctx.Err() != nil:
			return nil //nolint:nilerr // ended on purpose
		case answered(err, http.StatusGone):
			if version, err = m.list(ctx); err != nil {
				return err
			}
		default:
			return err
		}
	}
	return nil
}

// watch reads one watch to its end and returns the version to go on from.
func (m *mirror[T]) watch(ctx context.Context, version string) (string, error) {
	query := url.Values{"watch": {"1"}, "resourceVersion": {version}, "allowWatchBookmarks": {"true"}}
	for key, values := range m.query {
		query[key] = values
	}
	stream, err := m.client.open(ctx, call{method: http.MethodGet, path: m.path, query: query})
	if err != nil {
		return version, err
	}
	defer stream.Close()
	events := json.NewDecoder(stream)
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := events.Decode(&event); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return version, nil
		} else if err != nil {
			return version, fmt.Errorf("watch %s: %w", m.path, err)
		}
		at := time.Now()
		if event.Type == "ERROR" {
			var answer struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			}
			_ = json.Unmarshal(event.Object, &answer)
			return version, fmt.Errorf("watch %s: %w", m.path, &status{code: answer.Code, text: answer.Message})
		}
		var o T
		if err := json.Unmarshal(event.Object, &o); err != nil {
			return version, fmt.Errorf("read event of %s: %w", m.path, err)
		}
		version = o.meta().ResourceVersion
		switch event.Type {
		case "ADDED", "MODIFIED":
			m.put(o, at)
		case "DELETED":
			m.mu.Lock()
			delete(m.latest, o.meta().key())
			m.mu.Unlock()
		}
	}
}

func (m *mirror[T]) put(o T, at time.Time) {
	key := o.meta().key()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.latest[key] = o
	for _, see := range m.waiting {
		see(key, o, at)
	}
}

// get returns what was last seen of an object; its zero value if nothing.
func (m *mirror[T]) get(key string) T {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.latest[key]
}

// subscribe calls see for every object there is and for every change from now on, one call at a time, until the
// returned function is called. See must be quick and must not call the mirror.
func (m *mirror[T]) subscribe(see func(key string, o T, at time.Time)) (cancel func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for key, o := range m.latest {
		see(key, o, now)
	}
	id := m.next
	m.next++
	m.waiting[id] = see
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		delete(m.waiting, id)
	}
}

// reached waits until a condition held for each of the keys once, and returns when each did first. The error of a
// wait that ran out of time names some that are missing and explains them.
func (m *mirror[T]) reached(ctx context.Context, g *goal, explain func(T) string) (map[string]time.Time, error) {
	select {
	case <-g.done:
		return g.times(), nil
	case <-m.done:
		return nil, fmt.Errorf("follow %s: %w", m.path, errors.Join(m.failure, ctx.Err()))
	case <-ctx.Done():
	}
	const shown = 3
	missing := g.missing()
	text := fmt.Sprintf("%d of %d are missing", len(missing), g.size)
	for _, key := range missing[:min(shown, len(missing))] {
		text += "; " + key + ": " + explain(m.get(key))
	}
	return nil, fmt.Errorf("%s: %w", text, context.Cause(ctx))
}

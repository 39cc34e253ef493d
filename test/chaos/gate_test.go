package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// write is one request by which an agent changed an object of its namespace, or tried to, and what came of it.
type write struct {
	Verb   string // create, update, delete; none for what the API server refused or left as it was
	Method string
	Kind   string // the resource, such as configmaps
	Name   string
	Code   int
	UID    string
	Lost   bool // the API server was gone before it answered: nobody knows whether it was done
	// Hooks says for each hook of an Application's status how far it is, Phase how far its operation is.
	Hooks           map[string]string
	Phase, Revision string
}

func (w write) String() string {
	text := fmt.Sprintf("%s %s/%s %d", w.Method, w.Kind, w.Name, w.Code)
	switch {
	case w.Lost:
		text += " (lost)"
	case w.Verb == "":
		text += " (nothing)"
	}
	if w.Kind == "applications" {
		text += fmt.Sprintf(" %s %v", w.Phase, w.Hooks)
	}
	return text
}

// gate stands between agents and the API server. It records what they write to one namespace, and stops one write.
type gate struct {
	*httptest.Server
	namespace string

	mu      sync.Mutex
	writes  []write
	arrived int                       // writes since arm
	stopped string                    // the object of the write that was stopped, as resource/name
	pick    func(n int, w write) bool // whether to stop the n-th write; nil for none
	before  bool                      // stop it before it is done, not after
	halt    func()                    // what happens at it
	fired   chan struct{}             // closed after that
	live    map[net.Conn]struct{}     // connections of agents
	tried   func()                    // takes no connections; called for each that is tried; nil where it takes them
}

// newGate stands in front of a cluster until the end of the test.
func newGate(t *testing.T, config *rest.Config, ns string) *gate {
	t.Helper()
	target, err := url.Parse(config.Host)
	if err != nil {
		t.Fatal(err)
	}
	transport, err := rest.TransportFor(config)
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{namespace: ns, live: map[net.Conn]struct{}{}, fired: make(chan struct{})}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Header.Del("Accept-Encoding")
		},
		Transport: transport, FlushInterval: -1, ErrorLog: log.New(io.Discard, "", 0), // connections are meant to break
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) { panic(http.ErrAbortHandler) },
	}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		g.serve(w, r, proxy, target, transport)
	}))
	g.Config.ConnState = func(c net.Conn, state http.ConnState) {
		g.mu.Lock()
		defer g.mu.Unlock()
		switch state {
		case http.StateNew:
			g.live[c] = struct{}{}
			if g.tried != nil {
				_ = c.Close()
				g.tried()
			}
		case http.StateClosed, http.StateHijacked:
			delete(g.live, c)
		case http.StateActive, http.StateIdle:
		}
	}
	g.Start()
	t.Cleanup(func() {
		g.cut()
		g.Close()
	})
	return g
}

// kubeconfig leads through the gate.
func (g *gate) kubeconfig(t *testing.T) string {
	t.Helper()
	config := clientcmdapi.NewConfig()
	config.Clusters["gate"] = &clientcmdapi.Cluster{Server: g.URL}
	config.AuthInfos["gate"] = clientcmdapi.NewAuthInfo()
	config.Contexts["gate"] = &clientcmdapi.Context{Cluster: "gate", AuthInfo: "gate"}
	config.CurrentContext = "gate"
	path := filepath.Join(t.TempDir(), "kubeconfig")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// cut ends all connections and takes no new ones until open is called. The channel closes once an agent has tried one.
func (g *gate) cut() (tried chan struct{}, open func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	tried = make(chan struct{})
	g.tried = sync.OnceFunc(func() { close(tried) })
	for c := range g.live {
		_ = c.Close()
	}
	return tried, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.tried = nil
	}
}

// arm forgets what was recorded. The write that pick takes is stopped: halt runs, and the agent gets no answer.
func (g *gate) arm(pick func(n int, w write) bool, before bool, halt func()) (fired chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes, g.arrived, g.stopped, g.pick, g.before, g.halt, g.fired = nil, 0, "", pick, before, halt, make(chan struct{})
	return g.fired
}

// disarm has no write stopped any more. It reports false where one was: fired is closed, or is going to be.
func (g *gate) disarm() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	armed := g.pick != nil
	g.pick = nil
	return armed
}

// repeats takes one more write of the object whose write was stopped: without an answer nobody knows whether it was done.
func (g *gate) repeats(name string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if name != g.stopped {
		return false
	}
	g.stopped = ""
	return true
}

// record is what was written since arm.
func (g *gate) record() []write {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]write{}, g.writes...)
}

// counted says which object of the namespace a request writes, if it is one that counts.
func (g *gate) counted(r *http.Request) (w write, ok bool) {
	_, rest, ours := strings.Cut(r.URL.Path, "/namespaces/"+g.namespace+"/")
	if !ours || r.Method == http.MethodGet || r.URL.Query().Get("dryRun") != "" {
		return w, false
	}
	parts := strings.Split(rest, "/")
	switch parts[0] {
	case "leases", "events", "secrets", "appprojects":
		return w, false
	}
	w = write{Method: r.Method, Kind: parts[0]}
	if len(parts) > 1 {
		w.Name = parts[1]
	}
	return w, true
}

func (g *gate) serve(out http.ResponseWriter, r *http.Request, proxy http.Handler, target *url.URL, transport http.RoundTripper) {
	w, ok := g.counted(r)
	if !ok {
		proxy.ServeHTTP(out, r)
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	var asked unstructured.Unstructured
	if json.Unmarshal(body, &asked.Object) == nil {
		w.read(asked.Object)
	}
	g.mu.Lock()
	n := g.arrived
	g.arrived++
	stop := g.pick != nil && g.pick(n, w)
	halt, fired, before := g.halt, g.fired, g.before
	if stop {
		g.pick, g.stopped = nil, w.Kind+"/"+w.Name
	}
	g.mu.Unlock()
	if stop && before {
		halt()
		close(fired)
		panic(http.ErrAbortHandler)
	}
	was := version(r, target, transport)
	r = r.WithContext(context.WithoutCancel(r.Context())) // what has arrived is done, also for an agent that is dead
	r.Body = io.NopCloser(bytes.NewReader(body))
	answer := httptest.NewRecorder()
	answered := false
	defer func() {
		w.Lost = !answered
		switch {
		case stop && !before:
			g.note(w, was, answer)
			halt()
			close(fired)
			panic(http.ErrAbortHandler)
		case w.Lost:
			g.note(w, was, answer)
		}
	}()
	proxy.ServeHTTP(answer, r)
	answered = true
	if stop {
		return
	}
	g.note(w, was, answer)
	for name, values := range answer.Header() {
		out.Header()[name] = values
	}
	out.WriteHeader(answer.Code)
	_, _ = out.Write(answer.Body.Bytes())
}

// version is that of the object that a request writes, before it.
func version(r *http.Request, target *url.URL, transport http.RoundTripper) string {
	address := target.Scheme + "://" + target.Host + strings.TrimSuffix(r.URL.Path, "/status")
	ask, err := http.NewRequestWithContext(r.Context(), http.MethodGet, address, nil)
	if err != nil || r.Method == http.MethodPost {
		return ""
	}
	answer, err := transport.RoundTrip(ask)
	if err != nil {
		return ""
	}
	defer func() { _ = answer.Body.Close() }()
	var have unstructured.Unstructured
	if json.NewDecoder(answer.Body).Decode(&have.Object) != nil || answer.StatusCode != http.StatusOK {
		return ""
	}
	return have.GetResourceVersion()
}

// note records a write and what came of it.
func (g *gate) note(w write, was string, answer *httptest.ResponseRecorder) {
	var now unstructured.Unstructured
	if json.Unmarshal(answer.Body.Bytes(), &now.Object) == nil && now.GetName() != "" {
		w.Name, w.UID = now.GetName(), string(now.GetUID())
		w.read(now.Object)
	}
	w.Code = answer.Code
	switch {
	case w.Lost:
		w.Code = 0
	case w.Code == http.StatusCreated:
		w.Verb = "create"
	case w.Code/100 != 2:
	case w.Method == http.MethodDelete:
		w.Verb = "delete"
	case now.GetResourceVersion() != was:
		w.Verb = "update"
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.writes = append(g.writes, w)
}

// read takes what an Application's status says of its operation.
func (w *write) read(o map[string]any) {
	if w.Kind != "applications" {
		return
	}
	if phase, ok, _ := unstructured.NestedString(o, "status", "operationState", "phase"); ok {
		w.Phase = phase
	}
	if revision, ok, _ := unstructured.NestedString(o, "status", "operationState", "syncResult", "revision"); ok {
		w.Revision = revision
	}
	if results, ok, _ := unstructured.NestedSlice(o, "status", "operationState", "syncResult", "resources"); ok {
		w.Hooks = map[string]string{}
		for _, result := range results {
			if r, ok := result.(map[string]any); ok && r["hookType"] != nil {
				w.Hooks[fmt.Sprint(r["name"])] = fmt.Sprint(r["hookPhase"])
			}
		}
	}
}

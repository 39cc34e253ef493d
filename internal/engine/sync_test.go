package engine

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/plan"
)

// syncScenario is a scenario of the conformance data that is about more than the state machine of an operation. All
// others run in test/parity, whose count refers to these tests.
type syncScenario struct {
	ID    string
	Given struct {
		Target, Hooks                                  []syncObject
		Revision, DiscoveryError, DestinationNamespace string
		Permission                                     map[string]string
		Settings                                       struct {
			Resources []v1alpha1.SyncOperationResource
		}
	}
	Tasks, DiscoveryCalls                       int
	TaskNames, TaskNamespaces, TaskNamePrefixes []string
	Pairs                                       []struct{ Target, Live string }
	Cases                                       []syncCase
}

type syncObject struct {
	Kind, Name, Namespace, Hook string
	GenerateName                bool
}

type syncCase struct {
	// Of namespace-task.
	CreateNamespace, NamespaceTask, AlreadySyncedInThisOperation bool
	Target                                                       []syncObject
	ModifierAnswer                                               string
	Tasks                                                        int
	TaskResult                                                   *struct{ Status v1alpha1.ResultCode }
	// Of discovery-retried-when-unauthorized.
	Failures, HTTPStatus, Calls int
	Phase                       v1alpha1.OperationPhase
}

func (c syncCase) String() string {
	if c.HTTPStatus != 0 {
		return fmt.Sprintf("%d failures with %d", c.Failures, c.HTTPStatus)
	}
	return fmt.Sprintf("create %t, modifier %q, already %t, %v", c.CreateNamespace, c.ModifierAnswer, c.AlreadySyncedInThisOperation, c.Target)
}

// loadSync reads a scenario of the conformance data (see test/parity), or skips the test.
func loadSync(t *testing.T, id string) syncScenario {
	t.Helper()
	root := os.Getenv("SLIPWAY_CONFORMANCE")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "conformance") // tests run in their own folder
	}
	raw, err := os.ReadFile(filepath.Join(root, "sync", "scenarios.yaml"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no conformance data at %s: set SLIPWAY_CONFORMANCE to its folder", root)
	}
	var set struct{ Scenarios []json.RawMessage }
	if err == nil {
		err = yaml.Unmarshal(raw, &set)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, raw := range set.Scenarios {
		var name struct{ ID string }
		if err := json.Unmarshal(raw, &name); err != nil {
			t.Fatal(err)
		}
		if name.ID != id {
			continue
		}
		var s syncScenario
		if err := json.Unmarshal(raw, &s); err != nil {
			t.Fatal(err)
		}
		return s
	}
	t.Fatalf("there is no scenario %q", id)
	return syncScenario{}
}

// list writes objects out as a revision of a bed.
func list(t *testing.T, objects ...syncObject) string {
	t.Helper()
	out := make([]any, 0, len(objects))
	for _, o := range objects {
		meta := map[string]any{}
		for name, value := range map[string]string{"name": o.Name, "namespace": o.Namespace} {
			if value != "" {
				meta[name] = value
			}
		}
		if o.GenerateName {
			meta["generateName"] = "hook-"
		}
		if o.Hook != "" {
			meta["annotations"] = map[string]any{v1alpha1.AnnotationHook: o.Hook}
		}
		obj := map[string]any{"apiVersion": "v1", "kind": o.Kind, "metadata": meta}
		switch o.Kind {
		case "Service":
			obj["spec"] = map[string]any{"type": "ExternalName", "externalName": "a.example"}
		case "Pod":
			obj["spec"] = map[string]any{"containers": []any{map[string]any{"name": "a", "image": "a"}}}
		}
		out = append(out, obj)
	}
	raw, err := yaml.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// wants makes objects what Git says and somebody asks for a sync.
func (b *bed) wants(revision string, objects ...syncObject) {
	b.t.Helper()
	b.commit(revision, list(b.t, objects...))
	b.app.Operation = &v1alpha1.Operation{Sync: &v1alpha1.SyncOperation{}}
}

// decided goes as far as the plan, and returns it with its tasks.
func (b *bed) decided() (*execution, []plan.Task) {
	b.t.Helper()
	ctx := b.t.Context()
	in := b.engine.begin(Request{App: b.app}).specify()
	if err := in.resolve(ctx); err != nil {
		b.t.Fatal(err)
	}
	want, err := in.render(ctx)
	if err == nil {
		err = want.observe(ctx)
	}
	if err != nil {
		b.t.Fatal(err)
	}
	found, err := want.compare(ctx)
	if err != nil {
		b.t.Fatal(err)
	}
	d := found.decide(ctx)
	if !d.Go {
		b.t.Fatalf("nothing runs: %+v", d)
	}
	x := found.plan(d)
	return x, x.tasks()
}

func TestSyncScenariosOnTasksAgree(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"selective-sync", "objects-get-the-destination-namespace", "unnamed-hooks-get-names", "unnamed-hooks-short-revision"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			s := loadSync(t, id)
			b := newBed(t, nil)
			revision := s.Given.Revision
			if revision == "" {
				revision = "r1"
			}
			b.wants(revision, slices.Concat(s.Given.Target, s.Given.Hooks)...)
			b.app.Operation.Sync.Resources = s.Given.Settings.Resources
			_, tasks := b.decided()
			if len(tasks) != s.Tasks {
				t.Fatalf("%d tasks, want %d: %v", len(tasks), s.Tasks, names(tasks))
			}
			for i, want := range s.TaskNames {
				if tasks[i].Key.Name != want {
					t.Errorf("task %s, want %s", tasks[i].Key.Name, want)
				}
			}
			for i, want := range s.TaskNamePrefixes {
				if !strings.HasPrefix(tasks[i].Key.Name, "hook-"+want) {
					t.Errorf("task %s, want %s", tasks[i].Key.Name, want)
				}
			}
			for i, want := range s.TaskNamespaces {
				if want != "app-ns" || tasks[i].Key.Namespace != b.app.Spec.Destination.Namespace {
					t.Errorf("in namespace %s", tasks[i].Key.Namespace)
				}
			}
		})
	}
}

func TestAnObjectWithoutANamespacePairsWithTheLiveOne(t *testing.T) {
	t.Parallel()
	s := loadSync(t, "pair-cluster-scoped-with-unknown-scope")
	b := newBed(t, nil)
	b.wants("r1", syncObject{Kind: "Namespace", Name: b.app.Spec.Destination.Namespace}) // a name of its own in the place of my-namespace
	_, tasks := b.decided()
	if len(tasks) != len(s.Pairs) || tasks[0].Verb != diff.Update || tasks[0].Key.Namespace != "" {
		t.Errorf("%v", names(tasks))
	}
}

func TestTheNamespaceIsMadeWhereItIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range loadSync(t, "namespace-task").Cases {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			b := newBed(t, nil)
			for i := range c.Target {
				if c.Target[i].Kind == "Namespace" {
					c.Target[i].Name = b.app.Spec.Destination.Namespace
				}
			}
			b.wants("r1", c.Target...)
			if c.CreateNamespace {
				b.app.Operation.Sync.SyncOptions = []string{"CreateNamespace=true"}
			}
			if c.TaskResult != nil { // what keeps the namespace from being made is a project here
				b.app.Spec.Destination.Namespace += "-of-others"
				b.rules = permissive(t, func(p *v1alpha1.AppProject) {
					p.Spec.ClusterResourceWhitelist = nil
				})
			}
			x, tasks := b.decided()
			if c.AlreadySyncedInThisOperation || c.ModifierAnswer == "no change" {
				state, err := x.makeNamespace(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				if c.AlreadySyncedInThisOperation {
					x.u.states[plan.ID{Key: x.namespaceKey(), Phase: v1alpha1.PhasePreSync}] = state
				}
				tasks = x.tasks()
			}
			made := slices.ContainsFunc(tasks, func(task plan.Task) bool { return task.First })
			if len(tasks) != c.Tasks || made != c.NamespaceTask {
				t.Errorf("%d tasks, want %d; one for the namespace: %t", len(tasks), c.Tasks, made)
			}
			if c.TaskResult == nil {
				return
			}
			if s, err := x.makeNamespace(t.Context()); err != nil || s.Code != c.TaskResult.Status || !s.Phase.Completed() || s.Phase == v1alpha1.OperationSucceeded {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestAnObjectThatTheProjectDoesNotPermitStopsAll(t *testing.T) {
	t.Parallel()
	s := loadSync(t, "object-not-permitted-in-project")
	b := newBed(t, nil)
	b.rules = permissive(t, func(p *v1alpha1.AppProject) {
		p.Spec.NamespaceResourceBlacklist = []v1alpha1.GroupKind{{Group: "*", Kind: "*"}}
	})
	b.wants("r1", s.Given.Target...)
	res := b.turn()
	// In our words ("does not permit").
	if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationFailed || !strings.Contains(res.Operation.Message, `does not permit Pod "my-pod"`) ||
		!strings.Contains(res.Operation.Message, "my-service") {
		t.Errorf("%+v", res.Operation)
	}
	for _, m := range b.target.Live.Owned(b.engine.instance(b.app)) {
		t.Errorf("%s was made", m.Key)
	}
}

// discovery answers the first requests for kinds itself, and counts them up to the first that is answered.
type discovery struct {
	next     http.RoundTripper
	failures int64
	status   int
	message  string
	calls    *atomic.Int64
	told     *atomic.Bool
}

func (d discovery) RoundTrip(req *http.Request) (*http.Response, error) {
	if req.URL.Path != "/api" || d.told.Load() {
		return d.next.RoundTrip(req)
	}
	if d.calls.Add(1) > d.failures {
		d.told.Store(true)
		return d.next.RoundTrip(req)
	}
	reason := "Conflict"
	if d.status == http.StatusUnauthorized {
		reason = "Unauthorized"
	}
	body := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","message":%q,"reason":%q,"code":%d}`, d.message, reason, d.status)
	return &http.Response{
		Status: http.StatusText(d.status), StatusCode: d.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader([]byte(body))),
		ContentLength: int64(len(body)), Request: req,
	}, nil
}

// discovering is a bed whose cluster fails to tell its kinds at first.
func discovering(t *testing.T, failures, status int, message string) (*bed, *atomic.Int64) {
	t.Helper()
	calls := &atomic.Int64{}
	return newBed(t, func(c *rest.Config) {
		c.Wrap(func(next http.RoundTripper) http.RoundTripper {
			return discovery{next: next, failures: int64(failures), status: status, message: message, calls: calls, told: &atomic.Bool{}}
		})
	}), calls
}

func TestAClusterThatDoesNotTellItsKindsFailsTheOperation(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"discovery-failure-message", "discovery-failure-asked-once"} {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			s := loadSync(t, id)
			b, calls := discovering(t, 1<<20, http.StatusConflict, s.Given.DiscoveryError)
			b.wants("r1", s.Given.Target...)
			res := b.turn()
			// Before there are tasks: the phase is Error, and the message speaks of the cluster and not of tasks.
			if res.Operation == nil || res.Operation.Phase != v1alpha1.OperationError || res.Err == nil || res.Err.Stage != StageLive ||
				!strings.HasPrefix(res.Operation.Message, "destination cluster: ask the API server for its kinds: ") {
				t.Errorf("%+v", res.Operation)
			}
			if s.DiscoveryCalls > 0 && int(calls.Load()) != s.DiscoveryCalls {
				t.Errorf("asked %d times", calls.Load())
			}
		})
	}
}

func TestAClusterThatRefusesTheCredentialsIsAskedAgain(t *testing.T) {
	t.Parallel()
	s := loadSync(t, "discovery-retried-when-unauthorized")
	for _, c := range s.Cases {
		t.Run(c.String(), func(t *testing.T) {
			t.Parallel()
			b, calls := discovering(t, c.Failures, c.HTTPStatus, "not now")
			b.wants("r1", s.Given.Target...)
			res := b.turn()
			if res.Operation == nil || (res.Operation.Phase == v1alpha1.OperationSucceeded) != (c.Phase == v1alpha1.OperationSucceeded) {
				t.Errorf("%v, %+v", res, res.Operation)
			}
			if int(calls.Load()) != c.Calls {
				t.Errorf("asked %d times, want %d", calls.Load(), c.Calls)
			}
		})
	}
}

package chaos

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	coordination "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

const (
	shardCount, sharedApps = 6, 60
	// leaseOf the replicas is short, so that the test is, and long enough for a busy machine.
	leaseOf = 30 * time.Second
	// moved bounds the wait for shards to be with those who shall have them.
	moved = 2 * time.Minute
)

// leaseWatch records every Lease of a shard as the API server had it.
type leaseWatch struct {
	mu     sync.Mutex
	states map[string][]coordination.LeaseSpec
}

// watchLeases has whoever waits for something in a view look again, since shards may be all that changes.
func watchLeases(t *testing.T, config *rest.Config, ns string, seen *view) *leaseWatch {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	in := client.CoordinationV1().Leases(ns)
	list, err := in.List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := &leaseWatch{states: map[string][]coordination.LeaseSpec{}}
	ctx, cancel := context.WithCancel(t.Context())
	events := testenv.Watch(ctx, t, list.ResourceVersion, in.Watch)
	var work sync.WaitGroup
	work.Go(func() {
		for e := range events {
			if l, ok := e.Object.(*coordination.Lease); ok && strings.Contains(l.Name, "-shard-") {
				w.mu.Lock()
				w.states[l.Name] = append(w.states[l.Name], l.Spec)
				w.mu.Unlock()
				seen.mu.Lock()
				seen.notify()
				seen.mu.Unlock()
			}
		}
	})
	t.Cleanup(func() { cancel(); work.Wait() })
	return w
}

// holders are who holds which shard now.
func (w *leaseWatch) holders() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := map[string]int{}
	for _, states := range w.states {
		if who := *states[len(states)-1].HolderIdentity; who != "" {
			out[who]++
		}
	}
	return out
}

// check looks for a Lease that changed its holder before the one before had released it, or could not hold it any more.
func (w *leaseWatch) check(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changes := 0
	for called, states := range w.states {
		for n := 1; n < len(states); n++ {
			was, is := states[n-1], states[n]
			if *was.HolderIdentity == *is.HolderIdentity {
				continue
			}
			changes++
			if *was.HolderIdentity != "" && *is.HolderIdentity != "" && is.AcquireTime.Sub(was.RenewTime.Time) < leaseOf {
				t.Errorf("%s went from %s to %s after %s", called, *was.HolderIdentity, *is.HolderIdentity, is.AcquireTime.Sub(was.RenewTime.Time))
			}
		}
	}
	t.Logf("%d shards changed hands %d times", len(w.states), changes)
}

// span is a time in which a replica said that it held a shard.
type span struct{ from, to time.Time }

// replica is one of those that share the Applications.
type replica struct {
	*testenv.Process
	data   string
	ended  time.Time // when it was killed, or frozen for good
	commit int       // what it was frozen at
}

// identity is what a replica holds Leases as; "" until it has said so.
func (r *replica) identity(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(r.data, "identity"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return string(raw)
}

// line is of a replica's log.
type line struct {
	Time   time.Time
	Msg    string
	App    string
	Shard  int
	Shards []int
}

// told reads the log: when it held which shard, and its syncs.
func (r *replica) told(t *testing.T) (held map[int][]span, syncs []line) {
	t.Helper()
	raw, err := os.ReadFile(r.Log)
	if err != nil {
		t.Fatal(err)
	}
	held = map[int][]span{}
	for _, text := range bytes.Split(raw, []byte("\n")) {
		var l line
		if json.Unmarshal(text, &l) != nil {
			continue
		}
		switch l.Msg {
		case "shards taken":
			for _, shard := range l.Shards {
				held[shard] = append(held[shard], span{from: l.Time})
			}
		case "shard given up":
			if spans := held[l.Shard]; len(spans) > 0 {
				spans[len(spans)-1].to = l.Time
			}
		case "synced":
			syncs = append(syncs, l)
		}
	}
	for _, spans := range held {
		for n := range spans {
			if to := spans[n].to; to.IsZero() || !r.ended.IsZero() && to.After(r.ended) { // one that was frozen says so late
				spans[n].to = r.ended
			}
		}
	}
	return held, syncs
}

func shardOf(ns, app string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(ns + "/" + app))
	return int(h.Sum32() % shardCount)
}

// shared is what the replicas work on.
type shared struct {
	t        *testing.T
	ns       string
	repo     *testenv.GitRepo
	view     *view
	leases   *leaseWatch
	values   *valueWatch
	replicas []*replica
	hook     string // address of the first one's webhook
	commits  int
}

// process prepares a replica. Nobody looks at the repository by itself within the test.
func (s *shared) process(dir string, more ...string) *replica {
	return &replica{data: filepath.Join(dir, "data"), Process: testenv.NewProcess(s.t, fmt.Sprintf("replica%d", len(s.replicas)), "slipway-agent", dir, append([]string{
		"--standalone", "--kubeconfig", testenv.Kubeconfig(s.t), "--namespace", s.ns, "--installation-id", s.ns, "--data", filepath.Join(dir, "data"), "--poll", "10m",
		"--shards", fmt.Sprint(shardCount), "--lease-duration", leaseOf.String(), "--workers", "4",
	}, more...)...)}
}

// add starts a replica. The first one has the webhook.
func (s *shared) add() *replica {
	s.t.Helper()
	dir := s.t.TempDir()
	r := s.process(dir)
	if len(s.replicas) == 0 {
		s.hook = testenv.Address(s.t)
		r = s.process(dir, "--webhook-listen", s.hook)
	}
	r.Start()
	s.replicas = append(s.replicas, r)
	return r
}

// commit changes every Application.
func (s *shared) commit() {
	s.commits++
	files := map[string]string{}
	for n := range sharedApps {
		files[fmt.Sprintf("app%02d/cm.yaml", n)] = fmt.Sprintf(
			"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: shared%02d}\ndata: {value: \"%d\"}\n", n, s.commits)
	}
	s.repo.Commit(files, fmt.Sprint("commit ", s.commits))
}

// push commits, and tells the first replica of it.
func (s *shared) push() {
	s.t.Helper()
	s.commit()
	body := fmt.Sprintf(`{"ref":"refs/heads/main","repository":{"clone_url":%q,"html_url":%q,"default_branch":"main"}}`, s.repo.URL(), s.repo.URL())
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, "http://"+s.hook+"/api/webhook", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("X-GitHub-Event", "push")
	req.Header.Set("Content-Type", "application/json")
	client := &http.Client{Timeout: time.Minute, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode/100 != 2 {
		s.t.Fatalf("the webhook: %s", answer.Status)
	}
}

// settle waits until so many replicas hold all shards evenly, and everything is at the last commit.
func (s *shared) settle(what string, replicas ...*replica) {
	s.t.Helper()
	began := time.Now()
	problem := s.view.await(s.t.Context(), moved, func(objects map[ref]object) string {
		holders := s.leases.holders()
		for _, r := range replicas {
			identity := r.identity(s.t)
			if n := holders[identity]; identity == "" || n != shardCount/len(replicas) {
				return fmt.Sprintf("%s holds %d shards of %d: %v", r.Name, n, shardCount, holders)
			}
		}
		for n := range sharedApps {
			have, _, _ := unstructured.NestedString(objects[ref{"ConfigMap", fmt.Sprintf("shared%02d", n)}], "data", "value")
			if have != fmt.Sprint(s.commits) {
				return fmt.Sprintf("Application %d is at %q, not at %d", n, have, s.commits)
			}
		}
		return ""
	})
	if problem != "" {
		tails := ""
		for _, r := range s.replicas {
			tails += fmt.Sprintf("\nthe end of the log of %s:\n%s", r.Name, r.Tail())
		}
		s.t.Fatalf("%s: %s%s", what, problem, tails)
	}
	s.t.Logf("%s: settled after %s", what, time.Since(began).Round(time.Millisecond))
}

// freezeAtWork commits, and stops a replica once it has synced one Application of several. Nothing that it logs later counts
// as done while it held a shard, unless the cluster shows that it was: see shared.wrote.
func (s *shared) freezeAtWork(r *replica) (thaw func()) {
	s.t.Helper()
	const synced = `"msg":"synced"`
	before := r.Logged(synced)
	s.push()
	problem := s.view.await(s.t.Context(), moved, func(map[ref]object) string {
		if r.Logged(synced) == before {
			return "it has not begun"
		}
		return ""
	})
	if problem != "" {
		s.t.Fatalf("%s: %s: %s", r.Name, problem, r.Tail())
	}
	thaw = r.Freeze()
	r.ended, r.commit = time.Now(), s.commits
	s.t.Logf("%s is frozen after %d syncs of this commit", r.Name, r.Logged(synced)-before)
	return thaw
}

// ends waits until a replica that lost its shards has ended by itself.
func (s *shared) ends(r *replica) {
	s.t.Helper()
	if !r.EndsWithin(moved) {
		s.t.Fatalf("%s lost its shards and goes on: %s", r.Name, r.Tail())
	}
}

// valueWatch looks for an object that goes back to a commit before: somebody wrote it who did not hold its shard any more.
type valueWatch struct {
	mu    sync.Mutex
	last  map[string]int
	since map[string]time.Time // when an object was seen at a commit first, by "name commit"
	wrong []string
	seen  int
}

func watchValues(t *testing.T, config *rest.Config, ns string) *valueWatch {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	events, err := client.CoreV1().ConfigMaps(ns).Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w := &valueWatch{last: map[string]int{}, since: map[string]time.Time{}}
	var work sync.WaitGroup
	work.Go(func() {
		for e := range events.ResultChan() {
			cm, ok := e.Object.(*corev1.ConfigMap)
			if !ok || !strings.HasPrefix(cm.Name, "shared") {
				continue
			}
			value, _ := strconv.Atoi(cm.Data["value"])
			w.mu.Lock()
			if w.seen++; value < w.last[cm.Name] {
				w.wrong = append(w.wrong, fmt.Sprintf("%s went from %d back to %d", cm.Name, w.last[cm.Name], value))
			}
			w.last[cm.Name] = value
			if at := fmt.Sprint(cm.Name, " ", value); w.since[at].IsZero() {
				w.since[at] = time.Now()
			}
			w.mu.Unlock()
		}
	})
	t.Cleanup(func() { events.Stop(); work.Wait() })
	return w
}

func (w *valueWatch) check(t *testing.T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, wrong := range w.wrong {
		t.Error(wrong)
	}
	if w.seen < sharedApps {
		t.Errorf("only %d objects were seen", w.seen)
	}
}

func TestReplicasShareTheApplicationsAndEachHasOneHolder(t *testing.T) {
	t.Parallel()
	config, ns := testenv.Cluster(t), testenv.Namespace(t)
	seen := newView(t, config, ns)
	s := &shared{t: t, ns: ns, repo: testenv.Git(t).NewRepo("shared"), view: seen, leases: watchLeases(t, config, ns, seen), values: watchValues(t, config, ns)}
	s.commit()
	first := s.add()
	s.view.awaitApplicationKind(t)
	for n := range sharedApps {
		createApplication(t, config, ns, fmt.Sprintf("shared%02d", n), map[string]any{"repoURL": s.repo.URL(), "path": fmt.Sprintf("app%02d", n)},
			map[string]any{"server": v1alpha1.InClusterServer, "namespace": ns}, true)
	}
	s.settle("one alone has everything", first)
	second, third := s.add(), s.add()
	s.push()
	s.settle("two join", first, second, third)
	thaw := s.freezeAtWork(second)
	s.settle("one is frozen in the middle of its work", first, third)
	thaw()
	s.ends(second)
	s.settle("it went on, and has ended", first, third)
	s.push()
	third.Kill()
	third.ended = time.Now()
	s.settle("one is killed", first)
	s.push()
	fourth := s.add()
	s.settle("one joins again", first, fourth)
	s.push()
	fourth.Stop()
	fourth.ended = time.Now()
	s.settle("one stops in order", first)
	first.Stop()
	first.ended = time.Now()
	s.leases.check(t)
	s.values.check(t)
	s.check(config)
}

// wrote reports whether a replica had written an Application's object when it was frozen, and only says so late: the object was at
// the commit before another replica took the shard.
func (s *shared) wrote(r *replica, app string, shard int) bool {
	s.values.mu.Lock()
	at := s.values.since[fmt.Sprint(app, " ", r.commit)]
	s.values.mu.Unlock()
	if r.commit == 0 || at.IsZero() {
		return false
	}
	for _, other := range s.replicas {
		held, _ := other.told(s.t)
		for _, sp := range held[shard] {
			if other != r && sp.from.After(r.ended) && sp.from.Before(at) {
				return false
			}
		}
	}
	return true
}

// check compares what replicas said with what is in the cluster.
func (s *shared) check(config *rest.Config) {
	type claim struct {
		who string
		span
	}
	byShard := map[int][]claim{}
	syncs := map[string]int{}
	for _, r := range s.replicas {
		held, lines := r.told(s.t)
		for shard, spans := range held {
			for _, sp := range spans {
				byShard[shard] = append(byShard[shard], claim{r.Name, sp})
			}
		}
		for _, l := range lines {
			ns, app, _ := strings.Cut(l.App, "/")
			syncs[app]++
			holds := slices.ContainsFunc(held[shardOf(ns, app)], func(sp span) bool { return !l.Time.Before(sp.from) && !l.Time.After(sp.to) })
			if !holds && !s.wrote(r, app, shardOf(ns, app)) {
				s.t.Errorf("%s synced %s at %s without holding shard %d", r.Name, app, l.Time, shardOf(ns, app))
			}
		}
	}
	for shard, claims := range byShard {
		slices.SortFunc(claims, func(a, b claim) int { return a.from.Compare(b.from) })
		for n := 1; n < len(claims); n++ {
			if claims[n].from.Before(claims[n-1].to) {
				s.t.Errorf("shard %d: %s held it until %s, and %s from %s", shard, claims[n-1].who, claims[n-1].to, claims[n].who, claims[n].from)
			}
		}
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		s.t.Fatal(err)
	}
	for n := range sharedApps {
		app, err := client.Resource(v1alpha1.Resource(v1alpha1.ResourceApplications)).Namespace(s.ns).Get(s.t.Context(), fmt.Sprintf("shared%02d", n), metav1.GetOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		history, _, _ := unstructured.NestedSlice(app.Object, "status", "history")
		if len(history) > s.commits {
			s.t.Errorf("%s was deployed %d times for %d commits", app.GetName(), len(history), s.commits)
		}
	}
}

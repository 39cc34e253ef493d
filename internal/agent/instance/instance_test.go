package instance

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is how long a real cluster may take for what it does in a second.
const patience = 2 * time.Minute

// desk is a Reporter and who is told by it.
type desk struct {
	*Reporter
	t    *testing.T
	told chan struct{}
}

func app(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "argocd", Name: name}
}

func newDesk(t *testing.T, pause time.Duration) *desk {
	t.Helper()
	d := &desk{t: t, told: make(chan struct{}, 1)}
	d.Reporter = New(Config{
		Changed: func(types.NamespacedName) {
			select {
			case d.told <- struct{}{}:
			default:
			}
		},
		Instance:    func(a types.NamespacedName) string { return a.Name },
		Application: func(instance string) (types.NamespacedName, bool) { return app(instance), instance != "unknown" },
		Pause:       pause, Log: slog.New(slog.DiscardHandler),
	})
	t.Cleanup(d.Close)
	return d
}

// until waits for the pods of an Application to be as wanted. It looks when it is told, as the link does.
func (d *desk) until(what, name string, good func(*agentapi.Instances) bool) *agentapi.Instances {
	d.t.Helper()
	deadline := time.NewTimer(patience)
	defer deadline.Stop()
	for {
		have := d.Instances(app(name))
		if good(have) {
			return have
		}
		select {
		case <-d.told:
		case <-deadline.C:
			d.t.Fatalf("%s: after %s there are %+v", what, patience, have)
		}
	}
}

// world is a namespace of a real cluster, and what an agent knows of its objects.
type world struct {
	t         *testing.T
	config    *rest.Config
	client    *kubernetes.Clientset
	namespace string
	live      *live.Cluster
}

func newWorld(t *testing.T, moved func(instance string)) *world {
	t.Helper()
	w := &world{t: t, config: testenv.Cluster(t), namespace: testenv.Namespace(t)}
	var err error
	if w.client, err = kubernetes.NewForConfig(w.config); err != nil {
		t.Fatal(err)
	}
	w.live, err = live.Open(t.Context(), live.Config{
		Server: "test", REST: w.config, Log: slog.New(slog.DiscardHandler), Notify: func(e live.Event) { moved(e.App) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.live.Close)
	for _, kind := range []object.Kind{{Group: "apps", Kind: "Deployment"}} {
		res, err := w.live.Find(t.Context(), kind, "")
		if err != nil {
			t.Fatal(err)
		}
		if err := w.live.Watch(t.Context(), res); err != nil {
			t.Fatal(err)
		}
	}
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

// template is that of pods that are ready at once.
func template(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "registry.example.org/shop:1"}, {Name: "b", Image: "aside:2"}}},
	}
}

// deployment makes a Deployment of an Application; "" for nobody's.
func (w *world) deployment(name, application string, replicas int32) *appsv1.Deployment {
	w.t.Helper()
	labels := map[string]string{"app": name}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.namespace},
		Spec:       appsv1.DeploymentSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template(labels)},
	}
	if application != "" {
		key := object.Key{Group: "apps", Kind: "Deployment", Namespace: w.namespace, Name: name}
		d.Annotations = map[string]string{object.TrackingAnnotation: object.TrackingID(application, key, "")}
	}
	made, err := w.client.AppsV1().Deployments(w.namespace).Create(w.t.Context(), d, metav1.CreateOptions{})
	w.must(err)
	return made
}

func (w *world) scale(d *appsv1.Deployment, replicas int) {
	w.t.Helper()
	patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, replicas)
	_, err := w.client.AppsV1().Deployments(w.namespace).Patch(w.t.Context(), d.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	w.must(err)
}

func count(ready, total int) func(*agentapi.Instances) bool {
	return func(have *agentapi.Instances) bool {
		if have == nil {
			return total == 0
		}
		return have.Ready == ready && have.Total == total
	}
}

func TestThePodsOfAnApplicationAreKnown(t *testing.T) {
	t.Parallel()
	d := newDesk(t, time.Millisecond)
	shop := testenv.Name("shop")
	other := testenv.Name("other")
	w := newWorld(t, d.Moved)
	d.Open("one", w.config, w.live)
	if apps, ready := d.Apps(); len(apps) != 0 || !ready {
		t.Errorf("before anything is used there are %v (%v)", apps, ready)
	}
	d.Use(app(shop), "one", []string{w.namespace})
	web := w.deployment("web", shop, 2)
	w.deployment("foreign", "", 1)
	have := d.until("two pods", shop, count(2, 2))
	first := have.Instances[0]
	if !strings.HasPrefix(first.Pod, "web-") || first.Node == "" || first.StartedAt.IsZero() || first.Phase != "Running" || first.Owner != "Deployment/web" {
		t.Errorf("a pod is %+v", first)
	}
	if diff := cmp.Diff([]string{"registry.example.org/shop:1", "aside:2"}, first.Images); diff != "" {
		t.Errorf("images (-want +got):\n%s", diff)
	}
	w.scale(web, 3)
	d.until("one more", shop, count(3, 3))
	if apps, ready := d.Apps(); len(apps) != 1 || apps[0] != app(shop) || !ready {
		t.Errorf("with pods there are %v (%v)", apps, ready)
	}

	// Somebody takes the object over: it is the other's from then on.
	key := object.Key{Group: "apps", Kind: "Deployment", Namespace: w.namespace, Name: "web"}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": map[string]any{object.TrackingAnnotation: object.TrackingID(other, key, "")}}})
	w.must(err)
	d.Use(app(other), "one", []string{w.namespace})
	_, err = w.client.AppsV1().Deployments(w.namespace).Patch(t.Context(), "web", types.MergePatchType, patch, metav1.PatchOptions{})
	w.must(err)
	d.until("another owner", other, count(3, 3))
	d.until("not the one before", shop, count(0, 0))

	// Another connection, as after a change of credentials: nothing is forgotten meanwhile.
	d.Open("one", w.config, w.live)
	if have := d.Instances(app(other)); have == nil || have.Total != 3 {
		t.Errorf("after another connection there are %+v", have)
	}
	w.scale(web, 0)
	d.until("none", other, count(0, 0))
	d.Use(app(other), "", nil)
	d.Use(app(shop), "", nil)
	if c := d.clusters["one"]; len(c.feeds)+len(c.forest.pods) > 0 {
		t.Errorf("a cluster that nobody uses is watched by %d, and %d pods are kept", len(c.feeds), len(c.forest.pods))
	}
}

func TestAnAgentOfANamespaceWatchesThatNamespace(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	d := newDesk(t, time.Millisecond)
	shop := testenv.Name("shop")
	w := newWorld(t, d.Moved)
	user := "narrow-" + w.namespace
	_, err := w.client.RbacV1().Roles(w.namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "narrow"}, Rules: []rbacv1.PolicyRule{{APIGroups: []string{"*"}, Resources: []string{"*"}, Verbs: []string{"list", "watch"}}},
	}, metav1.CreateOptions{})
	w.must(err)
	_, err = w.client.RbacV1().RoleBindings(w.namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "narrow"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "narrow"},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{})
	w.must(err)
	narrow := rest.CopyConfig(w.config)
	narrow.Impersonate = rest.ImpersonationConfig{UserName: user}
	d.Open("one", narrow, w.live)
	d.Use(app(shop), "one", []string{w.namespace, "kube-system"})
	w.deployment("web", shop, 2)
	d.until("two pods", shop, count(2, 2))
}

func TestAnApplicationIsToldOfOnceInAPause(t *testing.T) {
	t.Parallel()
	calls := make(chan types.NamespacedName, 100)
	r := New(Config{
		Changed:     func(a types.NamespacedName) { calls <- a },
		Instance:    func(a types.NamespacedName) string { return a.Name },
		Application: func(instance string) (types.NamespacedName, bool) { return app(instance), instance != "unknown" },
		Pause:       time.Hour, Log: slog.New(slog.DiscardHandler),
	})
	r.Use(app("shop"), "one", []string{"a"})
	r.Use(app("other"), "one", []string{"a"})
	for range 1000 {
		r.Moved("shop")
		r.Moved("unknown")
		r.Moved("unused")
	}
	if len(calls) != 2 || <-calls != app("shop") || <-calls != app("other") {
		t.Errorf("it was told %d times more than once of each", len(calls))
	}
	w := r.told[app("shop")]
	if w.timer == nil {
		t.Fatal("what came since is not told later")
	}
	w.timer.Reset(0) // the pause is over
	if got := <-calls; got != app("shop") {
		t.Errorf("told of %v", got)
	}
	r.Close()
	r.Moved("other")
	if len(calls) != 0 {
		t.Error("it is told after its end")
	}
}

// still are objects that never change.
type still map[object.Key]string

func (s still) Get(key object.Key) (live.Record, bool, bool) {
	return live.Record{Key: key, App: s[key]}, s[key] != "", false
}

func (s still) Owned(app string) []live.Record {
	var out []live.Record
	for key, of := range s {
		if of == app {
			out = append(out, live.Record{Key: key})
		}
	}
	return out
}

// filled is a cluster with deployments of some pods each, as feeds would have filled it.
func filled(tb testing.TB, deployments, replicas int) (*Reporter, *feed) {
	tb.Helper()
	objects := still{}
	r := New(Config{
		Changed: func(types.NamespacedName) {}, Instance: func(a types.NamespacedName) string { return a.Name },
		Application: func(instance string) (types.NamespacedName, bool) { return app(instance), true }, Pause: time.Hour, Log: slog.New(slog.DiscardHandler),
	})
	tb.Cleanup(r.Close)
	c := r.at("one")
	c.objects, c.used = objects, map[string]bool{"shop": true}
	ctx, stop := context.WithCancel(tb.Context())
	tb.Cleanup(stop)
	sets, _ := owners(object.Kind{Group: "apps", Kind: "ReplicaSet"})
	of := &feed{watched: sets, of: c, ctx: ctx, stop: stop}
	f := &feed{watched: pods(), of: c, ctx: ctx, stop: stop}
	c.feeds[place{sets.kind, ""}], c.feeds[place{f.kind, ""}] = of, f
	for i := range deployments {
		name := fmt.Sprintf("deployment-%03d", i)
		objects[object.Key{Group: "apps", Kind: "Deployment", Namespace: "shop", Name: name}] = "shop"
		if err := of.Add(raw(name+"-6d4cf56db6", fmt.Sprintf(`"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":%q,"controller":true}]`, name), "{}")); err != nil {
			tb.Fatal(err)
		}
		for j := range replicas {
			if err := f.Add(podOf(name, j)); err != nil {
				tb.Fatal(err)
			}
		}
	}
	r.uses[app("shop")] = use{"one", []string{"shop"}}
	return r, f
}

func raw(name, meta, rest string) *stream.Object {
	o := &stream.Object{Raw: fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":"shop",%s},%s`, name, meta, strings.TrimPrefix(rest, "{"))}
	if rest == "{}" {
		o.Raw = fmt.Appendf(nil, `{"metadata":{"name":%q,"namespace":"shop",%s}}`, name, meta)
	}
	o.Name, o.Namespace = name, "shop"
	return o
}

func podOf(deployment string, n int) *stream.Object {
	return raw(fmt.Sprintf("%s-6d4cf56db6-%05d", deployment, n),
		fmt.Sprintf(`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"%s-6d4cf56db6","controller":true}]`, deployment),
		fmt.Sprintf(`{"spec":{"nodeName":"node-%d","containers":[{"image":"registry.example.org/%s:1.2.3"}]},"status":{"phase":"Running","startTime":"2026-03-01T12:00:00Z","conditions":[{"type":"Ready","status":"True"}]}}`, n%20, deployment))
}

// TestTwoThousandPodsAreLight is not parallel: it looks at the memory of the process.
func TestTwoThousandPodsAreLight(t *testing.T) { //nolint:paralleltest // see above
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	before := heap()
	r, _ := filled(t, 200, 10)
	grown := int64(heap()) - int64(before)
	t.Logf("2,000 pods take %d KiB", grown>>10)
	if grown > 5<<20 {
		t.Errorf("2,000 pods take %d bytes, more than 5 MiB", grown)
	}
	if have := r.Instances(app("shop")); have.Total != 2000 || have.Ready != 2000 || len(have.Instances) != agentapi.MaxInstances {
		t.Errorf("there are %d of %d pods, %d named", have.Ready, have.Total, len(have.Instances))
	}
	runtime.KeepAlive(r)
}

func TestWhatIsNamedFitsIntoAnItem(t *testing.T) {
	t.Parallel()
	r, f := filled(t, 1, 0)
	long := strings.Repeat("x", 4000)
	for i := range 200 {
		o := podOf("deployment-000", i)
		o.Raw = []byte(strings.ReplaceAll(string(o.Raw), "1.2.3", long))
		if err := f.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	have := r.Instances(app("shop"))
	body, err := json.Marshal(have)
	if err != nil || len(body) > agentapi.MaxItem || have.Total != 200 || len(have.Instances) == 0 {
		t.Errorf("%d of %d pods are named in %d bytes: %v", len(have.Instances), have.Total, len(body), err)
	}
}

func TestHostileOwnersEnd(t *testing.T) {
	t.Parallel()
	r, f := filled(t, 1, 1)
	c := r.clusters["one"]
	sets := c.feeds[place{object.Kind{Group: "apps", Kind: "ReplicaSet"}, ""}]
	// Two that own each other, and a pod of theirs.
	for _, pair := range [][2]string{{"a", "b"}, {"b", "a"}} {
		if err := sets.Add(raw(pair[0], fmt.Sprintf(`"ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":%q,"controller":true}]`, pair[1]), "{}")); err != nil {
			t.Fatal(err)
		}
	}
	o := podOf("x", 1)
	o.Raw = []byte(strings.ReplaceAll(string(o.Raw), "x-6d4cf56db6\"", "a\""))
	if err := f.Add(o); err != nil {
		t.Fatal(err)
	}
	c.objects.(still)[object.Key{Group: "apps", Kind: "ReplicaSet", Namespace: "shop", Name: "b"}] = "loop"
	r.uses[app("loop")] = use{"one", nil}
	if have := r.Instances(app("loop")); have == nil || have.Total != 1 {
		t.Errorf("the pod counts as %+v", have)
	}
	if err := f.Add(&stream.Object{Raw: []byte(`{"metadata":7}`)}); err == nil {
		t.Error("what cannot be read is taken")
	}
}

func TestPodsOfJobsCountUntilTheyAreOver(t *testing.T) {
	t.Parallel()
	r, f := filled(t, 0, 0)
	c := r.clusters["one"]
	c.objects.(still)[object.Key{Group: "batch", Kind: "CronJob", Namespace: "shop", Name: "nightly"}] = "shop"
	what, _ := owners(object.Kind{Group: "batch", Kind: "Job"})
	jobs := &feed{watched: what, of: c, ctx: f.ctx, stop: f.stop}
	c.feeds[place{what.kind, ""}] = jobs
	pod := func(phase string) *stream.Object {
		return raw("now-x", `"ownerReferences":[{"apiVersion":"batch/v1","kind":"Job","name":"now","controller":true}]`, fmt.Sprintf(`{"status":{"phase":%q}}`, phase))
	}
	add := func(to *feed, o *stream.Object) {
		t.Helper()
		if err := to.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	// The pod may be told before the job that it is of.
	add(f, pod("Pending"))
	if have := r.Instances(app("shop")); have != nil {
		t.Errorf("a pod of nobody is %+v", have)
	}
	add(jobs, raw("now", `"ownerReferences":[{"apiVersion":"batch/v1","kind":"CronJob","name":"nightly","controller":true}]`, "{}"))
	if have := r.Instances(app("shop")); have == nil || have.Total != 1 || have.Ready != 0 || have.Instances[0].Owner != "CronJob/nightly" {
		t.Errorf("a pod of a job is %+v", have)
	}
	for _, phase := range []string{"Succeeded", "Failed"} {
		add(f, pod(phase))
		if have := r.Instances(app("shop")); have != nil {
			t.Errorf("a pod that has %s is %+v", phase, have)
		}
	}
	add(f, pod("Running"))
	if err := jobs.Delete(raw("now", `"x":0`, "{}")); err != nil {
		t.Fatal(err)
	}
	if have := r.Instances(app("shop")); have != nil {
		t.Errorf("without its job the pod is %+v", have)
	}
}

func BenchmarkAPodChanges(b *testing.B) {
	_, f := filled(b, 200, 10)
	pod := podOf("deployment-007", 3)
	notReady := *pod
	notReady.Raw = []byte(strings.ReplaceAll(string(pod.Raw), `"status":"True"`, `"status":"False"`))
	b.ResetTimer()
	for i := range b.N {
		o := pod
		if i%2 == 0 {
			o = &notReady
		}
		if err := f.Update(o); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkThePodsOfAnApplication(b *testing.B) {
	r, _ := filled(b, 200, 10)
	for b.Loop() {
		r.Instances(app("shop"))
	}
}

package kin_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/kin"
	"github.com/slipway-gitops/slipway/internal/engine/live"
	"github.com/slipway-gitops/slipway/internal/engine/live/stream"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/inspect"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestMain(m *testing.M) { testenv.Main(m) }

// patience is how long a real cluster may take for what it does in a second.
const patience = 2 * time.Minute

// world is an Application whose objects are in a namespace of a real cluster.
type world struct {
	t         *testing.T
	client    *kubernetes.Clientset
	namespace string
	instance  string // what its objects are marked with
	watcher   *kin.Watcher
	sync      atomic.Value // of the Deployment, as the status says
	gone      atomic.Bool
}

var shop = types.NamespacedName{Namespace: "argocd", Name: "shop"}

var errGone = errors.New("the application is gone")

func newWorld(t *testing.T) *world {
	t.Helper()
	config := testenv.Cluster(t)
	w := &world{t: t, namespace: testenv.Namespace(t), instance: testenv.Name("shop")}
	w.sync.Store(v1alpha1.SyncStatusCode("Synced"))
	var err error
	if w.client, err = kubernetes.NewForConfig(config); err != nil {
		t.Fatal(err)
	}
	state, err := live.Open(t.Context(), live.Config{Server: "test", REST: config, Log: slog.New(slog.DiscardHandler), Notify: func(live.Event) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(state.Close)
	httpClient, err := rest.HTTPClientFor(config)
	if err != nil {
		t.Fatal(err)
	}
	client, err := stream.NewClient(config, httpClient)
	if err != nil {
		t.Fatal(err)
	}
	cluster := kin.Cluster{ID: "one", Client: client, Find: state.Find, Eye: inspect.Eye{Owner: object.Tracking{}.Owner}}
	w.watcher = kin.New(kin.Config{Log: slog.New(slog.DiscardHandler), Look: func(context.Context, types.NamespacedName) (kin.View, error) {
		if w.gone.Load() {
			return kin.View{}, errGone
		}
		return kin.View{Cluster: cluster, App: w.instance, Resources: []v1alpha1.ResourceStatus{
			{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: w.namespace, Name: "web", Status: w.sync.Load().(v1alpha1.SyncStatusCode)},
			{Version: "v1", Kind: "Service", Namespace: w.namespace, Name: "web", Status: "Synced"},
			{Version: "v1", Kind: "Secret", Namespace: w.namespace, Name: "web", Status: "Synced"},
			{Group: "example.com", Version: "v1", Kind: "Nobody", Namespace: w.namespace, Name: "knows", Status: "OutOfSync"},
		}}, nil
	}})
	t.Cleanup(w.watcher.Close)
	return w
}

func (w *world) must(_ any, err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) mark(key object.Key) metav1.ObjectMeta {
	return metav1.ObjectMeta{Name: key.Name, Annotations: map[string]string{object.TrackingAnnotation: object.TrackingID(w.instance, key, w.namespace)}}
}

// deploy makes what the Application has.
func (w *world) deploy() {
	w.t.Helper()
	labels := map[string]string{"app": "web"}
	one := int32(1)
	ctx := w.t.Context()
	key := object.Key{Group: "apps", Kind: "Deployment", Namespace: w.namespace, Name: "web"}
	w.must(w.client.AppsV1().Deployments(w.namespace).Create(ctx, &appsv1.Deployment{ObjectMeta: w.mark(key), Spec: appsv1.DeploymentSpec{
		Replicas: &one, Selector: &metav1.LabelSelector{MatchLabels: labels},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "web", Image: "example.com/web:1"}}}},
	}}, metav1.CreateOptions{}))
	w.must(w.client.CoreV1().Services(w.namespace).Create(ctx, &corev1.Service{
		ObjectMeta: w.mark(object.Key{Kind: "Service", Namespace: w.namespace, Name: "web"}), Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: 80}}},
	}, metav1.CreateOptions{}))
	w.must(w.client.CoreV1().Secrets(w.namespace).Create(ctx, &corev1.Secret{
		ObjectMeta: w.mark(object.Key{Kind: "Secret", Namespace: w.namespace, Name: "web"}), StringData: map[string]string{"password": "correct-horse"},
	}, metav1.CreateOptions{}))
}

// viewer is a Reader, and the tree as it knows it.
type viewer struct {
	*kin.Reader
	w       *world
	nodes   map[string]*api.FlatNode
	patches int
}

func (w *world) view() *viewer {
	w.t.Helper()
	r, err := w.watcher.Open(shop)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(r.Close)
	return &viewer{Reader: r, w: w}
}

// until reads events until the tree is as wanted.
func (v *viewer) until(what string, good func(map[string]*api.FlatNode) bool) {
	v.w.t.Helper()
	ctx, cancel := context.WithTimeout(v.w.t.Context(), patience)
	defer cancel()
	for v.nodes == nil || !good(v.nodes) {
		e, err := v.Next(ctx)
		if err != nil {
			v.w.t.Fatalf("%s: %v; there are %v", what, err, v.nodes)
		}
		v.take(e)
	}
}

func (v *viewer) take(e kin.Event) {
	v.w.t.Helper()
	var set []*api.FlatNode
	if e.Tree != nil {
		v.nodes, set = map[string]*api.FlatNode{}, e.Tree.Nodes
	} else {
		if v.nodes == nil {
			v.w.t.Fatal("a patch comes before the tree")
		}
		v.patches++
		set = e.Patch.Set
		for _, id := range e.Patch.Remove {
			if v.nodes[id] == nil {
				v.w.t.Errorf("%s is removed and was not there", id)
			}
			delete(v.nodes, id)
		}
	}
	for _, n := range set {
		v.nodes[n.ID] = n
		if n.Parent != "" && v.nodes[n.Parent] == nil {
			v.w.t.Errorf("%s comes before its owner %s", n.ID, n.Parent)
		}
	}
}

// running reports whether so many pods are in the tree below their ReplicaSet, ready, and the Service leads to them.
func (w *world) running(n int) func(map[string]*api.FlatNode) bool {
	return func(nodes map[string]*api.FlatNode) bool {
		ready := 0
		for _, node := range nodes {
			if node.Pod != nil && node.Pod.Ready == 1 && nodes[node.Parent] != nil && nodes[node.Parent].Kind == "ReplicaSet" {
				ready++
			}
		}
		deployment, service := nodes["apps/Deployment/"+w.namespace+"/web"], nodes["/Service/"+w.namespace+"/web"]
		return ready == n && deployment.Replicas != nil && deployment.Replicas.Ready == int64(n) && deployment.Health == "Healthy" && len(service.Routes) == n
	}
}

func (w *world) scale(n int) {
	w.t.Helper()
	w.must(w.client.AppsV1().Deployments(w.namespace).Patch(w.t.Context(), "web", types.MergePatchType, fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, n), metav1.PatchOptions{}))
}

func TestPodsOfAScaledDeploymentArriveAsPatches(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy()
	v := w.view()
	v.until("the first pod", w.running(1))
	if n := v.nodes["apps/Deployment/"+w.namespace+"/web"]; n.UID == "" || n.CreatedAt.IsZero() || n.Revision != 1 || n.Sync != "Synced" || len(n.Images) != 1 {
		t.Errorf("the deployment is told of as %+v", n)
	}
	if n := v.nodes["/Secret/"+w.namespace+"/web"]; n.UID == "" {
		t.Errorf("the secret is told of as %+v", n)
	}
	if n := v.nodes["example.com/Nobody/"+w.namespace+"/knows"]; n == nil || n.Sync != "OutOfSync" {
		t.Errorf("what the cluster does not know is told of as %+v", n)
	}
	before := v.patches
	w.scale(3)
	v.until("three pods", w.running(3))
	w.scale(1)
	v.until("one pod again", w.running(1))
	if v.patches < before+2 {
		t.Errorf("what changed came in %d patches", v.patches-before)
	}
	w.sync.Store(v1alpha1.SyncStatusCode("OutOfSync"))
	w.watcher.Changed(shop)
	v.until("the status", func(nodes map[string]*api.FlatNode) bool {
		return nodes["apps/Deployment/"+w.namespace+"/web"].Sync == "OutOfSync"
	})
}

func TestThoseWhoLookAtTheSameShareAWatchThatEndsWithTheLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy()
	first, second := w.view(), w.view()
	first.until("the first pod", w.running(1))
	w.scale(2)
	second.until("two pods", w.running(2)) // who reads late is told at once how it is
	if n := w.watcher.Watched(); n != 1 {
		t.Errorf("%d trees are watched", n)
	}
	first.Close()
	w.scale(1)
	second.until("one pod again", w.running(1))
	second.Close()
	second.Close()
	if n := w.watcher.Watched(); n != 0 {
		t.Errorf("%d trees are watched when nobody looks", n)
	}
	late := w.view()
	late.until("the tree, for who comes later", w.running(1))
}

func TestATreeThatCannotBeShownEnds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.deploy()
	v := w.view()
	v.until("the first pod", w.running(1))
	w.gone.Store(true)
	w.watcher.Changed(shop)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for {
		if _, err := v.Next(ctx); errors.Is(err, errGone) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if n := w.watcher.Watched(); n != 0 {
		t.Errorf("%d trees are watched", n)
	}
}

// TestATreeOfWhichNoChangeWasReportedIsLookedAtAgain changes what an Application is, and calls Changed for nothing.
func TestATreeOfWhichNoChangeWasReportedIsLookedAtAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		sync, looks := v1alpha1.SyncStatusCode("Synced"), 0
		w := kin.New(kin.Config{Log: slog.New(slog.DiscardHandler), Look: func(context.Context, types.NamespacedName) (kin.View, error) {
			looks++
			unknown := func(_ context.Context, kind object.Kind, _ string) (live.Resource, error) {
				return live.Resource{}, &live.UnknownKindError{Kind: kind}
			}
			return kin.View{Cluster: kin.Cluster{ID: "one", Find: unknown}, App: "shop", Resources: []v1alpha1.ResourceStatus{
				{Group: "example.com", Version: "v1", Kind: "Nobody", Namespace: "shop", Name: "knows", Status: sync},
			}}, nil
		}})
		defer w.Close()
		r, err := w.Open(shop)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if e, err := r.Next(ctx); err != nil || e.Tree == nil || len(e.Tree.Nodes) != 1 || e.Tree.Nodes[0].Sync != "Synced" {
			t.Fatalf("the tree is %+v, %v", e.Tree, err)
		}
		synctest.Wait()
		began := time.Now()
		sync = "OutOfSync" // as what its project permits may be another: nothing reports that
		e, err := r.Next(ctx)
		if err != nil || e.Patch == nil || len(e.Patch.Set) != 1 || e.Patch.Set[0].Sync != "OutOfSync" {
			t.Fatalf("the change is %+v, %v", e, err)
		}
		if took := time.Since(began); took > 31*time.Second || looks != 2 {
			t.Errorf("it was seen after %s, by %d looks", took, looks)
		}
	})
}

package inspect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/health"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// parsed reads an object as the API server sends one.
func parsed(t *testing.T, text string) map[string]any {
	t.Helper()
	obj, err := object.DecodeJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return obj
}

func TestAPodSaysInOneWordWhatItDoes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pod string
		want      api.TreePod
	}{
		{
			"runs", `{"spec":{"nodeName":"w1","containers":[{},{}]},"status":{"phase":"Running","podIP":"10.0.0.1","containerStatuses":[
			{"ready":true,"restartCount":2,"state":{"running":{}}},{"ready":true,"restartCount":1,"state":{"running":{}}}]}}`,
			api.TreePod{Node: "w1", Phase: "Running", Ready: 2, Containers: 2, Restarts: 3, IP: "10.0.0.1"},
		},
		{
			"crashes beside one that runs", `{"spec":{"containers":[{},{}]},"status":{"phase":"Running","containerStatuses":[
			{"ready":true,"state":{"running":{}}},{"restartCount":7,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`,
			api.TreePod{Phase: "Running", Reason: "CrashLoopBackOff", Ready: 1, Containers: 2, Restarts: 7},
		},
		{
			"was killed", `{"spec":{"containers":[{}]},"status":{"phase":"Failed","reason":"Evicted"}}`,
			api.TreePod{Phase: "Failed", Reason: "Evicted", Containers: 1},
		},
		{
			"ended with a code", `{"spec":{"containers":[{}]},"status":{"phase":"Failed","containerStatuses":[{"state":{"terminated":{"exitCode":3}}}]}}`,
			api.TreePod{Phase: "Failed", Reason: "ExitCode:3", Containers: 1},
		},
		{
			"one of two is done", `{"spec":{"containers":[{},{}]},"status":{"phase":"Running","containerStatuses":[
			{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}},{"ready":true,"state":{"running":{}}}]}}`,
			api.TreePod{Phase: "Running", Ready: 1, Containers: 2},
		},
		{
			"done", `{"spec":{"containers":[{}]},"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"exitCode":0,"reason":"Completed"}}}]}}`,
			api.TreePod{Phase: "Succeeded", Reason: "Completed", Containers: 1},
		},
		{
			"starts", `{"spec":{"initContainers":[{"name":"a"},{"name":"b"}],"containers":[{}]},"status":{"phase":"Pending","initContainerStatuses":[
			{"name":"a","state":{"terminated":{"exitCode":0}}},{"name":"b","state":{"running":{}}}],"containerStatuses":[{"state":{"waiting":{"reason":"PodInitializing"}}}]}}`,
			api.TreePod{Phase: "Pending", Reason: "Init:1/2", Containers: 1},
		},
		{
			"does not start", `{"spec":{"initContainers":[{"name":"a"}],"containers":[{}]},"status":{"phase":"Pending","initContainerStatuses":[
			{"name":"a","restartCount":4,"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]}}`,
			api.TreePod{Phase: "Pending", Reason: "Init:CrashLoopBackOff", Containers: 1, Restarts: 4},
		},
		{
			"has a container that stays beside it", `{"spec":{"initContainers":[{"name":"proxy","restartPolicy":"Always"}],"containers":[{}]},"status":{"phase":"Running",
			"initContainerStatuses":[{"name":"proxy","started":true,"ready":true,"state":{"running":{}}}],"containerStatuses":[{"ready":true,"state":{"running":{}}}]}}`,
			api.TreePod{Phase: "Running", Ready: 2, Containers: 2},
		},
		{
			"goes", `{"metadata":{"deletionTimestamp":"2026-01-01T00:00:00Z"},"spec":{"containers":[{}]},"status":{"phase":"Running","containerStatuses":[{"ready":true,"state":{"running":{}}}]}}`,
			api.TreePod{Phase: "Running", Reason: "Terminating", Ready: 1, Containers: 1},
		},
		{
			"finds no node", `{"spec":{"containers":[{}]},"status":{"phase":"Pending","conditions":[{"type":"PodScheduled","status":"False","reason":"Unschedulable"}]}}`,
			api.TreePod{Phase: "Pending", Reason: "Unschedulable", Containers: 1},
		},
		{"is nonsense", `{"spec":{"containers":"x","nodeName":7},"status":{"phase":{},"containerStatuses":[7,{"state":[],"restartCount":"x"}]}}`, api.TreePod{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(&c.want, podOf(parsed(t, c.pod))); diff != "" {
				t.Errorf("pod (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWorkloadsTellImagesReplicasAndRevision(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, object string
		want         api.TreeNode
	}{
		{
			"a ReplicaSet", `{"apiVersion":"apps/v1","kind":"ReplicaSet","metadata":{"name":"web-1","annotations":{"deployment.kubernetes.io/revision":"7"},"creationTimestamp":"x"},
			"spec":{"replicas":3,"template":{"spec":{"containers":[{"image":"a:1"},{"image":"a:1"},{"image":"b:2"}]}}},"status":{"readyReplicas":2}}`,
			api.TreeNode{Group: "apps", Version: "v1", Kind: "ReplicaSet", Name: "web-1", Revision: 7, Replicas: &api.TreeReplicas{Desired: 3, Ready: 2}, Images: []string{"a:1", "b:2"}},
		},
		{
			"a DaemonSet", `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d"},"status":{"desiredNumberScheduled":5,"numberReady":4}}`,
			api.TreeNode{Group: "apps", Version: "v1", Kind: "DaemonSet", Name: "d", Replicas: &api.TreeReplicas{Desired: 5, Ready: 4}},
		},
		{
			"a CronJob", `{"apiVersion":"batch/v1","kind":"CronJob","metadata":{"name":"c"},"spec":{"jobTemplate":{"spec":{"template":{"spec":{"containers":[{"image":"a:1"}]}}}}}}`,
			api.TreeNode{Group: "batch", Version: "v1", Kind: "CronJob", Name: "c", Images: []string{"a:1"}},
		},
		{
			"a Secret", `{"apiVersion":"v1","kind":"Secret","metadata":{"name":"s","uid":"u"},"data":{"password":"aHVudGVyMg=="}}`,
			api.TreeNode{Version: "v1", Kind: "Secret", Name: "s", UID: "u"},
		},
		{
			"links", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","annotations":{"link.argocd.argoproj.io/a":"Docs|https://user:pw@docs.example.com/x",
			"link.argocd.argoproj.io/b":"javascript:alert(1)","link.argocd.argoproj.io/c":"data:text/html,x"}}}`,
			api.TreeNode{Version: "v1", Kind: "ConfigMap", Name: "c", URLs: []string{"https://docs.example.com/x"}},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := Eye{}.Leaf(parsed(t, c.object), false).node
			got.Health, got.Message = "", ""
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("node (-want +got):\n%s", diff)
			}
		})
	}
}

// shop is an application with all kinds of ways for traffic.
func shop(t *testing.T) ([]v1alpha1.ResourceStatus, []*Leaf) {
	t.Helper()
	eye := Eye{Owner: func(obj map[string]any, _ object.Key) (string, bool) { return object.Annotation(obj, "app"), false }}
	var out []*Leaf
	for _, text := range []string{
		`{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"web","namespace":"shop","annotations":{"app":"shop"}},"spec":{
			"tls":[{"hosts":["shop.example.com"]}],"rules":[{"host":"shop.example.com","http":{"paths":[{"path":"/","backend":{"service":{"name":"web"}}}]}},
			{"host":"old.example.com","http":{"paths":[{"path":"/x","backend":{"service":{"name":"elsewhere"}}}]}}]},
			"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"},{"hostname":"lb.example.com"}]}}}`,
		`{"apiVersion":"gateway.networking.k8s.io/v1","kind":"Gateway","metadata":{"name":"edge","namespace":"shop","annotations":{"app":"shop"}},"status":{"addresses":[{"value":"192.0.2.2"}]}}`,
		`{"apiVersion":"gateway.networking.k8s.io/v1","kind":"HTTPRoute","metadata":{"name":"web","namespace":"shop","annotations":{"app":"shop"}},"spec":{"parentRefs":[{"name":"edge"}],
			"hostnames":["shop.example.com"],"rules":[{"backendRefs":[{"name":"web"},{"name":"web","weight":1},{"name":"api","namespace":"other"}]}]}}`,
		`{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop","annotations":{"app":"shop"}},"spec":{"type":"LoadBalancer","selector":{"app":"web","tier":"front"}},
			"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.3"}]}}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-1","namespace":"shop","labels":{"app":"web","tier":"front","x":"y"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"d"}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"web-2","namespace":"shop","labels":{"app":"web"},"ownerReferences":[{"apiVersion":"apps/v1","kind":"Deployment","name":"web","uid":"d"}]}}`,
		`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"foreign","namespace":"shop","labels":{"app":"web","tier":"front"}}}`,
		`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop","uid":"d","annotations":{"app":"somebody else","argocd.argoproj.io/hook":"PreSync"}}}`,
	} {
		out = append(out, eye.Leaf(parsed(t, text), false))
	}
	return []v1alpha1.ResourceStatus{
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress", Namespace: "shop", Name: "web", Status: "Synced"},
		{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "Gateway", Namespace: "shop", Name: "edge"},
		{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute", Namespace: "shop", Name: "web"},
		{Version: "v1", Kind: "Service", Namespace: "shop", Name: "web", SyncWave: 3, RequiresPruning: true},
		{Group: "apps", Version: "v1", Kind: "Deployment", Namespace: "shop", Name: "web"},
	}, out
}

func TestTrafficIsFollowedWithinTheTree(t *testing.T) {
	t.Parallel()
	resources, leaves := shop(t)
	type way struct{ Routes, Addresses, URLs []string }
	got := map[string]way{}
	Walk(Tree(resources, leaves, nil, "shop"), func(_ int, _, n *api.TreeNode) {
		if w := (way{n.Routes, n.Addresses, n.URLs}); w.Routes != nil || w.Addresses != nil || w.URLs != nil {
			got[n.ID()] = w
		}
	})
	want := map[string]way{
		"networking.k8s.io/Ingress/shop/web": {
			[]string{"/Service/shop/web"}, []string{"192.0.2.1", "lb.example.com"}, []string{"https://shop.example.com/", "http://old.example.com/x"},
		},
		"gateway.networking.k8s.io/Gateway/shop/edge":  {Routes: []string{"gateway.networking.k8s.io/HTTPRoute/shop/web"}, Addresses: []string{"192.0.2.2"}},
		"gateway.networking.k8s.io/HTTPRoute/shop/web": {Routes: []string{"/Service/shop/web"}, Addresses: []string{"shop.example.com"}},
		"/Service/shop/web":                            {Routes: []string{"/Pod/shop/web-1"}, Addresses: []string{"192.0.2.3"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ways (-want +got):\n%s", diff)
	}
}

func TestOfAnObjectThatIsMarkedAsAnothersNothingIsTold(t *testing.T) {
	t.Parallel()
	resources, leaves := shop(t)
	roots := Tree(resources, leaves, nil, "shop")
	service, deployment := roots[3], roots[4]
	if service.Wave != 3 || !service.RequiresPruning {
		t.Errorf("the status says more of the service than %+v", service)
	}
	if deployment.UID != "" || deployment.Hook != nil || deployment.Replicas != nil {
		t.Errorf("the deployment is somebody else's: %+v", deployment)
	}
	if resources[4].Kind != "Deployment" || len(deployment.Children) != 2 {
		t.Errorf("what it owns: %+v", deployment.Children)
	}
}

func TestHooksTellTheirPhases(t *testing.T) {
	t.Parallel()
	for annotation, want := range map[string][]string{
		`"argocd.argoproj.io/hook":"PreSync, PostSync,PreSync,nonsense"`: {"PreSync", "PostSync"},
		`"helm.sh/hook":"pre-install,pre-upgrade,post-delete,test"`:      {"PreSync", "PostDelete"},
		`"argocd.argoproj.io/hook":"Skip"`:                               nil,
		`"x":"y"`:                                                        nil,
	} {
		leaf := Eye{}.Leaf(parsed(t, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"j","annotations":{`+annotation+`}}}`), true)
		if diff := cmp.Diff(want, leaf.hook); diff != "" {
			t.Errorf("%s (-want +got):\n%s", annotation, diff)
		}
	}
}

func TestMetadataIsEnoughForWhatTellsNothingElse(t *testing.T) {
	t.Parallel()
	got := Places([]v1alpha1.ResourceStatus{
		{Group: "apps", Kind: "Deployment", Namespace: "a", Name: "web"},
		{Kind: "Secret", Namespace: "a", Name: "s"},
		{Kind: "Secret", Namespace: "a", Name: "t"},
		{Kind: "ConfigMap", Namespace: "b", Name: "c"},
		{Kind: "Pod", Namespace: "a", Name: "p"},
		{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole", Name: "r"},
	}, nil)
	want := []Place{
		{Kind: object.Kind{Group: "apps", Kind: "ReplicaSet"}, Namespace: "a"},
		{Kind: object.Kind{Kind: "Pod"}, Namespace: "a"},
		{Kind: object.Kind{Group: "apps", Kind: "Deployment"}, Namespace: "a"},
		{Kind: object.Kind{Kind: "Secret"}, Namespace: "a", Bare: true},
		{Kind: object.Kind{Kind: "ConfigMap"}, Namespace: "b", Bare: true},
		{Kind: object.Kind{Group: "rbac.authorization.k8s.io", Kind: "ClusterRole"}, Bare: true},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}
}

func TestObjectsAreReadForTheHealthThatTheStatusLacks(t *testing.T) {
	t.Parallel()
	told := &v1alpha1.HealthStatus{Status: v1alpha1.HealthHealthy}
	kind := func(name string) object.Kind { return object.Kind{Group: "shop.example.com", Kind: name} }
	resources := []v1alpha1.ResourceStatus{
		{Group: "shop.example.com", Kind: "Widget", Namespace: "a", Name: "there"},
		{Group: "shop.example.com", Kind: "Widget", Namespace: "a", Name: "gone", Status: v1alpha1.SyncStatusOutOfSync},
		{Group: "shop.example.com", Kind: "Widget", Namespace: "b", Name: "told", Health: told},
		{Group: "shop.example.com", Kind: "Plain", Namespace: "a", Name: "p"},
		{Kind: "Secret", Namespace: "a", Name: "s"},
		{Group: "shop.example.com", Kind: "Hook", Namespace: "a", Name: "h", Hook: true},
	}
	places := Places(resources, func(k object.Kind) bool { return k != kind("Plain") })
	got := map[Place]bool{}
	for _, p := range places {
		if p.Kind.Group == "shop.example.com" || p.Kind.Kind == "Secret" {
			got[p] = true
		}
	}
	want := map[Place]bool{
		{Kind: kind("Widget"), Namespace: "a", Judged: true}: true, {Kind: kind("Widget"), Namespace: "b", Bare: true}: true,
		{Kind: kind("Plain"), Namespace: "a", Bare: true}: true, {Kind: object.Kind{Kind: "Secret"}, Namespace: "a", Bare: true}: true,
		{Kind: kind("Hook"), Namespace: "a", Bare: true}: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("places (-want +got):\n%s", diff)
	}

	eye := Eye{
		Judge: func(map[string]any) (health.Result, bool) { return health.Result{Status: health.Degraded}, true },
		Owner: func(map[string]any, object.Key) (string, bool) { return "shop", false },
	}
	leaf := eye.Leaf(parsed(t, `{"apiVersion":"shop.example.com/v1","kind":"Widget","metadata":{"namespace":"a","name":"there"}}`), false)
	listed := map[Spot]bool{{Kind: kind("Widget"), Namespace: "a"}: true, {Kind: kind("Hook"), Namespace: "a"}: true}
	seen := map[string]string{}
	Walk(Tree(resources, []*Leaf{leaf}, listed, "shop"), func(_ int, _, n *api.TreeNode) { seen[n.Name] = n.Health })
	if diff := cmp.Diff(map[string]string{"there": "Degraded", "gone": "Missing", "told": "Healthy", "p": "", "s": "", "h": ""}, seen); diff != "" {
		t.Errorf("health (-want +got):\n%s", diff)
	}
}

// Whoever writes an object may make any field of it anything, of any length.
func TestALeafOfAnyObjectIsSmall(t *testing.T) {
	t.Parallel()
	value := func(long string) *rapid.Generator[any] {
		return rapid.SampledFrom([]any{nil, long, int64(7), true, []any{long, map[string]any{"ip": long, "image": long}}, map[string]any{"a": long}})
	}(strings.Repeat("x", 100<<10))
	rapid.Check(t, func(t *rapid.T) {
		fields := func(names ...string) map[string]any {
			out := map[string]any{}
			for _, name := range names {
				out[name] = value.Draw(t, name)
			}
			return out
		}
		status := fields("phase", "podIP", "reason", "conditions", "containerStatuses", "replicas", "message")
		status["loadBalancer"] = fields("ingress")
		spec := fields("containers", "selector", "rules", "hosts", "http", "parentRefs", "externalIPs", "externalName", "nodeName", "tls", "type")
		spec["template"] = map[string]any{"spec": fields("containers", "initContainers")}
		obj := map[string]any{
			"apiVersion": rapid.SampledFrom([]string{"v1", "apps/v1", "networking.k8s.io/v1", "gateway.networking.k8s.io/v1", "networking.istio.io/v1"}).Draw(t, "version"),
			"kind":       rapid.SampledFrom([]string{"Pod", "Service", "Deployment", "Ingress", "HTTPRoute", "VirtualService", "Gateway"}).Draw(t, "kind"),
			"metadata":   map[string]any{"name": "a", "namespace": "b"}, "spec": spec, "status": status,
		}
		raw, err := json.Marshal(Eye{}.Leaf(obj, false).node)
		if err != nil || len(raw) > 64<<10 {
			t.Fatalf("%d bytes, %v", len(raw), err)
		}
	})
}

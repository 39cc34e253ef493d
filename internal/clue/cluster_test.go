package clue

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// patience is how long controllers of a busy cluster may take: an autoscaler looks every 15 s.
const patience = 90 * time.Second

// yard is a namespace of a real cluster.
type yard struct {
	t       *testing.T
	ns      string
	cluster Dynamic
}

func newYard(t *testing.T) *yard {
	t.Helper()
	config := testenv.Cluster(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	core, err := typedcorev1.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return &yard{t: t, ns: testenv.Namespace(t), cluster: Dynamic{Client: client, Core: core}}
}

// in is the client of a kind, which has the version v1 but for autoscaling.
func (y *yard) in(kind string) dynamic.ResourceInterface {
	group, resource := groupOf(kind)
	version := "v1"
	if group == "autoscaling" {
		version = "v2"
	}
	return y.cluster.Client.Resource(schema.GroupVersionResource{Group: group, Version: version, Resource: resource}).Namespace(y.ns)
}

// create makes the objects of a manifest, the last one first: what it is about comes first, and finds the others there.
func (y *yard) create(manifest string) object.Key {
	y.t.Helper()
	var key object.Key
	for _, doc := range slices.Backward(strings.Split(manifest, "---\n")) {
		obj := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &obj.Object); err != nil {
			y.t.Fatalf("%v in %s", err, doc)
		}
		if _, err := y.in(obj.GetKind()).Create(y.t.Context(), obj, metav1.CreateOptions{}); err != nil {
			y.t.Fatal(err)
		}
		key = object.Key{Group: obj.GroupVersionKind().Group, Kind: obj.GetKind(), Namespace: y.ns, Name: obj.GetName()}
		if key.Kind == "ResourceQuota" {
			y.inForce(key.Name)
		}
	}
	return key
}

// inForce waits until a quota is counted: before that it is unknown what it would refuse.
func (y *yard) inForce(quota string) {
	y.t.Helper()
	err := wait.PollUntilContextTimeout(y.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		obj, err := y.in("ResourceQuota").Get(ctx, quota, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		hard, _, _ := unstructured.NestedMap(obj.Object, "status", "hard")
		return len(hard) > 0, nil
	})
	if err != nil {
		y.t.Fatalf("quota %s: %v", quota, err)
	}
}

// find looks at an object until a finding has a code.
func (y *yard) find(key object.Key, code string, ask Ask) api.Finding {
	y.t.Helper()
	return y.findShowing(key, code, "", ask)
}

// findShowing looks at an object until a finding has a code, and a text in its evidence: a controller writes the status of an
// object first, and its Event after that.
func (y *yard) findShowing(key object.Key, code, text string, ask Ask) api.Finding {
	y.t.Helper()
	var last api.FindingsAnswer
	err := wait.PollUntilContextTimeout(y.t.Context(), 100*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		obj, err := y.in(key.Kind).Get(ctx, key.Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		ask.App, ask.Now = "web", time.Now()
		last = Look(ctx, y.cluster, []Root{{Key: key, Object: obj.Object}}, ask)
		return len(last.Items) == 1 && last.Items[0].Code == code && len(last.Warnings) == 0 && shows(last.Items[0], text), nil
	})
	if err != nil {
		y.t.Fatalf("%s, %q: %v; the last answer is %+v", code, text, err, last)
	}
	return last.Items[0]
}

// shows reports whether a finding has a text in its evidence; "" asks for none.
func shows(f api.Finding, text string) bool {
	return text == "" || slices.ContainsFunc(f.Evidence, func(e api.Evidence) bool { return strings.Contains(e.Text, text) })
}

// kubelet writes the status of the one pod as a kubelet would, and an Event about it.
func (y *yard) kubelet(status, reason, message string) {
	y.t.Helper()
	var pod *unstructured.Unstructured
	err := wait.PollUntilContextTimeout(y.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		list, err := y.in("Pod").List(ctx, metav1.ListOptions{})
		if err != nil || len(list.Items) != 1 {
			return false, err
		}
		pod = &list.Items[0]
		statuses, _, _ := unstructured.NestedSlice(pod.Object, "status", "containerStatuses")
		return len(statuses) == 1, nil // what plays the kubelet has done its part
	})
	if err != nil {
		y.t.Fatal(err)
	}
	raw, err := yaml.YAMLToJSON([]byte(status))
	if err != nil {
		y.t.Fatal(err)
	}
	if _, err := y.in("Pod").Patch(y.t.Context(), pod.GetName(), types.MergePatchType, raw, metav1.PatchOptions{}, "status"); err != nil {
		y.t.Fatal(err)
	}
	if reason == "" {
		return
	}
	event := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Event", "metadata": map[string]any{"generateName": "kubelet-"}, "type": "Warning", "reason": reason, "message": message,
		"involvedObject": map[string]any{
			"apiVersion": "v1", "kind": "Pod", "namespace": y.ns, "name": pod.GetName(), "uid": string(pod.GetUID()), "fieldPath": "spec.containers{app}",
		},
		"count": int64(3), "firstTimestamp": time.Now().UTC().Format(time.RFC3339), "lastTimestamp": time.Now().UTC().Format(time.RFC3339),
	}}
	if _, err := y.in("Event").Create(y.t.Context(), event, metav1.CreateOptions{}); err != nil {
		y.t.Fatal(err)
	}
}

const web = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 1
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web%s}%s}
    spec: {%s containers: [{name: app, image: "registry.invalid/web:1"}]}
`

func TestTheControllersOfARealClusterSayWhatFails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, manifest, code, says, kind, shows string }{
		{"no node", fmt.Sprintf(web, "", "", "nodeSelector: {no: where},"), "Unschedulable", "fits on no node: 0/", "Pod", "FailedScheduling"},
		{"no service account", fmt.Sprintf(web, "", "", "serviceAccountName: nobody,"), "Config", "cannot create its pods: ServiceAccount nobody does not exist", "ReplicaSet", "FailedCreate"},
		{
			"a quota", fmt.Sprintf(web, "", "", "") + "---\n{apiVersion: v1, kind: ResourceQuota, metadata: {name: small}, spec: {hard: {requests.cpu: \"1\"}}}\n",
			"Quota", "cannot create its pods: ResourceQuota small wants every container to set requests.cpu", "ReplicaSet", "FailedCreate",
		},
		{
			"a claim without a class", "{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data}, spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}\n",
			"ClaimPending", "is pending: no PersistentVolume fits, it names no StorageClass", "PersistentVolumeClaim", "FailedBinding",
		},
		{
			"a claim of a StatefulSet", `apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec:
  replicas: 1
  serviceName: db
  selector: {matchLabels: {app: db}}
  template: {metadata: {labels: {app: db}}, spec: {containers: [{name: app, image: db, volumeMounts: [{name: data, mountPath: /data}]}]}}
  volumeClaimTemplates: [{metadata: {name: data}, spec: {storageClassName: no-such-class, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}]
`, "ClaimPending", "data-db-0 is pending: StorageClass no-such-class does not exist", "PersistentVolumeClaim", "ProvisioningFailed",
		},
		{
			"a Service without pods", "{apiVersion: v1, kind: Service, metadata: {name: web}, spec: {selector: {app: wbe}, ports: [{port: 80}]}}\n",
			"NoPods", "has no endpoints: no pod has the labels of its selector (app=wbe)", "Service", "no endpoint",
		},
		{
			"an Ingress to nothing", `apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web}
spec: {defaultBackend: {service: {name: nothing, port: {number: 80}}}}
`, "IngressBackend", "which does not exist", "Ingress", "backend: Service",
		},
		{
			"an autoscaler of nothing", `apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec: {scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: nothing}, maxReplicas: 2}
`, "Missing", "cannot scale Deployment nothing", "HorizontalPodAutoscaler", "FailedGetScale",
		},
		{
			"a Job that fails", `apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  backoffLimit: 0
  template: {metadata: {labels: {devcluster/outcome: fail}}, spec: {restartPolicy: Never, containers: [{name: run, image: a}]}}
`, "Crash", "crashes: exit code 1", "Pod", "terminated",
		},
		{
			"a DaemonSet without nodes", `apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node}
spec:
  selector: {matchLabels: {app: node}}
  template: {metadata: {labels: {app: node}}, spec: {nodeSelector: {no: where}, containers: [{name: app, image: a}]}}
`, "Unschedulable", "runs on no node", "DaemonSet", "desiredNumberScheduled: 0",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			y := newYard(t)
			f := y.findShowing(y.create(c.manifest), c.code, c.shows, Ask{})
			if !strings.Contains(f.What, c.says) || f.Object.Kind != c.kind {
				t.Errorf("the finding is %+v", f)
			}
		})
	}
}

func TestThePodSecurityOfANamespaceIsNamed(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	patch := []byte(`{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"baseline"}}}`)
	if _, err := y.cluster.Client.Resource(core("namespaces")).Patch(t.Context(), y.ns, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	f := y.find(y.create(fmt.Sprintf(web, "", "", "hostNetwork: true,")), "Admission", Ask{})
	if !strings.Contains(f.What, "cannot create its pods: the pod security level baseline:latest of its namespace forbids it: ") {
		t.Errorf("the finding is %+v", f)
	}
}

func TestWhatAKubeletWritesIsFoundInARealCluster(t *testing.T) {
	t.Parallel()
	t.Run("an image", func(t *testing.T) {
		t.Parallel()
		y := newYard(t)
		key := y.create(fmt.Sprintf(web, ", devcluster/outcome: unready", "", ""))
		first := y.find(key, "ImagePull", Ask{})
		if !strings.Contains(first.What, "image registry.invalid/web:1 cannot be used") {
			t.Errorf("before there is an Event, the finding is %+v", first)
		}
		y.kubelet(`{status: {containerStatuses: [{name: app, image: "registry.invalid/web:1", imageID: "", ready: false, restartCount: 0, state: {waiting: {reason: ImagePullBackOff, message: 'Back-off pulling image "registry.invalid/web:1"'}}}]}}`,
			"Failed", `Failed to pull image "registry.invalid/web:1": rpc error: code = NotFound desc = failed to resolve reference: registry.invalid/web:1: not found`)
		f := y.find(key, "ImageMissing", Ask{})
		if f.Evidence[0].Source != api.EvidenceEvent || f.Evidence[0].Count != 3 || f.Since.IsZero() || f.Evidence[0].Container != "app" {
			t.Errorf("the finding is %+v", f)
		}
	})
	t.Run("a crash with its log", func(t *testing.T) {
		t.Parallel()
		y := newYard(t)
		notes := `, annotations: {devcluster/previous-log.app: "2020-01-01T00:00:00Z starting\npanic: no database, password=hunter2secret\n"}`
		key := y.create(fmt.Sprintf(web, ", devcluster/outcome: restarted", notes, ""))
		y.kubelet(`{status: {phase: Running, containerStatuses: [{name: app, image: a, imageID: "", ready: false, restartCount: 4, state: {running: {startedAt: "`+time.Now().UTC().Format(time.RFC3339)+
			`"}}, lastState: {terminated: {exitCode: 2, reason: Error, finishedAt: "`+time.Now().UTC().Format(time.RFC3339)+`"}}}]}}`, "", "")
		f := y.find(key, "Crash", Ask{})
		if f.Log == nil || !f.Log.Previous || len(f.Log.Lines) > 0 || f.Restarts != 4 {
			t.Errorf("unasked, the finding is %+v with the log %+v", f, f.Log)
		}
		f = y.find(key, "Crash", Ask{Logs: true})
		if all := strings.Join(f.Log.Lines, "\n"); !strings.Contains(all, "panic: no database") || strings.Contains(all, "hunter2") {
			t.Errorf("asked, the log is %q (%s)", all, f.Log.Note)
		}
	})
}

// Package e2e tests the built devcluster binary. It imports nothing of
// Kubernetes but its client, so that the tests compile in seconds.
package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"
)

// process is one life of the built binary.
type process struct {
	command *exec.Cmd
	output  *bytes.Buffer
	ended   chan struct{}
}

// binary returns the path of the built binary, or skips the test.
func binary(t *testing.T) string {
	t.Helper()
	path := os.Getenv("DEVCLUSTER")
	if path == "" {
		path = "../../../bin/devcluster"
	}
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no devcluster binary: build it with make -C dev/cluster devcluster, or set DEVCLUSTER: %v", err)
	}
	return path
}

// start runs the binary on data and returns when the cluster is ready.
func start(ctx context.Context, t *testing.T, data string, arguments ...string) *process {
	t.Helper()
	mark := filepath.Join(data, "ready")
	if err := os.Remove(mark); err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	began := time.Now()
	p := &process{output: &bytes.Buffer{}, ended: make(chan struct{})}
	p.command = exec.Command(binary(t), append([]string{"--data", data}, arguments...)...)
	p.command.Stderr = p.output
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.command.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() { p.kill() })
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		select {
		case <-p.ended:
			return false, errors.New("devcluster ended")
		default:
		}
		_, err := os.Stat(mark)
		return err == nil, nil
	})
	if err != nil {
		t.Fatalf("wait for cluster: %v\n%s", err, p.output)
	}
	t.Logf("ready after %.1f s", time.Since(began).Seconds())
	return p
}

func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// stop asks the cluster to end and fails the test unless it does so cleanly.
func (p *process) stop(ctx context.Context, t *testing.T) {
	t.Helper()
	began := time.Now()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		t.Fatalf("devcluster did not stop:\n%s", p.output)
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Fatalf("exit code %d, want 0:\n%s", code, p.output)
	}
	t.Logf("stopped after %.1f s", time.Since(began).Seconds())
}

func connect(t *testing.T, data string) *kubernetes.Clientset {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	config.QPS = -1
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// eventually waits until check reports true.
func eventually(ctx context.Context, t *testing.T, what string, check func() (bool, error)) {
	t.Helper()
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) { return check() })
	if err != nil {
		t.Fatalf("wait until %s: %v", what, err)
	}
}

func podTemplate(labels map[string]string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example.invalid/app:1"}}},
	}
}

func deployment(name string, replicas int32, labels map[string]string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: podTemplate(labels),
		},
	}
}

func job(name string, labels map[string]string) *batchv1.Job {
	retries := int32(0)
	template := podTemplate(labels)
	template.Spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       batchv1.JobSpec{BackoffLimit: &retries, Template: template},
	}
}

func TestAClusterRollsOutWorkloadsAndKeepsThemOverRestarts(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	defer cancel()
	data := t.TempDir()
	p := start(ctx, t, data)
	client := connect(t, data)

	version, err := client.Discovery().ServerVersion()
	if err != nil {
		t.Fatal(err)
	}
	if version.GitVersion != "v1.36.3" || version.Minor != "36" {
		t.Errorf("server version %s (minor %q), want v1.36.3", version.GitVersion, version.Minor)
	}

	rollOut(ctx, t, client)
	before, err := os.ReadFile(filepath.Join(data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}

	p.kill()
	second := start(ctx, t, data)
	sameData(ctx, t, data, before)
	second.stop(ctx, t)

	third := start(ctx, t, data)
	sameData(ctx, t, data, before)
	third.stop(ctx, t)
}

// rollOut makes one workload of each kind and waits for its end.
func rollOut(ctx context.Context, t *testing.T, client *kubernetes.Clientset) {
	t.Helper()
	began := time.Now()
	apps := client.AppsV1().Deployments("default")
	if _, err := apps.Create(ctx, deployment("web", 5, map[string]string{"app": "web"}), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "5 pods are ready", func() (bool, error) {
		d, err := apps.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == 5, err
	})
	t.Logf("5 pods ready after %.2f s", time.Since(began).Seconds())

	jobs := client.BatchV1().Jobs("default")
	for name, outcome := range map[string]string{"good": "", "bad": "fail"} {
		if _, err := jobs.Create(ctx, job(name, map[string]string{"devcluster/outcome": outcome}), metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	eventually(ctx, t, "one job succeeded and one failed", func() (bool, error) {
		good, err := jobs.Get(ctx, "good", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		bad, err := jobs.Get(ctx, "bad", metav1.GetOptions{})
		return err == nil && good.Status.Succeeded == 1 && bad.Status.Failed == 1, err
	})

	stuck := map[string]string{"app": "stuck", "devcluster/outcome": "unready"}
	if _, err := apps.Create(ctx, deployment("stuck", 1, stuck), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "a pod cannot get its image", func() (bool, error) {
		pods, err := client.CoreV1().Pods("default").List(ctx, metav1.ListOptions{LabelSelector: "app=stuck"})
		if err != nil || len(pods.Items) == 0 || len(pods.Items[0].Status.ContainerStatuses) == 0 {
			return false, err
		}
		waiting := pods.Items[0].Status.ContainerStatuses[0].State.Waiting
		return waiting != nil && waiting.Reason == "ImagePullBackOff", nil
	})
}

// sameData checks that the kubeconfig is the one from before and that the
// workload is there and alive: it can still be scaled.
func sameData(ctx context.Context, t *testing.T, data string, kubeconfig []byte) {
	t.Helper()
	now, err := os.ReadFile(filepath.Join(data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(now, kubeconfig) {
		t.Error("the kubeconfig changed over a restart")
	}
	apps := connect(t, data).AppsV1().Deployments("default")
	scale, err := apps.GetScale(ctx, "web", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := scale.Spec.Replicas + 1
	scale.Spec.Replicas = want
	if _, err := apps.UpdateScale(ctx, "web", scale, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	eventually(ctx, t, "the deployment is scaled up", func() (bool, error) {
		d, err := apps.Get(ctx, "web", metav1.GetOptions{})
		return err == nil && d.Status.ReadyReplicas == want, err
	})
	t.Logf("scaled up after %.2f s", time.Since(began).Seconds())
}

func TestASecondClusterOnTheSameDirectoryIsRefused(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	data := t.TempDir()
	start(ctx, t, data, "--nodes", "0")

	other := exec.CommandContext(ctx, binary(t), "--data", data)
	output, err := other.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "in use by another devcluster") {
		t.Errorf("second start: error %v, output %s", err, output)
	}
	var ready struct {
		PID int `json:"pid"`
	}
	mark, err := os.ReadFile(filepath.Join(data, "ready"))
	if err != nil {
		t.Fatalf("the refused start removed the mark of the first: %v", err)
	}
	if err := json.Unmarshal(mark, &ready); err != nil || ready.PID == 0 {
		t.Errorf("ready mark %s: %v", mark, err)
	}
}

func TestCustomResourcesPoliciesAndOwnersWork(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	data := t.TempDir()
	start(ctx, t, data, "--nodes", "0")
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	create := func(resource schema.GroupVersionResource, namespace, manifest string) (*unstructured.Unstructured, error) {
		var object map[string]any
		if err := yaml.Unmarshal([]byte(manifest), &object); err != nil {
			t.Fatal(err)
		}
		return client.Resource(resource).Namespace(namespace).Create(ctx, &unstructured.Unstructured{Object: object}, metav1.CreateOptions{})
	}
	must := func(object *unstructured.Unstructured, err error) *unstructured.Unstructured {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return object
	}

	definitions := schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}
	must(create(definitions, "", widgetDefinition))
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	widget := func(name string, size int) string {
		return fmt.Sprintf("{apiVersion: example.com/v1, kind: Widget, metadata: {name: %s}, spec: {size: %d}}", name, size)
	}
	var owner *unstructured.Unstructured
	eventually(ctx, t, "a custom resource can be created", func() (bool, error) {
		owner, err = create(widgets, "default", widget("owner", 1))
		if apierrors.IsNotFound(err) {
			return false, nil
		}
		return err == nil, err
	})

	admission := schema.GroupVersionResource{Group: "admissionregistration.k8s.io", Version: "v1", Resource: "validatingadmissionpolicies"}
	must(create(admission, "", widgetPolicy))
	admission.Resource = "validatingadmissionpolicybindings"
	must(create(admission, "", widgetPolicyBinding))
	tries := 0
	eventually(ctx, t, "the policy refuses a large custom resource", func() (bool, error) {
		tries++
		_, err := create(widgets, "default", widget(fmt.Sprintf("large-%d", tries), 100))
		return err != nil && strings.Contains(err.Error(), "too large"), nil
	})

	configMaps := schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}
	must(create(configMaps, "default", fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, ownerReferences: [
		{apiVersion: example.com/v1, kind: Widget, name: owner, uid: %s}]}}`, owner.GetUID())))
	if err := client.Resource(widgets).Namespace("default").Delete(ctx, "owner", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(ctx, t, "what the custom resource owned is deleted", func() (bool, error) {
		_, err := client.Resource(configMaps).Namespace("default").Get(ctx, "owned", metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})

	services := schema.GroupVersionResource{Group: "apiregistration.k8s.io", Version: "v1", Resource: "apiservices"}
	eventually(ctx, t, "the API service of the custom resource is available", func() (bool, error) {
		service, err := client.Resource(services).Get(ctx, "v1.example.com", metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		conditions, _, err := unstructured.NestedSlice(service.Object, "status", "conditions")
		if err != nil || len(conditions) == 0 {
			return false, err
		}
		condition, ok := conditions[0].(map[string]any)
		return ok && condition["type"] == "Available" && condition["status"] == "True", nil
	})
}

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
`

const widgetPolicy = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: small}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [widgets]}]
  validations: [{expression: "object.spec.size < 10", message: "too large"}]
`

const widgetPolicyBinding = `
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: small}
spec: {policyName: small, validationActions: [Deny]}
`

func TestAClusterEndsOnceNobodyHoldsItsLock(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	path := filepath.Join(t.TempDir(), "use")
	lock, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_SH); err != nil {
		t.Fatal(err)
	}
	p := start(ctx, t, t.TempDir(), "--nodes", "0", "--while-locked", path, "--grace", "500ms")
	select {
	case <-p.ended:
		t.Fatalf("the cluster ended while its lock was held:\n%s", p.output)
	default:
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.ended:
	case <-ctx.Done():
		t.Fatal("the cluster still runs")
	}
	if code := p.command.ProcessState.ExitCode(); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, p.output)
	}
}

package verb

import (
	"errors"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/agent/command"
	"github.com/slipway-gitops/slipway/internal/agent/shard"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

func TestOneAPIServersRefusalOfATerminalIsTold(t *testing.T) {
	t.Parallel()
	config := rest.CopyConfig(testenv.Cluster(t))
	config.Impersonate = rest.ImpersonationConfig{UserName: "nobody"}
	_, err := dialExec(t.Context(), config, podOf("web"), "web", []string{"sh"}, true)
	if command.CodeOf(err) != agentapi.CodeForbidden || !strings.Contains(err.Error(), `User "nobody" cannot`) {
		t.Errorf("the refusal is told as %v", err)
	}
	config = rest.AnonymousClientConfig(config)
	config.BearerToken = "sesame-open-up"
	if _, err = dialExec(t.Context(), config, podOf("web"), "web", []string{"sh"}, true); err == nil || strings.Contains(err.Error(), "sesame-open-up") {
		t.Errorf("a token that is worth nothing is told as %v", err)
	}
}

func podOf(names ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1"}, Status: corev1.PodStatus{Phase: corev1.PodRunning}}
	for _, name := range names {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
	}
	return pod
}

func TestATerminalIsInARunningContainer(t *testing.T) {
	t.Parallel()
	ended := podOf("web")
	ended.Status.Phase = corev1.PodSucceeded
	marked := podOf("proxy", "web")
	marked.Annotations = map[string]string{"kubectl.kubernetes.io/default-container": "web"}
	for _, c := range []struct {
		name, asked, want string
		pod               *corev1.Pod
	}{
		{"the first", "", "proxy", podOf("proxy", "web")},
		{"the one that the pod names", "", "web", marked},
		{"the one that is asked for", "web", "web", podOf("proxy", "web")},
		{"none of that name", "x", "", podOf("web")},
		{"a pod that has ended", "", "", ended},
		{"a pod without containers", "", "", podOf()},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got, err := runningContainer(c.pod, c.asked); got != c.want || (err == nil) != (c.want != "") {
				t.Errorf("it is %q, %v; want %q", got, err, c.want)
			}
		})
	}
}

func TestATerminalOfWhichTheLeaseIsLostBeforeItDialsBeginsNoCommand(t *testing.T) {
	t.Parallel()
	ctx, _ := shard.Under(t.Context(), clock.Now().Add(-time.Millisecond))
	conn, err := dialExec(ctx, testenv.Cluster(t), podOf("talker"), "talker", []string{"true"}, false)
	if !errors.Is(err, shard.ErrLost) {
		t.Errorf("it dials without a lease: %v", err)
	}
	if conn != nil {
		_ = conn.Close()
	}
}

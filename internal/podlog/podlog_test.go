package podlog

import (
	"bytes"
	"context"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/slipway-gitops/slipway/api"
)

func podOf(names ...string) *corev1.Pod {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-1", UID: "1"}}
	for _, name := range names {
		pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: name})
	}
	return pod
}

func TestLinesOfSeveralContainersSayWhoseTheyAre(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	in := strings.NewReader("a\n" + strings.Repeat("b", 3*MaxLine) + "\nc")
	if err := copyLines(in, "web/app ", api.Logs{}, &lines{to: &out}); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(got) != 3 || got[0] != "web/app a" || !strings.HasPrefix(got[1], "web/app bbb") || len(got[1]) > MaxLine+20 || got[2] != "web/app c" {
		t.Errorf("%d lines: %.60q", len(got), got)
	}
	if _, err := choose([]corev1.Pod{*podOf("web")}, "x", "it"); err == nil || !strings.Contains(err.Error(), "[web]") {
		t.Errorf("a container that is not there gives %v", err)
	}
	many := make([]corev1.Pod, MaxStreams+1)
	for i := range many {
		many[i] = *podOf("web")
	}
	if _, err := choose(many, "", "it"); err == nil || !strings.Contains(err.Error(), "51 containers") {
		t.Error("any number of logs is read at once")
	}
}

func TestLinesAreChosenByAText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, want string
		req        api.Logs
	}{
		{"all", "Error one\nwarning\nerror two\n", api.Logs{IgnoreCase: true}},
		{"just these letters", "error two\n", api.Logs{Search: "error"}},
		{"small or large letters", "Error one\nerror two\n", api.Logs{Search: "eRRor", IgnoreCase: true}},
		{"all but those", "warning\n", api.Logs{Search: "eRRor", IgnoreCase: true, Invert: true}},
	} {
		var out bytes.Buffer
		if err := copyLines(strings.NewReader("Error one\nwarning\nerror two\n"), "", c.req, &lines{to: &out}); err != nil || out.String() != c.want {
			t.Errorf("%s: %q, %v", c.name, out.String(), err)
		}
	}
}

func TestNoMoreLogsThanTheMostAreFollowed(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	started := 0
	f := follower{Reader: &Reader{}, out: &lines{to: &out}, known: map[run]bool{}, done: make(chan struct{}, MaxStreams), spawn: func(func() error) { started++ }}
	pod := podOf("web")
	pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "web", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}}
	begin := func(restarts int32) {
		t.Helper()
		pod.Status.ContainerStatuses[0].RestartCount = restarts
		if err := f.begin(context.Background(), []corev1.Pod{*pod}, true); err != nil {
			t.Fatal(err)
		}
	}
	for i := range int32(MaxStreams + 1) {
		begin(i)
		begin(i) // nothing is followed twice
	}
	if started != MaxStreams || !strings.Contains(out.String(), "web-1/web (not followed: 50 logs are") {
		t.Errorf("%d are followed, and it says %q", started, out.String())
	}
	f.done <- struct{}{}
	if begin(MaxStreams + 1); started != MaxStreams+1 {
		t.Error("where one has ended, another does not begin")
	}
}

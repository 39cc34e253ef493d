package kubelet

import (
	"bytes"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func began() time.Time { return time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC) }

func running(annotations map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web-0", Annotations: annotations},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "web"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "web", State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{StartedAt: metav1.NewTime(began())}},
		}}},
	}
}

// read returns the log of the container "web" as a request gets it.
func read(t *testing.T, pod *corev1.Pod, query string) string {
	t.Helper()
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	q, err := readLogRequest(values, began().Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	life, err := spanOf(pod, statusOf(pod, "web"), q.previous)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := &logWriter{q: q, to: &out, flush: func() error { return nil }}
	_ = w.write(q.chosen(dated(said(pod, "web", life.annotation), life.began))) // errFull is seen in the text
	return out.String()
}

func TestALogIsWhatTheAnnotationsSay(t *testing.T) {
	t.Parallel()
	const old = "2020-01-01T00:00:00Z long ago\nnow\n2026-01-31T12:59:30.5Z late\n"
	restarted := running(map[string]string{"devcluster/log": "again", "devcluster/previous-log": "before"})
	restarted.Status.ContainerStatuses[0].LastTerminationState.Terminated = &corev1.ContainerStateTerminated{StartedAt: metav1.NewTime(began())}
	tests := []struct {
		name, query, want string
		pod               *corev1.Pod
	}{
		{"nothing", "", "web started\n", running(nil)},
		{"all", "", "web started\nlong ago\nnow\nlate\n", running(map[string]string{"devcluster/log": old})},
		{"that of the container", "", "web started\nmine\n", running(map[string]string{"devcluster/log": old, "devcluster/log.web": "mine", "devcluster/log.other": "its"})},
		{"empty lines", "", "web started\n\n\n", running(map[string]string{"devcluster/log": "\n\n"})},
		{"the last minute", "sinceSeconds=60", "late\n", running(map[string]string{"devcluster/log": old})},
		{"since a time", "sinceTime=2026-01-31T12:00:00Z", "web started\nnow\nlate\n", running(map[string]string{"devcluster/log": old})},
		{"any number of seconds", "sinceSeconds=9223372036854775807", "web started\nlong ago\nnow\nlate\n", running(map[string]string{"devcluster/log": old})},
		{"so many bytes", "limitBytes=14", "web started\nlo", running(map[string]string{"devcluster/log": old})},
		{"so many bytes as there are", "limitBytes=12", "web started\n", running(map[string]string{"devcluster/log": old})},
		{"with times", "timestamps=true&sinceSeconds=60", "2026-01-31T12:59:30.500000000Z late\n", running(map[string]string{"devcluster/log": old})},
		{"of the error stream", "stream=Stderr", "", running(map[string]string{"devcluster/log": old})},
		{"of the present life", "", "web started\nagain\n", restarted},
		{"of the life before", "previous=true", "web started\nbefore\n", restarted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := read(t, test.pod, test.query); got != test.want {
				t.Errorf("the log is %q, want %q", got, test.want)
			}
		})
	}
}

func TestALogThatIsNotThereIsToldAsAKubeletDoes(t *testing.T) {
	t.Parallel()
	waiting := running(nil)
	waiting.Status.ContainerStatuses[0].State = corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff"}}
	tests := []struct {
		name, want string
		pod        *corev1.Pod
		previous   bool
	}{
		{"never restarted", `previous terminated container "web" in pod "web-0" not found`, running(nil), true},
		{"not begun", `container "web" in pod "web-0" is waiting to start: ImagePullBackOff`, waiting, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			_, err := spanOf(test.pod, statusOf(test.pod, "web"), test.previous)
			if err == nil || err.Error() != test.want {
				t.Errorf("it is told as %v, want %s", err, test.want)
			}
		})
	}
}

func TestARequestForALogThatMeansNothingIsRefused(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"follow=perhaps", "tailLines=-1", "limitBytes=many", "sinceSeconds=1.5", "sinceTime=yesterday"} {
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		name, _, _ := strings.Cut(query, "=")
		if _, err := readLogRequest(values, began()); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s gives %v", query, err)
		}
	}
}

func TestWhatIsNewInALog(t *testing.T) {
	t.Parallel()
	lines := func(text string) []line {
		return said(running(map[string]string{"devcluster/log": text}), "web", "devcluster/log")
	}
	for _, test := range []struct {
		name, before, now string
		want              []line
	}{
		{name: "nothing", before: "a\nb", now: "a\nb"},
		{name: "a line at the end", before: "a\nb", now: "a\nb\nc", want: []line{{text: "c"}}},
		{name: "other lines", before: "a\nb", now: "x", want: []line{{text: "x"}}},
		{name: "fewer lines", before: "a\nb", now: "a"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			got := fresh(lines(test.before), lines(test.now))
			if !slices.Equal(got, test.want) {
				t.Errorf("new is %v, want %v", got, test.want)
			}
		})
	}
}

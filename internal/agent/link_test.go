package agent

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/place"
	"github.com/slipway-gitops/slipway/internal/operate"
)

// operated is an Application with an operation that began at a minute of today.
func operated(minute int, phase v1alpha1.OperationPhase, change func(*v1alpha1.OperationState)) *v1alpha1.Application {
	start := metav1.NewTime(time.Now().Truncate(time.Hour).Add(time.Duration(minute) * time.Minute))
	op := &v1alpha1.OperationState{Phase: phase, StartedAt: start, SyncResult: &v1alpha1.SyncOperationResult{Revision: "new"}}
	if phase.Completed() {
		end := metav1.NewTime(start.Add(time.Second))
		op.FinishedAt = &end
	}
	if change != nil {
		change(op)
	}
	return &v1alpha1.Application{
		ObjectMeta: metav1.ObjectMeta{Namespace: "argocd", Name: "web", UID: "1"},
		Status:     v1alpha1.ApplicationStatus{OperationState: op, History: []v1alpha1.RevisionHistory{{Revision: "old"}}},
	}
}

func TestBeginningAndEndOfASyncAreToldOnce(t *testing.T) {
	t.Parallel()
	const running, done, failed = v1alpha1.OperationRunning, v1alpha1.OperationSucceeded, v1alpha1.OperationFailed
	other := operated(1, done, nil)
	other.UID = "2"
	ancient := operated(1, done, func(op *v1alpha1.OperationState) {
		end := metav1.NewTime(time.Now().Add(-2 * eventMemory))
		op.FinishedAt = &end
	})
	tests := []struct {
		name       string
		old, fresh *v1alpha1.Application
		want       string
	}{
		{"it begins", operated(1, done, nil), operated(2, running, nil), "sync.started"},
		{"it ends", operated(2, running, nil), operated(2, failed, nil), "sync.finished"},
		{"it began and ended between two looks", operated(1, done, nil), operated(2, done, nil), "sync.started sync.finished"},
		{"nothing new", operated(2, done, nil), operated(2, done, nil), ""},
		{"progress", operated(2, running, nil), operated(2, running, nil), ""},
		{"seen for the first time", nil, operated(2, done, nil), "sync.started sync.finished"},
		{"seen for the first time, long ended", nil, ancient, ""},
		{"another one of this name", other, operated(1, done, nil), "sync.started sync.finished"},
		{"no operation", nil, &v1alpha1.Application{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			ids := map[string]bool{}
			for _, e := range syncEvents(tt.old, tt.fresh) {
				got = append(got, string(e.Type))
				ids[e.ID] = true
			}
			if strings.Join(got, " ") != tt.want || len(ids) != len(got) {
				t.Errorf("got %v with %d ids, want %q", got, len(ids), tt.want)
			}
			for _, e := range syncEvents(tt.old, tt.fresh) {
				if !ids[e.ID] {
					t.Error("the same event has another id when it is told again")
				}
			}
		})
	}
}

func TestAnEventSaysWhoWhatAndWhy(t *testing.T) {
	t.Parallel()
	before := operated(1, v1alpha1.OperationSucceeded, nil)
	fresh := operated(2, v1alpha1.OperationFailed, func(op *v1alpha1.OperationState) {
		op.Message = "no such file"
		op.Operation = v1alpha1.Operation{
			InitiatedBy: v1alpha1.OperationInitiator{Username: "ann"},
			Info:        []v1alpha1.Info{{Name: operate.RequestInfo, Value: "c1"}, {Name: operate.ReasonInfo, Value: "because"}},
		}
	})
	got := syncEvents(before, fresh)[1]
	want := agentapi.Event{
		ID: got.ID, At: fresh.Status.OperationState.FinishedAt.Time, Type: agentapi.EventSyncFinished, Project: "default", User: "ann", Command: "c1",
		Target:   agentapi.Key{Kind: agentapi.ItemApplication, Namespace: "argocd", Name: "web"},
		Revision: "new", Before: "old", Reason: "because", Outcome: "Failed", Message: "no such file",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsOfTheLinkFitTogether(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args       string
		standalone bool
		want       string // of the error; "" for none
	}{
		{"", true, ""},
		{"", false, "give --server URL, or --standalone"},
		{"--server https://s.example", true, "leave out either"},
		{"--server https://s.example", false, ""},
		{"--server s.example", false, "--server"},
		{"--server https://s.example --client-cert a", false, "belong together"},
		{"--server https://s.example --registration-token a --registration-token-file b", false, "one of them"},
		{"--server http://s.example", false, "without TLS"},
		{"--server http://s.example --insecure-skip-verify", false, ""},
	}
	for _, tt := range tests {
		var f linkFlags
		fs := pflag.NewFlagSet("test", pflag.ContinueOnError)
		f.add(fs)
		if err := fs.Parse(strings.Fields(tt.args)); err != nil {
			t.Fatal(err)
		}
		cfg, err := f.config(tt.standalone)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.args, err, tt.want)
		}
		if err == nil && (cfg == nil) != tt.standalone {
			t.Errorf("%s: got %+v", tt.args, cfg)
		}
	}
}

func TestATokenFileMayBeMissingAndMayBeRenewed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "token")
	read := tokenSource("", file)
	for _, want := range []string{"", "first", "second"} {
		if want != "" {
			if err := os.WriteFile(file, []byte(want+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := read(); err != nil || got != want {
			t.Errorf("got %q, %v, want %q", got, err, want)
		}
	}
}

func TestKnownSecretsAreReplacedWhereverTheyAppear(t *testing.T) {
	t.Parallel()
	a := &Agent{settings: place.NewSettings(func() {})}
	s := newLinkSource(a)
	key := "-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END X-----"
	a.settings.Put("secrets", secretWith("repo", v1alpha1.SecretTypeRepository, map[string][]byte{
		"password": []byte(`long"password`), "username": []byte("administrator"), "url": []byte("https://git.example/x"), "sshPrivateKey": []byte(key), "short": []byte("git"),
	}))
	a.settings.Put("secrets", secretWith("prod", v1alpha1.SecretTypeCluster, map[string][]byte{"config": []byte(`{"bearerToken":"a.very.long.token"}`)}))
	in := `{"a":"long\"password","b":"MIIEvQIBADANBgkqhkiG9w0BAQEFAASC","c":"a.very.long.token","d":"administrator at https://git.example/x with git"}`
	want := `{"a":"(hidden)","b":"(hidden)","c":"(hidden)","d":"administrator at https://git.example/x with git"}`
	if got := string(s.Redact([]byte(in))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	a.settings.Drop("secrets", "prod")
	if got := string(s.Redact([]byte("a.very.long.token"))); got != "a.very.long.token" {
		t.Errorf("what is no secret any more is still replaced: %s", got)
	}
}

// secretWith is a Secret with a setting, as the API server has it.
func secretWith(name, kind string, data map[string][]byte) *unstructured.Unstructured {
	values := map[string]any{}
	for field, raw := range data {
		values[field] = base64.StdEncoding.EncodeToString(raw)
	}
	obj := &unstructured.Unstructured{Object: map[string]any{"data": values}}
	obj.SetName(name)
	obj.SetLabels(map[string]string{v1alpha1.LabelSecretType: kind})
	return obj
}

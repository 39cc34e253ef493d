package node

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// TestAChangeThatAnAPIServerBreaksOffIsTriedAgain asks as KWOK does, which tries again after "service unavailable".
func TestAChangeThatAnAPIServerBreaksOffIsTriedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		again  bool
	}{
		"it ends":              {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, true},
		"it knows no roles":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }, true},
		"it has no storage":    {func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) }, true},
		"there is no such pod": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusNotFound) }, false},
		"the pod has changed":  {func(w http.ResponseWriter) { w.WriteHeader(http.StatusConflict) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				c.answer(w)
			}))
			defer server.Close()
			config := &rest.Config{Host: server.URL}
			config.Wrap(func(next http.RoundTripper) http.RoundTripper { return lasting{next} })
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.CoreV1().Pods("a").Patch(t.Context(), "b", types.MergePatchType, []byte("{}"), metav1.PatchOptions{}, "status")
			if apierrors.IsServiceUnavailable(err) != c.again {
				t.Errorf("the patch ends with %v, want that it is tried again: %v", err, c.again)
			}
		})
	}
}

func TestWhatIsReadOrWasGivenUpIsAnsweredAsItIs(t *testing.T) {
	t.Parallel()
	forbidden := roundTripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody}, r.Context().Err()
	})
	given, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []*http.Request{
		httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api", http.NoBody),
		httptest.NewRequestWithContext(given, http.MethodPatch, "/api", strings.NewReader("{}")),
	} {
		answer, err := lasting{forbidden}.RoundTrip(r)
		if answer.StatusCode != http.StatusForbidden || !errors.Is(err, r.Context().Err()) {
			t.Errorf("%s is answered %d, %v", r.Method, answer.StatusCode, err)
		}
		answer.Body.Close()
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

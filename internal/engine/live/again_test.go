package live

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// deaf is a body of a watch that says nothing more once it is told so.
type deaf struct {
	io.ReadCloser
	silent *atomic.Bool
	done   <-chan struct{}
}

// Read implements io.Reader.
func (d *deaf) Read(p []byte) (int, error) {
	n, err := d.ReadCloser.Read(p)
	if !d.silent.Load() {
		return n, err
	}
	<-d.done
	return 0, io.EOF
}

func TestAnObjectWhoseEventsWereLostIsFoundByTheSlowLook(t *testing.T) {
	t.Parallel()
	ns, app := testenv.Namespace(t), testenv.Name("app")
	config := testenv.Cluster(t)
	client, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	var silent atomic.Bool
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return tripper(func(r *http.Request) (*http.Response, error) {
			resp, err := next.RoundTrip(r)
			if err == nil && strings.HasSuffix(r.URL.Path, "/configmaps") && r.URL.Query().Get("watch") != "" {
				resp.Body = &deaf{resp.Body, &silent, r.Context().Done()}
			}
			return resp, err
		})
	})
	events, missed := make(chan Event, 1000), make(chan string, 1000)
	c, err := Open(t.Context(), Config{
		Server: config.Host, REST: config, Log: slog.New(slog.DiscardHandler), Missed: func(wait string) { missed <- wait },
		Notify: func(e Event) {
			if e.App == app {
				events <- e
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	c.grace = 50 * time.Millisecond
	res, err := c.Find(t.Context(), object.Kind{Kind: "ConfigMap"}, "")
	if err == nil {
		err = c.Watch(t.Context(), res)
	}
	if err != nil {
		t.Fatal(err)
	}
	until := func(key object.Key, good func(rec Record, tracked bool) bool) {
		t.Helper()
		for late := time.After(patience); ; {
			if rec, tracked, _ := c.Get(key); good(rec, tracked) {
				return
			}
			select {
			case <-events:
			case <-late:
				t.Fatalf("nothing tells of %s", key.Name)
			}
		}
	}
	in := client.Resource(configMaps()).Namespace(ns)
	var keys []object.Key
	for _, name := range []string{"ends", "stays"} {
		key := object.Key{Kind: "ConfigMap", Namespace: ns, Name: name}
		keys = append(keys, key)
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q,"finalizers":["example.com/wait"],"annotations":{%q:%q}}}`,
			name, object.TrackingAnnotation, object.TrackingID(app, key, ns))
		force := true
		if _, err := in.Patch(t.Context(), name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: Manager, Force: &force}); err != nil {
			t.Fatal(err)
		}
		if err := in.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { // or its namespace would stay
			_, _ = in.Patch(t.Context(), name, types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
		})
		until(key, func(rec Record, tracked bool) bool { return tracked && rec.Deleting })
	}
	if read := c.LookAgain(t.Context(), app, 10); read != 2 || len(missed) > 0 {
		t.Fatalf("a look at what the watch reported: %d read, %d missed", read, len(missed))
	}
	silent.Store(true)
	// The first answer of a read that waits already is dropped with what comes after it.
	if _, err := in.Patch(t.Context(), "ends", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if read := c.LookAgain(t.Context(), app, 1); read != 1 {
		t.Errorf("%d objects were read, and no more than 1 should be", read)
	}
	if read := c.LookAgain(t.Context(), app, 10); read == 0 {
		t.Error("nothing was read")
	}
	until(keys[0], func(_ Record, tracked bool) bool { return !tracked })
	if _, tracked, _ := c.Get(keys[1]); !tracked {
		t.Error("an object that is still there is lost")
	}
	if len(missed) != 1 || <-missed != WaitObject {
		t.Errorf("%d were counted as missed, want 1", len(missed))
	}
	changed, err := in.Patch(t.Context(), "stays", types.MergePatchType, []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
	if err != nil {
		t.Fatal(err)
	}
	c.LookAgain(t.Context(), app, 10)
	until(keys[1], func(rec Record, _ bool) bool { return rec.Version == parseVersion(changed.GetResourceVersion()) })
	if len(missed) != 1 {
		t.Errorf("%d were counted as missed, want 1 for one that is another", len(missed))
	}
}

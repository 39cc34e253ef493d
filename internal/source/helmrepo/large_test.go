package helmrepo_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/internal/source/artifact"
	"github.com/slipway-gitops/slipway/internal/source/web"
)

// TestALargeIndexTakesLittleMemory reads an index of 200 MB, which is made while it is sent.
func TestALargeIndexTakesLittleMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds")
	}
	const charts, versions, most = 2000, 100, 40 << 20
	sent := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		filler := fmt.Sprintf("    annotations:\n      artifacthub.io/changes: |\n        - %0880d\n", 7)
		n, _ := io.WriteString(w, "apiVersion: v1\nentries:\n")
		for c := range charts {
			m, _ := fmt.Fprintf(w, "  chart%d:\n", c)
			n += m
			for v := range versions {
				m, _ := fmt.Fprintf(w, "  - apiVersion: v2\n    created: \"2026-01-01T00:00:00Z\"\n%s    urls:\n    - chart%d-1.%d.0.tgz\n    version: 1.%d.0\n", filler, c, v, v)
				n += m
			}
		}
		sent = n
	}))
	t.Cleanup(s.Close)
	r := open(t, s.URL, "", web.Access{})
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	done, peak := make(chan struct{}), make(chan uint64)
	go func() {
		var top uint64
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			select {
			case <-done:
				tick.Stop()
				peak <- top
				return
			case <-tick.C:
				runtime.ReadMemStats(&now)
				top = max(top, now.HeapInuse)
			}
		}
	}()
	f, err := r.Find(t.Context(), artifact.Revision{Chart: "chart1999", Version: "1.x"}, time.Now())
	close(done)
	top := <-peak
	if err != nil || f.Version != "1.99.0" {
		t.Fatalf("found %v, %v", f, err)
	}
	t.Logf("an index of %d MB was read in %s; the heap grew from %d to %d MB at most", sent/1_000_000, time.Since(began).Round(time.Millisecond),
		before.HeapInuse/1_000_000, top/1_000_000)
	if sent < 200_000_000 {
		t.Errorf("the index has %d MB only", sent/1_000_000)
	}
	if top > before.HeapInuse+most {
		t.Errorf("reading it takes %d MiB", (top-before.HeapInuse)>>20)
	}
}

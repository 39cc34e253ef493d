package agent

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// leading is an agent that leads and has seen everything.
func leading(data string) *Agent {
	a := &Agent{ready: make(chan struct{}), disk: &disk{dir: data}, turner: turner{log: slog.New(slog.DiscardHandler)}}
	close(a.ready)
	return a
}

func (a *Agent) readiness(t *testing.T) (int, string) {
	t.Helper()
	w := httptest.NewRecorder()
	a.serveReady(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/readyz", http.NoBody))
	return w.Code, w.Body.String()
}

func TestAnAgentWhoseDiskIsFullIsNotReadyAndIsAgainWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	data := t.TempDir()
	full := filepath.Join(data, probeFile)
	if err := os.Symlink("/dev/full", full); err != nil { // every write to it fails as on a full disk
		t.Fatal(err)
	}
	a := leading(data)
	for range 2 { // the second time it knows
		if code, text := a.readiness(t); code != http.StatusServiceUnavailable || !strings.Contains(text, data) || !strings.Contains(text, "no space left") {
			t.Errorf("with a full disk: %d %s", code, text)
		}
	}
	if err := os.Remove(full); err != nil {
		t.Fatal(err)
	}
	a.disk.mu.Lock()
	a.disk.probed = time.Now().Add(-probeEvery)
	a.disk.mu.Unlock()
	if code, text := a.readiness(t); code != http.StatusOK {
		t.Errorf("with room again: %d %s", code, text)
	}
	if left, err := os.ReadDir(data); err != nil || len(left) != 0 {
		t.Errorf("the probe left %v, %v", left, err)
	}
}

func TestAnAgentWhoseDataDirectoryCannotBeIsNotReady(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if code, text := leading(filepath.Join(file, "data")).readiness(t); code != http.StatusServiceUnavailable {
		t.Errorf("%d %s", code, text)
	}
	// It is a cache: a directory that was lost is made again.
	if code, text := leading(filepath.Join(t.TempDir(), "lost", "data")).readiness(t); code != http.StatusOK {
		t.Errorf("%d %s", code, text)
	}
}

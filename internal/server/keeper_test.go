package server

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/slipway-gitops/slipway/internal/server/authn"
	"github.com/slipway-gitops/slipway/internal/server/store/db"
)

func TestASecondServerOnTheSameDirectoryDoesNotStart(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	first := newServer(t, func(c *Config) { c.Data = data })
	second := Config{Listen: "127.0.0.1:0", Data: data, AdminPassword: password, Hash: authn.Params{Memory: 64, Time: 1, Threads: 1}}
	s, err := New(t.Context(), second)
	if !errors.Is(err, db.ErrHeld) || !strings.Contains(err.Error(), "stop that process first") {
		t.Errorf("a second server starts, or does not say what to do: %v", err)
	}
	if err == nil {
		_ = s.Close() // the test has failed
	}
	if code, answer := (&world{t: t, server: first}).do("", http.MethodGet, "/readyz", ""); code != http.StatusOK {
		t.Errorf("the first one: %d %s", code, answer)
	}
}

func TestAServerWhoseDiskIsFullIsNotReady(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("there is no /dev/full here")
	}
	data := t.TempDir()
	if err := os.Symlink("/dev/full", filepath.Join(data, probeFile)); err != nil { // every write to it fails as on a full disk
		t.Fatal(err)
	}
	full := &world{t: t, server: newServer(t, func(c *Config) { c.Data = data })}
	if code, answer := full.do("", http.MethodGet, "/readyz", ""); code != http.StatusServiceUnavailable {
		t.Errorf("with a full disk: %d %s", code, answer)
	}
	fine := &world{t: t, server: newServer(t, func(*Config) {})}
	if code, answer := fine.do("", http.MethodGet, "/readyz", ""); code != http.StatusOK {
		t.Errorf("%d %s", code, answer)
	}
}

package server

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"
)

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

package place

import (
	"log/slog"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// tracking is what argocd-cm says about how objects are marked as those of an Application.
type tracking struct {
	settings     *Settings
	installation string // where the settings name none
	log          *slog.Logger

	mu   sync.Mutex
	text string // what it was read from
	read object.Tracking
}

func newTracking(s *Settings, installation string, log *slog.Logger) *tracking {
	return &tracking{settings: s, installation: installation, log: log, read: object.Tracking{Installation: installation}}
}

// get returns what is in force.
func (t *tracking) get() object.Tracking {
	read, _ := t.refresh()
	return read
}

// refresh reads the settings again, and reports whether they say something else than before. Their mistakes are logged.
func (t *tracking) refresh() (object.Tracking, bool) {
	config := t.settings.Config(ConfigArgoCD)
	text := strings.Join([]string{config[object.KeyTrackingMethod], config[object.KeyTrackingLabel], config[object.KeyInstallation]}, "\x00")
	t.mu.Lock()
	defer t.mu.Unlock()
	if text == t.text {
		return t.read, false
	}
	read, err := object.ParseTracking(config)
	if err != nil {
		t.log.Warn("a setting about tracking is not in force", "configmap", ConfigArgoCD, "err", err)
	}
	if read.Installation == "" {
		read.Installation = t.installation
	}
	changed := read != t.read
	t.text, t.read = text, read
	return read, changed
}

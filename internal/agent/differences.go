package agent

import (
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// differences is what argocd-cm says about differences. It is read again only when that changes, so that what was made
// of it can be kept.
type differences struct {
	config func() map[string]string
	log    *slog.Logger

	mu   sync.Mutex
	data map[string]string // what counts of argocd-cm
	read *diff.Settings
}

func newDifferences(config func() map[string]string, log *slog.Logger) *differences {
	return &differences{config: config, log: log}
}

// get returns the settings in force.
func (d *differences) get() *diff.Settings {
	read, _ := d.refresh()
	return read
}

// refresh reads the settings again, and reports whether they are others than before. Their mistakes are logged.
func (d *differences) refresh() (*diff.Settings, bool) {
	data := map[string]string{}
	for key, value := range d.config() {
		if strings.HasPrefix(key, "resource.customizations") && !strings.Contains(key, ".health.") && !strings.Contains(key, ".actions.") ||
			key == "resource.compareoptions" || key == "resource.sensitive.mask.annotations" {
			data[key] = value
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.read != nil && maps.Equal(data, d.data) {
		return d.read, false
	}
	read, wrong := diff.ParseSettings(data)
	for _, err := range wrong {
		d.log.Warn("a setting about differences is not in force", "error", err)
	}
	d.data, d.read = data, read
	return read, true
}

package place

import (
	"log/slog"
	"maps"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// Differences is what argocd-cm says about differences. It is read again only when that changes, so that what was made
// of it can be kept.
type Differences struct {
	config func() map[string]string
	log    *slog.Logger

	mu   sync.Mutex
	data map[string]string // what counts of argocd-cm
	read *diff.Settings
}

// NewDifferences reads what config says.
func NewDifferences(config func() map[string]string, log *slog.Logger) *Differences {
	return &Differences{config: config, log: log}
}

// Get returns the settings in force.
func (d *Differences) Get() *diff.Settings {
	read, _ := d.Refresh()
	return read
}

// Refresh reads the settings again, and reports whether they are others than before. Their mistakes are logged.
func (d *Differences) Refresh() (*diff.Settings, bool) {
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

package place

import (
	"log/slog"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/diff"
)

// exclusions are the kinds that argocd-cm has this installation leave alone.
type exclusions struct {
	settings *Settings
	log      *slog.Logger

	mu   sync.Mutex
	text [2]string // what they were read from
	read *diff.Exclusions
	err  error
}

func newExclusions(s *Settings, log *slog.Logger) *exclusions {
	return &exclusions{settings: s, log: log}
}

// get returns what is in force. While the settings cannot be read, nothing is, and no cluster may be worked on.
func (e *exclusions) get() (*diff.Exclusions, error) {
	read, _, err := e.refresh()
	return read, err
}

// refresh reads the settings again, and reports whether they differ from before. A fault in them is logged.
func (e *exclusions) refresh() (read *diff.Exclusions, changed bool, err error) {
	config := e.settings.Config(ConfigArgoCD)
	text := [2]string{config[diff.KeyExclusions], config[diff.KeyInclusions]}
	e.mu.Lock()
	defer e.mu.Unlock()
	if text == e.text {
		return e.read, false, e.err
	}
	e.text = text
	if e.read, e.err = diff.ParseExclusions(config); e.err != nil {
		e.log.Warn("nothing is synced until the exclusions can be read", "configmap", ConfigArgoCD, "err", e.err)
	}
	return e.read, true, e.err
}

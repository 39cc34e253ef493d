package place

import (
	"log/slog"
	"maps"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/internal/engine/health"
)

// scripts is what users' scripts in argocd-cm make of health. They are compiled again only when they change.
type scripts struct {
	settings *Settings
	log      *slog.Logger

	mu       sync.Mutex
	data     map[string]string // what counts of argocd-cm
	assessor *health.Assessor  // nil while there are none
	edition  int
}

func newScripts(s *Settings, log *slog.Logger) *scripts { return &scripts{settings: s, log: log} }

// get returns the scripts in force, nil when there are none, and a text that is another one after every change of them.
func (s *scripts) get() (*health.Assessor, string) {
	assessor, edition, _ := s.refresh()
	return assessor, edition
}

// refresh reads the scripts again, and reports whether they are others than before. Their mistakes are logged.
func (s *scripts) refresh() (assessor *health.Assessor, edition string, changed bool) {
	data := map[string]string{}
	for key, value := range s.settings.Config(ConfigArgoCD) {
		if key == "resource.customizations" || strings.HasPrefix(key, "resource.customizations.health.") ||
			strings.HasPrefix(key, "resource.customizations.useOpenLibs.") {
			data[key] = value
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !maps.Equal(data, s.data) {
		overrides, wrong := health.ParseOverrides(data)
		for _, err := range wrong {
			s.log.Warn("a health script of argocd-cm is not in force", "err", err)
		}
		s.assessor = nil
		if len(overrides) > 0 {
			s.assessor = health.New(overrides)
		}
		s.data, changed = data, true
		s.edition++
	}
	return s.assessor, " " + strconv.Itoa(s.edition), changed
}

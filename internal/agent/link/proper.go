package link

import (
	"log/slog"
	"sync"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// maxOdd is how many keys that no server takes are remembered, so that each is logged once.
const maxOdd = 1000

// properSource is a Source without the items whose keys no server takes. They are in no digest and no inventory, so that
// server and agent agree on the rest, and nothing is asked for and refused for ever.
type properSource struct {
	Source
	log *slog.Logger

	mu  sync.Mutex
	odd map[agentapi.Key]bool
}

// Keys implements Source.
func (s *properSource) Keys(kind agentapi.ItemKind) ([]agentapi.Key, bool) {
	keys, ok := s.Source.Keys(kind)
	proper := make([]agentapi.Key, 0, len(keys))
	for _, key := range keys {
		if s.takes(key) {
			proper = append(proper, key)
		}
	}
	return proper, ok
}

// Has implements Source.
func (s *properSource) Has(key agentapi.Key) bool { return s.takes(key) && s.Source.Has(key) }

// Body implements Source.
func (s *properSource) Body(key agentapi.Key) []byte {
	if !s.takes(key) {
		return nil
	}
	return s.Source.Body(key)
}

// takes reports whether a server takes a key, and logs the first time that it does not.
func (s *properSource) takes(key agentapi.Key) bool {
	err := key.Check()
	if err == nil {
		return true
	}
	s.mu.Lock()
	known := s.odd[key]
	if !known && len(s.odd) < maxOdd {
		if s.odd == nil {
			s.odd = map[agentapi.Key]bool{}
		}
		s.odd[key] = true
	}
	s.mu.Unlock()
	if !known {
		s.log.Warn("an item is not reported to the server: rename it", "item", legible.Cut(key.String(), maxRejection), "reason", err)
	}
	return false
}

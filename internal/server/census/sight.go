package census

import (
	"encoding/binary"
	"strings"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// sight is the rights of a query. What decides is rbac.Filter, which is asked once for all rows that are the same to it: a row is
// seen for where it is, for its id, or for its labels.
type sight struct {
	census *Census
	scopes []bool // where all may be seen, by the number of the scope
	// ids are those of which some may be seen, for named.
	ids   map[string]bool
	named rbac.Filter
	// chosen lets through by labels; seen is its answers, by the scope and the labels.
	chosen rbac.Filter
	seen   map[string]bool
	key    []byte
}

func (c *Census) sight(visible rbac.Filter) sight {
	s := sight{
		census: c, ids: map[string]bool{}, named: rbac.Filter{Type: visible.Type}, chosen: rbac.Filter{Type: visible.Type},
		seen: map[string]bool{},
	}
	whole := rbac.Filter{Type: visible.Type}
	for _, term := range visible.Terms {
		if term.All {
			whole.Terms = append(whole.Terms, term)
			continue
		}
		if len(term.IDs) > 0 {
			s.named.Terms = append(s.named.Terms, rbac.Term{Scope: term.Scope, IDs: term.IDs})
		}
		for _, id := range term.IDs {
			s.ids[id] = true
		}
		if len(term.Selectors) > 0 {
			s.chosen.Terms = append(s.chosen.Terms, rbac.Term{Scope: term.Scope, Selectors: term.Selectors})
		}
	}
	s.scopes = c.texts[Scope].where(func(text string) bool {
		return whole.Matches(rbac.Object{Type: api.TypeApplication, Scope: api.Scope(text)})
	})
	return s
}

func (s *sight) sees(row *compact) bool {
	scope := row.cells[Scope]
	if s.scopes[scope] {
		return true
	}
	object := rbac.Object{Type: api.TypeApplication, Scope: api.Scope(s.census.texts[Scope].texts[scope]), ID: row.id}
	if s.ids[row.id] && s.named.Matches(object) {
		return true
	}
	if s.chosen.Nothing() {
		return false
	}
	s.key = binary.NativeEndian.AppendUint32(s.key[:0], scope)
	for _, label := range row.labels {
		s.key = binary.NativeEndian.AppendUint32(s.key, label)
	}
	sees, known := s.seen[string(s.key)]
	if !known {
		object.Labels = make(map[string]string, len(row.labels))
		for _, label := range row.labels {
			key, value, _ := strings.Cut(s.census.labels.texts[label], "\x00")
			object.Labels[key] = value
		}
		sees = s.chosen.Matches(object)
		s.seen[string(s.key)] = sees
	}
	return sees
}

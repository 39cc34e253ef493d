package census

import (
	"slices"
	"strings"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/rbac"
)

// Selection is what a filter leaves of what may be seen, at the moment at which it was made.
type Selection struct {
	rows   []*compact
	texts  [columns][]string
	orders [columns]*ranking
	agents *ranking
	labels []string
	places map[string]Place
	away   []bool // agents of which nothing new is known, by the numbers of their texts
	now    time.Time
}

// stale reports whether what is known of a row may be old: its agent no longer reports it, or is away.
func (s *Selection) stale(row *compact) bool { return row.stale || s.away[row.cells[Agent]] }

// Total is how much was found.
func (s *Selection) Total() int64 { return int64(len(s.rows)) }

// Select finds what a filter leaves of what may be seen. Its RepoURL is written as the column Repos has it.
func (t *Turn) Select(visible rbac.Filter, filter api.FleetFilter, now time.Time) (*Selection, error) {
	driftBefore, endedAfter, err := filter.Times(now)
	if err != nil {
		return nil, err
	}
	c := t.census
	v := sieve{
		census: c, visible: visible, filter: filter,
		driftBefore: driftBefore.UnixMicro(), endedAfter: endedAfter.UnixMicro(),
		drifted: !driftBefore.IsZero(), ended: !endedAfter.IsZero(),
	}
	v.prepare()
	s := &Selection{
		orders: c.orders, agents: c.agents, labels: c.labels.texts, places: c.places, now: now, away: c.away(),
	}
	v.selection = s
	for i := range c.texts {
		s.texts[i] = c.texts[i].texts
	}
	if v.needs != nil { // those that may need attention are known: no look at all others
		for _, p := range c.parts {
			for _, row := range p.needing {
				v.take(row)
			}
		}
		return s, nil
	}
	s.rows = make([]*compact, 0, c.rows)
	for _, p := range c.parts {
		for _, row := range p.rows {
			v.take(row)
		}
	}
	return s, nil
}

// away are the agents of which nothing new is known, by the numbers of their texts.
func (c *Census) away() []bool {
	out := make([]bool, len(c.texts[Agent].texts))
	for _, p := range c.parts {
		if p.away && len(p.rows) > 0 { // all of a part are of one agent
			out[p.rows[0].cells[Agent]] = true
		}
	}
	return out
}

// sieve is a filter, in the numbers of the copy.
type sieve struct {
	census                  *Census
	selection               *Selection
	visible                 rbac.Filter
	filter                  api.FleetFilter
	driftBefore, endedAfter int64
	drifted, ended          bool

	cells []condition
	// words are what is searched for: for each word the columns that are searched, and where they contain it.
	words  [][]condition
	labels [][]bool
	needs  []bool // needs that are asked for; nil for any
	sight  sight
}

// take adds a row that the filter lets through.
func (s *sieve) take(row *compact) {
	if s.lets(row) {
		s.selection.rows = append(s.selection.rows, row)
	}
}

type condition struct {
	column int
	good   []bool
}

func (s *sieve) prepare() {
	c, f := s.census, &s.filter
	where := func(column int, good func(string) bool) {
		s.cells = append(s.cells, condition{column, c.texts[column].where(good)})
	}
	for column, want := range map[int]string{
		Agent: f.Agent, ArgoProject: f.ArgoProject, Namespace: f.Namespace, Cluster: f.Cluster, Service: f.Service,
		Environment: f.Environment, Version: f.Version,
	} {
		if want != "" {
			where(column, func(text string) bool { return text == want })
		}
	}
	for column, want := range map[int][]string{Sync: f.Sync, Health: f.Health, Phase: f.Phase} {
		if len(want) > 0 {
			where(column, func(text string) bool { return slices.Contains(want, text) })
		}
	}
	if f.Region != "" || f.Type != "" {
		where(Environment, func(id string) bool {
			at, known := c.places[id]
			return known && (f.Region == "" || at.Region == f.Region) && (f.Type == "" || at.Type == f.Type)
		})
	}
	if f.Scope != "" && f.Scope != api.ScopeAccount {
		where(Scope, func(text string) bool { return f.Scope.Contains(api.Scope(text)) })
	}
	if f.RepoURL != "" {
		where(Repos, func(text string) bool { return strings.Contains(text, "\n"+f.RepoURL+"\n") })
	}
	for word := range strings.FieldsSeq(strings.ToLower(f.Search)) {
		columns := []condition{{Agent, c.texts[Agent].where(func(id string) bool { return strings.Contains(agentName(id), word) })}}
		for _, column := range []int{Name, Namespace, Repo, Cluster, Repos} {
			found := c.texts[column].where(func(text string) bool { return strings.Contains(strings.ToLower(text), word) })
			columns = append(columns, condition{column, found})
		}
		s.words = append(s.words, columns)
	}
	for key, value := range f.Labels {
		s.labels = append(s.labels, c.labels.where(func(text string) bool {
			have, has, _ := strings.Cut(text, "\x00")
			return have == key && (value == "" || has == value)
		}))
	}
	if len(f.Attention) > 0 {
		s.needs = needs(f.Attention)
	}
	s.sight = c.sight(s.visible)
}

func (s *sieve) lets(row *compact) bool {
	for _, c := range s.cells {
		if !c.good[row.cells[c.column]] {
			return false
		}
	}
	switch {
	case s.filter.Held && !row.held, s.filter.Stale && !s.selection.stale(row):
		return false
	case s.needs != nil && !s.needs[row.needNow(s.selection.driftBefore())]:
		return false
	case s.drifted && (row.driftSince == 0 || row.driftSince > s.driftBefore):
		return false
	case s.ended && row.finishedAt < s.endedAfter:
		return false
	case !s.found(row):
		return false
	}
	for _, good := range s.labels {
		if !slices.ContainsFunc(row.labels, func(l uint32) bool { return good[l] }) {
			return false
		}
	}
	return s.sight.sees(row)
}

// found reports whether each word that is searched for is in one of the texts of a row, whatever their order.
func (s *sieve) found(row *compact) bool {
	for _, columns := range s.words {
		if !slices.ContainsFunc(columns, func(c condition) bool { return c.good[row.cells[c.column]] }) {
			return false
		}
	}
	return true
}

// agentName is the name in the id of an agent, without the scope: every id has the word "account" or "project" in it.
func agentName(id string) string { return id[strings.LastIndex(id, ".")+1:] }

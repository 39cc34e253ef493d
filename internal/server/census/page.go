package census

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
)

// What rows can be listed in the order of, beside the columns.
const (
	ID = int(columns) + iota
	DriftSince
	FinishedAt
	ChangedAt
	Worst // what needs attention first: in the order of api.ApplicationAttentionKinds, and all that needs none behind it
)

// Order says which page of rows is listed, and in which order. Rows that are the same in it are in that of their ids.
type Order struct {
	// By is a column, or ID, or one of the times, or Worst.
	By   int
	Down bool
	// After is behind which row the page begins; nil for the beginning.
	After *Mark
	// Skip is how many rows are passed over, Limit how many the page has at most.
	Skip, Limit int
}

// Mark is where a row is in an order: by a time (or a need) or a text, and by its id.
type Mark struct {
	Time int64
	Text string
	ID   string
}

// Page gives the ids of a page in their order, and the mark of its last row where there are more.
func (s *Selection) Page(o Order) (ids []string, last *Mark) {
	places := s.placed(o)
	if o.Skip >= len(places) {
		return []string{}, nil
	}
	end := min(o.Skip+o.Limit, len(places))
	first(places, end, o.Down)
	first(places[:end], o.Skip, o.Down)
	page := places[o.Skip:end]
	slices.SortFunc(page, func(a, b place) int { return a.compare(&b, o.Down) })
	ids = make([]string, len(page))
	for i := range page {
		ids[i] = page[i].row.id
	}
	if end < len(places) {
		row := page[len(page)-1].row
		last = &Mark{s.number(o.By, row), s.text(o.By, row), row.id}
	}
	return ids, last
}

// place is where a row is in an order, as numbers as far as they say it: of 50,000 rows most are compared without a look
// at them.
type place struct {
	by    int64  // a time, a need, or the rank of a text
	agent uint32 // its rank among agents, since ids begin with those
	row   *compact
}

// placed gives the places of the rows that come behind a mark.
func (s *Selection) placed(o Order) []place {
	agents := s.agents.of(s.texts[Agent])
	var ranks []uint32
	if o.By < int(columns) {
		ranks = s.orders[o.By].of(s.texts[o.By])
	}
	out := make([]place, 0, len(s.rows))
	for _, row := range s.rows {
		if o.After != nil && s.against(o, row) <= 0 {
			continue
		}
		p := place{s.number(o.By, row), agents[row.cells[Agent]], row}
		if ranks != nil {
			p.by = int64(ranks[row.cells[o.By]])
		}
		out = append(out, p)
	}
	return out
}

func (p *place) compare(q *place, down bool) int {
	if down {
		p, q = q, p
	}
	switch {
	case p.by != q.by:
		return cmp.Compare(p.by, q.by)
	case p.agent != q.agent:
		return cmp.Compare(p.agent, q.agent)
	}
	return strings.Compare(p.row.id, q.row.id)
}

// against is how a row compares with the mark of an order.
func (s *Selection) against(o Order, row *compact) int {
	by := cmp.Or(cmp.Compare(s.number(o.By, row), o.After.Time), strings.Compare(s.text(o.By, row), o.After.Text),
		strings.Compare(row.id, o.After.ID))
	if o.Down {
		return -by
	}
	return by
}

// number is what a row is ordered by where that is a time or a need, and 0 where it is neither.
func (s *Selection) number(by int, row *compact) int64 {
	switch by {
	case Worst:
		if n := row.needNow(s.driftBefore()); n != nothing {
			return int64(n)
		}
		return math.MaxUint8 + 1
	case DriftSince:
		return row.driftSince
	case FinishedAt:
		return row.finishedAt
	case ChangedAt:
		return row.changedAt
	}
	return 0
}

// text is what a row is ordered by where that is a text, and empty where it is none or the id.
func (s *Selection) text(by int, row *compact) string {
	if by < int(columns) {
		return s.texts[by][row.cells[by]]
	}
	return ""
}

// first brings the n least places to the front, in no order: of many only those of a page are sorted. The pivots are random,
// so that no choice of names makes it slow.
func first(places []place, n int, down bool) {
	low, high := 0, len(places)
	for low < n && n < high {
		at, end := low+rand.IntN(high-low), high-1 //nolint:gosec // nothing secret
		pivot := places[at]
		places[at], places[end] = places[end], pivot
		less := low
		for i := low; i < end; i++ {
			if places[i].compare(&pivot, down) < 0 {
				places[i], places[less] = places[less], places[i]
				less++
			}
		}
		places[end], places[less] = places[less], pivot
		if n <= less {
			high = less
		} else {
			low = less + 1
		}
	}
}

// ranking is the order of the texts of a dictionary, which only grows. It is made when it is needed.
type ranking struct {
	behind string // what texts are compared with at their end

	mu     sync.Mutex
	sorted []uint32 // numbers of texts
	ranks  []uint32 // by number
}

// of gives the ranks of texts, by their numbers. There may be more, which a dictionary has got since.
func (r *ranking) of(texts []string) []uint32 {
	r.mu.Lock()
	defer r.mu.Unlock()
	known := len(r.ranks)
	if known >= len(texts) {
		return r.ranks
	}
	compare := func(a, b uint32) int { return strings.Compare(texts[a]+r.behind, texts[b]+r.behind) }
	added := make([]uint32, 0, len(texts)-known)
	for i := known; i < min(len(texts), math.MaxUint32); i++ {
		added = append(added, uint32(i))
	}
	slices.SortFunc(added, compare)
	old := r.sorted
	r.sorted, r.ranks = make([]uint32, 0, len(texts)), make([]uint32, len(texts))
	for len(old) > 0 || len(added) > 0 {
		from := &old
		if len(old) == 0 || len(added) > 0 && compare(added[0], old[0]) < 0 {
			from = &added
		}
		number := (*from)[0]
		*from = (*from)[1:]
		r.ranks[number] = uint32(len(r.sorted)) //nolint:gosec // fewer than texts
		r.sorted = append(r.sorted, number)
	}
	return r.ranks
}

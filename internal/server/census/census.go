// Package census counts and finds applications for any filter, from a copy in memory of what they are counted by.
package census

import (
	"context"
	"slices"
	"sync"
)

// The columns that applications are counted or found by.
const (
	Sync = iota
	Health
	Phase
	Agent
	Cluster
	Environment
	Service
	ArgoProject
	Version
	Scope
	Namespace
	Name
	// Repo is the address of the first source as it is shown, Repos all of them, as filters compare them.
	Repo
	Repos
	columns
)

// Row is an application as it is counted.
type Row struct {
	// ID is that of rights. It begins with that of the agent and a slash.
	ID     string
	Cells  [columns]string
	Labels map[string]string
	Held   bool
	Stale  bool
	// Conditions are the types of its conditions.
	Conditions []string
	// DriftSince, FinishedAt and ChangedAt are microseconds since 1970; 0 for none.
	DriftSince, FinishedAt, ChangedAt int64
}

// Place is what is known of an environment.
type Place struct{ Type, Region string }

// Delta is what changed of the applications of an agent.
type Delta struct {
	// UID is that of the agent, Edition what it is at with these rows.
	UID     string
	Edition int64
	// Whole says that the rows are all that there are, and not only those that changed.
	Whole bool
	Rows  []Row
}

// Source is one moment of the database in which applications are kept.
type Source interface {
	// ReadFleet gives what changed since editions that are known, by the uid of the agent; all agents that there are; and
	// all environments by id.
	ReadFleet(ctx context.Context, known map[string]int64) (changed []Delta, agents []Presence, places map[string]Place, err error)
}

// Presence is an agent as its applications are counted.
type Presence struct {
	UID string
	// Away says that nothing new is known of its applications: it is disconnected, or was revoked.
	Away bool
}

// compact is a Row with numbers in place of its texts. It never changes: a reader that has found it may read it for as
// long as it likes.
type compact struct {
	id                                string
	cells                             [columns]uint32
	labels                            []uint32 // sorted
	held, stale                       bool
	need                              need
	driftSince, finishedAt, changedAt int64
}

// part is what there is of an agent.
type part struct {
	edition int64
	away    bool
	rows    []*compact
	at      map[string]int // places in rows, by id
	needing map[string]*compact
}

// Census is the copy: empty at first, and brought up to date by every question. So it is never older than the question,
// whichever server has written what. A query has a Turn, in which no other query updates the copy.
type Census struct {
	turn chan struct{} // holds one thing while no query has its turn

	parts  map[string]*part
	texts  [columns]dictionary
	labels dictionary // "key\x00value"
	orders [columns]*ranking
	agents *ranking // in the order of ids
	places map[string]Place
	rows   int
}

// New is an empty Census.
func New() *Census {
	c := &Census{turn: make(chan struct{}, 1)}
	c.turn <- struct{}{}
	c.reset()
	return c
}

// Turn is the right to bring a Census up to date and to look at it.
type Turn struct {
	census *Census
	end    func()
}

// Turn waits for the turn of the caller, which ends it. The moment of the database that it is brought up to has to begin
// within it: so it never goes back.
func (c *Census) Turn(ctx context.Context) (*Turn, error) {
	select {
	case <-c.turn:
		return &Turn{c, sync.OnceFunc(func() { c.turn <- struct{}{} })}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// End gives the turn to the next. It may be called again.
func (t *Turn) End() { t.end() }

func (c *Census) reset() {
	c.parts, c.rows = map[string]*part{}, 0
	for i := range c.texts {
		c.texts[i], c.orders[i] = newDictionary(), &ranking{}
	}
	c.agents = &ranking{behind: "/"}
	c.labels = newDictionary()
}

// Update brings the copy up to a moment of the database.
func (t *Turn) Update(ctx context.Context, source Source) error {
	c := t.census
	if c.crowded() {
		c.reset()
	}
	known := make(map[string]int64, len(c.parts))
	for uid, p := range c.parts {
		known[uid] = p.edition
	}
	changed, agents, places, err := source.ReadFleet(ctx, known)
	if err != nil {
		return err
	}
	c.places = places
	for _, d := range changed {
		c.take(d)
	}
	away := make(map[string]bool, len(agents))
	for _, a := range agents {
		away[a.UID] = a.Away
	}
	for uid, p := range c.parts {
		var there bool
		if p.away, there = away[uid]; !there {
			c.rows -= len(p.rows)
			delete(c.parts, uid)
		}
	}
	return nil
}

// crowded says that most texts are of rows that are gone: they are all read again then.
func (c *Census) crowded() bool {
	n := len(c.labels.texts)
	for i := range c.texts {
		n += len(c.texts[i].texts)
	}
	return n > 100_000+4*int(columns)*c.rows
}

func (c *Census) take(d Delta) {
	p := c.parts[d.UID]
	if p == nil || d.Whole {
		if p != nil {
			c.rows -= len(p.rows)
		}
		p = &part{at: make(map[string]int, len(d.Rows)), needing: map[string]*compact{}}
		c.parts[d.UID] = p
	}
	p.edition = d.Edition
	for i := range d.Rows {
		row := c.compact(&d.Rows[i])
		if row.need == nothing {
			delete(p.needing, row.id)
		} else {
			p.needing[row.id] = row
		}
		if at, there := p.at[row.id]; there {
			p.rows[at] = row
			continue
		}
		p.at[row.id] = len(p.rows)
		p.rows = append(p.rows, row)
		c.rows++
	}
}

func (c *Census) compact(r *Row) *compact {
	out := &compact{
		id: r.ID, held: r.Held, stale: r.Stale, need: needOf(r.Need()), driftSince: r.DriftSince, finishedAt: r.FinishedAt,
		changedAt: r.ChangedAt,
	}
	for i, text := range r.Cells {
		out.cells[i] = c.texts[i].number(text)
	}
	if len(r.Labels) > 0 {
		out.labels = make([]uint32, 0, len(r.Labels))
		for key, value := range r.Labels {
			out.labels = append(out.labels, c.labels.number(key+"\x00"+value))
		}
		slices.Sort(out.labels)
	}
	return out
}

// dictionary gives texts numbers.
type dictionary struct {
	texts   []string
	numbers map[string]uint32
}

func newDictionary() dictionary { return dictionary{numbers: map[string]uint32{}} }

func (d *dictionary) number(text string) uint32 {
	n, known := d.numbers[text]
	if !known {
		n = uint32(len(d.texts)) //nolint:gosec // they are given up long before there are so many
		d.texts = append(d.texts, text)
		d.numbers[text] = n
	}
	return n
}

// where says for each text whether it is good.
func (d *dictionary) where(good func(string) bool) []bool {
	out := make([]bool, len(d.texts))
	for i, text := range d.texts {
		out[i] = good(text)
	}
	return out
}

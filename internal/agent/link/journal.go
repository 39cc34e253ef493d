package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/legible"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// ConfigJournal is the ConfigMap in the agent's namespace that says which commands were begun, and what came of them.
const ConfigJournal = "slipway-agent-journal"

// Bounds of the journal. A ConfigMap holds 1 MiB.
const (
	maxRecords     = 1500
	maxJournal     = 768 << 10
	maxRecordBody  = 8 << 10
	maxRecordText  = 512
	keepAfter      = 15 * time.Minute // after the deadline: clocks differ
	keepUntold     = 24 * time.Hour   // the same, for what the server has not acknowledged
	journalRetries = 5
	journalLimit   = 15 * time.Second
)

// errJournalFull says that no further command can be begun.
var errJournalFull = errors.New("too many commands were begun in a short time: send it again in some minutes")

// record is a command that was begun.
type record struct {
	By       string           `json:"by"` // the process that began it
	Kind     agentapi.Kind    `json:"kind"`
	Began    time.Time        `json:"began"`
	Deadline time.Time        `json:"deadline"`
	Result   *agentapi.Result `json:"result,omitempty"` // nil: under way
	Told     bool             `json:"told,omitempty"`   // the server has the result
}

// journal remembers which commands were begun, so that none is done twice, regardless of the leader. One goroutine writes: what
// comes while it does is written together.
type journal struct {
	configs typed.ConfigMapInterface
	by      string
	now     func() clock.Instant
	changes chan *journalChange

	mu      sync.Mutex
	records map[string]*record       // nil before they were read
	version string                   // of the ConfigMap; "" when there is none
	heard   map[string]bool          // ids of results that the server has, and that is not written yet
	known   map[string]clock.Instant // since when this process knows of each record
}

// journalChange is one change of the journal. apply is called under the lock, each time the journal was read again.
type journalChange struct {
	apply func(records map[string]*record) error
	err   error
	done  chan struct{}
}

func newJournal(configs typed.ConfigMapInterface, by string, now func() clock.Instant) *journal {
	return &journal{
		configs: configs, by: by, now: now, changes: make(chan *journalChange), heard: map[string]bool{}, known: map[string]clock.Instant{},
	}
}

// wall is the time as the clock on the wall has it.
func (j *journal) wall() time.Time { return j.now().Wall }

// run writes what is asked of the journal until ctx ends.
func (j *journal) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case c := <-j.changes:
			batch := []*journalChange{c}
			for more := true; more; {
				select {
				case c := <-j.changes:
					batch = append(batch, c)
				default:
					more = false
				}
			}
			j.write(ctx, batch)
		}
	}
}

// do asks for a change and waits until it is in the cluster. When ctx ends first, it may or may not be.
func (j *journal) do(ctx context.Context, apply func(map[string]*record) error) error {
	c := &journalChange{apply: apply, done: make(chan struct{})}
	select {
	case j.changes <- c:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-c.done:
		return c.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write applies changes and writes the journal once. If another process wrote it in the meantime, or the API server
// was not there, it reads it again and retries.
func (j *journal) write(ctx context.Context, batch []*journalChange) {
	ctx, cancel := context.WithTimeout(ctx, journalLimit)
	defer cancel()
	pause := 50 * time.Millisecond
	var err error
	for range journalRetries {
		if err = j.load(ctx); err == nil {
			j.mu.Lock()
			records := cloneRecords(j.records)
			for _, c := range batch {
				c.err = c.apply(records)
			}
			heard := j.tell(records)
			j.prune(records)
			version := j.version
			j.mu.Unlock()
			if version, err = j.put(ctx, records, version); err == nil {
				j.mu.Lock()
				j.records, j.version = records, version
				for _, id := range heard {
					delete(j.heard, id)
				}
				j.mu.Unlock()
				break
			}
			j.mu.Lock()
			j.records = nil // whatever is there now
			j.mu.Unlock()
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		}
		timer.Stop()
		pause *= 3
	}
	for _, c := range batch {
		if err != nil {
			c.err = err
		}
		close(c.done)
	}
}

func cloneRecords(in map[string]*record) map[string]*record {
	out := make(map[string]*record, len(in))
	for id, r := range in {
		one := *r
		out[id] = &one
	}
	return out
}

// load reads the journal, unless it is known. What another process began and did not finish stays so for ever.
func (j *journal) load(ctx context.Context) error {
	j.mu.Lock()
	known := j.records != nil
	j.mu.Unlock()
	if known {
		return nil
	}
	config, err := j.configs.Get(ctx, ConfigJournal, metav1.GetOptions{})
	records, version := map[string]*record{}, ""
	switch {
	case apierrors.IsNotFound(err):
	case err != nil:
		return fmt.Errorf("read ConfigMap %s: %w", ConfigJournal, err)
	default:
		version = config.ResourceVersion
		for id, text := range config.Data {
			r := &record{}
			if strict.Decode([]byte(text), r, strict.Foreign) != nil {
				// It was edited by hand: the command counts as begun, with the longest deadline that one has.
				r = &record{Began: j.wall(), Deadline: j.wall().Add(longestDeadline)}
			}
			if r.Result == nil && r.By != j.by {
				r.Result = interrupted(id, j.wall())
			}
			records[id] = r
		}
	}
	j.mu.Lock()
	j.records, j.version = records, version
	j.mu.Unlock()
	return nil
}

func interrupted(id string, now time.Time) *agentapi.Result {
	return &agentapi.Result{
		ID: id, Status: agentapi.StatusUnknown, Code: agentapi.CodeInterrupted, Finished: now,
		Message: "the agent was restarted while it carried this out: look at the result before you ask again",
	}
}

// put writes the ConfigMap and returns its version.
func (j *journal) put(ctx context.Context, records map[string]*record, version string) (string, error) {
	config := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name: ConfigJournal, ResourceVersion: version, Labels: map[string]string{"app.kubernetes.io/part-of": "slipway"},
		},
		Data: make(map[string]string, len(records)),
	}
	for id, r := range records {
		text, err := json.Marshal(r)
		if err != nil {
			return "", fmt.Errorf("write the record of command %s: %w", id, err)
		}
		config.Data[id] = string(text)
	}
	var out *corev1.ConfigMap
	var err error
	if version == "" {
		out, err = j.configs.Create(ctx, config, metav1.CreateOptions{})
	} else {
		out, err = j.configs.Update(ctx, config, metav1.UpdateOptions{})
	}
	if err != nil {
		return "", fmt.Errorf("write ConfigMap %s: %w", ConfigJournal, err)
	}
	return out.ResourceVersion, nil
}

// over reports whether a command can never be asked for again. Its deadline must have passed by the clock on the wall, and this
// process must have known of it for as long as it had until then: a clock that is ahead for a while would have the journal
// forget a command that can still come. A deadline that is further away than any was given while a clock was ahead, and no
// agent takes such a command.
func (r *record) over(known, now clock.Instant) bool {
	keep := keepAfter
	if r.Result != nil && !r.Told {
		keep = keepUntold
	}
	life := r.Deadline.Sub(r.Began)
	if life < 0 || life > longestDeadline {
		life = longestDeadline
	}
	left := r.Deadline.Sub(now.Wall)
	return (left < -keep || left > longestDeadline+maxSkew) && now.Since(known) > life+keep
}

// prune drops what can never be asked for again, and bodies where there is too much of them. Callers hold the lock.
func (j *journal) prune(records map[string]*record) {
	now := j.now()
	size := 0
	for id := range j.known {
		if records[id] == nil {
			delete(j.known, id)
		}
	}
	for id, r := range records {
		if _, known := j.known[id]; !known {
			j.known[id] = now
		}
		if (r.Result != nil || r.By != j.by) && r.over(j.known[id], now) {
			delete(records, id)
			continue
		}
		size += recordBytes(r)
	}
	if size <= maxJournal {
		return
	}
	byAge := make([]string, 0, len(records))
	for id := range records {
		byAge = append(byAge, id)
	}
	slices.SortFunc(byAge, func(x, y string) int { return records[x].Began.Compare(records[y].Began) })
	for _, id := range byAge {
		if size <= maxJournal {
			return
		}
		if r := records[id]; r.Result != nil && len(r.Result.Body) > 0 {
			size -= len(r.Result.Body)
			short := *r.Result
			short.Body = nil
			r.Result = &short
		}
	}
}

func recordBytes(r *record) int {
	n := 300
	if r.Result != nil {
		n += len(r.Result.Body) + len(r.Result.Message)
	}
	return n
}

// claim notes that a command begins. It returns what is known of it already, in which case it must not be done; when that
// has no result, it is under way.
func (j *journal) claim(ctx context.Context, cmd agentapi.Command) (*record, error) {
	if r := j.find(cmd.ID); r != nil {
		return r, nil
	}
	mine := &record{By: j.by, Kind: cmd.Kind, Began: j.wall().UTC(), Deadline: cmd.Deadline.UTC()}
	var before *record
	err := j.do(ctx, func(records map[string]*record) error {
		before = nil
		old := records[cmd.ID]
		switch {
		case old == nil && len(records) >= maxRecords:
			return errJournalFull
		case old != nil && (old.By != mine.By || !old.Began.Equal(mine.Began)): // else: an answer to our own write got lost
			one := *old
			before = &one
		default:
			one := *mine
			records[cmd.ID] = &one
		}
		return nil
	})
	return before, err
}

// finish notes what came of a command.
func (j *journal) finish(ctx context.Context, result agentapi.Result) error {
	ctx, cancel := context.WithTimeout(ctx, 2*journalLimit)
	defer cancel()
	if len(result.Body) > maxRecordBody {
		result.Body = nil
	}
	result.Message = legible.Cut(result.Message, maxRecordText)
	return j.do(ctx, func(records map[string]*record) error {
		if r := records[result.ID]; r != nil {
			r.Result = &result
		}
		return nil
	})
}

// told notes that the server has a result. It is written with the next change: a result that is sent twice does no harm.
func (j *journal) told(id string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.records[id] != nil {
		j.heard[id] = true
	}
}

// tell puts what the server has received into records, and returns what that was. Callers hold the lock.
func (j *journal) tell(records map[string]*record) []string {
	var out []string
	for id := range j.heard {
		if r := records[id]; r != nil {
			r.Told = true
		}
		out = append(out, id)
	}
	return out
}

// find returns what is known of a command; nil for nothing.
func (j *journal) find(id string) *record {
	j.mu.Lock()
	defer j.mu.Unlock()
	r := j.records[id]
	if r == nil {
		return nil
	}
	one := *r
	return &one
}

// untold returns the results that the server has not acknowledged.
func (j *journal) untold() []agentapi.Result {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []agentapi.Result
	for id, r := range j.records {
		if r.Result != nil && !r.Told && !j.heard[id] {
			out = append(out, *r.Result)
		}
	}
	return out
}

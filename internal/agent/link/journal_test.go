package link

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/slipway-gitops/slipway/api/agentapi"
	"github.com/slipway-gitops/slipway/internal/clock"
	"github.com/slipway-gitops/slipway/internal/testenv"
)

// clocks are those of a machine, which a test moves.
type clocks struct {
	mu sync.Mutex
	at clock.Instant
}

func newClock() *clocks {
	return &clocks{at: clock.Instant{Wall: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), Ran: time.Hour}}
}

func (c *clocks) both() clock.Instant {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clocks) now() time.Time { return c.both().Wall }

// add lets time pass.
func (c *clocks) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// set sets the clock on the wall ahead.
func (c *clocks) set(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at.Wall = c.at.Wall.Add(d)
}

func configMaps(t *testing.T) typed.ConfigMapInterface {
	t.Helper()
	client, err := typed.NewForConfig(testenv.Cluster(t))
	if err != nil {
		t.Fatal(err)
	}
	return client.ConfigMaps(testenv.Namespace(t))
}

// process starts a journal as one process of an agent has it.
func process(t *testing.T, configs typed.ConfigMapInterface, by string, c *clocks) *journal {
	t.Helper()
	j := newJournal(configs, by, c.both)
	ctx, cancel := context.WithCancel(t.Context())
	var g errgroup.Group
	g.Go(func() error { j.run(ctx); return nil })
	t.Cleanup(func() { cancel(); _ = g.Wait() })
	if err := j.load(ctx); err != nil {
		t.Fatal(err)
	}
	return j
}

func asked(id string, c *clocks) agentapi.Command {
	return agentapi.Command{ID: id, Kind: agentapi.KindSync, Deadline: c.now().Add(time.Minute)}
}

func TestACommandIsClaimedByOneProcessOnly(t *testing.T) {
	t.Parallel()
	configs, c := configMaps(t), newClock()
	var won atomic.Int32
	var g errgroup.Group
	for p := range 4 {
		j := process(t, configs, "process-"+strconv.Itoa(p), c)
		for i := range 5 {
			g.Go(func() error {
				before, err := j.claim(t.Context(), asked("command-"+strconv.Itoa(i), c))
				if err == nil && before == nil {
					won.Add(1)
				}
				return err
			})
		}
	}
	if err := g.Wait(); err != nil {
		t.Fatal(err)
	}
	if won.Load() != 5 {
		t.Errorf("5 commands were claimed %d times", won.Load())
	}
}

func TestWhatWasBegunBeforeARestartIsUnknownAndWhatWasDoneKeepsItsResult(t *testing.T) {
	t.Parallel()
	configs, c := configMaps(t), newClock()
	first := process(t, configs, "first", c)
	for _, id := range []string{"begun", "done", "told"} {
		if before, err := first.claim(t.Context(), asked(id, c)); before != nil || err != nil {
			t.Fatalf("claim %s: %+v, %v", id, before, err)
		}
	}
	for _, id := range []string{"told", "done"} {
		if err := first.finish(t.Context(), agentapi.Result{ID: id, Status: agentapi.StatusDone, Body: json.RawMessage(`{"a":1}`)}); err != nil {
			t.Fatal(err)
		}
		first.told("told")
	}
	second := process(t, configs, "second", c)
	status := map[string]agentapi.Status{}
	for _, id := range []string{"begun", "done"} {
		before, err := second.claim(t.Context(), asked(id, c))
		if err != nil || before == nil || before.Result == nil {
			t.Fatalf("claim %s again: %+v, %v", id, before, err)
		}
		status[id] = before.Result.Status
	}
	if status["begun"] != agentapi.StatusUnknown || status["done"] != agentapi.StatusDone {
		t.Errorf("got %v", status)
	}
	var ids []string
	for _, r := range second.untold() {
		ids = append(ids, r.ID)
	}
	if len(ids) != 2 || strings.Contains(strings.Join(ids, " "), "told") {
		t.Errorf("results that the server may not have: %v", ids)
	}
}

func TestAJournalForgetsWhatCannotBeAskedForAgain(t *testing.T) {
	t.Parallel()
	configs, c := configMaps(t), newClock()
	j := process(t, configs, "only", c)
	for _, id := range []string{"told", "untold"} {
		if _, err := j.claim(t.Context(), asked(id, c)); err != nil {
			t.Fatal(err)
		}
		if err := j.finish(t.Context(), agentapi.Result{ID: id, Status: agentapi.StatusDone}); err != nil {
			t.Fatal(err)
		}
	}
	j.told("told")
	c.add(time.Hour)
	if _, err := j.claim(t.Context(), asked("next", c)); err != nil { // notes what was told
		t.Fatal(err)
	}
	c.add(time.Minute)
	if _, err := j.claim(t.Context(), asked("last", c)); err != nil {
		t.Fatal(err)
	}
	config, err := configs.Get(t.Context(), ConfigJournal, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if config.Data["told"] != "" || config.Data["untold"] == "" || config.Data["last"] == "" {
		t.Errorf("the journal holds %v", config.Data)
	}
}

func TestAClockThatIsSetForgetsNoCommandThatCanComeAgain(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for _, c := range []struct {
		name string
		set  time.Duration
	}{{"ahead", year}, {"a little ahead", 30 * time.Minute}, {"back", -year}} {
		for _, restart := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, with a restart %v", c.name, restart), func(t *testing.T) {
				t.Parallel()
				configs, at := configMaps(t), newClock()
				j := process(t, configs, "first", at)
				cmd := asked("once", at)
				if before, err := j.claim(t.Context(), cmd); before != nil || err != nil {
					t.Fatalf("%+v, %v", before, err)
				}
				if err := j.finish(t.Context(), agentapi.Result{ID: cmd.ID, Status: agentapi.StatusDone}); err != nil {
					t.Fatal(err)
				}
				j.told(cmd.ID)
				at.set(c.set)
				next := func(id string) { // each write prunes
					t.Helper()
					if _, err := j.claim(t.Context(), asked(id, at)); err != nil {
						t.Fatal(err)
					}
				}
				next("wrong")
				if restart {
					j = process(t, configs, "second", at)
					next("restarted")
				}
				at.set(-c.set)
				next("right")
				if before, err := j.claim(t.Context(), cmd); err != nil || before == nil || before.Result == nil || before.Result.Status != agentapi.StatusDone {
					t.Errorf("a command that was done is begun again: %+v, %v", before, err)
				}
				// It is not kept for ever, wherever the clock is.
				at.set(c.set)
				at.add(time.Hour)
				next("later")
				if j.find(cmd.ID) != nil {
					t.Error("a command that cannot come again is still known")
				}
			})
		}
	}
}

func TestWhatWasRefusedWhileAClockWasWrongStaysRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h, now := newHeard(), time.Now()
		long := agentapi.Command{ID: "long", Issued: now, Deadline: now.Add(2 * time.Hour)}
		short := agentapi.Command{ID: "short", Issued: now, Deadline: now.Add(time.Minute)}
		for _, cmd := range []agentapi.Command{long, short} {
			if first, room := h.first(cmd); !first || !room {
				t.Fatalf("%s: first %v, room %v", cmd.ID, first, room)
			}
		}
		<-time.After(time.Hour)
		h.first(agentapi.Command{ID: "another"})
		if !h.has("long") || h.has("short") {
			t.Errorf("after an hour: long is known %v, short %v", h.has("long"), h.has("short"))
		}
	})
}

func TestADeadlineThatNoCommandHasIsRefused(t *testing.T) {
	t.Parallel()
	c := newClock()
	l := New(Config{Now: c.now, Log: slog.New(slog.DiscardHandler), Policy: func() map[string]string { return nil }})
	for _, test := range []struct {
		name  string
		after time.Duration
		code  agentapi.Code
	}{
		{"as long as one may have", longestDeadline, ""},
		{"a year: the server's clock was ahead", 365 * 24 * time.Hour, agentapi.CodeInvalid},
		{"it has passed", -time.Minute, agentapi.CodeExpired},
	} {
		refusal := l.worker.permit(agentapi.Command{ID: "a", Kind: agentapi.KindDiff, Deadline: c.now().Add(test.after)})
		if got := agentapi.Code(""); refusal != nil && refusal.Code != test.code || refusal == nil && got != test.code {
			t.Errorf("%s: %v, want %q", test.name, refusal, test.code)
		}
	}
}

func TestAJournalThatIsFullRefusesAndStaysSmall(t *testing.T) {
	t.Parallel()
	c := newClock()
	j := newJournal(nil, "only", c.both)
	records := map[string]*record{}
	for i := range maxRecords {
		id := strconv.Itoa(i)
		records[id] = &record{By: "only", Began: c.now().Add(time.Duration(i)), Deadline: c.now(), Result: &agentapi.Result{
			ID: id, Status: agentapi.StatusDone, Message: strings.Repeat("m", 100), Body: []byte(`"` + strings.Repeat("x", maxRecordBody-2) + `"`),
		}}
	}
	j.prune(records)
	total := 0
	for _, r := range records {
		raw, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		total += len(raw)
	}
	if len(records) != maxRecords || total > 1<<20 {
		t.Errorf("%d records with %d bytes", len(records), total)
	}
	if records[strconv.Itoa(maxRecords-1)].Result.Body == nil {
		t.Error("the newest body was dropped")
	}
}

func TestAJournalThatSomebodyEditedDoesNotStopTheAgent(t *testing.T) {
	t.Parallel()
	configs, c := configMaps(t), newClock()
	_, err := configs.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: ConfigJournal}, Data: map[string]string{"odd": "{"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	j := process(t, configs, "only", c)
	before, err := j.claim(t.Context(), asked("odd", c))
	if err != nil || before == nil || before.Result == nil || before.Result.Status != agentapi.StatusUnknown {
		t.Errorf("what cannot be read counts as %+v, %v, want unknown", before, err)
	}
	if _, err := j.claim(t.Context(), asked("fine", c)); err != nil {
		t.Error(err)
	}
	if err := configs.Delete(t.Context(), ConfigJournal, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	if before, err := j.claim(t.Context(), asked("after", c)); before != nil || err != nil {
		t.Errorf("after the journal was deleted: %+v, %v", before, err)
	}
}

func TestErrorsOfExecutorsBecomeResults(t *testing.T) {
	t.Parallel()
	busy := &agentapi.Error{Code: agentapi.CodeConflict, Message: "an operation is in progress"}
	tests := []struct {
		name   string
		err    error
		status agentapi.Status
		code   agentapi.Code
		text   string
	}{
		{"a code of its own", busy, agentapi.StatusFailed, agentapi.CodeConflict, "an operation is in progress"},
		{"wrapped", fmt.Errorf("sync web: %w", busy), agentapi.StatusFailed, agentapi.CodeConflict, "sync web: an operation is in progress"},
		{"no code", errors.New("clone https://a:b@h/x"), agentapi.StatusFailed, "", "clone https://h/x"},
		{"too late", &agentapi.Error{Code: agentapi.CodeExpired, Message: "late"}, agentapi.StatusExpired, agentapi.CodeExpired, "late"},
		{"not allowed", &agentapi.Error{Code: agentapi.CodePolicy, Message: "no"}, agentapi.StatusRefused, agentapi.CodePolicy, "no"},
		{"not in time", fmt.Errorf("get: %w", context.DeadlineExceeded), agentapi.StatusFailed, agentapi.CodeUnreachable, "get: context deadline exceeded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := failed("1", asError(tt.err))
			if got.Status != tt.status || got.Code != tt.code || got.Message != tt.text {
				t.Errorf("got %+v", got)
			}
		})
	}
}

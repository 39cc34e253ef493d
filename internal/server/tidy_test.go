package server

import (
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/audit"
)

// What is removed does not come back: a clock that jumps ahead makes all of it old, and people have a day to correct it.
// TestAFirstStartRemovesNothingForADay starts with a database that does not say when the last removal was, as that of an earlier
// version: nothing shows that a clock is ahead.
func TestAFirstStartRemovesNothingForADay(t *testing.T) {
	t.Parallel()
	start := time.Now()
	now := start
	s := newServer(t, func(c *Config) { c.Now = func() time.Time { return now } })
	for range 3 {
		if err := s.audit.Record(t.Context(), audit.Entry{Actor: api.Principal{Type: api.PrincipalSystem, ID: "test"}, Action: "test.done"}); err != nil {
			t.Fatal(err)
		}
	}
	const day = 24 * time.Hour
	for _, step := range []struct {
		name    string
		after   time.Duration
		removed bool
	}{
		{"the first look, with a clock that is two years ahead", 730 * day, false},
		{"an hour later", 730*day + time.Hour, false},
		{"the clock is corrected", 2 * time.Hour, false},
		{"a day later", day + 3*time.Hour, false},
		{"when it is old", 366 * day, false}, // nobody looked for a year
		{"a day later", 367*day + time.Hour, true},
	} {
		now = start.Add(step.after)
		if err := s.claimed(t.Context(), jobRemoval, tidyEvery, s.removeOnce); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		anchor, err := s.store.AuditAnchor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (anchor.ID > 0) != step.removed {
			t.Errorf("%s: entries up to %d were removed", step.name, anchor.ID)
		}
	}
}

func TestAClockThatJumpsAheadRemovesNothingForADay(t *testing.T) {
	t.Parallel()
	now := time.Now()
	s := newServer(t, func(c *Config) { c.Now = func() time.Time { return now } })
	for range 3 {
		if err := s.audit.Record(t.Context(), audit.Entry{Actor: api.Principal{Type: api.PrincipalSystem, ID: "test"}, Action: "test.done"}); err != nil {
			t.Fatal(err)
		}
	}
	day := 24 * time.Hour
	for _, step := range []struct {
		name    string
		after   time.Duration
		removed bool
	}{
		{"the first look", 0, false},
		{"a clock that is two years ahead", 730 * day, false},
		{"a moment later", 730*day + 10*time.Minute, false},
		{"the clock is corrected", time.Hour, false},
		{"two years ahead again", 730 * day, false},
		{"nobody has corrected it for a day", 731*day + time.Minute, true},
	} {
		base := now
		now = base.Add(step.after)
		if err := s.claimed(t.Context(), jobRemoval, tidyEvery, s.removeOnce); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		anchor, err := s.store.AuditAnchor(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if (anchor.ID > 0) != step.removed {
			t.Errorf("%s: entries up to %d were removed", step.name, anchor.ID)
		}
		now = base
	}
}

package chain

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/slipway-gitops/slipway/api"
)

func three() []Entry {
	var out []Entry
	var head Head
	for _, action := range []string{"application.create", "application.sync", "application.delete"} {
		e := Link(head, Entry{
			At: time.Date(2030, 6, 1, 8, 0, 0, 123456789, time.UTC), Actor: api.Principal{Type: api.PrincipalUser, ID: "ada"},
			Action: action, Outcome: api.OutcomeSucceeded, After: json.RawMessage(`{"n": 1.0}`),
		})
		out, head = append(out, e), HeadOf(e)
	}
	return out
}

func check(anchor Head, entries []Entry) error {
	v := NewVerifier(anchor)
	for _, e := range entries {
		if err := v.Next(e); err != nil {
			return err
		}
	}
	return nil
}

func TestAnEntryFollowsFromTheOneBefore(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func([]Entry) (Head, []Entry)
		first  int64 // 0: whole
	}{
		{"whole", func(e []Entry) (Head, []Entry) { return Head{}, e }, 0},
		{"from the second on, behind its anchor", func(e []Entry) (Head, []Entry) { return HeadOf(e[0]), e[1:] }, 0},
		{"from the second on, behind another", func(e []Entry) (Head, []Entry) { return Head{ID: 1, Hash: "00"}, e[1:] }, 2},
		{"numbers written in another way", func(e []Entry) (Head, []Entry) {
			e[1].After = json.RawMessage(`{ "n":1e0 }`)
			return Head{}, e
		}, 0},
		{"another number", func(e []Entry) (Head, []Entry) {
			e[1].After = json.RawMessage(`{"n":2}`)
			return Head{}, e
		}, 2},
		{"one left out", func(e []Entry) (Head, []Entry) { return Head{}, append(e[:1], e[2]) }, 2},
		{"one twice", func(e []Entry) (Head, []Entry) { return Head{}, []Entry{e[0], e[1], e[1]} }, 2},
		{"one changed, with a hash that fits", func(e []Entry) (Head, []Entry) {
			e[1].Actor.ID = "eve"
			e[1] = Link(HeadOf(e[0]), e[1])
			return Head{}, e
		}, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := check(tt.change(three()))
			var fault *Fault
			if tt.first == 0 && err != nil || tt.first > 0 && (!errors.As(err, &fault) || fault.ID != tt.first) {
				t.Errorf("found %v, want a fault at entry %d", err, tt.first)
			}
		})
	}
}

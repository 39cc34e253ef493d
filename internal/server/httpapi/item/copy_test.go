package item

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/internal/server/httpapi/core"
)

// shelf holds one Application, which comes late.
type shelf struct {
	Items
	core.Events
	held   json.RawMessage
	events chan api.Event
}

func (s *shelf) GetApplication(context.Context, string, string, string) (api.ApplicationDetail, error) {
	if s.held == nil {
		return api.ApplicationDetail{}, api.Errorf(api.CodeNotFound, "none")
	}
	return api.ApplicationDetail{Resource: s.held}, nil
}

func (s *shelf) Subscribe(ctx context.Context, _ string) (<-chan api.Event, error) {
	out := make(chan api.Event)
	go func() {
		defer close(out)
		for {
			select {
			case e := <-s.events:
				out <- e
			case <-ctx.Done():
				return
			}
		}
	}()
	return out, nil
}

// GetItem is of a repository, which lies on the same shelf.
func (s *shelf) GetItem(context.Context, string, string, string, string) (api.Item, error) {
	if s.held == nil {
		return api.Item{}, api.Errorf(api.CodeNotFound, "none")
	}
	return api.Item{Resource: s.held}, nil
}

func at(version string) json.RawMessage {
	return json.RawMessage(`{"metadata":{"name":"shop","namespace":"argocd","resourceVersion":"` + version + `"}}`)
}

// late is when the copy learns of something.
const late = 40 * time.Millisecond

// takes has the copy become something late, and does what waits for it. It fails where that takes another time than wanted.
func takes(t *testing.T, before, after json.RawMessage, want time.Duration, wait func(context.Context, *Clusters, Input)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := &shelf{held: before, events: make(chan api.Event)}
		if want == late {
			go func() {
				<-time.After(late)
				s.events <- api.Event{Type: api.EventChanged, Object: api.Ref{ID: "account.prod/argocd/other"}}
				s.held = after
				s.events <- api.Event{Type: api.EventChanged, Object: api.Ref{ID: "account.prod/argocd/shop"}}
			}()
		}
		start := time.Now()
		wait(t.Context(), &Clusters{Items: s, Events: s}, At("account.prod", "argocd", "shop"))
		if took := time.Since(start); took != want {
			t.Errorf("it waited for %s, want %s", took, want)
		}
		synctest.Wait()
	})
}

func TestWhoMadeSomethingFindsItThere(t *testing.T) {
	t.Parallel()
	setting := func(version string) json.RawMessage {
		return json.RawMessage(`{"fields":{},"version":"` + version + `"}`)
	}
	for name, test := range map[string]struct {
		before, after json.RawMessage
		want          time.Duration
	}{
		"it is there already":         {before: at("12"), want: 0},
		"it comes late":               {after: at("12"), want: late},
		"an older copy is there":      {before: at("9"), after: at("12"), want: late},
		"a newer copy is as good":     {before: at("13"), want: 0},
		"it does not come":            {want: copyTime},
		"only an older copy is there": {before: at("9"), want: copyTime},
	} {
		t.Run(name, func(t *testing.T) {
			takes(t, test.before, test.after, test.want, func(ctx context.Context, h *Clusters, in Input) {
				h.Copied(ctx, api.KindApplication, in, at("12"))
			})
		})
	}
	for name, want := range map[string]time.Duration{"7": late, "8": 0} {
		t.Run("a setting at "+name, func(t *testing.T) {
			takes(t, setting(name), setting("8"), want, func(ctx context.Context, h *Clusters, in Input) {
				h.Copied(ctx, api.KindRepository, in, json.RawMessage(`{"setting":{"fields":{},"version":"8"}}`))
			})
		})
	}
}

func TestWhoDeletedSomethingFindsItGone(t *testing.T) {
	t.Parallel()
	before := json.RawMessage(`{"metadata":{"uid":"a"}}`)
	for name, test := range map[string]struct {
		before, after json.RawMessage
		want          time.Duration
	}{
		"it is gone already":          {want: 0},
		"it goes late":                {before: before, want: late},
		"its finalizers are not done": {before: before, after: json.RawMessage(`{"metadata":{"uid":"a","deletionTimestamp":"2026-01-02T03:04:05Z"}}`), want: late},
		"another has its name":        {before: json.RawMessage(`{"metadata":{"uid":"b"}}`), want: 0},
		"nobody tells of its end":     {before: before, want: copyTime},
	} {
		t.Run(name, func(t *testing.T) {
			takes(t, test.before, test.after, test.want, func(ctx context.Context, h *Clusters, in Input) {
				h.Dropped(ctx, api.KindApplication, in, before)
			})
		})
	}
}

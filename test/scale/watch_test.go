package scale

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/slipway-gitops/slipway/api"
	"github.com/slipway-gitops/slipway/api/client"
)

// watchers are those who watch events: one at each server, and two that land anywhere.
type watchers struct {
	w   *world
	all []*watcher
}

// watcher keeps what a page would show: what events told, and what was loaded when they said to begin anew.
type watcher struct {
	name string
	at   *client.Client

	mu     sync.Mutex
	last   int64
	resets int
	events int
	seen   map[string]bool
	wrong  []string
}

func (w *world) watch() *watchers {
	w.t.Helper()
	out := &watchers{w: w}
	for _, s := range w.servers {
		out.all = append(out.all, &watcher{name: "at " + s.Name, at: s.admin, seen: map[string]bool{}})
	}
	for n := range 2 {
		out.all = append(out.all, &watcher{name: fmt.Sprintf("anywhere %d", n), at: w.admin, seen: map[string]bool{}})
	}
	ctx, cancel := context.WithCancel(w.t.Context())
	var work, open sync.WaitGroup
	for _, v := range out.all {
		open.Add(1)
		once := sync.OnceFunc(open.Done)
		work.Go(func() {
			_ = v.at.Events(ctx, client.EventOptions{Opened: once}, func(e api.Event) error { return v.take(ctx, e) })
		})
	}
	open.Wait()
	w.t.Cleanup(func() {
		cancel()
		work.Wait()
	})
	return out
}

// take takes an event. Who is told to begin anew loads all; where that fails, it is told so again by the same event.
func (v *watcher) take(ctx context.Context, e api.Event) error {
	var loaded []string
	if e.Type == api.EventReset {
		var problem string
		for problem = "not tried"; problem != "" && ctx.Err() == nil; {
			if loaded, problem = v.load(ctx); problem != "" {
				pass(ctx, lookEvery)
			}
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	_, text, _ := strings.Cut(e.ID, "-")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < v.last || n == v.last && e.Type != api.EventReset {
		v.wrong = append(v.wrong, fmt.Sprintf("%s %s came after %d", e.ID, e.Type, v.last))
	}
	v.last = max(v.last, n)
	v.events++
	if e.Type == api.EventReset {
		v.resets++
	}
	v.seen[e.Object.ID] = true
	for _, id := range loaded {
		v.seen[id] = true
	}
	return nil
}

func (v *watcher) load(ctx context.Context) (ids []string, problem string) {
	apps, err := v.at.AllApplications(ctx, api.ApplicationFilter{})
	if err != nil {
		return nil, err.Error()
	}
	for _, app := range apps {
		ids = append(ids, api.ItemID(app.Agent, app.Namespace, app.Name))
	}
	roles, err := client.All(api.ListOptions{Limit: api.MaxLimit}, func(o api.ListOptions) (api.Page[api.Role], error) { return v.at.Roles().List(ctx, o) })
	if err != nil {
		return nil, err.Error()
	}
	for _, role := range roles {
		ids = append(ids, role.ID)
	}
	return ids, ""
}

// check waits until all of them know of all that was made, and looks at the order in which they were told.
func (ws *watchers) check() {
	ws.w.t.Helper()
	for _, v := range ws.all {
		await(ws.w.t, "who watches "+v.name, func(context.Context) string {
			ws.w.mu.Lock()
			defer ws.w.mu.Unlock()
			v.mu.Lock()
			defer v.mu.Unlock()
			for id := range ws.w.made {
				if !v.seen[id] {
					return "was never told of " + id
				}
			}
			return ""
		})
		v.mu.Lock()
		for _, problem := range v.wrong {
			ws.w.t.Errorf("who watches %s: %s", v.name, problem)
		}
		ws.w.t.Logf("who watches %s: %d events, began anew %d times, the last is %d", v.name, v.events, v.resets, v.last)
		v.mu.Unlock()
	}
}

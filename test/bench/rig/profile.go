package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// Profile is a processor profile that is being taken.
type Profile struct {
	engine *Engine
	dir    string
	name   string
	done   chan struct{}
	page   []byte
	err    error
}

// StartProfile begins a processor profile of the given length. The agent must have been started with Profiling.
func (e *Engine) StartProfile(ctx context.Context, dir, name string, length time.Duration) (*Profile, error) {
	if e.pprof == "" {
		return nil, errors.New("take profile: only an agent that the benchmark itself starts can be profiled")
	}
	p := &Profile{engine: e, dir: dir, name: name, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		p.page, p.err = get(ctx, fmt.Sprintf("%sprofile?seconds=%d", e.pprof, max(1, int(length.Seconds()))))
	}()
	return p, nil
}

// Finish waits for the end of the profile and stores it as NAME.cpu.pprof, with NAME.heap.pprof for what is held
// after a collection, and NAME.allocs.pprof for all that was ever allocated.
func (p *Profile) Finish(ctx context.Context) error {
	<-p.done
	if p.err != nil {
		return p.err
	}
	if err := p.store("cpu", p.page); err != nil {
		return err
	}
	for kind, path := range map[string]string{"heap": "heap?gc=1", "allocs": "allocs"} {
		page, err := get(ctx, p.engine.pprof+path)
		if err != nil {
			return err
		}
		if err := p.store(kind, page); err != nil {
			return err
		}
	}
	return nil
}

func (p *Profile) store(kind string, page []byte) error {
	if err := os.MkdirAll(p.dir, 0o755); err != nil {
		return fmt.Errorf("store profile: %w", err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, p.name+"."+kind+".pprof"), page, 0o644); err != nil {
		return fmt.Errorf("store profile: %w", err)
	}
	return nil
}

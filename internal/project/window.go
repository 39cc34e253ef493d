package project

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
)

// maxWindows is how many sync windows a project may have, those of global projects included.
const maxWindows = 1000

// window is one sync window, read. One with broken set cannot be read: it holds every sync of the Applications that it
// is for, because a freeze must not be lost to a typing error.
type window struct {
	project  string // that it is written in
	kind     string
	text     string // of its schedule
	schedule schedule
	length   time.Duration
	always   bool
	manual   bool
	overrun  bool
	broken   error

	all                                bool // of the selectors must match
	applications, namespaces, clusters []glob
}

// newWindow reads a sync window. Only patterns that cannot be read are an error.
func newWindow(b *budget, project string, in v1alpha1.SyncWindow) (*window, error) {
	w := &window{project: project, kind: in.Kind, text: in.Schedule, manual: in.ManualSync, overrun: in.SyncOverrun, all: in.UseAndOperator}
	for _, field := range []struct {
		into *[]glob
		from []string
	}{{&w.applications, in.Applications}, {&w.namespaces, in.Namespaces}, {&w.clusters, in.Clusters}} {
		for _, pattern := range field.from {
			g, err := b.compile(pattern, false)
			if err != nil {
				return nil, err
			}
			*field.into = append(*field.into, g)
		}
	}
	w.broken = w.read(b, in)
	return w, nil
}

func (w *window) read(b *budget, in v1alpha1.SyncWindow) error {
	if in.Kind != v1alpha1.SyncWindowAllow && in.Kind != v1alpha1.SyncWindowDeny {
		return fmt.Errorf("kind %.80q is neither allow nor deny: choose one", in.Kind)
	}
	zone := in.TimeZone
	if zone == "" {
		zone = "UTC"
	}
	location, err := b.zone(zone)
	if err != nil {
		return err
	}
	if w.schedule, err = newSchedule(in.Schedule, location); err != nil {
		return fmt.Errorf("schedule %.80q: %w", in.Schedule, err)
	}
	if w.length, err = time.ParseDuration(in.Duration); err != nil || w.length <= 0 {
		return fmt.Errorf("duration %.80q is not one: write it as 1h30m", in.Duration)
	}
	w.length = min(w.length, horizon*day*time.Second)
	w.always = w.schedule.always(w.length)
	return nil
}

// checkWindow says what is wrong with a sync window.
func checkWindow(in v1alpha1.SyncWindow) error {
	w, err := newWindow(newBudget(), "", in)
	switch {
	case err != nil:
		return err
	case w.broken != nil:
		return w.broken
	case len(in.Applications)+len(in.Namespaces)+len(in.Clusters) == 0:
		return errors.New("it is for nothing: set applications, namespaces or clusters")
	}
	return nil
}

// AppFacts is what sync windows are chosen by.
type AppFacts struct {
	Name      string // of the Application
	Namespace string // that it deploys to
	Cluster   Cluster
}

func (w *window) matches(app AppFacts) bool {
	set, met := 0, 0
	for _, field := range []struct {
		patterns []glob
		values   []string
	}{
		{w.applications, []string{app.Name}},
		{w.namespaces, []string{app.Namespace}},
		{w.clusters, []string{app.Cluster.Name, app.Cluster.Server}},
	} {
		if len(field.patterns) == 0 {
			continue
		}
		set++
		if slices.ContainsFunc(field.patterns, func(g glob) bool { return meetsAny(g, field.values) }) {
			met++
		}
	}
	return met > 0 && (met == set || !w.all)
}

// meetsAny reports whether a pattern describes one of the values. A value that only some may have is "" where there
// is none, which only a single value may be.
func meetsAny(g glob, values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return (v != "" || len(values) == 1) && g.match(v) })
}

// String describes a window in messages.
func (w *window) String() string {
	return fmt.Sprintf("sync window %.10s %.200q of project %s", w.kind, w.text, w.project)
}

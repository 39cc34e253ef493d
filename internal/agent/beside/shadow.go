package beside

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/agent/registry"
	"github.com/slipway-gitops/slipway/internal/engine"
	"github.com/slipway-gitops/slipway/internal/engine/forecast"
	"github.com/slipway-gitops/slipway/internal/strict"
)

// Shadow is what an agent that writes nothing has found out: what it would do, beside what the engine does that works on the
// Applications.
type Shadow struct {
	registry *registry.Registry
	helm     *HelmDefault
	changed  chan struct{} // has something in it when the report may be another one
	// Clean takes known secrets out of JSON; nil: none are known.
	Clean func([]byte) []byte

	mu    sync.Mutex
	found map[registry.Name]*finding
}

// NewShadow keeps what comparisons find of the Applications of a registry.
func NewShadow(r *registry.Registry, helm *HelmDefault) *Shadow {
	s := &Shadow{registry: r, helm: helm, changed: make(chan struct{}, 1), found: map[registry.Name]*finding{}}
	r.OnChange = s.stir
	return s
}

// stir says that the report may be another one.
func (s *Shadow) stir() {
	select {
	case s.changed <- struct{}{}:
	default: // it is reported already
	}
}

// finding is what came of one comparison.
type finding struct {
	Revisions  []string
	Sync       v1alpha1.SyncStatusCode
	Health     v1alpha1.HealthStatusCode
	WouldSync  bool
	Error      string
	Conditions []v1alpha1.ApplicationCondition
	Objects    []wouldObject
	Takeover   []ownedObject
}

// ownedObject is how an object would change hands without another change, as it is reported.
type ownedObject struct {
	Group     string   `json:"group,omitempty"`
	Kind      string   `json:"kind"`
	Namespace string   `json:"namespace,omitempty"`
	Name      string   `json:"name"`
	From      []string `json:"from,omitempty"`
	Patch     string   `json:"patch"`
}

// wouldObject is what would be done to one object, as it is reported.
type wouldObject struct {
	Group     string           `json:"group,omitempty"`
	Kind      string           `json:"kind"`
	Namespace string           `json:"namespace,omitempty"`
	Name      string           `json:"name"`
	Verb      string           `json:"verb"`
	Why       string           `json:"why,omitempty"`
	Fields    []forecast.Field `json:"fields,omitempty"`
	More      int              `json:"moreFields,omitempty"`
}

// String names the object and what would be done to it.
func (o wouldObject) String() string {
	text := o.Verb + " " + o.Kind + " " + o.Namespace + "/" + o.Name
	if len(o.Fields) > 0 {
		text += " " + o.Fields[0].Path
	}
	if n := len(o.Fields) + o.More; n > 1 {
		text += fmt.Sprintf(" and %d more fields", n-1)
	}
	return text
}

func findingOf(res engine.Result) *finding {
	f := &finding{
		Revisions: res.Revisions, Sync: res.Sync, Health: v1alpha1.HealthStatusCode(res.Health.Status), WouldSync: res.Forecast.Sync,
		Conditions: res.Conditions,
	}
	if res.Err != nil {
		f.Error = res.Err.Error()
	}
	for _, w := range res.Forecast.Changes {
		f.Objects = append(f.Objects, wouldObject{
			Group: w.Key.Group, Kind: w.Key.Kind, Namespace: w.Key.Namespace, Name: w.Key.Name,
			Verb: string(w.Verb), Why: w.Why, Fields: w.Fields, More: w.More,
		})
	}
	for _, o := range res.Forecast.Owners {
		f.Takeover = append(f.Takeover, ownedObject{
			Group: o.Key.Group, Kind: o.Key.Kind, Namespace: o.Key.Namespace, Name: o.Key.Name, From: o.From, Patch: o.Patch,
		})
	}
	return f
}

// put keeps what came of a comparison, and reports whether it is news.
func (s *Shadow) put(id registry.Name, f *finding) bool {
	fresh, err := json.Marshal(f)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old := s.found[id]; old != nil && err == nil {
		before, err := json.Marshal(old)
		if err == nil && bytes.Equal(before, fresh) {
			return false
		}
	}
	s.found[id] = f
	s.stir()
	return true
}

// Drop forgets an Application.
func (s *Shadow) Drop(id registry.Name) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.found, id)
	s.stir()
}

// get returns what is known of an Application; nil for nothing.
func (s *Shadow) get(id registry.Name) *finding {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.found[id]
}

// Failed reports whether the last comparison of an Application failed. Its status is that of another engine.
func (s *Shadow) Failed(id registry.Name) bool {
	if s == nil {
		return false
	}
	f := s.get(id)
	return f != nil && f.Error != ""
}

// cleaned gives a finding without known secrets.
func (s *Shadow) cleaned(f *finding) *finding {
	if s.Clean == nil {
		return f
	}
	raw, err := json.Marshal(f)
	clean := s.Clean(raw)
	if err != nil || bytes.Equal(raw, clean) {
		return f
	}
	var out finding
	if err := strict.Decode(clean, &out, strict.Unknown); err != nil {
		return &finding{Error: "the finding cannot be shown: it has a decrypted value in it"}
	}
	return &out
}

// Compared takes in what came of a comparison, and says so where it is news.
func (s *Shadow) Compared(log *slog.Logger, app *v1alpha1.Application, res engine.Result, took time.Duration) {
	if f := s.cleaned(findingOf(res)); s.put(registry.NameOf(app), f) {
		logFinding(log, app, f, took)
	}
}

// logFinding says in one line what would be done, and what the status says.
func logFinding(log *slog.Logger, app *v1alpha1.Application, f *finding, took time.Duration) {
	const shown = 5
	objects := make([]string, 0, shown)
	for _, o := range f.Objects[:min(len(f.Objects), shown)] {
		objects = append(objects, o.String())
	}
	attrs := []any{
		"took", took.Round(time.Microsecond).String(), "sync", f.Sync, "sync_in_status", app.Status.Sync.Status,
		"health", f.Health, "health_in_status", app.Status.Health.Status, "would_sync", f.WouldSync,
		"takeover", len(f.Takeover), "objects", len(f.Objects), "first", strings.Join(objects, "; "),
	}
	if f.Error != "" {
		log.Warn("shadow: not compared", append(attrs, "err", f.Error)...)
		return
	}
	log.Info("shadow: compared", attrs...)
}

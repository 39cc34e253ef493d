package plan

import (
	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/diff"
	"github.com/slipway-gitops/slipway/internal/engine/object"
)

// Task is one thing that an operation does: it brings, changes, keeps or removes one object, or runs a hook in one
// phase. A task to keep an object writes nothing: the waves behind it wait until the object is healthy.
type Task struct {
	diff.Change // Phase and Wave are those of the task
	Hook        bool
	Policies    Policies // of a hook
	Prune       string   // of a deletion: "false" and "confirm" as in the sync option; else it may go
	First       bool     // it comes before the dry run: the namespace that the others live in
	Last        bool     // of a deletion: it comes after everything else (sync option PruneLast)
	// Defines is the kind that the object defines, for a CustomResourceDefinition.
	Defines object.Kind
	// Index identifies the manifest of a hook: a hook of several phases is several tasks of one manifest.
	Index int

	rank  int // of its kind
	place int // in the plan of its operation
}

// ID names a task within its operation.
type ID struct {
	object.Key
	Phase v1alpha1.SyncPhase
}

// ID returns the task's name within its operation.
func (t Task) ID() ID { return ID{Key: t.Key, Phase: t.Phase} }

// Deletes reports whether the task removes an object that is not wanted any more.
func (t Task) Deletes() bool { return t.Verb == diff.Delete }

// text names the task's object as operation messages do: "apps/Deployment/web", "/Pod/job-1".
func (t Task) text() string { return t.Key.Group + "/" + t.Key.Kind + "/" + t.Key.Name }

// Policies say when a hook is deleted.
type Policies struct {
	BeforeCreation, Succeeded, Failed bool
}

// Hook says what the annotations of an object make of it.
type Hook struct {
	// Is reports whether the object is a hook, also one that belongs to no phase.
	Is bool
	// Skip reports whether the object is left out of every sync.
	Skip   bool
	Types  []v1alpha1.HookType // in the order of the annotation, each once
	Wave   int
	Delete Policies
}

// Phases returns the phases of a sync that the object takes part in.
func (h Hook) Phases() []v1alpha1.SyncPhase {
	if h.Skip {
		return nil
	}
	if !h.Is {
		return []v1alpha1.SyncPhase{v1alpha1.PhaseSync}
	}
	var out []v1alpha1.SyncPhase
	for _, t := range h.Types {
		switch phase := v1alpha1.SyncPhase(t); phase {
		case v1alpha1.PhasePreSync, v1alpha1.PhaseSync, v1alpha1.PhasePostSync, v1alpha1.PhaseSyncFail:
			out = append(out, phase)
		}
	}
	return out
}

// Has reports whether a type is among the hook's types.
func (h Hook) Has(t v1alpha1.HookType) bool {
	for _, have := range h.Types {
		if have == t {
			return true
		}
	}
	return false
}

// helmHooks says what Helm's hooks are to a sync. Its rollback and test hooks have no counterpart.
var helmHooks = map[string]v1alpha1.HookType{ //nolint:gochecknoglobals // a table
	"pre-install": v1alpha1.HookPreSync, "pre-upgrade": v1alpha1.HookPreSync,
	"post-install": v1alpha1.HookPostSync, "post-upgrade": v1alpha1.HookPostSync,
	"pre-delete": v1alpha1.HookPreDelete, "post-delete": v1alpha1.HookPostDelete,
}

var helmPolicies = map[string]v1alpha1.HookDeletePolicy{ //nolint:gochecknoglobals // a table
	"before-hook-creation": v1alpha1.HookDeleteBeforeCreation,
	"hook-succeeded":       v1alpha1.HookDeleteSucceeded,
	"hook-failed":          v1alpha1.HookDeleteFailed,
}

// ReadHook reads the annotations of an object: Argo CD's own, and Helm's where those are absent.
func ReadHook(obj map[string]any) Hook {
	h := Hook{Wave: object.WaveOf(obj)}
	own, helm := object.Annotation(obj, v1alpha1.AnnotationHook), object.Annotation(obj, object.AnnotationHelmHook)
	h.Is = object.IsHook(obj)
	switch {
	case own != "":
		for name := range fields(own) {
			h.add(knownHook(name))
		}
		h.Skip = !h.Is
	case h.Is:
		for name := range fields(helm) {
			h.add(helmHooks[name])
		}
	}
	if h.Is {
		h.Delete = readPolicies(obj)
	}
	return h
}

func (h *Hook) add(t v1alpha1.HookType) {
	if t != "" && !h.Has(t) {
		h.Types = append(h.Types, t)
	}
}

func knownHook(name string) v1alpha1.HookType {
	switch t := v1alpha1.HookType(name); t {
	case v1alpha1.HookPreSync, v1alpha1.HookSync, v1alpha1.HookPostSync, v1alpha1.HookSyncFail,
		v1alpha1.HookSkip, v1alpha1.HookPreDelete, v1alpha1.HookPostDelete:
		return t
	}
	return ""
}

func readPolicies(obj map[string]any) Policies {
	var p Policies
	set := func(policy v1alpha1.HookDeletePolicy) {
		switch policy {
		case v1alpha1.HookDeleteBeforeCreation:
			p.BeforeCreation = true
		case v1alpha1.HookDeleteSucceeded:
			p.Succeeded = true
		case v1alpha1.HookDeleteFailed:
			p.Failed = true
		}
	}
	for name := range fields(object.Annotation(obj, v1alpha1.AnnotationHookDeletePolicy)) {
		set(v1alpha1.HookDeletePolicy(name))
	}
	for name := range fields(object.Annotation(obj, object.AnnotationHelmHookPolicy)) {
		set(helmPolicies[name])
	}
	if p == (Policies{}) {
		p.BeforeCreation = true
	}
	return p
}

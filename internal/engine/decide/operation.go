package decide

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/slipway-gitops/slipway/api/argo/v1alpha1"
	"github.com/slipway-gitops/slipway/internal/engine/object"
	"github.com/slipway-gitops/slipway/internal/legible"
)

// Begun reports whether an operation has begun and is not over, and does not wait for its next attempt either.
func Begun(o *v1alpha1.OperationState) bool {
	return o != nil && !o.Phase.Completed() && o.FinishedAt == nil
}

// Is reports whether it is this operation at these revisions.
func (r *Running) Is(op v1alpha1.Operation, revisions []string) bool {
	return SameOperation(r.Operation, op) && slices.Equal(r.Revisions, revisions)
}

// Automated returns the policy of an Application if automated sync is on, else nil.
func Automated(app *v1alpha1.Application) *v1alpha1.AutomatedSync {
	if p := app.Spec.SyncPolicy; p.AutomatedEnabled() {
		return p.Automated
	}
	return nil
}

// IsTrue is a field that may be left out.
func IsTrue(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

// Options returns the sync options that count now: those of the operation that was asked for, else the Application's.
func Options(app *v1alpha1.Application) []string {
	if app.Operation != nil {
		return OptionsOf(app, app.Operation.Sync)
	}
	return OptionsOf(app, nil)
}

// OptionsOf returns the sync options of an operation, those of the Application where it has none.
func OptionsOf(app *v1alpha1.Application, op *v1alpha1.SyncOperation) []string {
	if op != nil && len(op.SyncOptions) > 0 {
		return op.SyncOptions
	}
	if app.Spec.SyncPolicy != nil {
		return app.Spec.SyncPolicy.SyncOptions
	}
	return nil
}

// RunsHooks reports whether a sync runs hooks: one with the strategy "apply" does not.
func RunsHooks(op *v1alpha1.SyncOperation) bool {
	return op == nil || op.SyncStrategy == nil || op.SyncStrategy.Apply == nil
}

// Forced reports whether a sync deletes what cannot be changed, and creates it again.
func Forced(op *v1alpha1.SyncOperation) bool {
	if op == nil || op.SyncStrategy == nil {
		return false
	}
	s := op.SyncStrategy
	return (s.Apply != nil && s.Apply.Force) || (s.Hook != nil && s.Hook.Force)
}

// NamesSources reports whether an operation says itself which source or revision it is about.
func NamesSources(op *v1alpha1.SyncOperation) bool {
	return op.Revision != "" || len(op.Revisions) > 0 || op.Source != nil || len(op.Sources) > 0
}

// Overrides reports whether an operation is about something else than the specification: sources, revisions or local manifests.
func Overrides(op *v1alpha1.SyncOperation) bool {
	return op != nil && (NamesSources(op) || len(op.Manifests) > 0)
}

// Restores reports whether an operation brings back what was deleted.
func Restores(op v1alpha1.Operation) bool {
	return op.Sync != nil && len(op.Sync.Resources) > 0 &&
		slices.ContainsFunc(op.Info, func(i v1alpha1.Info) bool { return i.Name == v1alpha1.InfoRestore && i.Value == v1alpha1.OptionTrue })
}

// Selected are the objects that an operation is limited to; none for all.
type Selected []v1alpha1.SyncOperationResource

// Selection returns the objects that an operation is limited to.
func Selection(op *v1alpha1.SyncOperation) Selected {
	if op == nil {
		return nil
	}
	return op.Resources
}

// Has reports whether an object is selected by name.
func (s Selected) Has(k object.Key) bool {
	return slices.ContainsFunc(s, func(s v1alpha1.SyncOperationResource) bool {
		return s.Group == k.Group && s.Kind == k.Kind && s.Name == k.Name && (s.Namespace == "" || s.Namespace == k.Namespace)
	})
}

// MetadataMoved reports whether an Application gives its namespace other labels or annotations than at its last operation.
func MetadataMoved(app *v1alpha1.Application) bool {
	last := app.Status.OperationState
	return app.Spec.SyncPolicy != nil && app.Spec.SyncPolicy.ManagedNamespaceMetadata != nil && last != nil && last.SyncResult != nil &&
		!same(app.Spec.SyncPolicy.ManagedNamespaceMetadata, last.SyncResult.ManagedNamespaceMetadata)
}

// RevisionsOf returns the revisions of an operation, one for each of its sources.
func RevisionsOf(res *v1alpha1.SyncOperationResult) []string {
	if res.Revision != "" {
		return []string{res.Revision}
	}
	return res.Revisions
}

// SourcesOf returns the sources of an operation.
func SourcesOf(res *v1alpha1.SyncOperationResult) []v1alpha1.ApplicationSource {
	if res.Revision != "" {
		return []v1alpha1.ApplicationSource{res.Source}
	}
	return res.Sources
}

// SameSources compares sources by their content.
func SameSources(a, b []v1alpha1.ApplicationSource) bool { return same(a, b) }

// SameOperation compares operations by their content.
func SameOperation(a, b v1alpha1.Operation) bool { return same(a, b) }

func same(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Short writes revisions in a text: seven digits of commits and digests, and versions whole.
func Short(revisions []string) string {
	out := make([]string, len(revisions))
	for i, rev := range revisions {
		out[i] = legible.Revision(rev, 7)
	}
	return strings.Join(out, ", ")
}

// Few joins the first of many sentences.
func Few(lines []string) string {
	const shown = 5
	text := strings.Join(lines[:min(len(lines), shown)], "; ")
	if len(lines) > shown {
		text += fmt.Sprintf("; and %d more", len(lines)-shown)
	}
	return text
}

// Causes names the objects and hooks that failed an operation whose message does not say so.
func Causes(o *v1alpha1.OperationState) string {
	const shown = 5
	var lines []string
	if o.SyncResult == nil {
		return ""
	}
	for _, out := range o.SyncResult.Resources {
		failed := out.HookPhase == v1alpha1.OperationFailed || out.HookPhase == v1alpha1.OperationError
		if failed && !strings.Contains(o.Message, out.Message) {
			lines = append(lines, CauseOf(out))
		}
	}
	more := ""
	if n := len(lines) - shown; n > 0 {
		lines, more = lines[:shown], fmt.Sprintf("; and %d more", n)
	}
	if len(lines) == 0 {
		return ""
	}
	return ": " + strings.Join(lines, "; ") + more
}

// CauseOf names an object that failed, and why.
func CauseOf(out v1alpha1.ResourceResult) string {
	key := object.Key{Group: out.Group, Kind: out.Kind, Namespace: out.Namespace, Name: out.Name}.String()
	if strings.HasPrefix(out.Message, key) {
		return out.Message
	}
	return key + ": " + out.Message
}

// OverrideSources returns the sources that an operation deploys in place of the specified ones.
func OverrideSources(sources []v1alpha1.ApplicationSource, op *v1alpha1.SyncOperation) []v1alpha1.ApplicationSource {
	switch {
	case len(op.Sources) > 0:
		sources = op.Sources
	case op.Source != nil:
		sources = []v1alpha1.ApplicationSource{*op.Source}
	}
	out := make([]v1alpha1.ApplicationSource, len(sources))
	copy(out, sources)
	for i := range out {
		if i < len(op.Revisions) && op.Revisions[i] != "" {
			out[i].TargetRevision = op.Revisions[i]
		}
	}
	if len(out) == 1 && op.Revision != "" {
		out[0].TargetRevision = op.Revision
	}
	return out
}

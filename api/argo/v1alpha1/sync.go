package v1alpha1

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SyncPolicy says when and how an application is synced.
type SyncPolicy struct {
	// Automated syncs without being asked when the desired state changes. Default: off.
	Automated *AutomatedSync `json:"automated,omitempty"`
	// SyncOptions are switches such as CreateNamespace=true (see keys.go). Default: none.
	SyncOptions SyncOptions `json:"syncOptions,omitempty"`
	// Retry says how often a failed sync is tried again. Default: an automated sync 5 times, a requested one never.
	Retry *RetryStrategy `json:"retry,omitempty"`
	// ManagedNamespaceMetadata is put on the destination namespace. Only with CreateNamespace=true.
	ManagedNamespaceMetadata *ManagedNamespaceMetadata `json:"managedNamespaceMetadata,omitempty"`
}

// AutomatedEnabled reports whether the policy syncs without being asked. A nil policy does not.
func (p *SyncPolicy) AutomatedEnabled() bool {
	if p == nil || p.Automated == nil {
		return false
	}
	return p.Automated.Enabled == nil || *p.Automated.Enabled
}

// AutomatedSync are the switches of automated sync. Nil switches have their default.
type AutomatedSync struct {
	// Prune deletes objects that are no longer wanted. Default false.
	Prune *bool `json:"prune,omitempty"`
	// SelfHeal also syncs when only the live state changed. Default false.
	SelfHeal *bool `json:"selfHeal,omitempty"`
	// AllowEmpty lets Prune delete the last object. Default false.
	AllowEmpty *bool `json:"allowEmpty,omitempty"`
	// Enabled turns automated sync off without losing the other switches. Default true.
	Enabled *bool `json:"enabled,omitempty"`
}

// RetryStrategy says how often and how soon a failed sync is tried again.
type RetryStrategy struct {
	// Limit is the number of further attempts; 0 is none, below 0 is without end.
	Limit int64 `json:"limit,omitempty"`
	// Backoff is the waiting time between attempts.
	Backoff *Backoff `json:"backoff,omitempty"`
	// Refresh takes a newer revision, if there is one, for the next attempt. Default false: the same revision again.
	Refresh bool `json:"refresh,omitempty"`
}

// Backoff is a growing waiting time. Durations are Go durations such as 30s or 2m; a bare number is seconds.
type Backoff struct {
	// Duration is the first waiting time. Default 5s.
	Duration string `json:"duration,omitempty"`
	// Factor multiplies the waiting time after each attempt. Default 2.
	Factor *int64 `json:"factor,omitempty"`
	// MaxDuration is the longest waiting time. Default 3m.
	MaxDuration string `json:"maxDuration,omitempty"`
}

// ManagedNamespaceMetadata are labels and annotations for the destination namespace. Others on it are left alone.
type ManagedNamespaceMetadata struct {
	// Labels are set on the namespace.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations are set on the namespace.
	Annotations map[string]string `json:"annotations,omitempty"`
}

// SyncOptions are switches in the form Name=value.
type SyncOptions []string

// Has reports whether the exact option, such as "PruneLast=true", is among the switches.
func (o SyncOptions) Has(option string) bool { return slices.Contains(o, option) }

// Value returns the value of the last switch of that name, such as "false" for "Prune", and whether there is one.
func (o SyncOptions) Value(name string) (value string, ok bool) {
	for _, option := range slices.Backward(o) {
		if n, v, found := strings.Cut(option, "="); found && strings.TrimSpace(n) == name {
			return strings.TrimSpace(v), true
		}
	}
	return "", false
}

// Operation asks for a sync.
type Operation struct {
	// Sync says what to sync, and to what. Absent asks for nothing.
	Sync *SyncOperation `json:"sync,omitempty"`
	// InitiatedBy is the author of the request. Set by the program that writes the operation; shown, never trusted for access.
	//
	// +optional
	InitiatedBy OperationInitiator `json:"initiatedBy,omitzero"`
	// Info is free text kept with the operation.
	Info []Info `json:"info,omitempty"`
	// Retry says how often a failure is tried again. Default: never.
	//
	// +optional
	Retry RetryStrategy `json:"retry,omitzero"`
}

// OperationInitiator is the user or program that requested an operation.
type OperationInitiator struct {
	// Username is the user, as the program that asked knows it.
	Username string `json:"username,omitempty"`
	// Automated is true for automated sync. Default false.
	Automated bool `json:"automated,omitempty"`
}

// SyncOperation is one sync as it was asked for.
type SyncOperation struct {
	// Revision to sync to. Default: what the source's target revision resolves to.
	Revision string `json:"revision,omitempty"`
	// Prune deletes objects that are no longer wanted. Default false.
	Prune bool `json:"prune,omitempty"`
	// DryRun only tries the changes out against the API server. Default false.
	DryRun bool `json:"dryRun,omitempty"`
	// SyncStrategy says whether hooks run. Default: they do.
	SyncStrategy *SyncStrategy `json:"syncStrategy,omitempty"`
	// Resources limits the sync to these objects; hooks do not run then. Default: all.
	Resources []SyncOperationResource `json:"resources,omitempty"`
	// Source takes the place of the spec's source for this sync only; used by rollback. Default: the spec's.
	Source *ApplicationSource `json:"source,omitempty"`
	// Manifests take the place of rendered manifests for this sync only, one JSON document each.
	Manifests []string `json:"manifests,omitempty"`
	// SyncOptions take the place of the spec's options for this sync only.
	SyncOptions SyncOptions `json:"syncOptions,omitempty"`
	// Sources take the place of the spec's sources for this sync only.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// Revisions to sync to, one for each of Sources in their order.
	Revisions []string `json:"revisions,omitempty"`
	// AutoHealAttemptsCount counts self-heal attempts in a row at one revision. Set by automated sync to space them out.
	AutoHealAttemptsCount int64 `json:"autoHealAttemptsCount,omitempty"`
}

// SyncOperationResource names one object to sync.
type SyncOperationResource struct {
	// Group is the API group. Default: the core group.
	Group string `json:"group,omitempty"`
	// Kind is the kind. Required.
	Kind string `json:"kind"`
	// Name is the object's name. Required.
	Name string `json:"name"`
	// Namespace is the object's namespace. Default: the destination's.
	Namespace string `json:"namespace,omitempty"`
}

// SyncStrategy says whether hooks run. At most one field is set; neither means Hook.
type SyncStrategy struct {
	// Apply applies objects and runs no hooks.
	Apply *SyncStrategyApply `json:"apply,omitempty"`
	// Hook applies objects and runs hooks.
	Hook *SyncStrategyHook `json:"hook,omitempty"`
}

// SyncStrategyApply are the options of a sync without hooks.
type SyncStrategyApply struct {
	// Force deletes and recreates an object that cannot be changed in place. Default false.
	Force bool `json:"force,omitempty"`
}

// SyncStrategyHook are the options of a sync with hooks.
type SyncStrategyHook struct {
	// Force deletes and recreates an object that cannot be changed in place. Default false.
	Force bool `json:"force,omitempty"`
}

// OperationState is the operation under way, or the last one that ended. Set by the controller; a client asks for the
// end of a running operation by setting Phase to Terminating.
type OperationState struct {
	// Operation is what was asked for.
	Operation Operation `json:"operation"`
	// Phase is how far it is.
	Phase OperationPhase `json:"phase"`
	// Message explains the phase.
	Message string `json:"message,omitempty"`
	// SyncResult is what was done, object by object; absent until the sync has begun.
	SyncResult *SyncOperationResult `json:"syncResult,omitempty"`
	// StartedAt is when it began.
	StartedAt metav1.Time `json:"startedAt"`
	// FinishedAt is when it ended; absent while it runs.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// RetryCount is how many attempts came before this one.
	RetryCount int64 `json:"retryCount,omitempty"`
}

// SyncOperationResult is what a sync did. Set by the controller.
type SyncOperationResult struct {
	// Resources are the outcomes, object by object.
	Resources []ResourceResult `json:"resources,omitempty"`
	// Revision is the revision synced to; empty with several sources.
	Revision string `json:"revision"`
	// Source is the source synced from, with a single source.
	//
	// +optional
	Source ApplicationSource `json:"source,omitzero"`
	// Sources are the sources synced from, with several.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// Revisions are the revisions synced to, one for each of Sources.
	Revisions []string `json:"revisions,omitempty"`
	// ManagedNamespaceMetadata is what the sync put on the destination namespace.
	ManagedNamespaceMetadata *ManagedNamespaceMetadata `json:"managedNamespaceMetadata,omitempty"`
}

// ResourceResult is what a sync did with one object. Set by the controller. The five identifying fields are always
// written, also when empty: readers key on them.
type ResourceResult struct {
	// Group is the API group.
	Group string `json:"group"`
	// Version is the API version without its group.
	Version string `json:"version"`
	// Kind is the kind.
	Kind string `json:"kind"`
	// Namespace is the object's namespace; empty for cluster-wide objects.
	Namespace string `json:"namespace"`
	// Name is the object's name.
	Name string `json:"name"`
	// Status is the outcome of applying or pruning; empty while it is pending and for hooks.
	Status ResultCode `json:"status,omitempty"`
	// Message explains the outcome.
	Message string `json:"message,omitempty"`
	// HookType is set for hooks: the phase the hook belongs to.
	HookType HookType `json:"hookType,omitempty"`
	// HookPhase is how far a hook is, and for an ordinary object how far its health is.
	HookPhase OperationPhase `json:"hookPhase,omitempty"`
	// SyncPhase is the part of the sync the object was handled in.
	SyncPhase SyncPhase `json:"syncPhase,omitempty"`
	// Images are the container images the object names.
	Images []string `json:"images,omitempty"`
}

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ApplicationStatus is what was last observed and done. Every field is set by the controller.
type ApplicationStatus struct {
	// Resources are the application's objects, wanted or live, without hooks' leftovers and without children.
	Resources []ResourceStatus `json:"resources,omitempty"`
	// Sync compares the desired with the live state.
	//
	// +optional
	Sync SyncStatus `json:"sync,omitzero"`
	// Health is the health of the whole application: the worst of its objects.
	//
	// +optional
	Health HealthStatus `json:"health,omitzero"`
	// History are the successful syncs, oldest first, at most spec.revisionHistoryLimit.
	History []RevisionHistory `json:"history,omitempty"`
	// Conditions are errors and warnings that people should see; at most one of each type and message.
	Conditions []ApplicationCondition `json:"conditions,omitempty"`
	// ReconciledAt is when the desired state was last compared against a resolved revision.
	ReconciledAt *metav1.Time `json:"reconciledAt,omitempty"`
	// OperationState is the operation under way or the last one; absent before the first.
	OperationState *OperationState `json:"operationState,omitempty"`
	// ObservedAt was when the live state was last read. Deprecated: kept for old readers, not set.
	ObservedAt *metav1.Time `json:"observedAt,omitempty"`
	// SourceType is the tool found for a single source.
	SourceType SourceType `json:"sourceType,omitempty"`
	// Summary are facts drawn from the objects.
	//
	// +optional
	Summary ApplicationSummary `json:"summary,omitzero"`
	// ResourceHealthSource says where object health is kept: "appTree" means not in Resources. Default: in Resources.
	ResourceHealthSource ResourceHealthLocation `json:"resourceHealthSource,omitempty"`
	// SourceTypes are the tools found for several sources, in their order.
	SourceTypes []SourceType `json:"sourceTypes,omitempty"`
	// ControllerNamespace is the namespace of the controller that owns the application.
	ControllerNamespace string `json:"controllerNamespace,omitempty"`
	// SourceHydrator is how far hydration has come.
	//
	// +optional
	SourceHydrator SourceHydratorStatus `json:"sourceHydrator,omitzero"`
}

// SyncStatus is the outcome of comparing the desired with the live state.
type SyncStatus struct {
	// Status is the outcome. Always written.
	Status SyncStatusCode `json:"status"`
	// ComparedTo is what the outcome was reached with.
	//
	// +optional
	ComparedTo ComparedTo `json:"comparedTo,omitzero"`
	// Revision is the resolved revision, with a single source.
	Revision string `json:"revision,omitempty"`
	// Revisions are the resolved revisions, with several sources, in their order.
	Revisions []string `json:"revisions,omitempty"`
}

// ComparedTo is the part of a spec that a comparison was made with.
type ComparedTo struct {
	// Source is the source, with a single one.
	//
	// +optional
	Source ApplicationSource `json:"source,omitzero"`
	// Destination is the cluster and namespace.
	Destination ApplicationDestination `json:"destination"`
	// Sources are the sources, with several.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// IgnoreDifferences are the rules that were in force.
	IgnoreDifferences []IgnoreDifference `json:"ignoreDifferences,omitempty"`
}

// HealthStatus is the health of an application or an object.
type HealthStatus struct {
	// Status is the health. Empty means that nothing is known about the kind.
	Status HealthStatusCode `json:"status,omitempty"`
	// Message explains the health. Objects only; it is left out for a whole application where it would not be read.
	Message string `json:"message,omitempty"`
	// LastTransitionTime is when Status last changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ResourceStatus is one object of an application. Empty fields are not written.
type ResourceStatus struct {
	// Group is the API group.
	Group string `json:"group,omitempty"`
	// Version is the API version without its group.
	Version string `json:"version,omitempty"`
	// Kind is the kind.
	Kind string `json:"kind,omitempty"`
	// Namespace is the object's namespace; empty for cluster-wide objects.
	Namespace string `json:"namespace,omitempty"`
	// Name is the object's name.
	Name string `json:"name,omitempty"`
	// Status compares desired with live; empty for hooks.
	Status SyncStatusCode `json:"status,omitempty"`
	// Health is the object's health; absent for kinds without one.
	Health *HealthStatus `json:"health,omitempty"`
	// Hook is true for hooks.
	Hook bool `json:"hook,omitempty"`
	// RequiresPruning is true for an object that is live and no longer wanted, and for every live hook.
	RequiresPruning bool `json:"requiresPruning,omitempty"`
	// SyncWave is the object's wave; 0 by default.
	SyncWave int64 `json:"syncWave,omitempty"`
	// RequiresDeletionConfirmation is true when deleting or pruning the object waits for approval.
	RequiresDeletionConfirmation bool `json:"requiresDeletionConfirmation,omitempty"`
}

// Leftover reports whether a sync that prunes deletes the object: it is live, no longer wanted, and no hook.
func (r *ResourceStatus) Leftover() bool { return r.RequiresPruning && !r.Hook }

// RevisionHistory is one successful sync.
type RevisionHistory struct {
	// Revision is the revision synced to, with a single source.
	Revision string `json:"revision,omitempty"`
	// DeployedAt is when the sync ended.
	DeployedAt metav1.Time `json:"deployedAt"`
	// ID counts up by one per entry and names it for rollback. The first is 0.
	ID int64 `json:"id"`
	// Source is the source synced from, with a single source.
	//
	// +optional
	Source ApplicationSource `json:"source,omitzero"`
	// DeployStartedAt is when the sync began.
	DeployStartedAt *metav1.Time `json:"deployStartedAt,omitempty"`
	// Sources are the sources synced from, with several.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// Revisions are the revisions synced to, one for each of Sources.
	Revisions []string `json:"revisions,omitempty"`
	// InitiatedBy is the author of the sync.
	//
	// +optional
	InitiatedBy OperationInitiator `json:"initiatedBy,omitzero"`
}

// ApplicationCondition is one error or warning.
type ApplicationCondition struct {
	// Type is what kind of error or warning it is. A type that ends in Error stops syncing, Warning does not.
	Type ConditionType `json:"type"`
	// Message is for people and says what to do.
	Message string `json:"message"`
	// LastTransitionTime is when the condition was first seen with this message.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
}

// ApplicationSummary are facts drawn from an application's objects, sorted and without repetitions.
type ApplicationSummary struct {
	// ExternalURLs are where the application can be opened, from Ingresses, Services and link annotations.
	ExternalURLs []string `json:"externalURLs,omitempty"`
	// Images are the container images in use.
	Images []string `json:"images,omitempty"`
	// IsAppOfApps is true when one of the objects is itself an Application.
	IsAppOfApps bool `json:"isAppOfApps,omitempty"`
}

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Application says which desired state, from which sources, belongs in which cluster and namespace, and reports how far
// the cluster follows it. It has no status subresource: spec, operation and status are fields of one object, and
// programs that change one of them send a patch.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applications,shortName=app;apps
// +kubebuilder:printcolumn:name="Sync Status",type=string,JSONPath=`.status.sync.status`
// +kubebuilder:printcolumn:name="Health Status",type=string,JSONPath=`.status.health.status`
// +kubebuilder:printcolumn:name="Revision",type=string,JSONPath=`.status.sync.revision`,priority=10
// +kubebuilder:printcolumn:name="Project",type=string,JSONPath=`.spec.project`,priority=10
// +kubebuilder:metadata:annotations="slipway.io/crd-version=1"
// +kubebuilder:metadata:labels="app.kubernetes.io/name=applications.argoproj.io"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=slipway"
type Application struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual metadata. Annotations ask for refreshes and set options (see keys.go); a resources
	// finalizer makes deleting the Application delete what it deployed.
	metav1.ObjectMeta `json:"metadata"`

	// Spec is what the user wants. Set by users, by an ApplicationSet or by a parent Application.
	Spec ApplicationSpec `json:"spec"`
	// Status is what was last observed and done. Set by the controller only.
	//
	// +optional
	Status ApplicationStatus `json:"status,omitzero"`
	// Operation asks for one sync now. Set by users and programs (one at a time) and by automated sync; the controller
	// removes it when it starts the work, which then shows in status.operationState. Absent by default.
	Operation *Operation `json:"operation,omitempty"`
}

// ApplicationList is a list of Applications as the API server returns it.
//
// +kubebuilder:object:root=true
type ApplicationList struct {
	metav1.TypeMeta `json:",inline"`
	// ListMeta carries the resource version and the continue token of the listing.
	metav1.ListMeta `json:"metadata"`

	// Items are the applications, in the server's order.
	Items []Application `json:"items"`
}

// ApplicationSpec is the user's part of an Application. Exactly one of Source, Sources and SourceHydrator says where
// the desired state comes from; with more than one set, SourceHydrator wins over Sources and Sources over Source.
type ApplicationSpec struct {
	// Source is the single place the desired state is read from. Ignored when Sources or SourceHydrator is set.
	Source *ApplicationSource `json:"source,omitempty"`
	// Destination is the cluster and namespace to deploy to. Required.
	Destination ApplicationDestination `json:"destination"`
	// Project names the AppProject whose rules bind this application. Required; an empty string means "default".
	Project string `json:"project"`
	// SyncPolicy says when and how the application is synced. Default: only on request, without options.
	SyncPolicy *SyncPolicy `json:"syncPolicy,omitempty"`
	// IgnoreDifferences lists fields of live objects whose drift is ignored. Default: none.
	IgnoreDifferences []IgnoreDifference `json:"ignoreDifferences,omitempty"`
	// Info is free text for people, shown beside the application. It changes no behaviour.
	Info []Info `json:"info,omitempty"`
	// RevisionHistoryLimit is how many entries status.history keeps. Default 10; 0 keeps none. A high number makes the
	// object large, and the API server limits its size.
	RevisionHistoryLimit *int64 `json:"revisionHistoryLimit,omitempty"`
	// Sources are several places whose results are put together; a later source overrides an earlier one for the same
	// object. Ignored when SourceHydrator is set.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// SourceHydrator renders a dry source into a branch of plain manifests and deploys that branch.
	SourceHydrator *SourceHydrator `json:"sourceHydrator,omitempty"`
}

// EffectiveSources returns the sources the desired state is read from: the hydrated branch, else Sources, else Source.
// It returns nil when the spec names none. The result must not be changed: it may share memory with the spec.
func (s *ApplicationSpec) EffectiveSources() []ApplicationSource {
	switch {
	case s.SourceHydrator != nil:
		return []ApplicationSource{s.SourceHydrator.HydratedSource()}
	case len(s.Sources) > 0:
		return s.Sources
	case s.Source != nil:
		return []ApplicationSource{*s.Source}
	}
	return nil
}

// MultipleSources reports whether Sources is in effect, in which case status speaks of sources and revisions in the
// plural.
func (s *ApplicationSpec) MultipleSources() bool {
	return s.SourceHydrator == nil && len(s.Sources) > 0
}

// ProjectName returns the name of the application's project: Project, or "default" where that is empty.
func (s *ApplicationSpec) ProjectName() string {
	if s.Project == "" {
		return DefaultProject
	}
	return s.Project
}

// ApplicationDestination is a cluster, given by its API server's URL or by its name but not both, and a namespace in it.
// An AppProject uses the same shape with glob patterns and a leading "!" for exclusion.
type ApplicationDestination struct {
	// Server is the URL of the cluster's API server, such as https://kubernetes.default.svc for the agent's own.
	Server string `json:"server,omitempty"`
	// Namespace is where objects go that name no namespace of their own. Objects that name one keep it.
	Namespace string `json:"namespace,omitempty"`
	// Name is the cluster's name, such as in-cluster for the agent's own.
	Name string `json:"name,omitempty"`
}

// IgnoreDifference names live objects and the fields of them whose drift is ignored.
type IgnoreDifference struct {
	// Group is the objects' API group, a glob. Default: the core group; "*" is every group.
	Group string `json:"group,omitempty"`
	// Kind is the objects' kind, a glob. Required; "*" is every kind.
	Kind string `json:"kind"`
	// Name limits the rule to objects of that name. Default: all.
	Name string `json:"name,omitempty"`
	// Namespace limits the rule to objects in that namespace. Default: all.
	Namespace string `json:"namespace,omitempty"`
	// JSONPointers are the fields as RFC 6901 pointers, such as /spec/replicas.
	JSONPointers []string `json:"jsonPointers,omitempty"`
	// JQPathExpressions are the fields as jq paths, such as .spec.containers[] | select(.name == "proxy").
	JQPathExpressions []string `json:"jqPathExpressions,omitempty"`
	// ManagedFieldsManagers are field managers; every field one of them owns is ignored.
	ManagedFieldsManagers []string `json:"managedFieldsManagers,omitempty"`
}

// Info is one named piece of free text for people.
type Info struct {
	// Name is the label shown before the text.
	Name string `json:"name"`
	// Value is the text; a URL is shown as a link.
	Value string `json:"value"`
}

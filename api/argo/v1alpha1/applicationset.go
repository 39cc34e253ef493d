package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// ApplicationSet makes Applications: one for each set of parameters its generators yield, from one template.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=applicationsets,shortName=appset;appsets
// +kubebuilder:subresource:status
// +kubebuilder:metadata:annotations="slipway.io/crd-version=1"
// +kubebuilder:metadata:labels="app.kubernetes.io/name=applicationsets.argoproj.io"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=slipway"
type ApplicationSet struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual metadata.
	metav1.ObjectMeta `json:"metadata"`

	// Spec is what the user wants. Set by users.
	Spec ApplicationSetSpec `json:"spec"`
	// Status is what was last observed and done. Set by the controller only, through the status subresource.
	//
	// +optional
	Status ApplicationSetStatus `json:"status,omitzero"`
}

// ApplicationSetList is a list of ApplicationSets as the API server returns it.
//
// +kubebuilder:object:root=true
type ApplicationSetList struct {
	metav1.TypeMeta `json:",inline"`
	// ListMeta carries the resource version and the continue token of the listing.
	metav1.ListMeta `json:"metadata,omitempty"`

	// Items are the application sets, in the server's order.
	Items []ApplicationSet `json:"items"`
}

// ApplicationSetSpec is the user's part of an ApplicationSet.
type ApplicationSetSpec struct {
	// GoTemplate fills the template with Go templates instead of plain {{name}} replacement. Default false.
	GoTemplate bool `json:"goTemplate,omitempty"`
	// Generators yield sets of parameters; their results are put one after the other. Required.
	Generators []Generator `json:"generators"`
	// Template is what an Application is made from. Required.
	Template ApplicationSetTemplate `json:"template"`
	// SyncPolicy says what may happen to Applications that exist. Default: create, update and delete.
	SyncPolicy *ApplicationSetSyncPolicy `json:"syncPolicy,omitempty"`
	// Strategy says in which order Applications are changed. Default: all in one step.
	Strategy *ApplicationSetStrategy `json:"strategy,omitempty"`
	// PreservedFields are labels and annotations of Applications that are left alone. Default: a few well-known ones.
	PreservedFields *PreservedFields `json:"preservedFields,omitempty"`
	// GoTemplateOptions are options of Go templates such as missingkey=error. Only with GoTemplate.
	GoTemplateOptions []string `json:"goTemplateOptions,omitempty"`
	// ApplyNestedSelectors was a switch for selectors of nested generators. Deprecated: they always apply.
	ApplyNestedSelectors bool `json:"applyNestedSelectors,omitempty"`
	// IgnoreApplicationDifferences are fields of Applications that are left alone once made. Default: none.
	IgnoreApplicationDifferences []ApplicationSetIgnoreDifference `json:"ignoreApplicationDifferences,omitempty"`
	// TemplatePatch is YAML or JSON text, a Go template, merged into the filled template; for what a typed template
	// cannot hold. Only with GoTemplate.
	TemplatePatch *string `json:"templatePatch,omitempty"`
}

// ApplicationSetTemplate is what an Application is made from. Strings in it may use parameters.
type ApplicationSetTemplate struct {
	// Metadata of the Application.
	Metadata ApplicationSetTemplateMeta `json:"metadata"`
	// Spec of the Application.
	Spec ApplicationSpec `json:"spec"`
}

// ApplicationSetTemplateMeta is the metadata an Application gets.
type ApplicationSetTemplateMeta struct {
	// Name of the Application; must differ for each set of parameters.
	Name string `json:"name,omitempty"`
	// Namespace of the Application. Default: that of the ApplicationSet; another one is refused.
	Namespace string `json:"namespace,omitempty"`
	// Labels of the Application.
	Labels map[string]string `json:"labels,omitempty"`
	// Annotations of the Application.
	Annotations map[string]string `json:"annotations,omitempty"`
	// Finalizers of the Application. Default: FinalizerResources, unless resources are preserved on deletion.
	Finalizers []string `json:"finalizers,omitempty"`
}

// ApplicationSetSyncPolicy says what may happen to Applications that exist.
type ApplicationSetSyncPolicy struct {
	// PreserveResourcesOnDeletion leaves deployed objects in place when an Application goes. Default false.
	PreserveResourcesOnDeletion bool `json:"preserveResourcesOnDeletion,omitempty"`
	// ApplicationsSync is what may be done. Default sync; the controller's own setting may forbid overriding it.
	ApplicationsSync *ApplicationsSyncPolicy `json:"applicationsSync,omitempty"`
}

// ApplicationsSyncPolicy is what may be done to Applications.
//
// +kubebuilder:validation:Enum=create-only;create-update;create-delete;sync
type ApplicationsSyncPolicy string

// Policies: only create; no delete; no update; everything.
const (
	ApplicationsCreateOnly   ApplicationsSyncPolicy = "create-only"
	ApplicationsCreateUpdate ApplicationsSyncPolicy = "create-update"
	ApplicationsCreateDelete ApplicationsSyncPolicy = "create-delete"
	ApplicationsSync         ApplicationsSyncPolicy = "sync"
)

// ApplicationSetStrategy says in which order Applications are changed.
type ApplicationSetStrategy struct {
	// Type is AllAtOnce or RollingSync. Default AllAtOnce.
	Type string `json:"type,omitempty"`
	// RollingSync are the steps. Only with Type RollingSync.
	RollingSync *RollingSync `json:"rollingSync,omitempty"`
	// DeletionOrder is AllAtOnce or Reverse (last step first). Default AllAtOnce.
	DeletionOrder string `json:"deletionOrder,omitempty"`
}

// Values of ApplicationSetStrategy.Type and DeletionOrder.
const (
	StrategyAllAtOnce   = "AllAtOnce"
	StrategyRollingSync = "RollingSync"
	DeletionReverse     = "Reverse"
)

// RollingSync changes Applications step by step; a step begins when the one before is healthy.
type RollingSync struct {
	// Steps in their order. An Application in no step is not synced.
	Steps []RollingSyncStep `json:"steps,omitempty"`
}

// RollingSyncStep is one step.
type RollingSyncStep struct {
	// MatchExpressions pick Applications by label; all must match.
	MatchExpressions []ApplicationMatchExpression `json:"matchExpressions,omitempty"`
	// MaxUpdate is how many Applications change at a time, as a number or a percentage. Default: all; 0 holds the step.
	MaxUpdate *intstr.IntOrString `json:"maxUpdate,omitempty"`
}

// ApplicationMatchExpression is one condition on a label.
type ApplicationMatchExpression struct {
	// Key is the label.
	Key string `json:"key,omitempty"`
	// Operator is In or NotIn.
	Operator string `json:"operator,omitempty"`
	// Values are what the label is compared with.
	Values []string `json:"values,omitempty"`
}

// PreservedFields are keys of labels and annotations that are left alone on Applications.
type PreservedFields struct {
	// Annotations are annotation keys.
	Annotations []string `json:"annotations,omitempty"`
	// Labels are label keys.
	Labels []string `json:"labels,omitempty"`
}

// ApplicationSetIgnoreDifference are fields of Applications that are left alone once made.
type ApplicationSetIgnoreDifference struct {
	// Name limits the rule to one Application. Default: all.
	Name string `json:"name,omitempty"`
	// JSONPointers are the fields as RFC 6901 pointers.
	JSONPointers []string `json:"jsonPointers,omitempty"`
	// JQPathExpressions are the fields as jq paths.
	JQPathExpressions []string `json:"jqPathExpressions,omitempty"`
}

// ApplicationSetStatus is what was last observed and done. Every field is set by the controller.
type ApplicationSetStatus struct {
	// Conditions are the outcomes of the last pass, one of each type.
	Conditions []ApplicationSetCondition `json:"conditions,omitempty"`
	// ApplicationStatus is how far a rolling sync is, Application by Application.
	ApplicationStatus []ApplicationSetApplicationStatus `json:"applicationStatus,omitempty"`
	// Resources are the Applications, at most 5000.
	Resources []ResourceStatus `json:"resources,omitempty"`
	// ResourcesCount is how many Applications there are, also when Resources is cut short.
	ResourcesCount int64 `json:"resourcesCount,omitempty"`
	// Health is the health of the set: the worst of what its conditions and Applications say.
	//
	// +optional
	Health HealthStatus `json:"health,omitzero"`
}

// ApplicationSetCondition is one outcome of the last pass.
type ApplicationSetCondition struct {
	// Type is what the condition is about.
	Type ApplicationSetConditionType `json:"type"`
	// Message explains it.
	Message string `json:"message"`
	// LastTransitionTime is when Status last changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// Status is True, False or Unknown.
	Status metav1.ConditionStatus `json:"status"`
	// Reason is a word for programs.
	Reason string `json:"reason"`
}

// ApplicationSetConditionType is what a condition of an ApplicationSet is about.
type ApplicationSetConditionType string

// Condition types of an ApplicationSet.
const (
	AppSetConditionErrorOccurred        ApplicationSetConditionType = "ErrorOccurred"
	AppSetConditionParametersGenerated  ApplicationSetConditionType = "ParametersGenerated"
	AppSetConditionResourcesUpToDate    ApplicationSetConditionType = "ResourcesUpToDate"
	AppSetConditionRolloutProgressing   ApplicationSetConditionType = "RolloutProgressing"
	AppSetConditionInvalidRolloutConfig ApplicationSetConditionType = "InvalidRolloutConfig"
)

// ApplicationSetApplicationStatus is how far a rolling sync is with one Application.
type ApplicationSetApplicationStatus struct {
	// Application is its name.
	Application string `json:"application"`
	// LastTransitionTime is when Status last changed.
	LastTransitionTime *metav1.Time `json:"lastTransitionTime,omitempty"`
	// Message explains the status.
	Message string `json:"message"`
	// Status is how far it is.
	Status ProgressiveStatus `json:"status"`
	// Step is the step it belongs to, counted from 1.
	Step string `json:"step"`
	// TargetRevisions are the revisions it is to reach, one for each source.
	TargetRevisions []string `json:"targetRevisions"`
}

// ProgressiveStatus is how far a rolling sync is with an Application.
type ProgressiveStatus string

// Progressive statuses, in their order: its step has not come; to be synced; being synced; done.
const (
	ProgressiveWaiting     ProgressiveStatus = "Waiting"
	ProgressivePending     ProgressiveStatus = "Pending"
	ProgressiveProgressing ProgressiveStatus = "Progressing"
	ProgressiveHealthy     ProgressiveStatus = "Healthy"
)

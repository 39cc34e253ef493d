package v1alpha1

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"
)

// TerminalGenerator yields sets of parameters without the help of other generators. Exactly one of its fields beside
// Selector is set.
type TerminalGenerator struct {
	// List yields the sets written in it.
	List *ListGenerator `json:"list,omitempty"`
	// Clusters yields one set for each cluster that is known.
	Clusters *ClusterGenerator `json:"clusters,omitempty"`
	// Git yields one set for each matching directory or file of a repository.
	Git *GitGenerator `json:"git,omitempty"`
	// SCMProvider yields one set for each repository of an organization.
	SCMProvider *SCMProviderGenerator `json:"scmProvider,omitempty"`
	// ClusterDecisionResource yields one set for each cluster another resource decided on.
	ClusterDecisionResource *DuckTypeGenerator `json:"clusterDecisionResource,omitempty"`
	// PullRequest yields one set for each open pull request of a repository.
	PullRequest *PullRequestGenerator `json:"pullRequest,omitempty"`
	// Selector keeps only sets whose parameters, taken as labels, match. Default: all.
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// Plugin yields the sets a service returns.
	Plugin *PluginGenerator `json:"plugin,omitempty"`
}

// Generator is a generator at the top of an ApplicationSet. Exactly one field beside Selector is set.
type Generator struct {
	TerminalGenerator `json:",inline"`
	// Matrix yields every combination of the sets of two generators.
	Matrix *MatrixGenerator `json:"matrix,omitempty"`
	// Merge joins the sets of several generators on some of their parameters.
	Merge *MergeGenerator `json:"merge,omitempty"`
}

// NestedGenerator is a generator within a matrix or merge. Exactly one field beside Selector is set. A further matrix or
// merge is kept raw, because a schema cannot refer to itself; decode it with NestedMatrix and NestedMerge.
type NestedGenerator struct {
	TerminalGenerator `json:",inline"`
	// Matrix holds a NestedMatrixGenerator.
	//
	// +kubebuilder:validation:Type=object
	Matrix *RawJSON `json:"matrix,omitempty"`
	// Merge holds a NestedMergeGenerator.
	//
	// +kubebuilder:validation:Type=object
	Merge *RawJSON `json:"merge,omitempty"`
}

// NestedMatrix decodes Matrix; it returns nil when there is none.
func (g *NestedGenerator) NestedMatrix() (*NestedMatrixGenerator, error) {
	if g.Matrix == nil {
		return nil, nil
	}
	var out NestedMatrixGenerator
	if err := kjson.UnmarshalCaseSensitivePreserveInts(g.Matrix.Raw, &out); err != nil {
		return nil, fmt.Errorf("read nested matrix generator: %w", err)
	}
	return &out, nil
}

// NestedMerge decodes Merge; it returns nil when there is none.
func (g *NestedGenerator) NestedMerge() (*NestedMergeGenerator, error) {
	if g.Merge == nil {
		return nil, nil
	}
	var out NestedMergeGenerator
	if err := kjson.UnmarshalCaseSensitivePreserveInts(g.Merge.Raw, &out); err != nil {
		return nil, fmt.Errorf("read nested merge generator: %w", err)
	}
	return &out, nil
}

// ListGenerator yields sets written by hand.
type ListGenerator struct {
	// Elements are the sets, one JSON object each.
	Elements []RawJSON `json:"elements,omitempty"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// ElementsYAML is YAML text with more sets; within a matrix it may use parameters of the other generator.
	ElementsYAML string `json:"elementsYaml,omitempty"`
}

// MatrixGenerator yields every combination of the sets of two generators.
type MatrixGenerator struct {
	// Generators are the two; the second may use parameters of the first.
	Generators []NestedGenerator `json:"generators"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
}

// NestedMatrixGenerator is a matrix within a matrix or merge; nesting ends here.
type NestedMatrixGenerator struct {
	// Generators are the two.
	Generators []TerminalGenerator `json:"generators"`
}

// MergeGenerator joins sets: those of later generators override those of the first where the keys agree.
type MergeGenerator struct {
	// Generators are at least two.
	Generators []NestedGenerator `json:"generators"`
	// MergeKeys are the parameters that must agree; together they must be unique within one generator.
	MergeKeys []string `json:"mergeKeys"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
}

// NestedMergeGenerator is a merge within a matrix or merge; nesting ends here.
type NestedMergeGenerator struct {
	// Generators are at least two.
	Generators []TerminalGenerator `json:"generators"`
	// MergeKeys are the parameters that must agree.
	MergeKeys []string `json:"mergeKeys"`
}

// ClusterGenerator yields one set for each cluster.
type ClusterGenerator struct {
	// Selector picks clusters by the labels of their secrets. Default: all, also the controller's own, which has no
	// secret and so is left out as soon as a selector is set.
	//
	// +optional
	Selector metav1.LabelSelector `json:"selector,omitzero"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters, below values.
	Values map[string]string `json:"values,omitempty"`
	// FlatList yields one set with the list of all clusters instead. Default false.
	FlatList bool `json:"flatList,omitempty"`
}

// DuckTypeGenerator yields one set for each cluster in the status of another resource.
type DuckTypeGenerator struct {
	// ConfigMapRef is the ConfigMap that says which kind of resource, and where in its status the clusters are. Required.
	ConfigMapRef string `json:"configMapRef"`
	// Name is the resource's name. Excludes LabelSelector.
	Name string `json:"name,omitempty"`
	// RequeueAfterSeconds is how often the resource is read. Default 180.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// LabelSelector picks resources. Excludes Name.
	//
	// +optional
	LabelSelector metav1.LabelSelector `json:"labelSelector,omitzero"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters, below values.
	Values map[string]string `json:"values,omitempty"`
}

// GitGenerator yields one set for each matching directory, or for each matching file the parameters in it.
type GitGenerator struct {
	// RepoURL is the repository. Required.
	RepoURL string `json:"repoURL"`
	// Directories are the directories looked for. Excludes Files.
	Directories []GitGeneratorPath `json:"directories,omitempty"`
	// Files are the YAML or JSON files looked for. Excludes Directories.
	Files []GitGeneratorPath `json:"files,omitempty"`
	// Revision is a branch, tag or commit. Required.
	Revision string `json:"revision"`
	// RequeueAfterSeconds is how often the repository is read. Default 180; 0 never.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// PathParamPrefix is put before the names of path parameters, so that two Git generators do not clash.
	PathParamPrefix string `json:"pathParamPrefix,omitempty"`
	// Values are further parameters, below values.
	Values map[string]string `json:"values,omitempty"`
}

// GitGeneratorPath is a glob of directories or files.
type GitGeneratorPath struct {
	// Path is the glob, relative to the repository's root. Required.
	Path string `json:"path"`
	// Exclude takes the matches away instead. Default false.
	Exclude bool `json:"exclude,omitempty"`
}

// PluginGenerator yields the sets a service returns over HTTP.
type PluginGenerator struct {
	// ConfigMapRef is the ConfigMap with the service's URL and token. Required.
	ConfigMapRef PluginConfigMapRef `json:"configMapRef"`
	// Input is sent to the service.
	//
	// +optional
	Input PluginInput `json:"input,omitzero"`
	// RequeueAfterSeconds is how often the service is asked. Default 1800.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters, below values.
	Values map[string]string `json:"values,omitempty"`
}

// PluginConfigMapRef names a ConfigMap in the ApplicationSet's namespace.
type PluginConfigMapRef struct {
	// Name of the ConfigMap. Required.
	Name string `json:"name"`
}

// PluginInput is what a plugin is sent.
type PluginInput struct {
	// Parameters are any JSON values by name.
	Parameters map[string]RawJSON `json:"parameters,omitempty"`
}

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SourceHydrator says how to render a dry source into plain manifests, where in Git to keep them, and from where to
// deploy them.
type SourceHydrator struct {
	// DrySource is what is rendered. Required.
	DrySource DrySource `json:"drySource"`
	// SyncSource is where the manifests are deployed from. Required.
	SyncSource SyncSource `json:"syncSource"`
	// HydrateTo is a branch the manifests are first written to, so that a user can review the step to SyncSource.
	// Default: they are written to SyncSource itself.
	HydrateTo *HydrateTo `json:"hydrateTo,omitempty"`
}

// HydratedSource returns the hydrated manifests as an ordinary source: the sync source's repository, branch and path.
func (h *SourceHydrator) HydratedSource() ApplicationSource {
	repo := h.SyncSource.RepoURL
	if repo == "" {
		repo = h.DrySource.RepoURL
	}
	return ApplicationSource{
		RepoURL:        repo,
		Path:           h.SyncSource.Path,
		TargetRevision: h.SyncSource.TargetBranch,
	}
}

// DrySource is the unrendered source of a SourceHydrator. At most one tool block is set.
type DrySource struct {
	// RepoURL is the Git repository. Required.
	RepoURL string `json:"repoURL"`
	// TargetRevision is a branch, tag or commit. Required.
	TargetRevision string `json:"targetRevision"`
	// Path is the directory inside the repository. Required.
	Path string `json:"path"`
	// Helm holds options for rendering a chart.
	Helm *HelmSource `json:"helm,omitempty"`
	// Kustomize holds options for building a kustomization.
	Kustomize *KustomizeSource `json:"kustomize,omitempty"`
	// Directory holds options for reading plain manifests and Jsonnet.
	Directory *DirectorySource `json:"directory,omitempty"`
	// Plugin holds options for a config management plugin.
	Plugin *PluginSource `json:"plugin,omitempty"`
}

// SyncSource is where hydrated manifests are deployed from.
type SyncSource struct {
	// TargetBranch is the branch. Required.
	TargetBranch string `json:"targetBranch"`
	// Path is the directory inside the branch. Required, and not the root: a hydrator empties it before it writes.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:Pattern=`^.{2,}|[^./]$`
	Path string `json:"path"`
	// RepoURL is the repository. Default: that of the dry source.
	RepoURL string `json:"repoURL,omitempty"`
}

// HydrateTo is the branch hydrated manifests are staged on.
type HydrateTo struct {
	// TargetBranch is the branch. Required.
	TargetBranch string `json:"targetBranch"`
}

// SourceHydratorStatus is how far hydration has come. Set by the hydrator.
type SourceHydratorStatus struct {
	// LastSuccessfulOperation is the last hydration that worked; absent before the first.
	LastSuccessfulOperation *SuccessfulHydrateOperation `json:"lastSuccessfulOperation,omitempty"`
	// CurrentOperation is the hydration under way, or the last one that ended.
	CurrentOperation *HydrateOperation `json:"currentOperation,omitempty"`
	// LastComparedDryRevision is the dry commit last looked at, whether or not it needed hydration.
	LastComparedDryRevision string `json:"lastComparedDryRevision,omitempty"`
}

// HydrateOperation is one hydration, from its start to its end.
type HydrateOperation struct {
	// StartedAt is when it began.
	//
	// +optional
	StartedAt metav1.Time `json:"startedAt,omitzero"`
	// FinishedAt is when it ended; absent while it runs.
	FinishedAt *metav1.Time `json:"finishedAt,omitempty"`
	// Phase is how far it is.
	Phase HydratePhase `json:"phase"`
	// Message explains the phase.
	Message string `json:"message"`
	// DrySHA is the dry commit, once known.
	DrySHA string `json:"drySHA,omitempty"`
	// HydratedSHA is the commit with the manifests, once written.
	HydratedSHA string `json:"hydratedSHA,omitempty"`
	// SourceHydrator is the spec the operation was started with.
	//
	// +optional
	SourceHydrator SourceHydrator `json:"sourceHydrator,omitzero"`
}

// SuccessfulHydrateOperation is a hydration that worked.
type SuccessfulHydrateOperation struct {
	// DrySHA is the dry commit.
	DrySHA string `json:"drySHA,omitempty"`
	// HydratedSHA is the commit with the manifests.
	HydratedSHA string `json:"hydratedSHA,omitempty"`
	// SourceHydrator is the spec the operation was started with.
	//
	// +optional
	SourceHydrator SourceHydrator `json:"sourceHydrator,omitzero"`
}

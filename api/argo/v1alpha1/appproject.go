package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// AppProject groups applications and bounds what they may read, where they may deploy, which kinds, and when, and
// which users may act on them. It has no status subresource.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=appprojects,shortName=appproj;appprojs
// +kubebuilder:metadata:annotations="slipway.io/crd-version=1"
// +kubebuilder:metadata:labels="app.kubernetes.io/name=appprojects.argoproj.io"
// +kubebuilder:metadata:labels="app.kubernetes.io/part-of=slipway"
type AppProject struct {
	metav1.TypeMeta `json:",inline"`
	// ObjectMeta is the usual metadata. Labels are what global projects select projects by.
	metav1.ObjectMeta `json:"metadata"`

	// Spec are the rules. Set by users.
	Spec AppProjectSpec `json:"spec"`
	// Status is set by the server that issues tokens.
	//
	// +optional
	Status AppProjectStatus `json:"status,omitzero"`
}

// AppProjectList is a list of AppProjects as the API server returns it.
//
// +kubebuilder:object:root=true
type AppProjectList struct {
	metav1.TypeMeta `json:",inline"`
	// ListMeta carries the resource version and the continue token of the listing.
	metav1.ListMeta `json:"metadata"`

	// Items are the projects, in the server's order.
	Items []AppProject `json:"items"`
}

// AppProjectSpec are the rules of a project. An empty list of permissions permits nothing, except where a field says
// otherwise. Patterns are globs; a leading "!" denies.
type AppProjectSpec struct {
	// SourceRepos are patterns of the repositories applications may read.
	SourceRepos []string `json:"sourceRepos,omitempty"`
	// Destinations are patterns of the clusters and namespaces applications may deploy to.
	Destinations []ApplicationDestination `json:"destinations,omitempty"`
	// Description is free text, at most 255 characters.
	//
	// +kubebuilder:validation:MaxLength=255
	Description string `json:"description,omitempty"`
	// Roles grant users and programs rights on the project's applications.
	Roles []ProjectRole `json:"roles,omitempty"`
	// ClusterResourceWhitelist are the cluster-wide kinds, and names, that may be deployed. Default: none.
	ClusterResourceWhitelist []ClusterResourceRule `json:"clusterResourceWhitelist,omitempty"`
	// NamespaceResourceBlacklist are the namespaced kinds that may not be deployed. Default: none.
	NamespaceResourceBlacklist []GroupKind `json:"namespaceResourceBlacklist,omitempty"`
	// OrphanedResources watches for objects in the project's namespaces that no application wants. Default: off.
	OrphanedResources *OrphanedResources `json:"orphanedResources,omitempty"`
	// SyncWindows are the times at which syncing is allowed or denied. Default: always allowed.
	SyncWindows []SyncWindow `json:"syncWindows,omitempty"`
	// NamespaceResourceWhitelist are the namespaced kinds that may be deployed. Default (absent): all.
	NamespaceResourceWhitelist []GroupKind `json:"namespaceResourceWhitelist,omitempty"`
	// SignatureKeys are the PGP keys commits must be signed with. Deprecated: use SourceIntegrity.
	SignatureKeys []SignatureKey `json:"signatureKeys,omitempty"`
	// ClusterResourceBlacklist are the cluster-wide kinds, and names, that may not be deployed. Wins over the whitelist.
	ClusterResourceBlacklist []ClusterResourceRule `json:"clusterResourceBlacklist,omitempty"`
	// SourceNamespaces are patterns of namespaces, beside the controller's own, whose Applications may name the project.
	SourceNamespaces []string `json:"sourceNamespaces,omitempty"`
	// PermitOnlyProjectScopedClusters limits destinations to clusters registered for this project. Default false.
	PermitOnlyProjectScopedClusters bool `json:"permitOnlyProjectScopedClusters,omitempty"`
	// DestinationServiceAccounts say which service account syncs act as, by destination; the first match counts.
	// Default: the controller's own.
	DestinationServiceAccounts []DestinationServiceAccount `json:"destinationServiceAccounts,omitempty"`
	// SourceIntegrity says how commits must be signed. Default: not at all.
	SourceIntegrity *SourceIntegrity `json:"sourceIntegrity,omitempty"`
}

// GroupKind is a kind in an API group; both are globs.
type GroupKind struct {
	// Group is the API group; empty is the core group, "*" every group.
	Group string `json:"group"`
	// Kind is the kind; "*" is every kind.
	Kind string `json:"kind"`
}

// ClusterResourceRule names cluster-wide objects.
type ClusterResourceRule struct {
	// Group is the API group, a glob; empty is the core group.
	Group string `json:"group"`
	// Kind is the kind, a glob.
	Kind string `json:"kind"`
	// Name is the objects' name, a glob. Default: every name.
	Name string `json:"name,omitempty"`
}

// DestinationServiceAccount says which service account to act as at a destination.
type DestinationServiceAccount struct {
	// Server is a pattern of the cluster's URL.
	Server string `json:"server"`
	// Namespace is a pattern of the destination namespace. Default: the empty namespace only.
	Namespace string `json:"namespace,omitempty"`
	// DefaultServiceAccount is the account, as name or namespace:name. Without a namespace the destination's is used.
	DefaultServiceAccount string `json:"defaultServiceAccount"`
}

// ProjectRole is a named set of rights within a project.
type ProjectRole struct {
	// Name is the role's name, unique in the project.
	Name string `json:"name"`
	// Description is free text.
	Description string `json:"description,omitempty"`
	// Policies are policy lines (p, proj:<project>:<role>, resource, action, object, effect).
	Policies []string `json:"policies,omitempty"`
	// JWTTokens are the tokens issued for the role, without their secrets.
	JWTTokens []JWTToken `json:"jwtTokens,omitempty"`
	// Groups are the groups of the identity provider that have the role.
	Groups []string `json:"groups,omitempty"`
}

// JWTToken is the record of a token that was issued.
type JWTToken struct {
	// IssuedAt is when, in seconds since 1970.
	IssuedAt int64 `json:"iat"`
	// ExpiresAt is when it ends, in seconds since 1970. Default 0: never.
	ExpiresAt int64 `json:"exp,omitempty"`
	// ID is the token's id.
	ID string `json:"id,omitempty"`
}

// SyncWindow is a repeated span of time in which syncing is allowed or denied. A window is for the applications that
// match one of Applications, Namespaces and Clusters, or all of them with UseAndOperator.
type SyncWindow struct {
	// Kind is "allow" or "deny". With any allow window matching, syncing is denied outside of them; deny wins.
	Kind string `json:"kind,omitempty"`
	// Schedule is when the window opens, as a five-field cron expression.
	Schedule string `json:"schedule,omitempty"`
	// Duration is how long it stays open, a Go duration such as 1h30m.
	Duration string `json:"duration,omitempty"`
	// Applications are patterns of application names.
	Applications []string `json:"applications,omitempty"`
	// Namespaces are patterns of destination namespaces.
	Namespaces []string `json:"namespaces,omitempty"`
	// Clusters are patterns of destination clusters, by URL or name.
	Clusters []string `json:"clusters,omitempty"`
	// ManualSync allows syncs people ask for while the window would deny them. Default false.
	ManualSync bool `json:"manualSync,omitempty"`
	// TimeZone is the zone Schedule is read in, by its IANA name. Default UTC.
	TimeZone string `json:"timeZone,omitempty"`
	// UseAndOperator requires all of Applications, Namespaces and Clusters that are set to match. Default false: any.
	UseAndOperator bool `json:"andOperator,omitempty"`
	// Description is free text.
	Description string `json:"description,omitempty"`
	// SyncOverrun lets a sync that began while it was allowed run to its end. Default false.
	SyncOverrun bool `json:"syncOverrun,omitempty"`
}

// Kinds of sync windows.
const (
	SyncWindowAllow = "allow"
	SyncWindowDeny  = "deny"
)

// OrphanedResources are the options of watching for objects no application wants.
type OrphanedResources struct {
	// Warn puts a condition on applications when there are such objects. Default false.
	Warn *bool `json:"warn,omitempty"`
	// Ignore are objects that may be there.
	Ignore []OrphanedResourceKey `json:"ignore,omitempty"`
}

// OrphanedResourceKey names objects; every field set must match, and each is a glob.
type OrphanedResourceKey struct {
	// Group is the API group.
	Group string `json:"group,omitempty"`
	// Kind is the kind.
	Kind string `json:"kind,omitempty"`
	// Name is the object's name.
	Name string `json:"name,omitempty"`
}

// SignatureKey names a PGP key.
type SignatureKey struct {
	// KeyID is the key's id in hexadecimal.
	KeyID string `json:"keyID"`
}

// SourceIntegrity says what makes a source trustworthy.
type SourceIntegrity struct {
	// Git are the rules for Git repositories. Required.
	Git *SourceIntegrityGit `json:"git"`
}

// SourceIntegrityGit are the rules for Git repositories.
type SourceIntegrityGit struct {
	// Policies are the rules. A repository that none matches is not checked; one that several match fails its check.
	Policies []SourceIntegrityGitPolicy `json:"policies"`
}

// SourceIntegrityGitPolicy is one rule for some repositories.
type SourceIntegrityGitPolicy struct {
	// Repos are the repositories the rule is for.
	Repos []SourceIntegrityGitRepo `json:"repos"`
	// GPG says how commits must be signed. Required.
	GPG *SourceIntegrityGPG `json:"gpg"`
}

// SourceIntegrityGitRepo is a pattern of repositories.
type SourceIntegrityGitRepo struct {
	// URL is a glob of repository URLs; a leading "!" excludes.
	URL string `json:"url"`
}

// SourceIntegrityGPG says how commits must be signed with PGP keys.
type SourceIntegrityGPG struct {
	// Mode is how far back signatures are checked.
	Mode GPGMode `json:"mode"`
	// Keys are the ids of the keys that count.
	Keys []string `json:"keys"`
}

// GPGMode is how far back signatures are checked.
type GPGMode string

// GPG modes: no check; the deployed commit or its annotated tag; every commit since the last sealed one.
const (
	GPGModeNone   GPGMode = "none"
	GPGModeHead   GPGMode = "head"
	GPGModeStrict GPGMode = "strict"
)

// AppProjectStatus is kept by the server that issues tokens.
type AppProjectStatus struct {
	// JWTTokensByRole are the tokens issued, by role.
	JWTTokensByRole map[string]JWTTokens `json:"jwtTokensByRole,omitempty"`
}

// JWTTokens is a list of issued tokens.
type JWTTokens struct {
	// Items are the tokens.
	Items []JWTToken `json:"items,omitempty"`
}

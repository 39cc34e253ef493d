package v1alpha1

// SCMProviderGenerator yields one set for each repository of an organization. Exactly one provider is set.
type SCMProviderGenerator struct {
	// GitHub is a GitHub organization.
	GitHub *SCMProviderGitHub `json:"github,omitempty"`
	// GitLab is a GitLab group.
	GitLab *SCMProviderGitLab `json:"gitlab,omitempty"`
	// Bitbucket is a Bitbucket Cloud workspace.
	Bitbucket *SCMProviderBitbucket `json:"bitbucket,omitempty"`
	// BitbucketServer is a Bitbucket Data Center project.
	BitbucketServer *SCMProviderBitbucketServer `json:"bitbucketServer,omitempty"`
	// Gitea is a Gitea or Forgejo organization.
	Gitea *SCMProviderGitea `json:"gitea,omitempty"`
	// AzureDevOps is an Azure DevOps project.
	AzureDevOps *SCMProviderAzureDevOps `json:"azureDevOps,omitempty"`
	// Filters keep repositories and branches that pass any one of them. Default: all.
	Filters []SCMProviderFilter `json:"filters,omitempty"`
	// CloneProtocol is ssh or https. Default: what the provider prefers.
	CloneProtocol string `json:"cloneProtocol,omitempty"`
	// RequeueAfterSeconds is how often the provider is asked. Default 1800.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Values are further parameters, below values.
	Values map[string]string `json:"values,omitempty"`
	// AWSCodeCommit is an AWS account's CodeCommit.
	AWSCodeCommit *SCMProviderAWSCodeCommit `json:"awsCodeCommit,omitempty"`
}

// SCMProviderFilter passes a repository or branch when every field set passes it. Patterns are regular expressions.
type SCMProviderFilter struct {
	// RepositoryMatch is a pattern of the repository's name.
	RepositoryMatch *string `json:"repositoryMatch,omitempty"`
	// PathsExist are paths that must exist.
	PathsExist []string `json:"pathsExist,omitempty"`
	// PathsDoNotExist are paths that must not exist.
	PathsDoNotExist []string `json:"pathsDoNotExist,omitempty"`
	// LabelMatch is a pattern one of the repository's labels or topics must match.
	LabelMatch *string `json:"labelMatch,omitempty"`
	// BranchMatch is a pattern of the branch's name.
	BranchMatch *string `json:"branchMatch,omitempty"`
}

// SCMProviderGitHub is a GitHub organization.
type SCMProviderGitHub struct {
	// Organization is its name. Required.
	Organization string `json:"organization"`
	// API is the API's URL. Default: github.com's.
	API string `json:"api,omitempty"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AppSecretName is a repository credential Secret with a GitHub App to sign in with.
	AppSecretName string `json:"appSecretName,omitempty"`
	// AllBranches looks at every branch. Default false: the default branch only.
	AllBranches bool `json:"allBranches,omitempty"`
	// ExcludeArchivedRepos leaves out archived repositories. Default false.
	ExcludeArchivedRepos bool `json:"excludeArchivedRepos,omitempty"`
}

// SCMProviderGitLab is a GitLab group.
type SCMProviderGitLab struct {
	// Group is its id or full path. Required.
	Group string `json:"group"`
	// IncludeSubgroups looks into groups below it too. Default false.
	IncludeSubgroups bool `json:"includeSubgroups,omitempty"`
	// API is the API's URL. Default: gitlab.com's.
	API string `json:"api,omitempty"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AllBranches looks at every branch. Default false: the default branch only.
	AllBranches bool `json:"allBranches,omitempty"`
	// Insecure does not check the server's certificate. Default false.
	Insecure bool `json:"insecure,omitempty"`
	// IncludeSharedProjects looks at projects shared with the group too. Default true.
	IncludeSharedProjects *bool `json:"includeSharedProjects,omitempty"`
	// Topic keeps projects with that topic only. Default: all.
	Topic string `json:"topic,omitempty"`
	// CARef are the certificates to check the server's with. Default: the system's.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
	// IncludeArchivedRepos looks at archived projects too. Default false.
	IncludeArchivedRepos bool `json:"includeArchivedRepos,omitempty"`
}

// SCMProviderBitbucket is a Bitbucket Cloud workspace.
type SCMProviderBitbucket struct {
	// Owner is the workspace. Required.
	Owner string `json:"owner"`
	// User is the user to sign in as. Required.
	User string `json:"user"`
	// AppPasswordRef is that user's app password. Required.
	AppPasswordRef *SecretRef `json:"appPasswordRef"`
	// AllBranches looks at every branch. Default false: the main branch only.
	AllBranches bool `json:"allBranches,omitempty"`
}

// SCMProviderBitbucketServer is a Bitbucket Data Center project.
type SCMProviderBitbucketServer struct {
	// Project is its key. Required.
	Project string `json:"project"`
	// API is the API's URL. Required.
	API string `json:"api"`
	// BasicAuth signs in with a password. Excludes BearerToken.
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`
	// AllBranches looks at every branch. Default false: the default branch only.
	AllBranches bool `json:"allBranches,omitempty"`
	// BearerToken signs in with a token. Excludes BasicAuth.
	BearerToken *BearerToken `json:"bearerToken,omitempty"`
	// Insecure does not check the server's certificate. Default false.
	Insecure bool `json:"insecure,omitempty"`
	// CARef are the certificates to check the server's with. Default: the system's.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
}

// SCMProviderGitea is a Gitea or Forgejo organization.
type SCMProviderGitea struct {
	// Owner is the organization or user. Required.
	Owner string `json:"owner"`
	// API is the server's URL. Required.
	API string `json:"api"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AllBranches looks at every branch. Default false: the default branch only.
	AllBranches bool `json:"allBranches,omitempty"`
	// Insecure does not check the server's certificate. Default false.
	Insecure bool `json:"insecure,omitempty"`
	// ExcludeArchivedRepos leaves out archived repositories. Default false.
	ExcludeArchivedRepos bool `json:"excludeArchivedRepos,omitempty"`
}

// SCMProviderAzureDevOps is an Azure DevOps project.
type SCMProviderAzureDevOps struct {
	// Organization is its organization. Required.
	Organization string `json:"organization"`
	// API is the service's URL. Default https://dev.azure.com.
	API string `json:"api,omitempty"`
	// TeamProject is its name. Required.
	TeamProject string `json:"teamProject"`
	// AccessTokenRef is the token to sign in with. Required.
	AccessTokenRef *SecretRef `json:"accessTokenRef"`
	// AllBranches looks at every branch. Default false: the default branch only.
	AllBranches bool `json:"allBranches,omitempty"`
}

// SCMProviderAWSCodeCommit is the CodeCommit of an AWS account.
type SCMProviderAWSCodeCommit struct {
	// TagFilters keep repositories by tag. Default: all.
	TagFilters []TagFilter `json:"tagFilters,omitempty"`
	// Role is the role to assume. Default: the controller's own identity.
	Role string `json:"role,omitempty"`
	// Region is the AWS region. Default: the controller's own.
	Region string `json:"region,omitempty"`
	// AllBranches looks at every branch. Default false: the default branch only.
	AllBranches bool `json:"allBranches,omitempty"`
}

// TagFilter keeps what has a tag.
type TagFilter struct {
	// Key is the tag. Required.
	Key string `json:"key"`
	// Value is the tag's value. Default: any.
	Value string `json:"value,omitempty"`
}

package v1alpha1

// PullRequestGenerator yields one set for each open pull request of a repository. Exactly one provider is set.
type PullRequestGenerator struct {
	// GitHub is a GitHub repository.
	GitHub *PullRequestGitHub `json:"github,omitempty"`
	// GitLab is a GitLab project.
	GitLab *PullRequestGitLab `json:"gitlab,omitempty"`
	// Gitea is a Gitea or Forgejo repository.
	Gitea *PullRequestGitea `json:"gitea,omitempty"`
	// BitbucketServer is a Bitbucket Data Center repository.
	BitbucketServer *PullRequestBitbucketServer `json:"bitbucketServer,omitempty"`
	// Filters keep pull requests that pass any one of them. Default: all.
	Filters []PullRequestFilter `json:"filters,omitempty"`
	// RequeueAfterSeconds is how often the provider is asked. Default 1800.
	RequeueAfterSeconds *int64 `json:"requeueAfterSeconds,omitempty"`
	// Template overrides parts of the set's template.
	//
	// +kubebuilder:validation:Schemaless
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Template *ApplicationSetTemplate `json:"template,omitempty"`
	// Bitbucket is a Bitbucket Cloud repository.
	Bitbucket *PullRequestBitbucket `json:"bitbucket,omitempty"`
	// AzureDevOps is an Azure DevOps repository.
	AzureDevOps *PullRequestAzureDevOps `json:"azuredevops,omitempty"`
	// Values are further parameters, below values.
	Values map[string]string `json:"values,omitempty"`
	// ContinueOnRepoNotFoundError takes a repository that is not there as one without pull requests. Default false.
	ContinueOnRepoNotFoundError bool `json:"continueOnRepoNotFoundError,omitempty"`
}

// PullRequestFilter passes a pull request when every field set passes it. Patterns are regular expressions.
type PullRequestFilter struct {
	// BranchMatch is a pattern of the source branch.
	BranchMatch *string `json:"branchMatch,omitempty"`
	// TargetBranchMatch is a pattern of the target branch.
	TargetBranchMatch *string `json:"targetBranchMatch,omitempty"`
	// TitleMatch is a pattern of the title.
	TitleMatch *string `json:"titleMatch,omitempty"`
}

// PullRequestGitHub is a GitHub repository.
type PullRequestGitHub struct {
	// Owner is the organization or user. Required.
	Owner string `json:"owner"`
	// Repo is the repository's name. Required.
	Repo string `json:"repo"`
	// API is the API's URL. Default: github.com's.
	API string `json:"api,omitempty"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// AppSecretName is a repository credential Secret with a GitHub App to sign in with.
	AppSecretName string `json:"appSecretName,omitempty"`
	// Labels a pull request must all have. Default: none.
	Labels []string `json:"labels,omitempty"`
}

// PullRequestGitLab is a GitLab project.
type PullRequestGitLab struct {
	// Project is its id or full path. Required.
	Project string `json:"project"`
	// API is the API's URL. Default: gitlab.com's.
	API string `json:"api,omitempty"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// Labels a merge request must all have. Default: none.
	Labels []string `json:"labels,omitempty"`
	// PullRequestState is the state merge requests are in, such as opened. Default: any.
	PullRequestState string `json:"pullRequestState,omitempty"`
	// Insecure does not check the server's certificate. Default false.
	Insecure bool `json:"insecure,omitempty"`
	// CARef are the certificates to check the server's with. Default: the system's.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
}

// PullRequestGitea is a Gitea or Forgejo repository.
type PullRequestGitea struct {
	// Owner is the organization or user. Required.
	Owner string `json:"owner"`
	// Repo is the repository's name. Required.
	Repo string `json:"repo"`
	// API is the server's URL. Required.
	API string `json:"api"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// Insecure does not check the server's certificate. Default false.
	Insecure bool `json:"insecure,omitempty"`
	// Labels a pull request must all have. Default: none.
	Labels []string `json:"labels,omitempty"`
}

// PullRequestBitbucketServer is a Bitbucket Data Center repository.
type PullRequestBitbucketServer struct {
	// Project is the project's key. Required.
	Project string `json:"project"`
	// Repo is the repository's slug. Required.
	Repo string `json:"repo"`
	// API is the API's URL. Required.
	API string `json:"api"`
	// BasicAuth signs in with a password. Excludes BearerToken.
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`
	// BearerToken signs in with a token. Excludes BasicAuth.
	BearerToken *BearerToken `json:"bearerToken,omitempty"`
	// Insecure does not check the server's certificate. Default false.
	Insecure bool `json:"insecure,omitempty"`
	// CARef are the certificates to check the server's with. Default: the system's.
	CARef *ConfigMapKeyRef `json:"caRef,omitempty"`
}

// PullRequestBitbucket is a Bitbucket Cloud repository.
type PullRequestBitbucket struct {
	// Owner is the workspace. Required.
	Owner string `json:"owner"`
	// Repo is the repository's slug. Required.
	Repo string `json:"repo"`
	// API is the API's URL. Default https://api.bitbucket.org/2.0.
	API string `json:"api,omitempty"`
	// BasicAuth signs in with an app password. Excludes BearerToken.
	BasicAuth *BasicAuth `json:"basicAuth,omitempty"`
	// BearerToken signs in with a token. Excludes BasicAuth.
	BearerToken *BearerToken `json:"bearerToken,omitempty"`
}

// PullRequestAzureDevOps is an Azure DevOps repository.
type PullRequestAzureDevOps struct {
	// Organization is its organization. Required.
	Organization string `json:"organization"`
	// Project is its project. Required.
	Project string `json:"project"`
	// Repo is its name. Required.
	Repo string `json:"repo"`
	// API is the service's URL. Default https://dev.azure.com.
	API string `json:"api,omitempty"`
	// TokenRef is the token to sign in with. Default: none.
	TokenRef *SecretRef `json:"tokenRef,omitempty"`
	// Labels a pull request must all have. Default: none.
	Labels []string `json:"labels,omitempty"`
}

// Package webhook reads what forges and registries send when something was pushed, and finds the sources of an
// application that a push concerns. An event is only a hint: the receiver of one must still read the repository. Nothing here
// follows an address of a payload.
package webhook

import "strings"

// Provider names the sender of an event.
type Provider string

// The providers.
const (
	GitHub          Provider = "github"
	GitLab          Provider = "gitlab"
	Gogs            Provider = "gogs" // and Forgejo
	Gitea           Provider = "gitea"
	BitbucketCloud  Provider = "bitbucket"
	BitbucketServer Provider = "bitbucketserver" // and Bitbucket Data Center
	AzureDevOps     Provider = "azuredevops"
	GHCR            Provider = "ghcr" // GitHub's container registry
	Harbor          Provider = "harbor"
)

// Kind says what an event is about.
type Kind string

// The kinds. A tag is pushed like a branch; Event.IsTag distinguishes them.
const (
	Push     Kind = "push"
	Registry Kind = "registry"
	Ignored  Kind = "ignored" // a ping, or something that changes no source
)

// Event is one changed ref of a git repository, or one new tag of an artifact.
type Event struct {
	Provider Provider
	Kind     Kind

	RepoURLs []string // web or clone URLs of the one repository
	Ref      string   // full: refs/heads/main
	Revision string   // the ref as people say it: main
	Before   string   // commit id; zeros for a new ref, empty if the provider does not report it
	After    string   // commit id; zeros for a deleted ref
	// TouchedHead is true where Ref is the default branch, and if the provider does not report it which one that is.
	TouchedHead bool
	// ChangedFiles are the paths that the push added, modified or removed, as far as the provider reports them; nil if it
	// reports nothing. Partial is true where there may be more: the list was cut off, or a forced push also took commits
	// away. Event.Touches looks at both.
	ChangedFiles []string
	Partial      bool

	Artifact Artifact // for Kind Registry
}

// Artifact names a tag in an OCI registry.
type Artifact struct {
	Registry   string // host, with the port where there is one
	Repository string // path below it
	Tag        string
}

// IsTag reports whether a git tag was pushed.
func (e Event) IsTag() bool { return strings.HasPrefix(e.Ref, tagRef) }

// String prints "github push refs/heads/main of https://github.com/org/repo".
func (e Event) String() string {
	switch e.Kind {
	case Push:
		return string(e.Provider) + " push " + e.Ref + " of " + strings.Join(e.RepoURLs, ", ")
	case Registry:
		return string(e.Provider) + " push " + e.Artifact.Registry + "/" + e.Artifact.Repository + ":" + e.Artifact.Tag
	}
	return string(e.Provider) + " ignored"
}

const (
	branchRef = "refs/heads/"
	tagRef    = "refs/tags/"
)

// shortRef is a ref without what says that it is a branch or a tag.
func shortRef(ref string) string {
	if s, ok := strings.CutPrefix(ref, branchRef); ok {
		return s
	}
	if s, ok := strings.CutPrefix(ref, tagRef); ok {
		return s
	}
	return ref
}

// Package artifact keeps the registry of remotes that give archives by version: chart repositories and OCI registries. It knows
// which versions are followed and what they stand for, and when to ask again.
package artifact

import (
	"context"
	"errors"
	"time"

	"github.com/slipway-gitops/slipway/internal/source"
)

// ErrNoVersion says that the remote answers, and does not have the chart or the version.
var ErrNoVersion = errors.New("version not found")

// Revision is what an application follows.
type Revision struct {
	Chart string // in a Helm repository; "" for an artifact that the address names as a whole
	// Version is exact, a range, a tag or a digest ("sha256:…"). "" and "*" are the newest version that is no pre-release.
	Version string
}

// Found is what a Revision stands for now.
type Found struct {
	Version string
	Digest  string // "sha256:…" of the content; "" where the remote does not know it without fetching
}

// Remote is one chart repository or artifact as seen with one credential. Its methods are safe for concurrent use. Failures that
// are not about the revision mean that the remote does not work; those about it wrap ErrNoVersion.
type Remote interface {
	// URL is the address without user information, spelled one way.
	URL() string
	// Scope identifies (address, credential) without revealing the credential, also over restarts.
	Scope() string
	// Find asks what a revision stands for. What was learned before since is ignored; one request may answer many calls.
	Find(ctx context.Context, rev Revision, since time.Time) (Found, error)
	// Fetch returns the files of a version. The root is the chart's own directory. Revision of the tree is the version of a chart,
	// and the digest of another artifact.
	Fetch(ctx context.Context, chart string, f Found) (source.Tree, error)
}

// Recalling is a Remote that knows on disk what it found, so that a version which was deployed before stays deployed while the
// remote is down and the agent starts.
type Recalling interface {
	// Recall answers as Find did some time ago, and asks nothing of the remote.
	Recall(rev Revision) (Found, bool)
}

// Releases are the versions of one chart or artifact, for forms.
type Releases struct {
	Versions  []Release // the highest first
	Truncated bool
}

// Release describes one version.
type Release struct {
	Version     string
	AppVersion  string
	Description string
	Created     time.Time // zero where that is not known
	Deprecated  bool
}

// Listing is a Remote that can be listed.
type Listing interface {
	// Charts returns the names that contain search, at most most of them, and whether there are more.
	Charts(ctx context.Context, search string, most int) (names []string, more bool, err error)
	// Releases returns at most most versions of a chart.
	Releases(ctx context.Context, chart string, most int) (Releases, error)
}

package webhook

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/slipway-gitops/slipway/internal/strict"
)

// Errors of a delivery. They are wrapped with what is wrong with it.
var (
	ErrUnknown   = errors.New("unknown webhook event")
	ErrMalformed = errors.New("malformed webhook payload")
	ErrRefused   = errors.New("webhook refused")
)

const (
	// maxFiles bounds the paths of one event. A longer list is partial, which refreshes more and not less.
	maxFiles = 5000
	// maxRefs bounds the refs of one delivery; what is beyond is found by polling.
	maxRefs = 100
)

// Identify recognizes the sender of a delivery from the headers. Forges imitate each other's headers, so the order counts:
// Gitea and Gogs also send GitHub's, and Gitea also sends Gogs'.
func Identify(h http.Header) (Provider, error) {
	switch {
	case h.Get("X-Vss-Activityid") != "":
		return AzureDevOps, nil
	case h.Get("X-Gitea-Event") != "":
		return Gitea, nil
	case h.Get("X-Gogs-Event") != "":
		return Gogs, nil
	case h.Get("X-Github-Event") == "package":
		return GHCR, nil
	case h.Get("X-Github-Event") != "":
		return GitHub, nil
	case h.Get("X-Gitlab-Event") != "":
		return GitLab, nil
	case h.Get("X-Hook-Uuid") != "":
		return BitbucketCloud, nil
	case h.Get("X-Event-Key") != "":
		return BitbucketServer, nil
	case h.Get("Authorization") != "":
		return Harbor, nil // it has no header of its own; its secret must be right, see Secrets.check
	}
	return "", ErrUnknown
}

// Decode reads a delivery of a provider whose sender was verified. Every changed ref is one event; a delivery that
// changes nothing is one event of Kind Ignored. Errors wrap ErrMalformed.
func Decode(p Provider, h http.Header, body []byte) ([]Event, error) {
	events, err := decoder(p)(h, body)
	if err != nil {
		return nil, fmt.Errorf("%w: read %s: %w", ErrMalformed, p, err)
	}
	if len(events) == 0 {
		events = []Event{{Kind: Ignored}}
	}
	for i := range events {
		events[i].Provider = p
	}
	return events[:min(len(events), maxRefs)], nil
}

func decoder(p Provider) func(http.Header, []byte) ([]Event, error) {
	switch p {
	case GitHub:
		return decodeGitHub
	case Gogs, Gitea:
		return decodeGogs
	case GitLab:
		return decodeGitLab
	case BitbucketCloud:
		return decodeBitbucketCloud
	case BitbucketServer:
		return decodeBitbucketServer
	case AzureDevOps:
		return decodeAzure
	case GHCR:
		return decodeGHCR
	case Harbor:
		return decodeHarbor
	}
	return func(http.Header, []byte) ([]Event, error) { return nil, ErrUnknown }
}

// errJSON is the only message about a body that cannot be read: errors of decoders have names that the sender chose.
var errJSON = errors.New("it is no JSON with one meaning: look at the delivery in the forge")

// parse decodes one JSON value that fills body.
func parse[T any](body []byte) (T, error) {
	var v T
	if strict.Decode(body, &v, strict.Foreign) != nil {
		return v, errJSON
	}
	return v, nil
}

// commit is the list of changed paths that most forges give with every commit.
type commit struct {
	Added    []string `json:"added"`
	Modified []string `json:"modified"`
	Removed  []string `json:"removed"`
}

// filesOf joins the paths of all commits. They are partial where the forge says that it has more commits than it lists.
func filesOf(commits []commit, total int) (files []string, partial bool) {
	files = []string{}
	for _, c := range commits {
		if files = append(append(append(files, c.Added...), c.Modified...), c.Removed...); len(files) > maxFiles {
			return files[:maxFiles:maxFiles], true
		}
	}
	return files, total > len(commits)
}

var (
	errNoRepository = errors.New("the payload names no repository")
	errNoRef        = errors.New("the payload names no ref")
)

// push completes an event of Kind Push and checks that it can be used at all.
func push(e Event, defaultBranch string) ([]Event, error) {
	if len(e.RepoURLs) == 0 || e.RepoURLs[0] == "" {
		return nil, errNoRepository
	}
	if e.Kind, e.Revision = Push, shortRef(e.Ref); e.Revision == "" {
		return nil, errNoRef
	}
	e.TouchedHead = !e.IsTag() && (defaultBranch == "" || defaultBranch == e.Revision)
	return []Event{e}, nil
}

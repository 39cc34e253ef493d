package api

import "time"

// MaxRevisions is how many revisions can be requested together.
const MaxRevisions = 50

// RevisionsRequest requests authors and messages of revisions.
type RevisionsRequest struct {
	Revisions []string `json:"revisions" maxItems:"50" doc:"Full ids of commits"`
}

// RevisionsAnswer describes each requested revision, in that order.
type RevisionsAnswer struct {
	Items []RevisionInfo `json:"items" doc:"One for each requested revision, in order"`
}

// RevisionInfo is the author and the message of a revision. What people wrote is as they wrote it, without control characters: it
// is text, and no HTML.
type RevisionInfo struct {
	Revision string `json:"revision" doc:"The commit" example:"3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8"`
	// Known is false where nothing else is.
	Known   bool           `json:"known" doc:"The commit was found; otherwise the other fields are empty"`
	RepoURL string         `json:"repoURL,omitempty" doc:"Repository of the source that has it, without credentials"`
	Author  RevisionPerson `json:"author,omitzero" doc:"Author"`
	Date    time.Time      `json:"date,omitzero" doc:"Time of the commit"`
	Message string         `json:"message,omitempty" doc:"The whole message, at most 64 KiB; its first line is the subject"`
	Tags    []string       `json:"tags,omitempty" doc:"Tags of the commit, as far as the agent has listed them"`
	// Signature is what the commit carries. It is not verified.
	Signature string `json:"signature,omitempty" enum:"gpg,ssh,x509,unknown" doc:"Kind of its signature, not verified; missing if it has none"`
	// WebURL is empty where the forge is not known.
	WebURL string `json:"webURL" doc:"Its page at the forge, if the forge is known; otherwise empty" example:"https://github.com/acme/shop/commit/3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8"`
	Reason string `json:"reason,omitempty" doc:"Reason why it is not known"`
}

// RevisionPerson is an author.
type RevisionPerson struct {
	Name  string `json:"name" doc:"Name" example:"Ann Example"`
	Email string `json:"email,omitempty" doc:"Mail address" example:"ann@example.org"`
}

package api

import "time"

// MaxRevisions is how many revisions can be asked about at once.
const MaxRevisions = 50

// RevisionsRequest asks who made revisions, and what for.
type RevisionsRequest struct {
	Revisions []string `json:"revisions" maxItems:"50" doc:"Commits, by their whole ids"`
}

// RevisionsAnswer tells of each revision that was asked for, in that order.
type RevisionsAnswer struct {
	Items []RevisionInfo `json:"items" doc:"One for each revision that was asked for, in order"`
}

// RevisionInfo is who made a revision, and what for. What people wrote is as they wrote it, without control characters: it
// is text, and no HTML.
type RevisionInfo struct {
	Revision string `json:"revision" doc:"The commit" example:"3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8"`
	// Known is false where nothing else is.
	Known   bool           `json:"known" doc:"It was found; nothing else is told where it was not"`
	RepoURL string         `json:"repoURL,omitempty" doc:"Repository of the source that has it, without credentials"`
	Author  RevisionPerson `json:"author,omitzero" doc:"Who made it"`
	Date    time.Time      `json:"date,omitzero" doc:"When it was committed"`
	Message string         `json:"message,omitempty" doc:"The whole message, at most 64 KiB; its first line is the subject"`
	Tags    []string       `json:"tags,omitempty" doc:"Tags that name it, as far as the agent has listed them"`
	// Signature is what the commit carries. Nobody has verified it.
	Signature string `json:"signature,omitempty" enum:"gpg,ssh,x509,unknown" doc:"The kind of signature that it carries, not verified; missing for none"`
	// WebURL is empty where the forge is not known.
	WebURL string `json:"webURL" doc:"Its page at the forge, where that is a known one; else empty" example:"https://github.com/acme/shop/commit/3f2a9c1e0b7d4c5a69788796a5b4c3d2e1f0a9b8"`
	Reason string `json:"reason,omitempty" doc:"Why it is not known"`
}

// RevisionPerson is an author.
type RevisionPerson struct {
	Name  string `json:"name" doc:"Name" example:"Ann Example"`
	Email string `json:"email,omitempty" doc:"Address" example:"ann@example.org"`
}

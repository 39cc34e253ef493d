package api

import "time"

// RevisionStatus says at which revisions an application is. Four are easily taken for each other: where the branch is now,
// what the agent compared last, what was deployed last, and what a rollback has pinned.
type RevisionStatus struct {
	Sources []SourceRevisions `json:"sources" doc:"One for each source of the specification"`
	// ComparedAt is when the agent last wrote what it had compared.
	ComparedAt time.Time `json:"comparedAt,omitzero" doc:"When the agent last reported a comparison"`
	// Deployment is the last one of the history.
	Deployment int64     `json:"deployment,omitempty" doc:"Number of the last deployment" example:"12"`
	DeployedAt time.Time `json:"deployedAt,omitzero" doc:"Time of the deployment"`
	// Pinned is the deployment that a rollback holds the application at.
	Pinned   int64     `json:"pinned,omitempty" doc:"Number of the deployment that a rollback pins" example:"9"`
	PinnedAt time.Time `json:"pinnedAt,omitzero" doc:"Time of the rollback"`
	// Same says that commits between compared and tip change nothing that the application renders.
	Same     bool     `json:"same,omitempty" doc:"The tips have newer commits than the compared ones, and these do not change the rendered manifests"`
	Warnings []string `json:"warnings,omitempty" doc:"Checks that could not be made"`
}

// SourceRevisions are the revisions of one source.
type SourceRevisions struct {
	RepoURL        string `json:"repoURL" doc:"Repository of the source, without credentials" example:"https://git.example.org/shop.git"`
	TargetRevision string `json:"targetRevision" doc:"Target revision in the specification" example:"main"`
	RevisionTip
	Compared string `json:"compared,omitempty" doc:"Last compared commit or version"`
	Deployed string `json:"deployed,omitempty" doc:"Last deployed commit or version"`
	Pinned   string `json:"pinned,omitempty" doc:"Commit or version that a rollback pins"`
}

// RevisionTip is where a branch, a tag or a range of versions is.
type RevisionTip struct {
	Tip       string    `json:"tip,omitempty" doc:"Commit, version of the chart or digest of the artifact that the target revision is at the remote; missing if the agent has not looked yet"`
	TipSeenAt time.Time `json:"tipSeenAt,omitzero" doc:"Time at which the agent last looked at the remote"`
	TipError  string    `json:"tipError,omitempty" doc:"Reason why the agent could not look at the remote since then"`
}

// TipsAnswer is where the sources of an application are.
type TipsAnswer struct {
	Items []RevisionTip `json:"items" doc:"One for each source of the specification"`
	Same  bool          `json:"same,omitempty" doc:"Commits after the compared one do not change the rendered manifests"`
}

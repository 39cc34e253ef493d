package api

import "time"

// Deployment is one operation that brought an application to something, or tried to: as the ledger has it, as the history of
// the application has it, or both.
type Deployment struct {
	// ID is nil where the history does not have it: it deployed what was there already, a part, or failed, or is too old.
	ID       *int64 `json:"id,omitempty" doc:"Id in status.history, to roll back to; missing if the history does not have it" example:"3"`
	LedgerID string `json:"ledgerID,omitempty" doc:"Id of the ledger entry; missing if only status.history has the deployment"`
	Action   string `json:"action,omitempty" enum:"sync,rollback,restore,partial" doc:"Kind of operation; missing if the ledger has no entry" example:"sync"`

	Revision  string   `json:"revision,omitempty" doc:"Revision of the first source" example:"3f2a9c1"`
	Revisions []string `json:"revisions" doc:"Revisions of all sources, in their order"`

	// DeployedAt is zero for what did not succeed.
	DeployedAt time.Time `json:"deployedAt,omitzero" doc:"Time of the deployment; missing if it did not succeed"`
	StartedAt  time.Time `json:"startedAt,omitzero" doc:"Time of the start"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"Time of the end"`
	Outcome    string    `json:"outcome" doc:"Succeeded, Failed or Error" example:"Succeeded"`
	Message    string    `json:"message,omitempty" doc:"Result"`

	Automatic   bool   `json:"automatic" doc:"Started by the policy of the application, without a request"`
	InitiatedBy string `json:"initiatedBy,omitempty" doc:"Principal that requested it" example:"user:ada"`
	Reason      string `json:"reason,omitempty" doc:"Reason that the principal gave"`
	Current     bool   `json:"current" doc:"It is the newest in status.history: the current deployment"`
	Pinned      bool   `json:"pinned" doc:"A rollback pins the application to it"`

	// Changes and Commit are nil where the ledger has no entry.
	Changes *LedgerCounts `json:"changes,omitempty" doc:"Number of objects by result; missing if the ledger has no entry"`
	Commit  *LedgerCommit `json:"commit,omitempty" doc:"The commit of the first source that has one, if the ledger knows it"`
}

// DeploymentHistory is a part of what was deployed, the newest first.
type DeploymentHistory struct {
	Items []Deployment `json:"items" doc:"Deployments, the newest first"`
	// NextCursor is "" at the end.
	NextCursor string   `json:"nextCursor,omitempty" doc:"Pass it as ?cursor= to get the next page; missing on the last page"`
	Warnings   []string `json:"warnings" doc:"Missing information, for example recent deployments while the agent is away"`
}

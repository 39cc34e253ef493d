package api

import "time"

// Deployment is one operation that brought an application to something, or tried to: as the ledger has it, as the history of
// the application has it, or both.
type Deployment struct {
	// ID is nil where the history does not have it: it deployed what was there already, a part, or failed, or is too old.
	ID       *int64 `json:"id,omitempty" doc:"Id in status.history, which a rollback goes back to; missing where it is not there" example:"3"`
	LedgerID string `json:"ledgerID,omitempty" doc:"Id of the entry of the ledger; missing where only status.history tells of it"`
	Action   string `json:"action,omitempty" enum:"sync,rollback,restore,partial" doc:"What it was; missing where the ledger has no entry" example:"sync"`

	Revision  string   `json:"revision,omitempty" doc:"Revision of the first source" example:"3f2a9c1"`
	Revisions []string `json:"revisions" doc:"Revisions of all sources, in their order"`

	// DeployedAt is zero for what did not succeed.
	DeployedAt time.Time `json:"deployedAt,omitzero" doc:"When it was deployed; missing where it did not succeed"`
	StartedAt  time.Time `json:"startedAt,omitzero" doc:"When it began"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"When it ended"`
	Outcome    string    `json:"outcome" doc:"Succeeded, Failed or Error" example:"Succeeded"`
	Message    string    `json:"message,omitempty" doc:"How it ended"`

	Automatic   bool   `json:"automatic" doc:"Nobody asked for it: the policy of the application did"`
	InitiatedBy string `json:"initiatedBy,omitempty" doc:"Who asked for it" example:"user:ada"`
	Reason      string `json:"reason,omitempty" doc:"Why, as they said"`
	Current     bool   `json:"current" doc:"It is the newest of status.history: what is deployed"`
	Pinned      bool   `json:"pinned" doc:"The application is pinned to it by a rollback"`

	// Changes and Commit are nil where the ledger has no entry.
	Changes *LedgerCounts `json:"changes,omitempty" doc:"How many objects it did what with; missing where the ledger has no entry"`
	Commit  *LedgerCommit `json:"commit,omitempty" doc:"The commit of the first source that has one, where the ledger knows it"`
}

// DeploymentHistory is a part of what was deployed, the newest first.
type DeploymentHistory struct {
	Items []Deployment `json:"items" doc:"Deployments, the newest first"`
	// NextCursor is "" at the end.
	NextCursor string   `json:"nextCursor,omitempty" doc:"Give it as ?cursor= to read on; missing at the end"`
	Warnings   []string `json:"warnings" doc:"What is not known: for example what came meanwhile, while the agent is away"`
}

package api

import "time"

// OperationTimeline is the last or running operation of an application, step by step.
type OperationTimeline struct {
	// Phase is empty where there was none.
	Phase      string    `json:"phase" doc:"Running, Terminating, Succeeded, Failed, Error; Pending if it has not started; empty if there was none" example:"Running"`
	Message    string    `json:"message,omitempty" doc:"Reason for waiting, or the result"`
	StartedAt  time.Time `json:"startedAt,omitzero" doc:"Time of the start"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"Time of the end; while it runs, the end of its last attempt"`
	// InitiatedBy is empty for an automatic one.
	InitiatedBy string   `json:"initiatedBy,omitempty" doc:"Principal that requested it" example:"user:ada"`
	Automatic   bool     `json:"automatic" doc:"Started by the policy of the application, without a request"`
	DryRun      bool     `json:"dryRun,omitempty" doc:"The operation changes nothing"`
	RetryCount  int64    `json:"retryCount" doc:"Number of previous attempts"`
	Revisions   []string `json:"revisions" doc:"Revisions, one for each source"`
	// Steps are in the order in which they are done.
	Steps    []OperationStep   `json:"steps" doc:"Its phases and waves, in order"`
	Progress OperationProgress `json:"progress" doc:"Progress"`
	// Warnings say what is not known.
	Warnings []string `json:"warnings" doc:"Missing information, for example the next steps while the agent is away"`
}

// OperationStep is what is done in one step.
type OperationStep struct {
	Phase string          `json:"phase" enum:"PreSync,Sync,PostSync,SyncFail,PreDelete,PostDelete" doc:"Phase of the sync" example:"Sync"`
	Wave  int             `json:"wave" doc:"Number of the wave"`
	Items []OperationItem `json:"items" doc:"Its objects"`
}

// OperationItem is one object of an operation.
type OperationItem struct {
	ObjectName
	Hook    string `json:"hook,omitempty" doc:"Phase of the hook" example:"PreSync"`
	Verb    string `json:"verb" enum:"apply,delete,hook" doc:"Action on the object"`
	State   string `json:"state" enum:"waiting,running,succeeded,failed,pruned,skipped" doc:"waiting for its turn; running until it is healthy; skipped if it was not to be deleted, or its turn never came" example:"running"`
	Message string `json:"message,omitempty" doc:"Result"`
}

// OperationProgress counts items.
type OperationProgress struct {
	Done  int `json:"done" doc:"Finished items"`
	Total int `json:"total" doc:"Number of items, as far as known"`
}

package api

import "time"

// OperationTimeline is the last or running operation of an application, step by step.
type OperationTimeline struct {
	// Phase is empty where there was none.
	Phase      string    `json:"phase" doc:"Running, Terminating, Succeeded, Failed, Error; Pending where it has not begun; empty where there was none" example:"Running"`
	Message    string    `json:"message,omitempty" doc:"What it waits for, or how it ended"`
	StartedAt  time.Time `json:"startedAt,omitzero" doc:"When it began"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"When it ended; while it runs, when its last attempt did"`
	// InitiatedBy is empty for an automatic one.
	InitiatedBy string   `json:"initiatedBy,omitempty" doc:"Who asked for it" example:"user:ada"`
	Automatic   bool     `json:"automatic" doc:"Nobody asked for it: the policy of the application did"`
	DryRun      bool     `json:"dryRun,omitempty" doc:"It changes nothing"`
	RetryCount  int64    `json:"retryCount" doc:"Attempts before this one"`
	Revisions   []string `json:"revisions" doc:"Revisions that it brings, one for each source"`
	// Steps are in the order in which they are done.
	Steps    []OperationStep   `json:"steps" doc:"Its phases and waves, in order"`
	Progress OperationProgress `json:"progress" doc:"How far it is"`
	// Warnings say what is not known.
	Warnings []string `json:"warnings" doc:"What is not known: for example what comes, while the agent is away"`
}

// OperationStep is what is done at once.
type OperationStep struct {
	Phase string          `json:"phase" enum:"PreSync,Sync,PostSync,SyncFail,PreDelete,PostDelete" doc:"Part of the sync" example:"Sync"`
	Wave  int             `json:"wave" doc:"Number of the wave"`
	Items []OperationItem `json:"items" doc:"What is done in it"`
}

// OperationItem is one object of an operation.
type OperationItem struct {
	ObjectName
	Hook    string `json:"hook,omitempty" doc:"The phase that it is a hook of" example:"PreSync"`
	Verb    string `json:"verb" enum:"apply,delete,hook" doc:"What is done with it"`
	State   string `json:"state" enum:"waiting,running,succeeded,failed,pruned,skipped" doc:"waiting for its turn; running until it is well; skipped where it was not to be deleted, or its turn never came" example:"running"`
	Message string `json:"message,omitempty" doc:"What came of it"`
}

// OperationProgress counts items.
type OperationProgress struct {
	Done  int `json:"done" doc:"Items that are over"`
	Total int `json:"total" doc:"Items that there are, as far as that is known"`
}

package api

import "time"

// SyncPlan is what a sync would do, in order, and what would keep it from that. Nothing was changed to find out. Values of
// Secrets are masked.
type SyncPlan struct {
	Revisions []string `json:"revisions" doc:"Revisions to deploy, one for each source"`
	// Digest is what to confirm.
	Digest string      `json:"digest,omitempty" doc:"Digest of the deletions, to confirm them; missing if nothing would be deleted" example:"5f2b7c0d9a1e4f36"`
	Phases []PlanPhase `json:"phases" doc:"Steps in order: only those that change an object, or keep one for a reason"`
	Counts PlanCounts  `json:"counts" doc:"Number of objects by result"`
	Guard  PlanGuard   `json:"guard" doc:"Decision of the deletion guard"`
	// Windows are those of now; a sync that waits is asked about again when it begins.
	Windows PlanWindows `json:"windows" doc:"Present decision of the project's sync windows"`
	// Refused is why the agent would not do it at all.
	Refused  string   `json:"refused,omitempty" doc:"Reason for a refusal; missing if the sync would be accepted"`
	Warnings []string `json:"warnings" doc:"Rules that are not in force, and checks that could not be made"`
}

// PlanPhase is a part of a sync.
type PlanPhase struct {
	Phase string     `json:"phase" enum:"PreSync,Sync,PostSync,SyncFail,PreDelete,PostDelete" doc:"PreSync, Sync, PostSync; SyncFail runs only after a failure" example:"Sync"`
	Waves []PlanWave `json:"waves" doc:"Its waves, in order: each waits until the objects of the previous one are healthy"`
}

// PlanWave is what is done in one step.
type PlanWave struct {
	Wave  int        `json:"wave" doc:"Number of the wave"`
	Items []PlanItem `json:"items" doc:"Its objects, in order"`
}

// PlanItem is one object of a plan.
type PlanItem struct {
	ObjectName
	Verb string `json:"verb" enum:"create,update,delete,keep,hook" doc:"keep: the object would be deleted if that were allowed or requested; hook: the hook runs"`
	// Hook is the phase that the hook runs in.
	Hook string `json:"hook,omitempty" doc:"Phase of the hook" example:"PreSync"`
	// Diff is from live to wanted.
	Diff   string `json:"diff,omitempty" doc:"Unified diff from live to desired; missing for hooks, and if it is too large"`
	Reason string `json:"reason,omitempty" doc:"Reason for the action" example:"missing"`
	// Error is why the API server does not take it.
	Error string `json:"error,omitempty" doc:"Reason why the API server refuses the desired object: the sync would fail there"`
	// Confirm says that a user must confirm this single deletion.
	Confirm bool `json:"confirm,omitempty" doc:"The sync waits until a user confirms this deletion (sync option Prune=confirm)"`
}

// PlanCounts says how many objects a plan does what with.
type PlanCounts struct {
	Create    int `json:"create" doc:"Objects that would be created"`
	Update    int `json:"update" doc:"Objects that would be changed"`
	Delete    int `json:"delete" doc:"Objects that would be deleted"`
	Unchanged int `json:"unchanged" doc:"Objects that would not change"`
	Hooks     int `json:"hooks" doc:"Hooks that would run"`
}

// PlanGuard is what the deletion guard says to a plan.
type PlanGuard struct {
	Held   bool   `json:"held" doc:"The sync would be held until a user confirms its deletions"`
	Reason string `json:"reason,omitempty" doc:"The deletions and the next step, or the reason why they are allowed"`
	Budget string `json:"budget,omitempty" doc:"Deletions that one sync may make" example:"10,50%"`
	// Of is whose the budget is.
	Of        string `json:"of,omitempty" enum:"Application,project,agent" doc:"Owner of the budget"`
	Deletions int    `json:"deletions" doc:"Objects that would be deleted"`
	Total     int    `json:"total" doc:"Number of objects"`
	Confirmed bool   `json:"confirmed,omitempty" doc:"A user has confirmed exactly these deletions"`
}

// PlanWindows is what sync windows say now.
type PlanWindows struct {
	Allowed bool `json:"allowed" doc:"The windows allow this manual sync"`
	// Reason is why not.
	Reason string    `json:"reason,omitempty" doc:"The window that forbids it, and the next step"`
	Until  time.Time `json:"until,omitzero" doc:"Time at which that changes; missing if it does not change with time"`
	// Automatic is about syncs without a request.
	Automatic bool `json:"automatic" doc:"The windows allow automatic syncs"`
}

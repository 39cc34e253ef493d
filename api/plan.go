package api

import "time"

// SyncPlan is what a sync would do, in order, and what would keep it from that. Nothing was changed to find out. Values of
// Secrets are masked.
type SyncPlan struct {
	Revisions []string `json:"revisions" doc:"Revisions that it would bring, one for each source"`
	// Digest is what to confirm.
	Digest string      `json:"digest,omitempty" doc:"Names what would be deleted, to confirm it by; missing where nothing would be" example:"5f2b7c0d9a1e4f36"`
	Phases []PlanPhase `json:"phases" doc:"What would be done, in order: only what changes something, or is left for a reason"`
	Counts PlanCounts  `json:"counts" doc:"How many objects it would do what with"`
	Guard  PlanGuard   `json:"guard" doc:"What the deletion guard says"`
	// Windows are those of now; a sync that waits is asked about again when it begins.
	Windows PlanWindows `json:"windows" doc:"What the project's sync windows say now"`
	// Refused is why the agent would not do it at all.
	Refused  string   `json:"refused,omitempty" doc:"Why it would be refused, whatever it does; missing where it would not be"`
	Warnings []string `json:"warnings" doc:"What is not in force, or could not be looked at"`
}

// PlanPhase is a part of a sync.
type PlanPhase struct {
	Phase string     `json:"phase" enum:"PreSync,Sync,PostSync,SyncFail,PreDelete,PostDelete" doc:"PreSync, Sync, PostSync; SyncFail runs only after a failure" example:"Sync"`
	Waves []PlanWave `json:"waves" doc:"Its waves, in order: each waits until what was done in the one before is well"`
}

// PlanWave is what is done at once.
type PlanWave struct {
	Wave  int        `json:"wave" doc:"Number of the wave"`
	Items []PlanItem `json:"items" doc:"What is done in it, in order"`
}

// PlanItem is one object of a plan.
type PlanItem struct {
	ObjectName
	Verb string `json:"verb" enum:"create,update,delete,keep,hook" doc:"keep is an object that would be deleted if that were allowed or asked for; hook is one that runs"`
	// Hook is the phase that the hook runs in.
	Hook string `json:"hook,omitempty" doc:"The phase that it is a hook of" example:"PreSync"`
	// Diff is from live to wanted.
	Diff   string `json:"diff,omitempty" doc:"Unified diff from live to wanted; missing for hooks, and where it would be too much"`
	Reason string `json:"reason,omitempty" doc:"Why it is to be done, or left" example:"missing"`
	// Error is why the API server does not take it.
	Error string `json:"error,omitempty" doc:"Why the API server does not take what is wanted: the sync would fail there"`
	// Confirm says that somebody must confirm this deletion by itself.
	Confirm bool `json:"confirm,omitempty" doc:"The sync waits until somebody confirms this deletion (sync option Prune=confirm)"`
}

// PlanCounts says how many objects a plan does what with.
type PlanCounts struct {
	Create    int `json:"create" doc:"Objects that would be made"`
	Update    int `json:"update" doc:"Objects that would be changed"`
	Delete    int `json:"delete" doc:"Objects that would be deleted"`
	Unchanged int `json:"unchanged" doc:"Objects that would stay as they are"`
	Hooks     int `json:"hooks" doc:"Hooks that would run"`
}

// PlanGuard is what the deletion guard says to a plan.
type PlanGuard struct {
	Held   bool   `json:"held" doc:"The sync would be held until somebody confirms what it deletes"`
	Reason string `json:"reason,omitempty" doc:"What would be deleted and what to do, or why it may be"`
	Budget string `json:"budget,omitempty" doc:"How much one sync may delete" example:"10,50%"`
	// Of is whose the budget is.
	Of        string `json:"of,omitempty" enum:"Application,project,agent" doc:"Whose budget that is"`
	Deletions int    `json:"deletions" doc:"Objects that would be deleted"`
	Total     int    `json:"total" doc:"Objects that there are"`
	Confirmed bool   `json:"confirmed,omitempty" doc:"Somebody has confirmed just these deletions"`
}

// PlanWindows is what sync windows say now.
type PlanWindows struct {
	Allowed bool `json:"allowed" doc:"They let this sync begin, which somebody asks for"`
	// Reason is why not.
	Reason string    `json:"reason,omitempty" doc:"Which window forbids it, and what to do"`
	Until  time.Time `json:"until,omitzero" doc:"When that changes; missing where time alone does not change it"`
	// Automatic is about syncs that nobody asks for.
	Automatic bool `json:"automatic" doc:"They let automatic syncs begin"`
}

package api

import "time"

// Why says how an application stands and why, the most important reason first. There is always one.
type Why struct {
	Name  string    `json:"name" doc:"Name of the Application" example:"shop"`
	State string    `json:"state" doc:"How it stands: sync, health, and what is special" example:"OutOfSync, Healthy, held"`
	Since time.Time `json:"since,omitzero" doc:"Since when the first reason holds"`
	// Reasons are never empty.
	Reasons []WhyReason `json:"reasons" doc:"Why, the most important first; there is always one"`
	// Window is a closed sync window, also where nothing waits for it.
	Window *WhyWindow `json:"window,omitempty" doc:"A sync window that keeps it from syncing on its own now; left out where none does"`
	// Warnings say what could not be looked at.
	Warnings []string `json:"warnings,omitempty" doc:"What could not be looked at"`
	Age
}

// WhyWindow is a closed sync window.
type WhyWindow struct {
	Reason string    `json:"reason" doc:"Which window is closed" example:"deny window \"0 22 * * *\" is active"`
	Manual bool      `json:"manual" doc:"A sync that a person asks for may run"`
	Until  time.Time `json:"until,omitzero" doc:"When the windows let it sync again; left out where that is not known"`
}

// WhyReason is one thing that makes the state what it is.
type WhyReason struct {
	Code  string    `json:"code" doc:"The kind of reason, for programs: NotFound, AgentAway, Deleting, Skipped, Unseen, Denied, CannotFetch, CannotRender, CannotCompare, Terminating, WaitingForRetry, WaitingForHook, WaitingForHealth, WaitingForConfirm, Operating, Asked, HeldByGuard, HeldByWindow, Held, Pinned, Failed, AutomatedOff, SelfHealOff, PruneOff, PruneForbidden, SyncDue, Shared, DriftAllowed, Failing, Degraded, Progressing, Missing, Suspended, Unjudged, Unsupported, Warned, Done" example:"HeldByGuard"`
	What  string    `json:"what" doc:"The reason in a sentence" example:"its sync is held, because it would delete too much"`
	Why   string    `json:"why,omitempty" doc:"What was said about it, in the words of whoever said it"`
	Since time.Time `json:"since,omitzero" doc:"Since when, where that is known"`
	// Next is for people: a command, or what to commit.
	Next string `json:"next" doc:"What would change it: commands of the command line in backticks, or what to commit"`
	// Objects are at most WhyObjects.
	Objects []ObjectName `json:"objects,omitempty" doc:"Objects that it is about, 20 at most"`
	// Finding is what fails in the cluster, where this is the reason. What says it then, and Why what follows from it.
	Finding *Finding `json:"finding,omitempty" doc:"What fails in the cluster, with evidence; where that is the reason"`
	// Actions are what of Next the API can do.
	Actions []WhyAction `json:"actions,omitempty" doc:"What of next the API can do, what helps most first; none where only a commit helps"`
}

// WhyObjects is how many objects a reason names at most.
const WhyObjects = 20

// What a WhyAction can be. Each but the last is POST <application>/<action>.
const (
	WhySync      = "sync"
	WhyRefresh   = "refresh"
	WhyConfirm   = "confirm"
	WhyUnpin     = "unpin"
	WhyRollback  = "rollback"
	WhyTerminate = "terminate"
	WhyRevert    = "revert"
	WhyAllow     = "allow"
	// WhyResourceAction is an action of the one object: GET <application>/resource/actions lists those that it offers.
	WhyResourceAction = "resource-action"
)

// WhyAction is something that a person can ask for, and what to fill in. Somebody must want it: nothing else is decided.
type WhyAction struct {
	Action string `json:"action" enum:"sync,refresh,confirm,unpin,rollback,terminate,revert,allow,resource-action" doc:"What to ask for: POST to the application's path of that name; resource-action is one of those that the object offers" example:"sync"`
	Prune  bool   `json:"prune,omitempty" doc:"prune of a sync"`
	Hard   bool   `json:"hard,omitempty" doc:"hard of a refresh"`
	Plan   string `json:"plan,omitempty" doc:"plan of a confirm" example:"5f2b7c0d9a1e4f36"`
	// Objects are those of a revert, the one of an allow or of a resource-action.
	Objects []ObjectName `json:"objects,omitempty" doc:"objects of a revert, the object of an allow or a resource-action"`
}

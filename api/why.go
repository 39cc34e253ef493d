package api

import "time"

// Why says how an application stands and why, the most important reason first. There is always one.
type Why struct {
	Name  string    `json:"name" doc:"Name of the Application" example:"shop"`
	State string    `json:"state" doc:"State: sync, health, and anything unusual" example:"OutOfSync, Healthy, held"`
	Since time.Time `json:"since,omitzero" doc:"Time since when the first reason applies"`
	// Reasons are never empty.
	Reasons []WhyReason `json:"reasons" doc:"Reasons, the most important first; there is always one"`
	// Window is a closed sync window, also where nothing waits for it.
	Window *WhyWindow `json:"window,omitempty" doc:"A sync window that prevents automatic syncs now; missing if there is none"`
	// Warnings say what could not be looked at.
	Warnings []string `json:"warnings,omitempty" doc:"Checks that could not be made"`
	Age
}

// WhyWindow is a closed sync window.
type WhyWindow struct {
	Reason string    `json:"reason" doc:"The closed window" example:"deny window \"0 22 * * *\" is active"`
	Manual bool      `json:"manual" doc:"A manual sync is allowed"`
	Until  time.Time `json:"until,omitzero" doc:"Time at which the windows allow syncs again; missing if unknown"`
}

// WhyReason is one thing that makes the state what it is.
type WhyReason struct {
	Code  string    `json:"code" doc:"The kind of reason, for programs: NotFound, AgentAway, Deleting, Skipped, Unseen, Denied, CannotFetch, Unverified, CannotRender, CannotCompare, Terminating, WaitingForRetry, WaitingForHook, WaitingForHealth, WaitingForConfirm, Operating, Asked, HeldByGuard, HeldByWindow, Held, Pinned, Failed, AutomatedOff, SelfHealOff, PruneOff, PruneForbidden, SyncDue, Shared, DriftAllowed, Failing, Degraded, Progressing, Missing, Suspended, Unjudged, Unsupported, Warned, Done" example:"HeldByGuard"`
	What  string    `json:"what" doc:"The reason in a sentence" example:"its sync is held, because it would delete too much"`
	Why   string    `json:"why,omitempty" doc:"The original message"`
	Since time.Time `json:"since,omitzero" doc:"Time since when, if known"`
	// Next is for people: a command, or what to commit.
	Next string `json:"next" doc:"Next steps: commands of the command line in backticks, or the change to commit"`
	// Objects are at most WhyObjects.
	Objects []ObjectName `json:"objects,omitempty" doc:"Affected objects, at most 20"`
	// Finding is what fails in the cluster, where this is the reason. What says it then, and Why what follows from it.
	Finding *Finding `json:"finding,omitempty" doc:"The failure in the cluster with its evidence, if that is the reason"`
	// Actions are what of Next the API can do.
	Actions []WhyAction `json:"actions,omitempty" doc:"Actions of the API, the most helpful first; none if only a commit helps"`
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

// WhyAction is something that a person can ask for, and what to fill in. It needs a decision: nothing else is decided.
type WhyAction struct {
	Action string `json:"action" enum:"sync,refresh,confirm,unpin,rollback,terminate,revert,allow,resource-action" doc:"Action: POST to the application's path of that name; resource-action is an action that the object offers" example:"sync"`
	Prune  bool   `json:"prune,omitempty" doc:"prune of a sync"`
	Hard   bool   `json:"hard,omitempty" doc:"hard of a refresh"`
	Plan   string `json:"plan,omitempty" doc:"plan of a confirm" example:"5f2b7c0d9a1e4f36"`
	// Objects are those of a revert, the one of an allow or of a resource-action.
	Objects []ObjectName `json:"objects,omitempty" doc:"objects of a revert, the object of an allow or a resource-action"`
}

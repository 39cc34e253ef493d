package api

import "time"

// What a bulk job does, in JobRequest.Action.
const (
	JobSync        = "sync"
	JobRefresh     = "refresh"
	JobHardRefresh = "hard-refresh"
	JobRollback    = "rollback"
)

// States of a job.
const (
	// JobRunning: it goes on, at whichever server.
	JobRunning = "running"
	// JobDone: there is nothing left to do, whatever came of it.
	JobDone = "done"
	// JobStopped: a user has stopped it, or too much failed; what had begun was waited for.
	JobStopped = "stopped"
)

// States of an application in a job.
const (
	TargetWaiting = "waiting"
	TargetRunning = "running"
	TargetDone    = "done"
	TargetFailed  = "failed"
	// TargetRefused: the user may not do it, or the application is not there.
	TargetRefused = "refused"
	// TargetSkipped: the job was stopped before.
	TargetSkipped = "skipped"
)

// Bounds of jobs.
const (
	// MaxJobTargets is how many applications a job may have.
	MaxJobTargets = 20_000
	// MaxJobExcept is how many may be left out of what a filter leaves.
	MaxJobExcept = 500
	// MaxJobLimit is how many may be under way at a time.
	MaxJobLimit = 50
	// DefaultJobLimit is how many are under way at a time by default.
	DefaultJobLimit = 5
	// DefaultJobTimeout is how many seconds an application has by default.
	DefaultJobTimeout = 600
)

// JobRequest asks for the same with many applications.
type JobRequest struct {
	Action string `json:"action" enum:"sync,refresh,hard-refresh,rollback" doc:"Action for each application" example:"sync"`
	// Filter or Targets say which. What Filter leaves is looked up once, when the job is made.
	Filter  *FleetFilter `json:"filter,omitempty" doc:"Applications that match the filter now, and on which you may perform the action"`
	Targets []Target     `json:"targets,omitempty" maxItems:"20000" doc:"Applications, instead of a filter"`
	// Except are kept with the job, so there are few.
	Except []Target `json:"except,omitempty" maxItems:"500" doc:"Applications to exclude from the result of the filter"`
	// Sync and Rollback are how, for those actions. A reason in them is ignored: that of the job does.
	Sync     *SyncRequest     `json:"sync,omitempty" doc:"Options of the sync"`
	Rollback *RollbackRequest `json:"rollback,omitempty" doc:"Options of the rollback; default: the previous deployment"`
	Limit    int              `json:"limit,omitempty" minimum:"0" maximum:"50" doc:"Number of applications at a time; default: 5" example:"5"`
	// StopAfter is after how many failures nothing more is begun; 0 for never.
	StopAfter int `json:"stopAfter,omitempty" minimum:"0" doc:"Number of failures after which the job stops; 0 for never" example:"3"`
	// Timeout is how many seconds an application has, from its beginning to the end of its operation.
	Timeout int    `json:"timeout,omitempty" minimum:"0" maximum:"86400" doc:"Time limit for each application in seconds; default: 600"`
	Reason  string `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"release 1.2 everywhere"`
}

// JobCounts say how many applications of a job are in which state.
type JobCounts struct {
	Total   int64 `json:"total" doc:"Applications"`
	Waiting int64 `json:"waiting" doc:"Not started"`
	Running int64 `json:"running" doc:"Running"`
	Done    int64 `json:"done" doc:"Done"`
	Failed  int64 `json:"failed" doc:"Failed"`
	Refused int64 `json:"refused" doc:"Not allowed, or not found"`
	Skipped int64 `json:"skipped" doc:"Not started, because the job was stopped"`
}

// Job does the same with many applications, on behalf of its user.
type Job struct {
	ID      string     `json:"id,omitempty" doc:"Identifier; empty for a dry run" example:"b7k2m4x6q3w5"`
	By      Principal  `json:"by" doc:"Principal that requested it"`
	Request JobRequest `json:"request" doc:"The request, without the list of targets"`
	State   string     `json:"state" doc:"running, done or stopped" example:"running"`
	Message string     `json:"message,omitempty" doc:"Reason for the stop"`
	Counts  JobCounts  `json:"counts" doc:"Progress"`
	// StoppedBy is the user who stopped it, "user:ada".
	StoppedBy  string    `json:"stoppedBy,omitempty" doc:"Principal that stopped it" example:"user:ada"`
	CreatedAt  time.Time `json:"createdAt,omitzero" doc:"Time of the request"`
	FinishedAt time.Time `json:"finishedAt,omitzero" doc:"Time of the end"`
	// Traceparent is the trace in which it was asked for (W3C Trace Context); missing where there is none. Its commands are
	// part of it.
	Traceparent string `json:"traceparent,omitempty" doc:"Trace of the request" example:"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"`
}

// JobTarget is what came of one application in a job.
type JobTarget struct {
	// Place is its number in the job, from 1.
	Place       int64     `json:"place" doc:"Number in the job, from 1"`
	Application string    `json:"application" doc:"Id of the application" example:"account.prod/argocd/shop"`
	State       string    `json:"state" doc:"waiting, running, done, failed, refused or skipped" example:"done"`
	Command     string    `json:"command,omitempty" doc:"Id of the command"`
	Message     string    `json:"message,omitempty" doc:"Result"`
	StartedAt   time.Time `json:"startedAt,omitzero" doc:"Time of the start"`
	FinishedAt  time.Time `json:"finishedAt,omitzero" doc:"Time of the end"`
	// Request names the operation that the agent began, to follow it.
	Request string `json:"-"`
}

// JobPlan is what a job would hit.
type JobPlan struct {
	Job     Job         `json:"job" doc:"The job; without an id for a dry run"`
	Targets []JobTarget `json:"targets,omitempty" doc:"For a dry run: the applications, at most 1,000 of them"`
}

// JobFilter says which jobs are wanted, the newest first.
type JobFilter struct {
	ListOptions
	State string
	// By is the user who requested them; empty for any user.
	By Principal
	// Token is the id of the token that they were asked for with; empty for any, and none.
	Token string
}

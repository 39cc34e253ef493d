package api

import "time"

// Finding is the first thing that fails at or below an object of an application, with what shows it. Its texts are from
// clusters: cleaned, bounded, and without what looks like a secret.
type Finding struct {
	Code string `json:"code" doc:"The kind of fault, for programs: Admission, ClaimPending, Condition, Config, ContainerStart, Crash, Deadline, Deleting, Evicted, Exit, Gate, ImageMissing, ImagePull, ImageRefused, IngressBackend, LimitRange, LivenessProbe, LoadBalancer, Metrics, Missing, Mount, NoAnswer, NoBackends, NoPods, NodeLost, OutOfMemory, Paused, Quota, ReadinessProbe, Refused, Sandbox, Scheduled, SecretStore, Starting, StartupProbe, Timeout, Unschedulable, Warning, Webhook" example:"ImagePull"`
	What string `json:"what" doc:"The fault in a sentence" example:"Pod shop/web-6d5f-x2x9z cannot start container web: image registry.example.com/web:1.3 does not exist"`
	Next string `json:"next" doc:"Next steps: commands of the command line in backticks, or the change to commit"`
	// Of is the application's own object, Object the one that fails: the same, or one below it.
	Of        ObjectName `json:"of" doc:"The application's own object"`
	Object    ObjectName `json:"object" doc:"The object that fails: the same, or one below it"`
	Container string     `json:"container,omitempty" doc:"The container that fails" example:"web"`
	Since     time.Time  `json:"since,omitzero" doc:"Time since when, if the cluster reports it"`
	Restarts  int64      `json:"restarts,omitempty" doc:"Number of restarts of the container" example:"7"`
	// Evidence are at most MaxEvidence, the most important first.
	Evidence []Evidence  `json:"evidence" doc:"Evidence, the most important first; at most 8"`
	Log      *FindingLog `json:"log,omitempty" doc:"The last lines of the container's log, if it has one"`
	// Minor says that nothing failed so far.
	Minor bool `json:"minor,omitempty" doc:"Not a failure: the object is starting, or its owner chose this state"`
}

// Bounds of a Finding.
const (
	// MaxFindings is how many findings an answer has at most.
	MaxFindings = 10
	// MaxEvidence is how many pieces of evidence a Finding has at most.
	MaxEvidence = 8
	// MaxLogLines is how many lines of a log a Finding has at most.
	MaxLogLines = 20
)

// Evidence is one thing that the cluster reports.
type Evidence struct {
	Object    ObjectName `json:"object" doc:"The object that it is about"`
	Container string     `json:"container,omitempty" doc:"The container that it is about"`
	// Source is where it stands.
	Source string    `json:"source" enum:"event,spec,status" doc:"Source of the evidence: an Event about the object, its specification or its status"`
	Text   string    `json:"text" doc:"The reported text" example:"Failed: Failed to pull image \"registry.example.com/web:1.3\": not found"`
	Count  int       `json:"count,omitempty" doc:"Number of occurrences, for Events" example:"12"`
	Since  time.Time `json:"since,omitzero" doc:"Time since when"`
	Last   time.Time `json:"last,omitzero" doc:"Time of the last occurrence, for Events"`
}

// Where a piece of Evidence stands.
const (
	EvidenceEvent  = "event"
	EvidenceSpec   = "spec"
	EvidenceStatus = "status"
)

// FindingLog is the end of the log of a container. It may hold anything that the program wrote: nothing keeps it.
type FindingLog struct {
	// Previous says that it is the log of the run before the present one.
	Previous bool     `json:"previous,omitempty" doc:"From the previous instance of the container"`
	Lines    []string `json:"lines,omitempty" doc:"The last lines, at most 20; only on request"`
	Note     string   `json:"note,omitempty" doc:"Reason for missing lines" example:"not asked for"`
}

// FindingsRequest asks an agent for the findings of an application.
type FindingsRequest struct {
	// Logs asks for the last lines of containers that fail.
	Logs bool `json:"logs,omitempty" doc:"Include the last lines of failing containers"`
}

// FindingsAnswer are the findings of an application, the worst first.
type FindingsAnswer struct {
	Items    []Finding `json:"items" doc:"One for each failing object of the application, the most severe first; at most 10"`
	Warnings []string  `json:"warnings,omitempty" doc:"Checks that could not be made"`
}

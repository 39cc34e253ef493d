package api

import "encoding/json"

// PreviewRequest asks what an application would do, before it is made or changed.
type PreviewRequest struct {
	// Resource is the whole Application. One with a metadata.resourceVersion or metadata.uid was read before: it is a change of
	// the application that is there.
	Resource json.RawMessage `json:"resource" doc:"The Application: apiVersion, kind, metadata and spec. With a metadata.resourceVersion or metadata.uid it is a change of the one that is there"`
	// Base is the resource before it was edited, so that what was taken out of it is known.
	Base json.RawMessage `json:"base,omitempty" doc:"The resource before it was edited: what was taken out of it goes. Left out: what is not in the resource stays"`
	// Update says that it is a change of an application that is there, where the resource does not tell.
	Update bool `json:"update,omitempty" doc:"It is a change of the application that is there, where the resource does not tell"`
}

// Levels of problems.
const (
	ProblemError   = "error"
	ProblemWarning = "warning"
)

// Preview is what an application would do. Nothing is written to find out. Values of Secrets are masked.
type Preview struct {
	// Valid is false where the application would not be taken, or could not be synced as it is.
	Valid    bool             `json:"valid" doc:"It would be taken, and could be synced"`
	Problems []PreviewProblem `json:"problems" doc:"What is wrong, or may not be as it is meant"`
	// Objects are in the order of their rendering; what would be deleted comes last.
	Objects []PreviewObject `json:"objects" doc:"What a sync would do to each object"`
	Counts  PreviewCounts   `json:"counts" doc:"How many of each, hooks by themselves"`
	// Revisions are what was rendered, one for each source.
	Revisions []string          `json:"revisions" doc:"What was rendered, one for each source"`
	Manifests []json.RawMessage `json:"manifests,omitempty" doc:"The objects as rendered, where they were asked for"`
	Warnings  []string          `json:"warnings,omitempty" doc:"What could not be looked at"`
	// Quick says that neither repositories nor the destination were asked.
	Quick bool `json:"quick,omitempty" doc:"Neither repositories nor the destination were asked"`
}

// PreviewProblem is something wrong with an application, or with a field of it.
type PreviewProblem struct {
	Field   string `json:"field" doc:"Field; empty for the whole of it" example:"spec.source.path"`
	Message string `json:"message" doc:"What is wrong, and what to do"`
	Level   string `json:"level" enum:"error,warning" doc:"Whether it stands in the way"`
}

// PreviewObject is what a sync would do to one object.
type PreviewObject struct {
	ObjectName
	Wave int    `json:"wave" doc:"Wave that it is in"`
	Hook string `json:"hook,omitempty" doc:"Phases that it is a hook of" example:"PreSync"`
	Verb string `json:"verb" enum:"create,update,delete,keep,error" doc:"What a sync would do; error where it could not"`
	// Diff is unified, from live to wanted.
	Diff  string `json:"diff,omitempty" doc:"Unified diff from live to wanted"`
	Error string `json:"error,omitempty" doc:"Why it could not be synced"`
}

// PreviewCounts is how many objects of a preview there are of each verb.
type PreviewCounts struct {
	Create    int `json:"create" doc:"Objects that would be created"`
	Update    int `json:"update" doc:"Objects that would be changed"`
	Delete    int `json:"delete" doc:"Objects that would be deleted"`
	Unchanged int `json:"unchanged" doc:"Objects that are as they should be"`
	Error     int `json:"error" doc:"Objects that could not be synced"`
	Hooks     int `json:"hooks" doc:"Hooks that would run"`
}

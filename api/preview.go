package api

import "encoding/json"

// PreviewRequest asks what an application would do, before it is made or changed.
type PreviewRequest struct {
	// Resource is the whole Application. One with a metadata.resourceVersion or metadata.uid was read before: it is a change of
	// the application that is there.
	Resource json.RawMessage `json:"resource" doc:"The Application: apiVersion, kind, metadata and spec. With a metadata.resourceVersion or metadata.uid, it is a change of the existing one"`
	// Base is the resource before it was edited, so that what was taken out of it is known.
	Base json.RawMessage `json:"base,omitempty" doc:"The resource before it was edited: fields that were removed from it are deleted. Default: fields that are not in the resource stay"`
	// Update says that it is a change of an application that is there, where the resource does not show it.
	Update bool `json:"update,omitempty" doc:"It is a change of an existing application, even if the resource does not show it"`
}

// Levels of problems.
const (
	ProblemError   = "error"
	ProblemWarning = "warning"
)

// Preview is what an application would do. Nothing is written to find out. Values of Secrets are masked.
type Preview struct {
	// Valid is false where the application would not be taken, or could not be synced as it is.
	Valid    bool             `json:"valid" doc:"The resource would be accepted, and could be synced"`
	Problems []PreviewProblem `json:"problems" doc:"Errors, and settings that may be unintended"`
	// Objects are in the order of their rendering; what would be deleted comes last.
	Objects []PreviewObject `json:"objects" doc:"Effect of a sync on each object"`
	Counts  PreviewCounts   `json:"counts" doc:"Numbers by effect, hooks separately"`
	// Revisions are what was rendered, one for each source.
	Revisions []string          `json:"revisions" doc:"Rendered revisions, one for each source"`
	Manifests []json.RawMessage `json:"manifests,omitempty" doc:"The rendered objects, if requested"`
	Warnings  []string          `json:"warnings,omitempty" doc:"Checks that could not be made"`
	// Quick says that neither repositories nor the destination were asked.
	Quick bool `json:"quick,omitempty" doc:"Neither repositories nor the destination were checked"`
}

// PreviewProblem is something wrong with an application, or with a field of it.
type PreviewProblem struct {
	Field   string `json:"field" doc:"Field; empty for the whole resource" example:"spec.source.path"`
	Message string `json:"message" doc:"Error, and the next step"`
	Level   string `json:"level" enum:"error,warning" doc:"Whether it prevents the change"`
}

// PreviewObject is what a sync would do to one object.
type PreviewObject struct {
	ObjectName
	Wave int    `json:"wave" doc:"Wave of the object"`
	Hook string `json:"hook,omitempty" doc:"Phases of the hook" example:"PreSync"`
	Verb string `json:"verb" enum:"create,update,delete,keep,error" doc:"Effect of a sync; error if it would fail"`
	// Diff is unified, from live to wanted.
	Diff  string `json:"diff,omitempty" doc:"Unified diff from live to desired"`
	Error string `json:"error,omitempty" doc:"Reason why it could not be synced"`
}

// PreviewCounts is how many objects of a preview there are of each verb.
type PreviewCounts struct {
	Create    int `json:"create" doc:"Objects that would be created"`
	Update    int `json:"update" doc:"Objects that would be changed"`
	Delete    int `json:"delete" doc:"Objects that would be deleted"`
	Unchanged int `json:"unchanged" doc:"Objects with the desired state"`
	Error     int `json:"error" doc:"Objects that could not be synced"`
	Hooks     int `json:"hooks" doc:"Hooks that would run"`
}

package api

import (
	"encoding/json"
	"time"
)

// DiffRequest asks what a sync would change.
type DiffRequest struct {
	// Revision takes the place of the first source's target revision.
	Revision string `json:"revision,omitempty" maxLength:"253" doc:"Commit, tag or branch to compare with, instead of the target revision" example:"my-branch"`
	// Drift compares with what was deployed last, in place of what Git says now.
	Drift bool `json:"drift,omitempty" doc:"Compare with what was deployed last: what somebody changed in the cluster since"`
	// Ignored lists also differences that do not count.
	Ignored bool `json:"ignored,omitempty" doc:"List also differences that do not count"`
	// Cursor reads on behind an answer that had a NextCursor.
	Cursor string `json:"cursor,omitempty" maxLength:"1200" doc:"nextCursor of the answer before"`
}

// DiffAnswer is what differs. Values of Secrets are masked.
type DiffAnswer struct {
	Items    []ObjectDiff `json:"items" doc:"One for each object that differs"`
	Warnings []string     `json:"warnings,omitempty" doc:"What is not in force, or could not be looked at"`
	// NextCursor asks for the objects that follow; "" at the end.
	NextCursor string `json:"nextCursor,omitempty" doc:"There is more than one answer holds: give it as ?cursor= to read on; missing at the end"`
}

// ObjectDiff is what differs in one object.
type ObjectDiff struct {
	ObjectName
	// Verb is create, update, delete; keep where only what does not count differs.
	Verb string `json:"verb" enum:"create,update,delete,keep" doc:"What a sync would do; keep where only what does not count differs"`
	// Diff is unified, from live to wanted.
	Diff   string      `json:"diff" doc:"Unified diff from live to wanted"`
	Fields []FieldDiff `json:"fields,omitempty" doc:"Fields that differ"`
	// Error is why the API server does not take what is wanted; then nothing else is known.
	Error   string        `json:"error,omitempty" doc:"Why the API server does not take what is wanted"`
	Allowed *AllowedDrift `json:"allowed,omitempty" doc:"It is left like that, until then"`
}

// FieldDiff is one field that differs, and who has set it.
type FieldDiff struct {
	Path   string `json:"path" doc:"Path of the field" example:".spec.template.spec.containers[name=web].image"`
	Live   any    `json:"live" doc:"Value in the cluster; null where it has none"`
	Wanted any    `json:"wanted" doc:"Value that is wanted; null where it would go"`
	// Manager is whoever set it and changed the object last; "" where that is not known.
	Manager     string       `json:"manager,omitempty" doc:"Who has set it" example:"kubectl-edit"`
	Operation   string       `json:"operation,omitempty" doc:"Apply or Update" example:"Update"`
	Subresource string       `json:"subresource,omitempty" doc:"Subresource that it was set through" example:"scale"`
	Since       string       `json:"since,omitempty" doc:"When" example:"2026-03-01T12:00:00Z"`
	Others      []FieldOwner `json:"others,omitempty" doc:"Who else has set it"`
	Ignored     bool         `json:"ignored,omitempty" doc:"It does not count"`
}

// FieldOwner is somebody who has set a field.
type FieldOwner struct {
	Manager     string `json:"manager" doc:"Who has set it"`
	Operation   string `json:"operation" doc:"Apply or Update"`
	Subresource string `json:"subresource,omitempty" doc:"Subresource that it was set through"`
	Since       string `json:"since,omitempty" doc:"When"`
}

// AllowedDrift is for how long an object is left as somebody changed it.
type AllowedDrift struct {
	Until  time.Time `json:"until" doc:"Until when"`
	By     string    `json:"by,omitempty" doc:"Who allowed it"`
	Reason string    `json:"reason,omitempty" doc:"Why"`
}

// ManifestsRequest asks for the objects of an application.
type ManifestsRequest struct {
	// Live asks for what is in the cluster, in place of what is wanted.
	Live     bool   `json:"live,omitempty" doc:"What is in the cluster, in place of what is wanted"`
	Revision string `json:"revision,omitempty" maxLength:"253" doc:"Commit, tag or branch to render, instead of the target revision" example:"my-branch"`
	// Cursor reads on behind an answer that had a NextCursor.
	Cursor string `json:"cursor,omitempty" maxLength:"1200" doc:"nextCursor of the answer before"`
}

// ManifestsAnswer is the objects of an application. Values of Secrets are masked.
type ManifestsAnswer struct {
	Items []json.RawMessage `json:"items" doc:"The objects"`
	// Revisions are what they were rendered from, one for each source.
	Revisions []string `json:"revisions,omitempty" doc:"What they were rendered from, one for each source"`
	Warnings  []string `json:"warnings,omitempty" doc:"What could not be looked at"`
	// NextCursor asks for the objects that follow; "" at the end.
	NextCursor string `json:"nextCursor,omitempty" doc:"There is more than one answer holds: give it as ?cursor= to read on; missing at the end"`
}

// ResourceRef names an object that an application deployed, or that belongs to one of these.
type ResourceRef struct {
	Group     string `json:"group,omitempty" maxLength:"253" doc:"API group; empty for core kinds" example:"apps"`
	Version   string `json:"version,omitempty" maxLength:"63" doc:"API version; left out: the one that the cluster prefers" example:"v1"`
	Kind      string `json:"kind" maxLength:"253" doc:"Kind" example:"Deployment"`
	Namespace string `json:"namespace,omitempty" maxLength:"63" doc:"Namespace" example:"shop"`
	Name      string `json:"name" maxLength:"253" doc:"Name" example:"web"`
}

// ResourceState is one object. Data of Secrets is masked.
type ResourceState struct {
	// Live is null where it is not there, Desired where it is not wanted.
	Live    json.RawMessage `json:"live" doc:"The object in the cluster; null where it is not there"`
	Desired json.RawMessage `json:"desired" doc:"The object as rendered; null where it is not wanted"`
}

// ResourcePatch changes an object.
type ResourcePatch struct {
	Resource ResourceRef     `json:"resource" doc:"The object"`
	Type     string          `json:"type" enum:"merge,json,strategic" doc:"Kind of patch" example:"merge"`
	Patch    json.RawMessage `json:"patch" doc:"The patch"`
	DryRun   bool            `json:"dryRun,omitempty" doc:"Let the API server check it, but write nothing"`
	Reason   string          `json:"reason,omitempty" maxLength:"1000" doc:"Why"`
}

// ResourceDelete deletes an object.
type ResourceDelete struct {
	Resource ResourceRef `json:"resource" doc:"The object"`
	Force    bool        `json:"force,omitempty" doc:"Delete without waiting for its end"`
	Orphan   bool        `json:"orphan,omitempty" doc:"Leave what belongs to it"`
	DryRun   bool        `json:"dryRun,omitempty" doc:"Let the API server check it, but delete nothing"`
	Reason   string      `json:"reason,omitempty" maxLength:"1000" doc:"Why"`
}

// ResourceActions are the actions that an object offers.
type ResourceActions struct {
	Actions []ResourceActionInfo `json:"actions" doc:"The actions"`
}

// ResourceActionInfo describes an action.
type ResourceActionInfo struct {
	Name        string                    `json:"name" doc:"Name" example:"restart"`
	DisplayName string                    `json:"displayName,omitempty" doc:"Name for people"`
	Disabled    bool                      `json:"disabled,omitempty" doc:"It makes no sense now"`
	Parameters  []ResourceActionParameter `json:"parameters,omitempty" doc:"Its parameters"`
}

// ResourceActionParameter describes a parameter of an action.
type ResourceActionParameter struct {
	Name    string `json:"name" doc:"Name" example:"replicas"`
	Default string `json:"default,omitempty" doc:"Value where none is given"`
}

// ResourceAction runs an action.
type ResourceAction struct {
	Resource   ResourceRef       `json:"resource" doc:"The object"`
	Action     string            `json:"action" maxLength:"253" doc:"Name of the action" example:"restart"`
	Parameters map[string]string `json:"parameters,omitempty" doc:"Values of its parameters"`
	DryRun     bool              `json:"dryRun,omitempty" doc:"Let the API server check it, but write nothing"`
	Reason     string            `json:"reason,omitempty" maxLength:"1000" doc:"Why"`
}

// ResourceActionAnswer is what an action did, or would do.
type ResourceActionAnswer struct {
	Impacts []ResourceImpact `json:"impacts" doc:"What was written, or would be"`
}

// ResourceImpact is one object that an action changed or made.
type ResourceImpact struct {
	Operation string          `json:"operation" enum:"patch,create" doc:"patch or create"`
	Object    json.RawMessage `json:"object" doc:"The object; data of Secrets is masked"`
}

// ResourceEvents are the Events of Kubernetes about an object.
type ResourceEvents struct {
	Events []ResourceEvent `json:"events" doc:"The events, the newest last"`
}

// ResourceEvent is an Event of Kubernetes.
type ResourceEvent struct {
	Type    string    `json:"type" doc:"Normal or Warning" example:"Warning"`
	Reason  string    `json:"reason" doc:"Reason" example:"BackOff"`
	Message string    `json:"message" doc:"Message"`
	Count   int       `json:"count" doc:"How often"`
	First   time.Time `json:"first,omitzero" doc:"When first"`
	Last    time.Time `json:"last,omitzero" doc:"When last"`
	Source  string    `json:"source,omitempty" doc:"Who says it" example:"kubelet"`
}

// Logs asks for the output of pods.
type Logs struct {
	Resource ResourceRef `json:"resource" doc:"A pod, or what has pods; left empty: all pods of the application"`
	// Container is one of them; "" for all.
	Container string    `json:"container,omitempty" maxLength:"63" doc:"One container; left out: all"`
	Follow    bool      `json:"follow,omitempty" doc:"Go on with what comes"`
	Previous  bool      `json:"previous,omitempty" doc:"Of the container that ran before the present one"`
	Since     int64     `json:"since,omitempty" minimum:"0" doc:"How far back, in seconds"`
	SinceTime time.Time `json:"sinceTime,omitzero" doc:"How far back, as a time"`
	Tail      int64     `json:"tail,omitempty" minimum:"0" doc:"How many lines at the end; 0: all"`
	Search    string    `json:"search,omitempty" maxLength:"1000" doc:"Text that lines must contain"`
	Invert    bool      `json:"invert,omitempty" doc:"Lines must not contain it"`
	// IgnoreCase takes small and large letters of Search as the same.
	IgnoreCase bool `json:"ignoreCase,omitempty" doc:"Take small and large letters of the text as the same"`
	// Timestamps puts the time in front of each line.
	Timestamps bool `json:"timestamps,omitempty" doc:"Put the time in front of each line"`
}

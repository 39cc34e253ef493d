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
	Drift bool `json:"drift,omitempty" doc:"Compare with the last deployment: changes in the cluster since then"`
	// Ignored also lists ignored differences.
	Ignored bool `json:"ignored,omitempty" doc:"Also list ignored differences"`
	// Cursor reads on behind an answer that had a NextCursor.
	Cursor string `json:"cursor,omitempty" maxLength:"1200" doc:"nextCursor of the previous response"`
}

// DiffAnswer is what differs. Values of Secrets are masked.
type DiffAnswer struct {
	Items    []ObjectDiff `json:"items" doc:"One for each object that differs"`
	Warnings []string     `json:"warnings,omitempty" doc:"Rules that are not in force, and checks that could not be made"`
	// NextCursor asks for the objects that follow; "" at the end.
	NextCursor string `json:"nextCursor,omitempty" doc:"Pass it as ?cursor= to get the next page; missing on the last page"`
}

// ObjectDiff is what differs in one object.
type ObjectDiff struct {
	ObjectName
	// Verb is create, update, delete; keep if only ignored fields differ.
	Verb string `json:"verb" enum:"create,update,delete,keep" doc:"Effect of a sync; keep if only ignored fields differ"`
	// Diff is unified, from live to wanted.
	Diff   string      `json:"diff" doc:"Unified diff from live to desired"`
	Fields []FieldDiff `json:"fields,omitempty" doc:"Fields that differ"`
	// Error is why the API server does not take what is wanted; then nothing else is known.
	Error   string        `json:"error,omitempty" doc:"Reason why the API server refuses the desired object"`
	Allowed *AllowedDrift `json:"allowed,omitempty" doc:"The drift is allowed until then"`
}

// FieldDiff is one field that differs, and its managers.
type FieldDiff struct {
	Path   string `json:"path" doc:"Path of the field" example:".spec.template.spec.containers[name=web].image"`
	Live   any    `json:"live" doc:"Value in the cluster; null if it has none"`
	Wanted any    `json:"wanted" doc:"Desired value; null if the field would be removed"`
	// Manager is the one that set it and changed the object last; "" where that is not known.
	Manager     string       `json:"manager,omitempty" doc:"Manager that set it" example:"kubectl-edit"`
	Operation   string       `json:"operation,omitempty" doc:"Apply or Update" example:"Update"`
	Subresource string       `json:"subresource,omitempty" doc:"Subresource through which it was set" example:"scale"`
	Since       string       `json:"since,omitempty" doc:"Time" example:"2026-03-01T12:00:00Z"`
	Others      []FieldOwner `json:"others,omitempty" doc:"Other managers that set it"`
	Ignored     bool         `json:"ignored,omitempty" doc:"The difference is ignored"`
}

// FieldOwner is a manager that set a field.
type FieldOwner struct {
	Manager     string `json:"manager" doc:"Manager that set it"`
	Operation   string `json:"operation" doc:"Apply or Update"`
	Subresource string `json:"subresource,omitempty" doc:"Subresource through which it was set"`
	Since       string `json:"since,omitempty" doc:"Time"`
}

// AllowedDrift is for how long the drift of an object is allowed.
type AllowedDrift struct {
	Until  time.Time `json:"until" doc:"Time until which it is allowed"`
	By     string    `json:"by,omitempty" doc:"User who allowed it"`
	Reason string    `json:"reason,omitempty" doc:"Reason"`
}

// ManifestsRequest asks for the objects of an application.
type ManifestsRequest struct {
	// Live asks for what is in the cluster, in place of what is wanted.
	Live     bool   `json:"live,omitempty" doc:"Live objects instead of desired ones"`
	Revision string `json:"revision,omitempty" maxLength:"253" doc:"Commit, tag or branch to render, instead of the target revision" example:"my-branch"`
	// Cursor reads on behind an answer that had a NextCursor.
	Cursor string `json:"cursor,omitempty" maxLength:"1200" doc:"nextCursor of the previous response"`
}

// ManifestsAnswer is the objects of an application. Values of Secrets are masked.
type ManifestsAnswer struct {
	Items []json.RawMessage `json:"items" doc:"The objects"`
	// Revisions are what they were rendered from, one for each source.
	Revisions []string `json:"revisions,omitempty" doc:"Rendered revisions, one for each source"`
	Warnings  []string `json:"warnings,omitempty" doc:"Checks that could not be made"`
	// NextCursor asks for the objects that follow; "" at the end.
	NextCursor string `json:"nextCursor,omitempty" doc:"Pass it as ?cursor= to get the next page; missing on the last page"`
}

// ResourceRef names an object that an application deployed, or that belongs to one of these.
type ResourceRef struct {
	Group     string `json:"group,omitempty" maxLength:"253" doc:"API group; empty for core kinds" example:"apps"`
	Version   string `json:"version,omitempty" maxLength:"63" doc:"API version; default: the one that the cluster prefers" example:"v1"`
	Kind      string `json:"kind" maxLength:"253" doc:"Kind" example:"Deployment"`
	Namespace string `json:"namespace,omitempty" maxLength:"63" doc:"Namespace" example:"shop"`
	Name      string `json:"name" maxLength:"253" doc:"Name" example:"web"`
}

// ResourceState is one object. Data of Secrets is masked.
type ResourceState struct {
	// Live is null where it is not there, Desired where it is not wanted.
	Live    json.RawMessage `json:"live" doc:"The object in the cluster; null if it does not exist"`
	Desired json.RawMessage `json:"desired" doc:"The rendered object; null if the source does not contain it"`
}

// ResourcePatch changes an object.
type ResourcePatch struct {
	Resource ResourceRef     `json:"resource" doc:"The object"`
	Type     string          `json:"type" enum:"merge,json,strategic" doc:"Kind of patch" example:"merge"`
	Patch    json.RawMessage `json:"patch" doc:"The patch"`
	DryRun   bool            `json:"dryRun,omitempty" doc:"Only validate at the API server, and write nothing"`
	Reason   string          `json:"reason,omitempty" maxLength:"1000" doc:"Reason"`
}

// ResourceDelete deletes an object.
type ResourceDelete struct {
	Resource ResourceRef `json:"resource" doc:"The object"`
	Force    bool        `json:"force,omitempty" doc:"Delete immediately, without a grace period"`
	Orphan   bool        `json:"orphan,omitempty" doc:"Leave the objects that it owns"`
	DryRun   bool        `json:"dryRun,omitempty" doc:"Only validate at the API server, and delete nothing"`
	Reason   string      `json:"reason,omitempty" maxLength:"1000" doc:"Reason"`
}

// ResourceActions are the actions that an object offers.
type ResourceActions struct {
	Actions []ResourceActionInfo `json:"actions" doc:"The actions"`
}

// ResourceActionInfo describes an action.
type ResourceActionInfo struct {
	Name        string                    `json:"name" doc:"Name" example:"restart"`
	DisplayName string                    `json:"displayName,omitempty" doc:"Display name"`
	Disabled    bool                      `json:"disabled,omitempty" doc:"The action is not available now"`
	Parameters  []ResourceActionParameter `json:"parameters,omitempty" doc:"Its parameters"`
}

// ResourceActionParameter describes a parameter of an action.
type ResourceActionParameter struct {
	Name    string `json:"name" doc:"Name" example:"replicas"`
	Default string `json:"default,omitempty" doc:"Default value"`
}

// ResourceAction runs an action.
type ResourceAction struct {
	Resource   ResourceRef       `json:"resource" doc:"The object"`
	Action     string            `json:"action" maxLength:"253" doc:"Name of the action" example:"restart"`
	Parameters map[string]string `json:"parameters,omitempty" doc:"Values of its parameters"`
	DryRun     bool              `json:"dryRun,omitempty" doc:"Only validate at the API server, and write nothing"`
	Reason     string            `json:"reason,omitempty" maxLength:"1000" doc:"Reason"`
}

// ResourceActionAnswer is what an action did, or would do.
type ResourceActionAnswer struct {
	Impacts []ResourceImpact `json:"impacts" doc:"Written objects, or their preview"`
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
	Count   int       `json:"count" doc:"Number of occurrences"`
	First   time.Time `json:"first,omitzero" doc:"Time of the first occurrence"`
	Last    time.Time `json:"last,omitzero" doc:"Time of the last occurrence"`
	Source  string    `json:"source,omitempty" doc:"Component that reported it" example:"kubelet"`
}

// Logs asks for the output of pods.
type Logs struct {
	Resource ResourceRef `json:"resource" doc:"A pod or a workload; default: all pods of the application"`
	// Container is one of them; "" for all.
	Container string    `json:"container,omitempty" maxLength:"63" doc:"Container; default: all"`
	Follow    bool      `json:"follow,omitempty" doc:"Follow new lines"`
	Previous  bool      `json:"previous,omitempty" doc:"From the previous instance of the container"`
	Since     int64     `json:"since,omitempty" minimum:"0" doc:"Start of the log, in seconds before now"`
	SinceTime time.Time `json:"sinceTime,omitzero" doc:"Start of the log, as a time"`
	Tail      int64     `json:"tail,omitempty" minimum:"0" doc:"Number of lines at the end; 0: all"`
	Search    string    `json:"search,omitempty" maxLength:"1000" doc:"Text that lines must contain"`
	Invert    bool      `json:"invert,omitempty" doc:"Only lines that do not contain the text"`
	// IgnoreCase takes small and large letters of Search as the same.
	IgnoreCase bool `json:"ignoreCase,omitempty" doc:"Ignore the case of the text"`
	// Timestamps puts the time in front of each line.
	Timestamps bool `json:"timestamps,omitempty" doc:"Prefix each line with its time"`
}

// Link leads from an application, an object or an Argo project to a page elsewhere.
type Link struct {
	Title       string `json:"title" doc:"What it is called" example:"Grafana"`
	URL         string `json:"url" doc:"An address that begins with https://, http:// or mailto:" example:"https://grafana.example.org/d/shop"`
	Description string `json:"description,omitempty" doc:"What is there"`
	// IconClass is the name of a picture that Argo CD shows.
	IconClass string `json:"iconClass,omitempty" doc:"Icon class of the setting, of Font Awesome" example:"fa-chart-line"`
}

// Links are those that settings of the agent's cluster give.
type Links struct {
	Links    []Link   `json:"links" doc:"The links, in the order of the setting"`
	Problems []string `json:"problems,omitempty" doc:"What is wrong with links that are not shown"`
}

// LinksRequest asks for links: those of an object of the application, or without one those of the target itself.
type LinksRequest struct {
	Resource *ResourceRef `json:"resource,omitempty"`
}

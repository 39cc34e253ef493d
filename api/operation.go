package api

import "time"

// ObjectName names an object of an application. The group of core kinds is "".
type ObjectName struct {
	Group string `json:"group,omitempty" maxLength:"253" doc:"API group; empty for core kinds" example:"apps"`
	Kind  string `json:"kind" maxLength:"253" doc:"Kind" example:"Deployment"`
	// Namespace may be left out where the application has one such object only.
	Namespace string `json:"namespace,omitempty" maxLength:"63" doc:"Namespace; optional if only one object has the name" example:"shop"`
	Name      string `json:"name" maxLength:"253" doc:"Name" example:"web"`
}

// SyncRequest asks an application for a sync. The zero value brings it to what Git says, prunes nothing, and uses the
// application's own options.
type SyncRequest struct {
	// Revisions take the place of the target revisions: one for each source, in their order; none for those of the sources.
	Revisions []string `json:"revisions,omitempty" maxItems:"50" doc:"Commits, tags or branches to sync to, one for each source in their order" example:"[\"v1.2.0\"]"`
	Prune     bool     `json:"prune,omitempty" doc:"Delete objects that are no longer wanted"`
	DryRun    bool     `json:"dryRun,omitempty" doc:"Only test the changes against the API server"`
	Force     bool     `json:"force,omitempty" doc:"Recreate objects that cannot be changed in place"`
	Replace   bool     `json:"replace,omitempty" doc:"Replace objects instead of merging into them"`
	// ServerSide applies on the server, also where the application says otherwise.
	ServerSide bool `json:"serverSide,omitempty" doc:"Use server-side apply, even if the application does not"`
	ApplyOnly  bool `json:"applyOnly,omitempty" doc:"Run no hooks"`
	// Objects limit the sync to some objects, without hooks.
	Objects []ObjectName `json:"objects,omitempty" maxItems:"1000" doc:"Only these objects, without hooks"`
	// Labels limit it to objects that have all of them; they are looked for when the request arrives.
	Labels []string `json:"labels,omitempty" maxItems:"50" doc:"Only objects with all of these labels, without hooks" example:"[\"tier=web\"]"`
	// Options take the place of the application's sync options, as "Name=value".
	Options []string `json:"options,omitempty" maxItems:"50" doc:"Sync options instead of the application's own" example:"[\"PruneLast=true\"]"`
	// Manifests are objects as JSON that are synced in place of what Git says. Secrets are refused.
	Manifests []string   `json:"manifests,omitempty" maxItems:"5000" doc:"Objects as JSON to sync instead of those in Git; no Secrets"`
	Retry     *SyncRetry `json:"retry,omitempty" doc:"Retries after a failure"`
	Reason    string     `json:"reason,omitempty" maxLength:"1000" doc:"Reason, for later readers" example:"hotfix for orders"`
}

// SyncRetry says how often a sync is tried again after a failure.
type SyncRetry struct {
	Limit int64 `json:"limit" doc:"Number of retries; below 0 for no limit" example:"3"`
	// Duration, MaxDuration and Factor are 5 s, 3 min and 2 where they are left out.
	Duration    string `json:"duration,omitempty" maxLength:"32" doc:"Wait before the first retry" example:"5s"`
	MaxDuration string `json:"maxDuration,omitempty" maxLength:"32" doc:"Longest wait between attempts" example:"3m"`
	Factor      int64  `json:"factor,omitempty" doc:"Factor for the wait after each attempt" example:"2"`
	// Refresh takes a newer revision for the next attempt, if there is one.
	Refresh bool `json:"refresh,omitempty" doc:"Use a newer revision for the next attempt, if there is one"`
}

// RefreshRequest asks to look at Git and the cluster again.
type RefreshRequest struct {
	// Hard uses no cache: everything is rendered again, and every object read again.
	Hard   bool   `json:"hard,omitempty" doc:"Use no cache: render again, and compare every object at the API server"`
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"the chart was republished"`
}

// TerminateRequest asks to end the operation under way.
type TerminateRequest struct {
	DryRun bool   `json:"dryRun,omitempty" doc:"Only report what would be ended"`
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"wrong revision"`
}

// RollbackRequest asks to go back to an earlier deployment and to stay there. Without ID and Revision that is the one
// before the present one.
type RollbackRequest struct {
	ID *int64 `json:"id,omitempty" minimum:"0" doc:"Id of the deployment in the history" example:"3"`
	// Revision is that of the newest deployment of this commit; 7 characters or more.
	Revision string `json:"revision,omitempty" maxLength:"253" doc:"The newest deployment of this commit, instead of an id; a prefix of 7 or more will do" example:"1f2e3d4"`
	Reason   string `json:"reason,omitempty" maxLength:"1000" doc:"Reason, for later readers" example:"orders are lost"`
	DryRun   bool   `json:"dryRun,omitempty" doc:"Only report the deployment"`
}

// UnpinRequest asks to end a rollback.
type UnpinRequest struct {
	DryRun bool   `json:"dryRun,omitempty" doc:"Only report the present pin"`
	Reason string `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"fixed in v1.2.1"`
}

// ConfirmRequest lets a sync or a deletion continue that waits for a confirmation.
type ConfirmRequest struct {
	// Plan is the digest of what was seen and is confirmed, as the message of the application or a dry run says it; "" where
	// the agent waits for any word.
	Plan string `json:"plan,omitempty" maxLength:"64" doc:"Digest of the confirmed deletions, from a dry run" example:"5f2b7c0d9a1e4f36"`
	// Message is the one that was seen, where there is no digest; "" for any.
	Message string `json:"message,omitempty" maxLength:"4096" doc:"The message that the user saw, if there is no digest; nothing is confirmed if it has changed"`
	DryRun  bool   `json:"dryRun,omitempty" doc:"Only list what would be deleted"`
	Reason  string `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"the old shop is gone"`
}

// RestoreRequest brings back objects that an earlier deployment had and that are gone.
type RestoreRequest struct {
	// From is the deployment to take the objects from; without it the newest that had all of them.
	From *int64 `json:"from,omitempty" minimum:"0" doc:"Id of the deployment to take the objects from" example:"3"`
	// Objects are those to bring back; with From and none, all that it had and that is gone. With neither, DryRun lists what
	// could be brought back.
	Objects []ObjectName `json:"objects,omitempty" maxItems:"1000" doc:"Objects to restore; none: all missing objects of the deployment"`
	DryRun  bool         `json:"dryRun,omitempty" doc:"Only list what would be restored"`
	Reason  string       `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"deleted by mistake"`
}

// RevertRequest reverts changes in the cluster.
type RevertRequest struct {
	// Objects are those to put back; none for all that were changed.
	Objects []ObjectName `json:"objects,omitempty" maxItems:"1000" doc:"Objects to revert; none: all with drift"`
	DryRun  bool         `json:"dryRun,omitempty" doc:"Only list what would be reverted"`
	Reason  string       `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"the sale is over"`
}

// AllowRequest allows the drift of one object, until a time.
type AllowRequest struct {
	Object ObjectName `json:"object" doc:"The object"`
	Until  time.Time  `json:"until" doc:"Time until which the drift is allowed" example:"2030-06-01T08:00:00Z"`
	Reason string     `json:"reason,omitempty" maxLength:"1000" doc:"Reason, for later readers" example:"scaled up for the sale"`
	DryRun bool       `json:"dryRun,omitempty" doc:"Only report what would be allowed"`
}

// DeleteApplicationRequest deletes an Application.
type DeleteApplicationRequest struct {
	// Cascade deletes what it deployed as well.
	Cascade bool `json:"cascade" doc:"Also delete its objects"`
	// Propagation is how: foreground waits until all of it is gone.
	Propagation string `json:"propagation,omitempty" enum:"foreground,background" doc:"foreground (default) waits until all objects are gone" example:"foreground"`
	Version     string `json:"version,omitempty" maxLength:"64" doc:"resourceVersion to delete; the server refuses the request with 409 if it differs"`
	DryRun      bool   `json:"dryRun,omitempty" doc:"Only check whether it could be deleted"`
	Reason      string `json:"reason,omitempty" maxLength:"1000" doc:"Reason" example:"moved to another cluster"`
}

// OperationAnswer is what came of a request to an application: it was asked for, or it would be.
type OperationAnswer struct {
	// Message says in a sentence what was asked for, or would be.
	Message string `json:"message" doc:"The request, or its preview" example:"going back to deployment 3"`
	// Changed is false for a dry run, and where there was nothing to do.
	Changed bool `json:"changed" doc:"Whether the request changed anything; false for a dry run, and if there is nothing to do"`
	// Request names the operation in status.operationState.operation.info, to follow it; "" where none was asked for.
	Request string `json:"request,omitempty" doc:"Names the operation in status.operationState.operation.info (slipway-request)"`
	// Version is the resourceVersion of the Application with the change in it; "" where nothing was changed. A copy with an
	// earlier one is from before it.
	Version string `json:"version,omitempty" doc:"resourceVersion of the Application with the change in it" example:"4711"`
	// Deployment and Revisions are those that a rollback goes to, Quarantine what is not deployed for as long as it holds. The
	// first deployment is 0; nil is none.
	Deployment *int64   `json:"deployment,omitempty" doc:"Deployment of a rollback or restore" example:"3"`
	Revisions  []string `json:"revisions,omitempty" doc:"Its revisions, one for each source"`
	Quarantine []string `json:"quarantine,omitempty" doc:"Revisions that are not deployed while a rollback is active"`
	// Plan is the digest to confirm.
	Plan string `json:"plan,omitempty" doc:"Digest of the deletions, to confirm them"`
	// Objects are those that are concerned.
	Objects []OperationObject `json:"objects,omitempty" doc:"Affected objects"`
	// Warnings are what is not in force, or could not be looked at.
	Warnings []string `json:"warnings,omitempty" doc:"Checks that could not be made"`
}

// OperationObject is an object that a request is about.
type OperationObject struct {
	ObjectName
	// Deployment is the newest that had it, for a restore; nil for what is asked otherwise.
	Deployment *int64 `json:"deployment,omitempty" doc:"Newest deployment with the object, for a restore" example:"3"`
	// Stays is why it stays in the cluster when the application is deleted; "" where it goes.
	Stays string `json:"stays,omitempty" doc:"Reason why it stays when the application is deleted, in the response to a dry run; empty if it is deleted"`
}

package v1alpha1

import "time"

// Annotations of ours. They carry what Argo CD's own definitions have no field for: an installation of Argo CD prunes
// fields that its definition does not know, and keeps annotations.
const (
	// AnnotationRollback pins an Application to an earlier deployment: a Pin as JSON.
	AnnotationRollback = "slipway.io/rollback"
	// AnnotationDriftAllowed lists objects whose drift is allowed for a while: a JSON list of Allowance.
	AnnotationDriftAllowed = "slipway.io/drift-allowed"
	// AnnotationDeletionBudget on an Application or AppProject bounds what one sync may delete without a person's word.
	AnnotationDeletionBudget = "slipway.io/deletion-budget"
	// AnnotationSourceIntegrity of an AppProject says which SSH signers may sign the commits of which repositories, and whose
	// signatures artifacts and charts need, in the form of spec.sourceIntegrity.
	AnnotationSourceIntegrity = "slipway.io/source-integrity"
	// AnnotationDeletionConfirmed holds the digest of the deletions that a person has confirmed.
	AnnotationDeletionConfirmed = "slipway.io/deletion-confirmed"
	// AnnotationDeletedBy names the author of the deletion of an Application: a Deletion as JSON.
	AnnotationDeletedBy = "slipway.io/deleted-by"
	// AnnotationHistoryNotes says why and by whom the deployments of status.history were made: a JSON object of Note, by
	// the deployment's id in decimal.
	AnnotationHistoryNotes = "slipway.io/history-notes"
	// AnnotationHookRun, on the object of a hook, names the operation that made it: a HookRun as JSON. The agent sets it when
	// it makes the object; a value that Git has is left out.
	AnnotationHookRun = "slipway.io/hook-run"
)

// MaxAnnotation is how much JSON is written into one of these annotations at most, in bytes. An API server refuses an
// object with more than 256 KiB of annotations.
const MaxAnnotation = 64 << 10

// Entries of an operation's info.
const (
	// InfoRequest is the id of the request that an operation comes from.
	InfoRequest = "slipway-request"
	// InfoRollback marks an operation that goes back to an earlier deployment: "true".
	InfoRollback = "slipway.io/rollback"
	// InfoRevert marks an operation that puts back what was changed in the cluster: "true".
	InfoRevert = "slipway.io/revert"
	// InfoRestore marks an operation that brings back objects which Git does not have any more: "true".
	InfoRestore = "slipway.io/restore"
)

// Deletion is the value of AnnotationDeletedBy.
//
// +kubebuilder:object:generate=false
type Deletion struct {
	// By is the author of the request, as the request named them.
	By string `json:"by"`
	// Request is the id of the command that asked for it.
	Request string `json:"request,omitempty"`
	// Reason is what that person wrote.
	Reason string `json:"reason,omitempty"`
	// At is when. It counts for a deletion that began then, and not for a later one.
	At time.Time `json:"at"`
}

// Pin is the value of AnnotationRollback: an Application stays at an earlier deployment, although automated sync is on
// and Git says otherwise. The revision that Git had then is in quarantine: the pin holds as long as Git still contains it,
// regardless of commits about other things, and ends automatically with the first commit that changes what this Application
// renders.
//
// +kubebuilder:object:generate=false
type Pin struct {
	// Request is the id of the command that pinned it; "" where there was none.
	Request string `json:"request,omitempty"`
	// ID is that of the deployment in status.history.
	ID int64 `json:"id"`
	// Revisions are the commits or chart versions of that deployment, one for each source, in their order. None is empty.
	Revisions []string `json:"revisions"`
	// Sources are those of that deployment, as many as there are revisions; the specification's when there are none.
	Sources []ApplicationSource `json:"sources,omitempty"`
	// By names who set the pin, as that person's machine says. Nothing is permitted by it.
	By string `json:"by,omitempty"`
	// Reason is what that person wrote.
	Reason string `json:"reason,omitempty"`
	// At is when the pin was set, RFC 3339; the zero time is left out.
	At         time.Time  `json:"at,omitzero"`
	Quarantine Quarantine `json:"quarantine"`
}

// Quarantine is what is not deployed while a Pin holds.
//
// +kubebuilder:object:generate=false
type Quarantine struct {
	// Revisions are what the sources of the specification resolved to when the pin was set, one for each, in their order.
	Revisions []string `json:"revisions,omitempty"`
}

// Allowance is an element of AnnotationDriftAllowed: the drift of one object is let be until a date. Several about the
// same object are allowed; the one that lasts longest counts.
//
// +kubebuilder:object:generate=false
type Allowance struct {
	// Group of the object; "" for core kinds.
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	// Namespace of the object; "" where its kind has none.
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
	// Until is when it ends, RFC 3339. One without it has ended.
	Until time.Time `json:"until"`
	// By names who allowed it, as that person's machine says.
	By string `json:"by,omitempty"`
	// Reason is what that person wrote.
	Reason string `json:"reason,omitempty"`
}

// Note is a value of AnnotationHistoryNotes: what a deployment of status.history has no field for. The agent writes it,
// each text on one line of at most 100 characters.
//
// +kubebuilder:object:generate=false
type Note struct {
	// By names who asked for the deployment, as the operation says; "" without one.
	By string `json:"by,omitempty"`
	// Reason is what that person wrote.
	Reason string `json:"reason,omitempty"`
	// Author of the commit.
	Author string `json:"author,omitempty"`
	// Subject of the commit: the first line of its message.
	Subject string `json:"subject,omitempty"`
}

// HookRun is the value of AnnotationHookRun: the phase of the attempt of the operation that made a hook. Two operations of
// an Application, and two attempts of one, never have equal HookRuns. The agent compares the text.
//
// +kubebuilder:object:generate=false
type HookRun struct {
	// Application is the uid of the Application.
	Application string `json:"application,omitempty"`
	// StartedAt is that of the operation's state, RFC 3339 in UTC with whole seconds.
	StartedAt string `json:"startedAt"`
	// Attempt is how many attempts the operation had behind it.
	Attempt int64 `json:"attempt,omitempty"`
	// Revisions are those that the operation is for, one for each source, in their order.
	Revisions []string `json:"revisions"`
	// Phase is the phase of the sync that the hook runs in.
	Phase SyncPhase `json:"phase"`
}

const (
	// ConditionHeld says that a sync waits for a person, a window or a date: why, since when, and what lets it go on.
	ConditionHeld ConditionType = "Held"
	// ConditionPinned says that an Application stays at an earlier deployment, by whom and why.
	ConditionPinned ConditionType = "Pinned"
	// ConditionVerified says who signed the revisions of an Application whose project asks for signatures.
	ConditionVerified ConditionType = "SourceVerified"
	// ConditionDriftAllowed names objects whose drift is allowed, with the end of that time.
	ConditionDriftAllowed ConditionType = "DriftAllowed"
	// ConditionProject says what is wrong with an Application's project, where that does not stop the Application.
	ConditionProject ConditionType = "ProjectWarning"
	// ConditionKept names objects that stay in the cluster when an Application is deleted, and why.
	ConditionKept ConditionType = "ObjectsKept"
	// ConditionUnsupported names what an Application asks for and this version does not do.
	ConditionUnsupported ConditionType = "UnsupportedWarning"
	// ConditionSourceWarning says what users should know of a source that works: a version that was published again.
	ConditionSourceWarning ConditionType = "SourceWarning"
)

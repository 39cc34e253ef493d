package api

import (
	"encoding/json"
	"time"
)

// What an operation was, in LedgerEntry.Action.
const (
	// LedgerSync brought an application to what its sources say.
	LedgerSync = "sync"
	// LedgerRollback brought it to an earlier deployment.
	LedgerRollback = "rollback"
	// LedgerRestore brought back objects that Git does not have any more.
	LedgerRestore = "restore"
	// LedgerDryRun changed nothing.
	LedgerDryRun = "dry-run"
	// LedgerPartial was limited to some objects.
	LedgerPartial = "partial"
	// LedgerDelete deleted an application with its objects.
	LedgerDelete = "delete"
)

// Bounds of an entry. What is more is left out, and LedgerEntry.Notes says so.
const (
	// MaxLedgerObjects is how many objects an entry has at most.
	MaxLedgerObjects = 20_000
	// MaxLedgerChanges is how many changes it names at most.
	MaxLedgerChanges = 1_000
	// MaxLedgerManifest is the largest manifest that is kept, in bytes of JSON.
	MaxLedgerManifest = 2 << 20
)

// LedgerEntry is one operation on one application: what it was asked, what it decided, what it did and how that ended. It
// stays as it is when the application, its repository or its agent are gone.
type LedgerEntry struct {
	ID        string `json:"id" doc:"Identifier of the entry" example:"6b1f0c5a9d2e4f708192a3b4c5d6e7f8"`
	Agent     string `json:"agent" doc:"Id of the agent" example:"account.prod"`
	Namespace string `json:"namespace" doc:"Namespace of the Application" example:"argocd"`
	Name      string `json:"name" doc:"Name of the Application" example:"shop"`
	// ApplicationUID distinguishes applications that had the same name one after the other.
	ApplicationUID string `json:"applicationUID,omitempty" doc:"uid of the Application"`
	Scope          Scope  `json:"scope" doc:"Scope of the application at that time" example:"project.acme.shop"`
	ArgoProject    string `json:"argoProject,omitempty" doc:"Argo project" example:"default"`
	Service        string `json:"service,omitempty" doc:"Service of the application at that time"`
	Environment    string `json:"environment,omitempty" doc:"Environment of the application at that time"`
	Destination    string `json:"destination,omitempty" doc:"Destination cluster, by address or name"`

	Automatic bool   `json:"automatic,omitempty" doc:"Started by the policy of the application, without a request"`
	Actor     string `json:"actor,omitempty" doc:"Principal that requested it" example:"ada"`
	Reason    string `json:"reason,omitempty" doc:"Reason that the principal gave"`
	Command   string `json:"command,omitempty" doc:"Id of the command that started it"`
	Action    string `json:"action" doc:"sync, rollback, restore, dry-run, partial or delete" example:"sync"`
	// Engine is what carried it out, where it was not the agent itself; the entry is then derived from its status.
	Engine string `json:"engine,omitempty" doc:"Engine that executed it, if it was not the agent's own: argocd. The entry is derived from the status of the Application, and notes list what is missing" example:"argocd"`
	// Recovered says that the agent was ended before it could report, and made the entry afterwards from what it found.
	Recovered bool  `json:"recovered,omitempty" doc:"Reconstructed from the cluster, because the agent stopped during the operation: the managers of changed objects may be missing"`
	Retries   int64 `json:"retries,omitempty" doc:"Attempts before the last one"`
	// Repeats is for how many more repairs the entry stands: an object that is changed again and again makes one entry in a
	// while.
	Repeats int `json:"repeats,omitempty" doc:"Number of earlier repairs since the previous entry that this entry includes" example:"41"`

	Revision string         `json:"revision,omitempty" doc:"Revision of the first source" example:"3f2a9c1"`
	Sources  []LedgerSource `json:"sources,omitempty" doc:"Deployed sources"`
	Commit   *LedgerCommit  `json:"commit,omitempty" doc:"The commit of the first source that has one"`
	Options  *LedgerOptions `json:"options,omitempty" doc:"Options of the request"`

	DetectedAt time.Time `json:"detectedAt,omitzero" doc:"Time at which the agent detected the revision"`
	RenderedAt time.Time `json:"renderedAt,omitzero" doc:"Time at which its manifests were rendered"`
	StartedAt  time.Time `json:"startedAt" doc:"Time of the start"`
	AppliedAt  time.Time `json:"appliedAt,omitzero" doc:"Time at which the last object was applied or deleted"`
	FinishedAt time.Time `json:"finishedAt" doc:"Time of the end"`
	HealthyAt  time.Time `json:"healthyAt,omitzero" doc:"Time at which the application was first healthy after it"`

	Phase     string           `json:"phase" doc:"Succeeded, Failed or Error" example:"Succeeded"`
	Message   string           `json:"message,omitempty" doc:"Result"`
	Health    string           `json:"health,omitempty" doc:"Health of the application at the end" example:"Healthy"`
	Decisions []LedgerDecision `json:"decisions,omitempty" doc:"Decisions before it ran"`
	Counts    LedgerCounts     `json:"counts" doc:"Number of objects by result"`
	// Notes say what is missing, and why.
	Notes []string `json:"notes,omitempty" doc:"Missing parts of the entry, with reasons"`
}

// LedgerSource is one source of an application at the revision that was deployed.
type LedgerSource struct {
	RepoURL        string `json:"repoURL,omitempty" doc:"Repository, without credentials"`
	Path           string `json:"path,omitempty" doc:"Directory in it"`
	Chart          string `json:"chart,omitempty" doc:"Chart"`
	TargetRevision string `json:"targetRevision,omitempty" doc:"Target revision of the application: a branch, tag, range or commit" example:"main"`
	Revision       string `json:"revision,omitempty" doc:"Resolved revision"`
	Before         string `json:"before,omitempty" doc:"Previously deployed revision"`
	Tool           string `json:"tool,omitempty" doc:"Tool that rendered it: Directory, Kustomize, Helm or Jsonnet"`
}

// LedgerCommit is the author and the subject of the deployed commit.
type LedgerCommit struct {
	Author      string    `json:"author,omitempty" doc:"Author of the commit" example:"Ann Example <ann@example.org>"`
	Subject     string    `json:"subject,omitempty" doc:"First line of its message"`
	CommittedAt time.Time `json:"committedAt,omitzero" doc:"Time of the commit"`
}

// LedgerOptions is how an operation was asked for.
type LedgerOptions struct {
	Prune  bool `json:"prune,omitempty" doc:"Objects that Git does not contain are deleted"`
	DryRun bool `json:"dryRun,omitempty" doc:"Nothing was changed"`
	// Repair says that it put back what was changed in the cluster.
	Repair      bool     `json:"repair,omitempty" doc:"It reverted changes in the cluster"`
	Local       bool     `json:"local,omitempty" doc:"The request contained the manifests; they are not from Git"`
	SyncOptions []string `json:"syncOptions,omitempty" doc:"Sync options"`
	Resources   []string `json:"resources,omitempty" doc:"Selected objects, as group/Kind/namespace/name"`
}

// The gates of LedgerDecision.
const (
	GateGuard      = "guard"
	GateWindow     = "window"
	GateApproval   = "approval"
	GatePin        = "pin"
	GateSignature  = "signature"
	GateConfirm    = "confirm"
	GateDependency = "dependency"
)

// LedgerDecision is the decision of one gate about an operation.
type LedgerDecision struct {
	Gate    string `json:"gate" doc:"guard, window, approval, pin, signature, confirm or dependency" example:"guard"`
	Outcome string `json:"outcome" doc:"allowed, confirmed, held or refused" example:"allowed"`
	Message string `json:"message,omitempty" doc:"Reason"`
}

// LedgerCounts says how many objects an operation did what with.
type LedgerCounts struct {
	Created   int `json:"created" doc:"Created objects"`
	Changed   int `json:"changed" doc:"Changed objects, including hooks that ran"`
	Deleted   int `json:"deleted" doc:"Deleted objects"`
	Unchanged int `json:"unchanged" doc:"Objects that already had the desired state"`
	Failed    int `json:"failed" doc:"Objects that could not be brought to the desired state"`
}

// LedgerKey names an object of a cluster.
type LedgerKey struct {
	Group     string `json:"group,omitempty" doc:"API group" example:"apps"`
	Kind      string `json:"kind" doc:"Kind" example:"Deployment"`
	Namespace string `json:"namespace,omitempty" doc:"Namespace" example:"shop"`
	Name      string `json:"name" doc:"Name" example:"web"`
}

// String is group/Kind/namespace/name.
func (k LedgerKey) String() string { return k.Group + "/" + k.Kind + "/" + k.Namespace + "/" + k.Name }

// The verbs of LedgerChange.
const (
	LedgerCreated = "created"
	LedgerChanged = "changed"
	LedgerDeleted = "deleted"
)

// LedgerChange is what an operation did to one object.
type LedgerChange struct {
	LedgerKey
	Verb    string `json:"verb" doc:"created, changed or deleted" example:"changed"`
	Hook    string `json:"hook,omitempty" doc:"Phase of the hook"`
	Outcome string `json:"outcome" doc:"Succeeded, Failed, or Skipped for a deletion that was not allowed" example:"Succeeded"`
	Message string `json:"message,omitempty" doc:"Message of the API server"`
}

// LedgerObject is one object as it was rendered.
type LedgerObject struct {
	LedgerKey
	Hook bool `json:"hook,omitempty" doc:"The object is a hook"`
	// Hash is the SHA-256 of the manifest as canonical JSON, in hexadecimal. Values of Secrets in it are hashes themselves, made
	// with a key that only the agent has.
	Hash   string   `json:"hash" doc:"SHA-256 of the manifest as canonical JSON, values of Secrets replaced by keyed hashes"`
	Images []string `json:"images,omitempty" doc:"Its container images"`
	// Lacking says that the manifest behind the hash was never stored.
	Lacking bool `json:"lacking,omitempty" doc:"The manifest is missing: the agent could not keep it until the server was back"`
}

// LedgerDetail is an entry with all that was rendered and done.
type LedgerDetail struct {
	LedgerEntry
	Changes []LedgerChange `json:"changes,omitempty" doc:"Changes of objects"`
	Objects []LedgerObject `json:"objects,omitempty" doc:"All objects that its sources rendered"`
}

// LedgerManifest is the content of an object.
type LedgerManifest struct {
	LedgerKey
	Hash     string          `json:"hash" doc:"SHA-256 of the manifest"`
	Manifest json.RawMessage `json:"manifest,omitempty" doc:"The manifest, secrets as hashes; missing if it was never stored"`
}

// LedgerManifests are the manifests of an entry.
type LedgerManifests struct {
	Manifests []LedgerManifest `json:"manifests" doc:"One for each object, in the order of their names"`
	// Truncated says that there are more than fit into an answer.
	Truncated bool `json:"truncated,omitempty" doc:"There are more objects: request a single one, or export the entry"`
}

// LedgerFilter says which entries are wanted. The newest come first, unless Sort says otherwise.
type LedgerFilter struct {
	ListOptions
	Agent, Namespace, Name   string
	ArgoProject              string
	Service, Environment     string
	Phase, Action, Actor     string
	Actions                  []string // one of these; nil for all. No parameter says it
	Revision                 string
	Command                  string
	Automatic                *bool
	Changed                  bool      // only those that changed something
	From, To                 time.Time // of the end, the second excluded; zero for no bound
	Kind, ObjectNS, Object   string    // only those that did something to such an object
	ObjectGroup, Destination string
}

// LedgerState is what ran for one application at a time.
type LedgerState struct {
	// Entry is the deployment that was in force. What later operations changed in parts of it is in Objects already.
	Entry   LedgerEntry    `json:"entry" doc:"The active deployment"`
	Objects []LedgerObject `json:"objects" doc:"The objects, with hash and images"`
	// Later are operations after it that touched some objects: partial ones, and those that failed.
	Later []string `json:"later,omitempty" doc:"Ids of later entries that changed some of the objects"`
}

// LedgerDifference is what differs for one object between two times.
type LedgerDifference struct {
	Application string `json:"application" doc:"Id of the application" example:"account.prod/argocd/shop"`
	LedgerKey
	Change string   `json:"change" doc:"added, removed or changed" example:"changed"`
	Before string   `json:"before,omitempty" doc:"Hash of the manifest before"`
	After  string   `json:"after,omitempty" doc:"Hash of the manifest after"`
	Images []string `json:"images,omitempty" doc:"Container images after"`
	// ManifestBefore and ManifestAfter are the manifests, where they are asked for, stored and fit into the answer.
	ManifestBefore json.RawMessage `json:"manifestBefore,omitempty" doc:"The manifest before, secrets as hashes"`
	ManifestAfter  json.RawMessage `json:"manifestAfter,omitempty" doc:"The manifest after, secrets as hashes"`
}

// LedgerDiff is what differs between two times.
type LedgerDiff struct {
	Differences []LedgerDifference `json:"differences" doc:"By application and object"`
	// NextCursor is where the next applications begin; "" where there are none.
	NextCursor string `json:"nextCursor,omitempty" doc:"Pass it as ?cursor= to get the next applications; missing on the last page"`
	// Truncated is about one application: those of others are on the next page.
	Truncated bool `json:"truncated,omitempty" doc:"The differences of one application do not fit into a response: compare without manifests, or export"`
	// Warnings name applications that are left out, because what ran is not recorded.
	Warnings []string `json:"warnings,omitempty" doc:"Objects that were not compared, with reasons"`
}

// LedgerObjectChange is one change to an object.
type LedgerObjectChange struct {
	Entry  LedgerEntry  `json:"entry" doc:"The operation"`
	Change LedgerChange `json:"change" doc:"The change"`
	Hash   string       `json:"hash,omitempty" doc:"SHA-256 of the applied manifest"`
}

// LedgerComparison is what differs between what two operations rendered.
type LedgerComparison struct {
	From LedgerEntry `json:"from" doc:"The first operation"`
	To   LedgerEntry `json:"to" doc:"The second operation"`
	// Items are by group, kind, namespace and name.
	Items []LedgerComparedObject `json:"items" doc:"The objects that differ, by group, kind, namespace and name"`
	Same  int                    `json:"same" doc:"Number of objects that both rendered identically"`
	// Truncated says that objects or texts were left out; Warnings say which.
	Truncated bool     `json:"truncated" doc:"Objects, or the differences of some, did not fit into the response"`
	Warnings  []string `json:"warnings" doc:"Missing parts, with reasons"`
}

// LedgerComparedObject is an object that two operations did not render alike.
type LedgerComparedObject struct {
	LedgerKey
	Change string `json:"change" enum:"added,removed,changed" doc:"added: only the second rendered it; removed: only the first did" example:"changed"`
	// Diff is empty where a manifest is not there or does not fit; LedgerComparison.Warnings say so.
	Diff string `json:"diff" doc:"Unified diff of the manifests as YAML, secrets as hashes; empty if a manifest is missing or does not fit"`
}

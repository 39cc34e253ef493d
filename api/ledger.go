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
	// ApplicationUID tells applications apart that had the same name one after the other.
	ApplicationUID string `json:"applicationUID,omitempty" doc:"uid of the Application"`
	Scope          Scope  `json:"scope" doc:"Where the application belonged then" example:"project.acme.shop"`
	ArgoProject    string `json:"argoProject,omitempty" doc:"Argo project" example:"default"`
	Service        string `json:"service,omitempty" doc:"Service that it was linked to then"`
	Environment    string `json:"environment,omitempty" doc:"Environment that it was linked to then"`
	Destination    string `json:"destination,omitempty" doc:"Cluster that it deploys to, by address or name"`

	Automatic bool   `json:"automatic,omitempty" doc:"Nobody asked for it: the policy of the application did"`
	Actor     string `json:"actor,omitempty" doc:"Who asked for it" example:"ada"`
	Reason    string `json:"reason,omitempty" doc:"Why, as they said"`
	Command   string `json:"command,omitempty" doc:"Id of the command that it came from"`
	Action    string `json:"action" doc:"sync, rollback, restore, dry-run, partial or delete" example:"sync"`
	// Engine is what carried it out, where it was not the agent itself; the entry is then made of what that tells.
	Engine string `json:"engine,omitempty" doc:"What carried it out, where that was not the agent: argocd. The entry is made of what it tells, and notes say what is missing" example:"argocd"`
	// Recovered says that the agent was ended before it could tell, and made the entry afterwards from what it found.
	Recovered bool  `json:"recovered,omitempty" doc:"Made afterwards from what was found, since the agent was ended in the middle: who changed which object may be missing"`
	Retries   int64 `json:"retries,omitempty" doc:"Attempts before the last one"`
	// Repeats is for how many more repairs the entry stands: an object that is changed again and again makes one entry in a while.
	Repeats int `json:"repeats,omitempty" doc:"For how many earlier repairs it stands as well, since the entry before it" example:"41"`

	Revision string         `json:"revision,omitempty" doc:"Revision of the first source" example:"3f2a9c1"`
	Sources  []LedgerSource `json:"sources,omitempty" doc:"What was deployed"`
	Commit   *LedgerCommit  `json:"commit,omitempty" doc:"The commit of the first source that has one"`
	Options  *LedgerOptions `json:"options,omitempty" doc:"How it was asked for"`

	DetectedAt time.Time `json:"detectedAt,omitzero" doc:"When the agent learned of the revision"`
	RenderedAt time.Time `json:"renderedAt,omitzero" doc:"When its manifests were rendered"`
	StartedAt  time.Time `json:"startedAt" doc:"When it began"`
	AppliedAt  time.Time `json:"appliedAt,omitzero" doc:"When the last object was applied or deleted"`
	FinishedAt time.Time `json:"finishedAt" doc:"When it ended"`
	HealthyAt  time.Time `json:"healthyAt,omitzero" doc:"When the application was healthy first after it"`

	Phase     string           `json:"phase" doc:"Succeeded, Failed or Error" example:"Succeeded"`
	Message   string           `json:"message,omitempty" doc:"How it ended"`
	Health    string           `json:"health,omitempty" doc:"Health of the application when it ended" example:"Healthy"`
	Decisions []LedgerDecision `json:"decisions,omitempty" doc:"What had to be decided before it ran, and how that was"`
	Counts    LedgerCounts     `json:"counts" doc:"How many objects it did what with"`
	// Notes say what is missing, and why.
	Notes []string `json:"notes,omitempty" doc:"What is missing of the entry, and why"`
}

// LedgerSource is one source of an application at the revision that was deployed.
type LedgerSource struct {
	RepoURL        string `json:"repoURL,omitempty" doc:"Repository, without credentials"`
	Path           string `json:"path,omitempty" doc:"Directory in it"`
	Chart          string `json:"chart,omitempty" doc:"Chart"`
	TargetRevision string `json:"targetRevision,omitempty" doc:"What the application names: a branch, tag, range or commit" example:"main"`
	Revision       string `json:"revision,omitempty" doc:"What that was"`
	Before         string `json:"before,omitempty" doc:"What was deployed before"`
	Tool           string `json:"tool,omitempty" doc:"What rendered it: Directory, Kustomize, Helm or Jsonnet"`
}

// LedgerCommit is who made what was deployed.
type LedgerCommit struct {
	Author      string    `json:"author,omitempty" doc:"Author of the commit" example:"Ann Example <ann@example.org>"`
	Subject     string    `json:"subject,omitempty" doc:"First line of its message"`
	CommittedAt time.Time `json:"committedAt,omitzero" doc:"When it was committed"`
}

// LedgerOptions is how an operation was asked for.
type LedgerOptions struct {
	Prune  bool `json:"prune,omitempty" doc:"What Git does not have is deleted"`
	DryRun bool `json:"dryRun,omitempty" doc:"Nothing is changed"`
	// Repair says that it put back what was changed in the cluster.
	Repair      bool     `json:"repair,omitempty" doc:"It put back what was changed in the cluster"`
	Local       bool     `json:"local,omitempty" doc:"The manifests were brought along, and are not those of Git"`
	SyncOptions []string `json:"syncOptions,omitempty" doc:"Sync options"`
	Resources   []string `json:"resources,omitempty" doc:"The objects that it was limited to, as group/Kind/namespace/name"`
}

// The gates of LedgerDecision.
const (
	GateGuard      = "guard"
	GateWindow     = "window"
	GateApproval   = "approval"
	GatePin        = "pin"
	GateConfirm    = "confirm"
	GateDependency = "dependency"
)

// LedgerDecision is what one gate said to an operation.
type LedgerDecision struct {
	Gate    string `json:"gate" doc:"guard, window, approval, pin, confirm or dependency" example:"guard"`
	Outcome string `json:"outcome" doc:"allowed, confirmed, held or refused" example:"allowed"`
	Message string `json:"message,omitempty" doc:"Why"`
}

// LedgerCounts says how many objects an operation did what with.
type LedgerCounts struct {
	Created   int `json:"created" doc:"Objects that were made"`
	Changed   int `json:"changed" doc:"Objects that were changed, hooks that ran among them"`
	Deleted   int `json:"deleted" doc:"Objects that were deleted"`
	Unchanged int `json:"unchanged" doc:"Objects that were as wanted already"`
	Failed    int `json:"failed" doc:"Objects that could not be made what was wanted"`
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
	Hook    string `json:"hook,omitempty" doc:"The phase that it is a hook of"`
	Outcome string `json:"outcome" doc:"Succeeded, Failed, or Skipped for a deletion that was not allowed" example:"Succeeded"`
	Message string `json:"message,omitempty" doc:"What the API server said"`
}

// LedgerObject is one object as it was rendered.
type LedgerObject struct {
	LedgerKey
	Hook bool `json:"hook,omitempty" doc:"It is a hook"`
	// Hash is the SHA-256 of the manifest as canonical JSON, in hexadecimal. Values of Secrets in it are hashes themselves, made
	// with a key that only the agent has.
	Hash   string   `json:"hash" doc:"SHA-256 of the manifest as canonical JSON, values of Secrets replaced by keyed hashes"`
	Images []string `json:"images,omitempty" doc:"Container images of it"`
	// Lacking says that the manifest behind the hash was never stored.
	Lacking bool `json:"lacking,omitempty" doc:"The manifest itself is not there: the agent could not keep it until the server was back"`
}

// LedgerDetail is an entry with all that was rendered and done.
type LedgerDetail struct {
	LedgerEntry
	Changes []LedgerChange `json:"changes,omitempty" doc:"What it did to objects"`
	Objects []LedgerObject `json:"objects,omitempty" doc:"All objects that its sources rendered"`
}

// LedgerManifest is the content of an object.
type LedgerManifest struct {
	LedgerKey
	Hash     string          `json:"hash" doc:"SHA-256 of the manifest"`
	Manifest json.RawMessage `json:"manifest,omitempty" doc:"The manifest, secrets as hashes; missing where it was never stored"`
}

// LedgerManifests are the manifests of an entry.
type LedgerManifests struct {
	Manifests []LedgerManifest `json:"manifests" doc:"One for each object, in the order of their names"`
	// Truncated says that there are more than fit into an answer.
	Truncated bool `json:"truncated,omitempty" doc:"There are more: ask for one object, or export the entry"`
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
	Entry   LedgerEntry    `json:"entry" doc:"The deployment that was in force"`
	Objects []LedgerObject `json:"objects" doc:"The objects that ran, with hash and images"`
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
	NextCursor string `json:"nextCursor,omitempty" doc:"What to send as cursor for the next applications; missing on the last page"`
	// Truncated is about one application: those of others are on the next page.
	Truncated bool `json:"truncated,omitempty" doc:"There are more differences of one application, or larger ones, than fit into an answer: compare without manifests, or export"`
	// Warnings name applications that are left out, because what ran is not recorded.
	Warnings []string `json:"warnings,omitempty" doc:"What is not compared, and why"`
}

// LedgerObjectChange is one change to an object.
type LedgerObjectChange struct {
	Entry  LedgerEntry  `json:"entry" doc:"The operation"`
	Change LedgerChange `json:"change" doc:"What it did"`
	Hash   string       `json:"hash,omitempty" doc:"SHA-256 of the manifest that was applied"`
}

// LedgerComparison is what differs between what two operations rendered.
type LedgerComparison struct {
	From LedgerEntry `json:"from" doc:"The operation that is compared"`
	To   LedgerEntry `json:"to" doc:"The one that it is compared with"`
	// Items are by group, kind, namespace and name.
	Items []LedgerComparedObject `json:"items" doc:"The objects that differ, by group, kind, namespace and name"`
	Same  int                    `json:"same" doc:"How many objects both rendered alike"`
	// Truncated says that objects or texts were left out; Warnings say which.
	Truncated bool     `json:"truncated" doc:"There is more than fits into an answer: objects, or texts of some"`
	Warnings  []string `json:"warnings" doc:"What is missing, and why"`
}

// LedgerComparedObject is an object that two operations did not render alike.
type LedgerComparedObject struct {
	LedgerKey
	Change string `json:"change" enum:"added,removed,changed" doc:"added where only the second rendered it, removed where only the first did" example:"changed"`
	// Diff is empty where a manifest is not there or does not fit; LedgerComparison.Warnings say so.
	Diff string `json:"diff" doc:"Difference of the manifests as YAML, unified, secrets as hashes; empty where a manifest is not there or does not fit"`
}

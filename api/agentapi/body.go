package agentapi

import (
	"encoding/json"
	"time"
)

// ObjectApply creates or replaces an Application, ApplicationSet or AppProject. The agent merges what changed into the
// object as it is, so that fields that are unknown here survive. The Result's Body is the object as it is then.
type ObjectApply struct {
	// Object is the whole of it: apiVersion, kind, metadata, spec. Its status is ignored.
	Object json.RawMessage `json:"object"`
	// Base is the object as the user got it before editing, for a three-way merge: what is in Base and not in Object is
	// removed, what is in neither stays. Without it nothing is removed.
	Base json.RawMessage `json:"base,omitempty"`
	// Version is the resourceVersion that it must have; empty: whatever it has.
	Version string `json:"version,omitempty"`
	// Create says that it must not exist yet; Update that it must. Neither: whichever fits.
	Create bool `json:"create,omitempty"`
	Update bool `json:"update,omitempty"`
	DryRun bool `json:"dryRun,omitempty"`
}

// ObjectPatch changes an Application, ApplicationSet or AppProject. The Result's Body is the object as it is then.
type ObjectPatch struct {
	// Type is "merge" (RFC 7386) or "json" (RFC 6902).
	Type    string          `json:"type"`
	Patch   json.RawMessage `json:"patch"`
	Version string          `json:"version,omitempty"`
	DryRun  bool            `json:"dryRun,omitempty"`
}

// ObjectDelete deletes an Application, ApplicationSet or AppProject. It is the Body of KindObjectDelete and of
// KindAppDelete.
type ObjectDelete struct {
	// Cascade deletes what the Application deployed as well.
	Cascade bool `json:"cascade"`
	// Propagation is "foreground" or "background" for what is deployed; empty is foreground.
	Propagation string `json:"propagation,omitempty"`
	Version     string `json:"version,omitempty"`
	DryRun      bool   `json:"dryRun,omitempty"`
}

// ResourceRef names an object that an Application deployed or that belongs to one of these.
type ResourceRef struct {
	Group     string `json:"group,omitempty"`
	Version   string `json:"version,omitempty"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// ResourceQuery asks about an object: the Body of KindResourceGet, KindResourceActions and KindResourceEvents.
type ResourceQuery struct {
	Resource ResourceRef `json:"resource"`
}

// ResourceState is the answer to KindResourceGet. Data of Secrets is masked in both.
type ResourceState struct {
	// Live is the object in the cluster, null where it is not there.
	Live json.RawMessage `json:"live"`
	// Desired is the object as rendered, null where it is not wanted.
	Desired json.RawMessage `json:"desired"`
}

// ResourcePatch changes an object. The Result's Body is a ResourceState without Desired.
type ResourcePatch struct {
	Resource ResourceRef `json:"resource"`
	// Type is "merge", "json" or "strategic".
	Type   string          `json:"type"`
	Patch  json.RawMessage `json:"patch"`
	DryRun bool            `json:"dryRun,omitempty"`
}

// ResourceDelete deletes an object.
type ResourceDelete struct {
	Resource ResourceRef `json:"resource"`
	// Force deletes without waiting for its end.
	Force bool `json:"force,omitempty"`
	// Orphan leaves what belongs to it.
	Orphan bool `json:"orphan,omitempty"`
	DryRun bool `json:"dryRun,omitempty"`
}

// ResourceActions is the answer to KindResourceActions.
type ResourceActions struct {
	Actions []ResourceActionInfo `json:"actions"`
}

// ResourceActionInfo describes an action that an object offers.
type ResourceActionInfo struct {
	Name        string `json:"name"`
	DisplayName string `json:"displayName,omitempty"`
	// Disabled says that it makes no sense now.
	Disabled   bool                      `json:"disabled,omitempty"`
	Parameters []ResourceActionParameter `json:"parameters,omitempty"`
}

// ResourceActionParameter describes a parameter of an action.
type ResourceActionParameter struct {
	Name    string `json:"name"`
	Default string `json:"default,omitempty"`
}

// ResourceAction runs an action.
type ResourceAction struct {
	Resource   ResourceRef       `json:"resource"`
	Action     string            `json:"action"`
	Parameters map[string]string `json:"parameters,omitempty"`
	DryRun     bool              `json:"dryRun,omitempty"`
}

// ResourceEvents is the answer to KindResourceEvents.
type ResourceEvents struct {
	Events []ResourceEvent `json:"events"`
}

// ResourceEvent is an Event of Kubernetes about an object.
type ResourceEvent struct {
	Type    string    `json:"type"`
	Reason  string    `json:"reason"`
	Message string    `json:"message"`
	Count   int       `json:"count"`
	First   time.Time `json:"first,omitzero"`
	Last    time.Time `json:"last,omitzero"`
	Source  string    `json:"source,omitempty"`
}

// Logs asks for the output of pods: the Body of KindResourceLogs. Each Chunk holds whole lines; where several pods or
// containers are asked, a line begins with "pod/container ".
type Logs struct {
	// Resource is a pod, or what has pods.
	Resource ResourceRef `json:"resource"`
	// Container is one of them; empty: all.
	Container string `json:"container,omitempty"`
	Follow    bool   `json:"follow,omitempty"`
	// Previous asks for the container that ran before the present one.
	Previous bool `json:"previous,omitempty"`
	// Since is how far back, in seconds; 0: from the beginning.
	Since int64 `json:"since,omitempty"`
	// SinceTime is another way to say it.
	SinceTime time.Time `json:"sinceTime,omitzero"`
	// Tail is how many lines at the end; 0: all.
	Tail int64 `json:"tail,omitempty"`
	// Search is a text that lines must contain. With Invert they must not.
	Search string `json:"search,omitempty"`
	Invert bool   `json:"invert,omitempty"`
	// IgnoreCase takes small and large letters of Search as the same.
	IgnoreCase bool `json:"ignoreCase,omitempty"`
	Timestamps bool `json:"timestamps,omitempty"`
}

// Terminal opens a shell in a container: the Body of KindResourceTerminal.
type Terminal struct {
	// Resource is a pod.
	Resource  ResourceRef `json:"resource"`
	Container string      `json:"container,omitempty"`
	// Command is what to run; empty: the first of bash, sh that is there.
	Command []string `json:"command,omitempty"`
	Size    Size     `json:"size"`
	// Pipe asks for no terminal: bytes go both ways as they are, and the input can end.
	Pipe bool `json:"pipe,omitempty"`
}

// SettingType is what a SettingChange is about.
type SettingType string

// The types of settings.
const (
	SettingRepository  SettingType = "repository"
	SettingRepoCreds   SettingType = "repocreds"
	SettingCluster     SettingType = "cluster"
	SettingCertificate SettingType = "certificate"
	SettingKnownHost   SettingType = "knownhost"
	SettingGPGKey      SettingType = "gpgkey"
)

// SettingChange creates, changes, deletes or tries a repository, credentials, a cluster, a certificate or a key. What is
// secret in it is sealed to the agent: the server cannot read it.
type SettingChange struct {
	Type SettingType `json:"type"`
	// Name is that of the Secret, or of the entry in the ConfigMap.
	Name string `json:"name"`
	// Judged says for which projects rights were asked, of what is kept in a Secret.
	Judged *Judged `json:"judged,omitempty"`
	// Fields are the open ones (SettingType.Open), named as in Argo CD's Secrets. A field that is not there is left as it is,
	// an empty one is removed.
	Fields map[string]string `json:"fields,omitempty"`
	// Sealed is the secret fields (SettingType.Secret), sealed to the agent's key for this one command (internal/seal). They
	// are left as they are where this is empty.
	Sealed []byte            `json:"sealed,omitempty"`
	Labels map[string]string `json:"labels,omitempty"`
	// Version is the resourceVersion that it must have; empty: whatever it has.
	Version string `json:"version,omitempty"`
	// Create says that it must not exist yet; Update that it must. Neither: whichever fits.
	Create bool `json:"create,omitempty"`
	Update bool `json:"update,omitempty"`
	// Test tries a connection first, and changes nothing where that fails.
	Test   bool `json:"test,omitempty"`
	DryRun bool `json:"dryRun,omitempty"`
	// Steps asks for a failed test as an api.SettingTest with its steps, instead of an error.
	Steps bool `json:"steps,omitempty"`
	// Revision is one that a test looks for in a Git repository; "" for the default branch.
	Revision string `json:"revision,omitempty"`
}

// SettingResult is the Result's Body of a SettingChange.
type SettingResult struct {
	Setting Setting `json:"setting"`
}

// Preview asks what an Application would do: the Body of KindPreview. The answer is an api.Preview.
type Preview struct {
	// Object is the Application, and Base what it was before it was edited, as in ObjectApply.
	Object json.RawMessage `json:"object"`
	Base   json.RawMessage `json:"base,omitempty"`
	// Update says that it is there already.
	Update bool `json:"update,omitempty"`
	// Project is that of the Application as it is there, as far as the server knows: rights were asked for it.
	Project string `json:"project,omitempty"`
	// Quick asks neither repositories nor the destination.
	Quick bool `json:"quick,omitempty"`
	// Manifests wants the objects as rendered, too.
	Manifests bool `json:"manifests,omitempty"`
}

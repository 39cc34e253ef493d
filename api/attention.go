package api

import "time"

// Kinds of what needs attention, in AttentionItem.Kind and FleetFilter.Attention. An application has the worst of those that hold.
const (
	// AttentionSource: what the sources say could not be read, rendered or compared.
	AttentionSource = "SourceError"
	// AttentionDegraded: health is Degraded, or Missing although it was deployed.
	AttentionDegraded = "Degraded"
	// AttentionSync: the last operation failed.
	AttentionSync = "SyncFailed"
	// AttentionHeld: a sync waits for a person, a window or a date.
	AttentionHeld = "Held"
	// AttentionAway: an agent is disconnected.
	AttentionAway = "AgentAway"
	// AttentionAgent: an agent is connected, and not well.
	AttentionAgent = "AgentDegraded"
	// AttentionDrift: it has been out of sync for longer than AttentionDriftAge.
	AttentionDrift = "OutOfSync"
	// AttentionNew: it was never deployed. These are listed apart.
	AttentionNew = "NeverDeployed"
)

// AttentionDriftAge is for how long an application is out of sync before it needs attention.
const AttentionDriftAge = time.Hour

// AttentionKinds lists the kinds, the worst first.
func AttentionKinds() []string {
	return []string{
		AttentionSource, AttentionDegraded, AttentionSync, AttentionHeld, AttentionAway, AttentionAgent, AttentionDrift, AttentionNew,
	}
}

// ApplicationAttentionKinds lists the kinds of applications, the worst first.
func ApplicationAttentionKinds() []string {
	return []string{AttentionSource, AttentionDegraded, AttentionSync, AttentionHeld, AttentionDrift, AttentionNew}
}

// MaxAttention is how many rows of a list of what needs attention there are at most, of each of the two lists.
const MaxAttention = 100

// AttentionFilter says of what the list is.
type AttentionFilter struct {
	// Scope and Agent narrow it; "" for all.
	Scope Scope
	Agent string
	// Kinds are some of AttentionKinds; all where there are none.
	Kinds []string
	// Limit is at most MaxAttention.
	Limit int
}

// Attention lists what needs attention, the worst first.
type Attention struct {
	Total int64 `json:"total" doc:"Number of applications and agents that need attention, without applications that were never deployed"`
	// Counts agree with FleetSummary.Attention and the filter of lists: one function says of an application which it is.
	Counts        []FleetCount    `json:"counts" doc:"Number of each kind, the worst first; kinds without any are omitted"`
	Items         []AttentionItem `json:"items" doc:"The worst first, at most limit"`
	NeverDeployed []AttentionItem `json:"neverDeployed" doc:"Applications that were never deployed, at most limit"`
}

// AttentionItem is an application or an agent that needs attention.
type AttentionItem struct {
	Kind      string    `json:"kind" enum:"SourceError,Degraded,SyncFailed,Held,AgentAway,AgentDegraded,OutOfSync,NeverDeployed" doc:"The most severe reason" example:"Degraded"`
	Object    Ref       `json:"object" doc:"The application or the agent"`
	Agent     string    `json:"agent" doc:"Id of the agent" example:"account.prod"`
	Namespace string    `json:"namespace,omitempty" doc:"Namespace of the Application" example:"argocd"`
	Name      string    `json:"name" doc:"Name of the application, or of the agent" example:"shop"`
	What      string    `json:"what" doc:"The problem, in one sentence" example:"Its source cannot be read or compared"`
	Message   string    `json:"message,omitempty" doc:"Reported message"`
	Since     time.Time `json:"since,omitzero" doc:"Time since when, if known"`
	Age
}

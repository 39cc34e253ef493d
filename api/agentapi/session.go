package agentapi

import "time"

// Hello begins a session. Each one that is accepted ends the one before.
type Hello struct {
	Protocol int `json:"protocol"`
	// ClusterUID is the uid of the namespace kube-system. It says whether a second agent with this identity is the next
	// leader of the same cluster, which takes over immediately, or a twin.
	ClusterUID string `json:"clusterUID"`
	// Namespace is where the agent runs.
	Namespace string `json:"namespace"`
	// Instance is a random id of the process. It is for people who read logs.
	Instance string `json:"instance"`
	// Digest is that of the items as the server has acknowledged them, which it can compare with what it has; of all that
	// the agent has where it does not know, because it was restarted.
	Digest Digest `json:"digest"`
	// Unsure says that items were sent in the session before and not acknowledged, so that the server may have them and the digest lacks
	// them. It is compared once they are acknowledged, by a heartbeat.
	Unsure bool `json:"unsure,omitempty"`
	// Items is how many these are.
	Items    int      `json:"items"`
	Versions Versions `json:"versions"`
	// SealKey is the key that secrets are sealed to, if it is another one than at the registration.
	SealKey []byte `json:"sealKey,omitempty"`
	// Namespaced says that the agent manages its own namespace only.
	Namespaced bool `json:"namespaced,omitempty"`
	// Generation is that of the last promotion of an agent that has a standby. One that is higher than any before takes the identity
	// over immediately; one that is lower is refused (CodeSuperseded).
	Generation int64 `json:"generation,omitempty"`
}

// Versions are those of an agent and what it works on.
type Versions struct {
	Agent      string `json:"agent"`
	Kubernetes string `json:"kubernetes,omitempty"`
	Git        string `json:"git,omitempty"`
	// Engine is what works on the Applications; EngineSlipway where it is empty.
	Engine Engine `json:"engine,omitempty"`
	// Image is what the agent runs, with its digest: "registry.example.org/slipway-agent@sha256:…". Empty where it does not know.
	Image string `json:"image,omitempty"`
	// Upgrades says that the agent can carry out KindUpgrade, and NoUpgrade why not.
	Upgrades  bool   `json:"upgrades,omitempty"`
	NoUpgrade string `json:"noUpgrade,omitempty"`
}

// Welcome is the answer to a Hello.
type Welcome struct {
	Error *Error `json:"error,omitempty"`
	// Epoch is the number of this session: every message of it carries it.
	Epoch int64 `json:"epoch,omitempty"`
	// Heartbeat is the time between two heartbeats, in seconds.
	Heartbeat int `json:"heartbeat,omitempty"`
	// Inventory asks for an inventory: the server does not have what the digest says.
	Inventory bool `json:"inventory,omitempty"`
	// Time is the server's clock, so that an agent can report that its own is wrong.
	Time time.Time `json:"time,omitzero"`
	// Version is the server's version.
	Version string `json:"version,omitempty"`
	// Ledger says that the server keeps a ledger, and takes Records.
	Ledger bool `json:"ledger,omitempty"`
	// Engine is what the agent was created for, also where Error is CodeEngine; empty from a server that does not say.
	Engine Engine `json:"engine,omitempty"`
	// Generation is that of the agent that took over, where Error is CodeSuperseded.
	Generation int64 `json:"generation,omitempty"`
}

// Heartbeat says that an agent lives, and how well.
type Heartbeat struct {
	Epoch  int64  `json:"epoch"`
	Digest Digest `json:"digest"`
	Items  int    `json:"items"`
	// Pending is how many items and events are not acknowledged. The digests are compared only where it is 0.
	Pending int `json:"pending"`
	// Lag is the age of the oldest of them, in milliseconds.
	Lag        int64       `json:"lag"`
	Components []Component `json:"components,omitempty"`
	Versions   Versions    `json:"versions"`
	// Running are the ids of commands that the agent has got and not reported yet, at most 1,000: the server sends those
	// again that it waits for and does not find here.
	Running []string `json:"running,omitempty"`
}

// Component is the health of a part of an agent.
type Component struct {
	Name    string          `json:"name"`
	Status  ComponentStatus `json:"status"`
	Message string          `json:"message,omitempty"`
}

// ComponentStatus is how a part of an agent is.
type ComponentStatus string

// The statuses of components.
const (
	ComponentHealthy  ComponentStatus = "Healthy"
	ComponentDegraded ComponentStatus = "Degraded"
)

// State is how the server sees an agent.
type State string

// The states of agents.
const (
	// StateNever is that of an agent that never connected.
	StateNever State = "Never"
	// StateConnected is that of an agent that sends heartbeats and is well.
	StateConnected State = "Connected"
	// StateDegraded is that of an agent that sends heartbeats and is not well: a component is not healthy, or the oldest
	// unacknowledged change is older than DegradedLag.
	StateDegraded State = "Degraded"
	// StateDisconnected is that of an agent without a heartbeat for DisconnectedAfter.
	StateDisconnected State = "Disconnected"
)

// HeartbeatAck is the answer to a Heartbeat.
type HeartbeatAck struct {
	Error *Error `json:"error,omitempty"`
	// Inventory asks for an inventory: the server does not have what the digest says.
	Inventory bool `json:"inventory,omitempty"`
	// Time is the server's clock, as in Welcome: either clock may jump during a session. An older server says none.
	Time time.Time `json:"time,omitzero"`
}

// Rotation announces the agent's next key. The present one goes on until a connection is made with the next one; then it
// ends, and its connections are cut. So the agent keeps the next key before it connects with it, and both until it could.
type Rotation struct {
	Epoch int64 `json:"epoch"`
	// PublicKey is the next key, an nkey of a user.
	PublicKey string `json:"publicKey"`
	// Signature is that of RotationText by the present key.
	Signature []byte `json:"signature"`
	// Proof is that of RotationText by the next key.
	Proof []byte `json:"proof"`
}

// RotationAck is the answer to a Rotation. Without an error the agent connects with the next key.
type RotationAck struct {
	Error *Error `json:"error,omitempty"`
}

package api

import "time"

// States of an agent.
const (
	AgentConnected    = "Connected"
	AgentDegraded     = "Degraded"
	AgentDisconnected = "Disconnected"
	// AgentNever: it has not registered yet.
	AgentNever = "Never"
	// AgentRevoked: its key is worth nothing any more.
	AgentRevoked = "Revoked"
)

// What works on the Applications of an agent.
const (
	// EngineSlipway is the agent's own engine.
	EngineSlipway = "slipway"
	// EngineArgoCD is an Argo CD that is in the cluster already, which the agent drives through Argo CD's own resources.
	EngineArgoCD = "argocd"
)

// Agent keeps clusters at what Git says, from inside one of them. It dials the server; the server never dials it.
type Agent struct {
	Meta
	// UID is random, names the agent on the link and never changes.
	UID    string      `json:"uid,omitempty" readOnly:"true" doc:"Random identity of the agent on the link"`
	Status AgentStatus `json:"status,omitzero" readOnly:"true" doc:"What is known of it now"`
	// SealKey is the public key (X25519, standard base64) that secrets for this agent's cluster are sealed to.
	SealKey string `json:"sealKey,omitempty" readOnly:"true" doc:"Public key that secrets are sealed to before they are sent"`
	// Namespaced agents may touch their own namespace only.
	Namespaced bool `json:"namespaced,omitempty" doc:"The agent may touch its own namespace only"`
	// Engine is what the agent is installed for: its own engine where it is empty.
	Engine string `json:"engine,omitempty" enum:"slipway,argocd" doc:"What the agent is installed for: slipway, its own engine, or argocd, an Argo CD that is there already and stays as it is"`
	// AutoCreate makes services and environments for applications that come and belong to none; see LinkProposal.
	AutoCreate bool `json:"autoCreate,omitempty" doc:"Services and environments are made for its applications that belong to none, from their labels or names"`
	// Hosted agents are run by the server, beside itself; nil for one that runs somewhere else. It never changes.
	Hosted *Hosting `json:"hosted,omitempty" doc:"The server runs the agent, beside itself; this never changes"`
}

// States of a hosted agent's process.
const (
	// HostWaiting: no server runs it.
	HostWaiting = "Waiting"
	// HostStarting: its process runs, and was not heard yet.
	HostStarting = "Starting"
	HostRunning  = "Running"
	// HostFailing: its process ended, and is started again after a while.
	HostFailing = "Failing"
	// HostStopped: it was revoked, and is not run.
	HostStopped = "Stopped"
)

// Hosting is how a server runs an agent.
type Hosting struct {
	// Cluster names a kubeconfig of the server's operator; empty for the only one that may be used.
	Cluster string `json:"cluster,omitempty" maxLength:"63" doc:"Cluster, as the operator of the server calls it; the only one that may be used where it is left out" example:"edge"`
	// Namespace of the agent and of its Applications; the server chooses it.
	Namespace string    `json:"namespace,omitempty" readOnly:"true" doc:"Namespace of the agent and of its Applications"`
	State     string    `json:"state,omitempty" readOnly:"true" doc:"Waiting (no server runs it), Starting, Running, Failing (it ended, and is started again after a while), Stopped (it was revoked)"`
	Since     time.Time `json:"since,omitzero" readOnly:"true" doc:"Since when it is in this state"`
	Message   string    `json:"message,omitempty" readOnly:"true" doc:"What its process said last, where it does not run"`
	// Server is the host name of the server that runs it.
	Server string `json:"server,omitempty" readOnly:"true" doc:"Host name of the server that runs it"`
	// Restarts counts how often its process ended since that server runs it.
	Restarts int `json:"restarts,omitempty" readOnly:"true" doc:"How often its process ended since this server runs it"`
}

// AgentStatus is what is known of an agent now.
type AgentStatus struct {
	State           string    `json:"state" enum:"Connected,Degraded,Disconnected,Never,Revoked" doc:"Connected, Degraded (a component is not healthy, or it lags), Disconnected (no heartbeat for 25 s), Never, Revoked"`
	Since           time.Time `json:"since,omitzero" doc:"Since when it is in this state"`
	Message         string    `json:"message,omitempty" doc:"Why, where it is not simply connected"`
	LastHeartbeatAt time.Time `json:"lastHeartbeatAt,omitzero" doc:"When it was heard last"`
	RegisteredAt    time.Time `json:"registeredAt,omitzero" doc:"When it registered its key"`
	Version         string    `json:"version,omitempty" doc:"Version of the agent"`
	Kubernetes      string    `json:"kubernetes,omitempty" doc:"Version of its cluster"`
	// Engine is what works on its Applications, as it says itself.
	Engine string `json:"engine,omitempty" enum:"slipway,argocd" doc:"What works on its applications, as it says itself"`
	// Unsupported are the commands that cannot be carried out with that; the server refuses them.
	Unsupported []AgentLack `json:"unsupported,omitempty" doc:"Commands that cannot be carried out with that engine; the server refuses them"`
	ClusterUID  string      `json:"clusterUID,omitempty" doc:"Identity of its cluster: the UID of the namespace kube-system"`
	Namespace   string      `json:"namespace,omitempty" doc:"Namespace that it runs in"`
	Epoch       int64       `json:"epoch,omitempty" doc:"Counts the connections that were accepted"`
	// Pending changes are known to the agent and not yet to the server.
	Pending    int              `json:"pending,omitempty" doc:"Changes that the server has not acknowledged"`
	LagSeconds float64          `json:"lagSeconds,omitempty" doc:"Age of the oldest of them"`
	Components []AgentComponent `json:"components,omitempty" doc:"Health of its parts"`
	// Stale counts cached items that the agent no longer tells of, and that were kept.
	Stale int64 `json:"stale,omitempty" doc:"Items that are kept although the agent does not tell of them any more"`
	// Twin says that another process claims to be this agent.
	Twin *AgentTwin `json:"twin,omitempty" doc:"Another process that claims to be this agent, and was refused"`
}

// AgentLack is a command that an agent cannot carry out.
type AgentLack struct {
	Command string `json:"command" doc:"Kind of command" example:"application.unpin"`
	Message string `json:"message" doc:"Why, and what to do instead"`
}

// AgentTwin is another process with the identity of an agent, refused.
type AgentTwin struct {
	ClusterUID string    `json:"clusterUID" doc:"Cluster that it runs in"`
	Address    string    `json:"address,omitempty" doc:"Where it came from"`
	LastSeenAt time.Time `json:"lastSeenAt" doc:"When it was refused last"`
}

// AgentComponent is the health of a part of an agent.
type AgentComponent struct {
	Name    string `json:"name" doc:"Part" example:"engine"`
	Status  string `json:"status" enum:"Healthy,Unhealthy" doc:"Healthy or Unhealthy"`
	Message string `json:"message,omitempty" doc:"What is wrong"`
}

// AgentRegistration is a one-time token and what to do with it. For a hosted agent, which the server registers, it has
// neither a token nor commands.
type AgentRegistration struct {
	Agent Agent `json:"agent" doc:"The agent"`
	// Token is said once, counts once, and ends soon.
	Token     string    `json:"token" doc:"Registration token; it is said once and counts once. Empty for a hosted agent"`
	ExpiresAt time.Time `json:"expiresAt" doc:"When the token ends"`
	// Commands are the two commands that install and start the agent.
	Commands []string `json:"commands" doc:"What to run, with a kubeconfig of the cluster that the agent shall run in"`
}

// InstallOptions is what the manifest of an agent depends on.
type InstallOptions struct {
	Namespace string `json:"namespace,omitempty" maxLength:"63" doc:"Namespace of the agent and of the Applications; argocd where it is left out" example:"argocd"`
	// Namespaced makes roles of the namespace instead of the cluster, and no custom resource definitions.
	Namespaced bool   `json:"namespaced,omitempty" doc:"Roles of the namespace only; implied where the agent is namespaced"`
	Registry   string `json:"registry,omitempty" maxLength:"300" doc:"Registry to take the image from instead" example:"registry.example.org/mirror"`
	PullSecret string `json:"pullSecret,omitempty" maxLength:"253" doc:"Secret with the registry's credentials"`
	Proxy      string `json:"proxy,omitempty" maxLength:"500" doc:"Proxy for what leaves the cluster; without user and password, which belong into a Secret" example:"http://proxy.example.org:3128"`
	NoProxy    string `json:"noProxy,omitempty" maxLength:"2000" doc:"What the proxy is not used for, with commas"`
	// CA is PEM: certificates that sign the server's, beside those of the system.
	CA string `json:"ca,omitempty" maxLength:"60000" doc:"Certificates that sign the server's, PEM; the server's own where it is left out"`
	// ExistingSecret holds the registration token or identity already.
	ExistingSecret string `json:"existingSecret,omitempty" maxLength:"253" doc:"Secret that holds the registration token"`
	SkipCRDs       bool   `json:"skipCRDs,omitempty" doc:"Leave out the custom resource definitions, where they are installed already"`
}

// Mapping says which project of the control plane an Argo CD project of an agent belongs to. What is in none belongs
// to the scope of the agent.
type Mapping struct {
	Agent       string    `json:"agent,omitempty" readOnly:"true" doc:"Id of the agent" example:"account.prod"`
	ArgoProject string    `json:"argoProject" maxLength:"253" doc:"Name of the AppProject in the agent's cluster" example:"shop"`
	Project     string    `json:"project" maxLength:"127" doc:"Id of the project" example:"acme.shop"`
	Version     int64     `json:"version,omitempty" doc:"Version that is changed"`
	CreatedAt   time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"When it was made"`
	UpdatedAt   time.Time `json:"updatedAt,omitzero" readOnly:"true" doc:"When it was changed last"`
}

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
	Status AgentStatus `json:"status,omitzero" readOnly:"true" doc:"Current status"`
	// SealKey is the public key (X25519, standard base64) that secrets for this agent's cluster are sealed to.
	SealKey string `json:"sealKey,omitempty" readOnly:"true" doc:"Public key to which clients seal secrets before they send them"`
	// Namespaced agents may touch their own namespace only.
	Namespaced bool `json:"namespaced,omitempty" doc:"The agent may access its own namespace only"`
	// Engine is what the agent is installed for: its own engine where it is empty.
	Engine string `json:"engine,omitempty" enum:"slipway,argocd" doc:"Engine of the agent: slipway, its own engine, or argocd, an existing Argo CD that stays unchanged"`
	// AutoCreate makes services and environments for applications that come and belong to none; see LinkProposal.
	AutoCreate bool `json:"autoCreate,omitempty" doc:"Create services and environments from labels or names for applications that belong to none"`
	// Hosted agents are run by the server, beside itself; nil for one that runs somewhere else. It never changes.
	Hosted *Hosting `json:"hosted,omitempty" doc:"The server runs the agent as a process of its own; immutable"`
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
	Cluster string `json:"cluster,omitempty" maxLength:"63" doc:"Name that the operator of the server gave the cluster; default: the only cluster that may be used" example:"edge"`
	// Namespace of the agent and of its Applications; the server chooses it.
	Namespace string    `json:"namespace,omitempty" readOnly:"true" doc:"Namespace of the agent and of its Applications"`
	State     string    `json:"state,omitempty" readOnly:"true" doc:"Waiting (no server runs it), Starting, Running, Failing (it exited, and restarts after a delay), Stopped (it was revoked)"`
	Since     time.Time `json:"since,omitzero" readOnly:"true" doc:"Time of the last change of the state"`
	Message   string    `json:"message,omitempty" readOnly:"true" doc:"Last output of its process, if it is not running"`
	// Server is the host name of the server that runs it.
	Server string `json:"server,omitempty" readOnly:"true" doc:"Host name of the server that runs it"`
	// Restarts counts how often its process ended since that server runs it.
	Restarts int `json:"restarts,omitempty" readOnly:"true" doc:"Number of restarts of its process since this server runs it"`
}

// AgentStatus is what is known of an agent now.
type AgentStatus struct {
	State           string    `json:"state" enum:"Connected,Degraded,Disconnected,Never,Revoked" doc:"Connected, Degraded (a component is not healthy, or it lags), Disconnected (no heartbeat for 25 s), Never, Revoked"`
	Since           time.Time `json:"since,omitzero" doc:"Time of the last change of the state"`
	Message         string    `json:"message,omitempty" doc:"Reason, if the state is not Connected"`
	LastHeartbeatAt time.Time `json:"lastHeartbeatAt,omitzero" doc:"Time of the last heartbeat"`
	RegisteredAt    time.Time `json:"registeredAt,omitzero" doc:"Time at which it registered its key"`
	Version         string    `json:"version,omitempty" doc:"Version of the agent"`
	Kubernetes      string    `json:"kubernetes,omitempty" doc:"Version of its cluster"`
	// Engine is what works on its Applications, as it says itself.
	Engine string `json:"engine,omitempty" enum:"slipway,argocd" doc:"Engine that the agent reports"`
	// Unsupported are the commands that cannot be carried out with that; the server refuses them.
	Unsupported []AgentLack `json:"unsupported,omitempty" doc:"Commands that the engine does not support; the server refuses them"`
	// Image is what it runs, with the digest; empty where it does not know.
	Image string `json:"image,omitempty" doc:"Image that it runs, with its digest" example:"registry.example.org/slipway-agent@sha256:…"`
	// Upgrades says that it can upgrade itself by a command, NoUpgrade why not.
	Upgrades   bool   `json:"upgrades,omitempty" doc:"It can upgrade itself on command"`
	NoUpgrade  string `json:"noUpgrade,omitempty" doc:"Reason why it cannot upgrade itself on command, and what to do instead"`
	ClusterUID string `json:"clusterUID,omitempty" doc:"Identity of its cluster: the UID of the namespace kube-system"`
	Namespace  string `json:"namespace,omitempty" doc:"Namespace that it runs in"`
	Epoch      int64  `json:"epoch,omitempty" doc:"Number of accepted connections"`
	// Pending changes are known to the agent and not yet to the server.
	Pending    int              `json:"pending,omitempty" doc:"Changes that the server has not acknowledged"`
	LagSeconds float64          `json:"lagSeconds,omitempty" doc:"Age of the oldest of them"`
	Components []AgentComponent `json:"components,omitempty" doc:"Health of its parts"`
	// Stale counts cached items that the agent no longer reports, and that were kept.
	Stale int64 `json:"stale,omitempty" doc:"Number of stored items that the agent no longer reports"`
	// Twin says that another process claims to be this agent.
	Twin *AgentTwin `json:"twin,omitempty" doc:"Another process that claims to be this agent, and was refused"`
}

// AgentLack is a command that an agent cannot carry out.
type AgentLack struct {
	Command string `json:"command" doc:"Kind of command" example:"application.unpin"`
	Message string `json:"message" doc:"Reason, and the alternative"`
}

// AgentTwin is another process with the identity of an agent, refused.
type AgentTwin struct {
	ClusterUID string    `json:"clusterUID" doc:"Cluster that it runs in"`
	Address    string    `json:"address,omitempty" doc:"Address of the client"`
	LastSeenAt time.Time `json:"lastSeenAt" doc:"Time of the last refusal"`
}

// AgentComponent is the health of a part of an agent.
type AgentComponent struct {
	Name    string `json:"name" doc:"Component" example:"engine"`
	Status  string `json:"status" enum:"Healthy,Unhealthy" doc:"Healthy or Unhealthy"`
	Message string `json:"message,omitempty" doc:"Error"`
}

// AgentRegistration is a one-time token and what to do with it. For a hosted agent, which the server registers, it has
// neither a token nor commands.
type AgentRegistration struct {
	Agent Agent `json:"agent" doc:"The agent"`
	// Token is shown once, can be used once, and expires soon.
	Token     string    `json:"token" doc:"One-time registration token; the server shows it only once. Empty for a hosted agent"`
	ExpiresAt time.Time `json:"expiresAt" doc:"Time at which the token expires"`
	// Commands are the two commands that install and start the agent.
	Commands []string `json:"commands" doc:"Commands to run with a kubeconfig of the agent's cluster"`
}

// InstallOptions is what the manifest of an agent depends on.
type InstallOptions struct {
	Namespace string `json:"namespace,omitempty" maxLength:"63" doc:"Namespace of the agent and of the Applications; default: argocd" example:"argocd"`
	// Namespaced makes roles of the namespace instead of the cluster, and no custom resource definitions.
	Namespaced bool `json:"namespaced,omitempty" doc:"Create roles in the namespace only; implied if the agent is namespaced"`
	// Namespaces are those that an agent with roles in namespaces deploys to.
	Namespaces []string `json:"namespaces,omitempty" maxItems:"200" doc:"With namespaced: the namespaces of its own cluster that the agent deploys to; default: none" example:"[\"shop\"]"`
	Registry   string   `json:"registry,omitempty" maxLength:"300" doc:"Registry to pull the image from instead" example:"registry.example.org/mirror"`
	PullSecret string   `json:"pullSecret,omitempty" maxLength:"253" doc:"Secret with the registry's credentials"`
	Proxy      string   `json:"proxy,omitempty" maxLength:"500" doc:"Proxy for connections out of the cluster; without user and password, which belong in a Secret" example:"http://proxy.example.org:3128"`
	NoProxy    string   `json:"noProxy,omitempty" maxLength:"2000" doc:"Hosts that bypass the proxy, separated by commas"`
	// CA is PEM: certificates that sign the server's, beside those of the system.
	CA string `json:"ca,omitempty" maxLength:"60000" doc:"Certificate authorities of the server in PEM; default: the server's own"`
	// ExistingSecret holds the registration token or identity already.
	ExistingSecret string `json:"existingSecret,omitempty" maxLength:"253" doc:"Secret that holds the registration token"`
	SkipCRDs       bool   `json:"skipCRDs,omitempty" doc:"Omit the custom resource definitions, if they are already installed"`
	// ClientCertSecret is a Secret of type kubernetes.io/tls; CAConfigMap holds under ca.crt what CA would.
	ClientCertSecret string `json:"clientCertSecret,omitempty" maxLength:"253" doc:"Secret of type kubernetes.io/tls with the certificate that the agent presents to the server; renewed files take effect without a restart" example:"slipway-agent-client"`
	// ReleaseKeys let the agent upgrade itself to images of releases that they signed.
	ReleaseKeys string `json:"releaseKeys,omitempty" maxLength:"20000" doc:"Public keys in PEM that releases of the agent are signed with; default: those of the server. With them the agent may change the image of its own Deployment"`
	// Succession is the name that the agent shares with its standby in another cluster, and Standby says that it is the standby.
	Succession  string `json:"succession,omitempty" maxLength:"42" doc:"Name that the agent shares with its standby in another cluster" example:"shop"`
	Standby     bool   `json:"standby,omitempty" doc:"With succession: the agent waits until it is promoted"`
	CAConfigMap string `json:"caConfigMap,omitempty" maxLength:"253" doc:"Existing ConfigMap with the certificate authorities of the server under ca.crt, instead of ca" example:"company-ca"`
}

// Mapping says which project of the control plane an Argo CD project of an agent belongs to. What is in none belongs
// to the scope of the agent.
type Mapping struct {
	Agent       string    `json:"agent,omitempty" readOnly:"true" doc:"Id of the agent" example:"account.prod"`
	ArgoProject string    `json:"argoProject" maxLength:"253" doc:"Name of the AppProject in the agent's cluster" example:"shop"`
	Project     string    `json:"project" maxLength:"127" doc:"Id of the project" example:"acme.shop"`
	Version     int64     `json:"version,omitempty" doc:"Version to change"`
	CreatedAt   time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"Time of creation"`
	UpdatedAt   time.Time `json:"updatedAt,omitzero" readOnly:"true" doc:"Time of the last change"`
}

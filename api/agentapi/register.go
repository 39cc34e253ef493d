package agentapi

// Registration is what an agent shows once to become known, by POST to PathRegister. The answer is a Registered with
// status 200, or a problem document (application/problem+json): 401 for a token that is unknown, used or expired, 429 with
// Retry-After for too many tries, 400 and 413 for what cannot be read.
type Registration struct {
	// Token is the one-time token.
	Token string `json:"token"`
	// PublicKey is the agent's public key, an nkey of a user ("U…").
	PublicKey string `json:"publicKey"`
	// SealKey is the X25519 public key, 32 bytes, that secrets for this agent are sealed to.
	SealKey []byte `json:"sealKey"`
	// ClusterUID is the uid of the namespace kube-system: it distinguishes clusters.
	ClusterUID string `json:"clusterUID"`
	// Namespace is where the agent runs.
	Namespace string `json:"namespace"`
	// Version is the agent's version.
	Version string `json:"version"`
	// Signature is that of RegistrationText by PublicKey: no agent registers the key of another one.
	Signature []byte `json:"signature"`
}

// Registered is the answer to a Registration.
type Registered struct {
	// Agent is the agent's id, "account.prod".
	Agent string `json:"agent"`
	// UID is what its subjects contain.
	UID string `json:"uid"`
	// Heartbeat is the time between two heartbeats, in seconds.
	Heartbeat int `json:"heartbeat"`
	// ServerKey is the Ed25519 public key, 32 bytes, that all commands are signed with. The agent keeps it and accepts
	// commands from no other server.
	ServerKey []byte `json:"serverKey"`
	// Engine is what the agent was created for; empty from a server that does not say. An agent that runs another one
	// leaves Applications alone.
	Engine Engine `json:"engine,omitempty"`
}

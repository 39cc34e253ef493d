package agentapi

// Upgrade is the Body of KindUpgrade: the agent is to run the image with a digest, from the repository that its own Deployment
// names. The Result has an Upgraded.
type Upgrade struct {
	// Digest is that of the image, "sha256:…".
	Digest string `json:"digest,omitempty"`
	// Statement is the signed statement of releases that names the digest. The agent verifies it by keys of its own.
	Statement []byte `json:"statement,omitempty"`
	// AllowDowngrade lets the agent run a version older than its own, whose statement was signed later. No version below a minimum is run.
	AllowDowngrade bool `json:"allowDowngrade,omitempty"`
	// Back takes the last upgrade back: the agent runs again what it ran before. The other fields but Digest are not needed; Digest
	// is what is to be taken back, and where the agent does not run that, nothing is done.
	Back bool `json:"back,omitempty"`
	// Within is how many seconds the new agent has to connect; after that the old image is put back without the server.
	Within int `json:"within,omitempty"`
}

// Upgraded is the Body of the Result of KindUpgrade.
type Upgraded struct {
	// Before is the image that the Deployment named, Image the one that it names now.
	Before string `json:"before"`
	Image  string `json:"image"`
	// Guarded says that the old image is put back if the new agent does not connect, and Unguarded why not.
	Guarded   bool   `json:"guarded,omitempty"`
	Unguarded string `json:"unguarded,omitempty"`
}

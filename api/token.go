package api

import "time"

// TokenPrefix begins every token, so that scanners of secrets find those that leaked.
const TokenPrefix = "slp_"

// Types of principals.
const (
	PrincipalUser           = "user"
	PrincipalGroup          = "group"
	PrincipalServiceAccount = "serviceaccount"
	// PrincipalAgent and PrincipalSystem act in the audit only.
	PrincipalAgent  = "agent"
	PrincipalSystem = "system"
	// PrincipalAnonymous is a caller who did not sign in.
	PrincipalAnonymous = "anonymous"
)

// Principal gets rights, or acted.
type Principal struct {
	Type string `json:"type" doc:"Kind of the principal: user, group, serviceaccount; in the audit log also agent, system, anonymous" example:"user"`
	ID   string `json:"id" maxLength:"300" doc:"Id of the principal" example:"ada"`
}

// Token lets a program act as its owner. It can do what the owner can, and less where it has permissions or a scope of
// its own.
type Token struct {
	ID    string    `json:"id,omitempty" readOnly:"true" doc:"Identifier of the token; not a secret"`
	Name  string    `json:"name" maxLength:"63" doc:"Name, in lower-case letters, digits and hyphens" example:"ci"`
	Owner Principal `json:"owner,omitzero" doc:"User or service account of the token; default: the caller"`
	// Permissions bound what the token can do, names and patterns as in a role; empty for all that the owner can.
	Permissions []Permission `json:"permissions,omitempty" maxItems:"100" doc:"Permissions of the token; default: all of its owner" example:"[\"application_view\",\"application_sync\"]"`
	// Scope bounds where; the account for everywhere.
	Scope Scope `json:"scope,omitempty" maxLength:"140" doc:"Scope of the token; default: everywhere" example:"org.acme"`
	// ExpiresAt is at most a year ahead; 30 days from now where it is left out.
	ExpiresAt  time.Time `json:"expiresAt,omitzero" doc:"Time at which it expires: at most a year from now; default: 30 days"`
	CreatedAt  time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"Time of creation"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero" readOnly:"true" doc:"Time of the last use, to the minute"`
}

// TokenCreated is a token that was made.
type TokenCreated struct {
	Token
	// Secret is shown once: the server keeps a hash.
	Secret string `json:"secret" doc:"The token to send as Authorization: Bearer; the server shows it only once"`
}

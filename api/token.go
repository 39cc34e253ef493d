package api

import "time"

// TokenPrefix begins every token, so that scanners of secrets find those that leaked.
const TokenPrefix = "slp_"

// Types of who can act.
const (
	PrincipalUser           = "user"
	PrincipalGroup          = "group"
	PrincipalServiceAccount = "serviceaccount"
	// PrincipalAgent and PrincipalSystem act in the audit only.
	PrincipalAgent  = "agent"
	PrincipalSystem = "system"
	// PrincipalAnonymous is who did not sign in.
	PrincipalAnonymous = "anonymous"
)

// Principal is who rights are given to, or who acted.
type Principal struct {
	Type string `json:"type" doc:"Kind of the principal: user, group, serviceaccount; in the audit also agent, system, anonymous" example:"user"`
	ID   string `json:"id" maxLength:"300" doc:"Id of the principal" example:"ada"`
}

// Token lets a program act as its owner. It can do what the owner can, and less where it has permissions or a scope of
// its own.
type Token struct {
	ID    string    `json:"id,omitempty" readOnly:"true" doc:"Identifier of the token; it is no secret"`
	Name  string    `json:"name" maxLength:"63" doc:"What it is for, in lower-case letters, digits and hyphens" example:"ci"`
	Owner Principal `json:"owner,omitzero" doc:"User or service account that the token acts as; the caller where it is left out"`
	// Permissions bound what the token can do, names and patterns as in a role; empty for all that the owner can.
	Permissions []Permission `json:"permissions,omitempty" maxItems:"100" doc:"What the token is limited to; all that its owner may do where it is left out" example:"[\"application_view\",\"application_sync\"]"`
	// Scope bounds where; the account for everywhere.
	Scope Scope `json:"scope,omitempty" maxLength:"140" doc:"Where the token counts; everywhere where it is left out" example:"org.acme"`
	// ExpiresAt is at most a year ahead; 30 days from now where it is left out.
	ExpiresAt  time.Time `json:"expiresAt,omitzero" doc:"When it ends: at most a year from now, in 30 days where it is left out"`
	CreatedAt  time.Time `json:"createdAt,omitzero" readOnly:"true" doc:"When it was made"`
	LastUsedAt time.Time `json:"lastUsedAt,omitzero" readOnly:"true" doc:"When it was used last, to the minute"`
}

// TokenCreated is a token that was made.
type TokenCreated struct {
	Token
	// Secret is said once: the server keeps a hash.
	Secret string `json:"secret" doc:"What to send as Authorization: Bearer; it is said once"`
}
